"""Claims about libraries: who makes the shards does not matter, nothing is made twice, nothing is in there twice."""

import dataclasses
import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from task_synthesis.libraries.library import (
    load_tasks,
    read_lines,
    read_manifest,
    remove_parts,
    shard_file,
    write_whole,
)
from task_synthesis.libraries.library_build import build_library, num_finished
from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.libraries.library_processes import shards_by_processes, shards_here
from task_synthesis.libraries.library_shard import make_shard
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer

CONFIG = SynthesisConfig(bands={"near": 1.0}, biomes=("plains", "desert"), side_blocks=32)
PLAN = LibraryPlan(num_tasks=25, split="val", seed=3, config=CONFIG, tasks_per_shard=10)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    assert build_library(folder, PLAN).num_made == 25
    return folder


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_library_holds_what_was_asked_for(library):
    tasks = load_tasks(library, split="val")
    assert len({task.task_id for task in tasks}) == len(tasks) == 25
    manifest = read_manifest(library)
    assert manifest["num_tasks"] == sum(manifest["counts"]["skill"].values()) == 25
    assert manifest["num_worlds"] == len({task.world.seed for task in tasks})
    assert [shard["num_tasks"] for shard in manifest["shards"]] == [10, 10, 5]
    with pytest.raises(ValueError, match="is in split 'val', but this is a 'train' set"):
        load_tasks(library, split="train")


def test_a_second_run_makes_and_changes_nothing(library):
    before = contents(library)
    assert build_library(library, PLAN).num_made == 0
    assert contents(library) == before


def test_a_library_with_companions_is_another_one_and_those_without_say_nothing_of_them(library):
    assert "companions" not in read_manifest(library)["config"]  # as in libraries from before there were any
    with_them = dataclasses.replace(PLAN, config=dataclasses.replace(CONFIG, companions=True))
    with pytest.raises(ValueError, match="holds a library with no companions; choose"):
        build_library(library, with_them)


def test_tasks_that_were_changed_are_neither_taken_for_the_library_nor_lost(tmp_path):
    plan = dataclasses.replace(PLAN, num_tasks=3)
    build_library(tmp_path, plan)
    whole = (tmp_path / "tasks.jsonl").read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    (tmp_path / "tasks.jsonl").write_bytes(first)
    with pytest.raises(ValueError, match=r"tasks\.jsonl: changed since the library was made, .* the file itself"):
        load_tasks(tmp_path, split="val")
    assert len(load_tasks(tmp_path / "tasks.jsonl", split="val")) == 1
    for num_tasks in (3, 5):
        with pytest.raises(ValueError, match="changed since the library was made, and would be lost"):
            build_library(tmp_path, dataclasses.replace(plan, num_tasks=num_tasks))
    assert (tmp_path / "tasks.jsonl").read_bytes() == first
    (tmp_path / "tasks.jsonl").unlink()
    build_library(tmp_path, plan)
    assert (tmp_path / "tasks.jsonl").read_bytes() == whole


def test_a_shard_depends_on_plan_and_index_alone(library):
    again = make_shard(PLAN, 1, num_threads=2)
    assert again.packed == shard_file(library, 1).read_bytes()


@pytest.mark.slow
def test_processes_make_the_same_bytes_as_one(library, tmp_path):
    heard = []
    build_library(tmp_path, PLAN, make_shards=shards_by_processes(2), on_progress=heard.append)
    assert contents(tmp_path) == contents(library)
    assert heard == sorted(heard)
    assert (heard[0], heard[-1]) == (0, 25)


@pytest.mark.ray
def test_ray_makes_the_same_bytes_as_one(library, tmp_path, ray_session):
    from mcrl.dataflow.ray.shards import shards_by_ray

    build_library(tmp_path, PLAN, make_shards=shards_by_ray(2))
    assert contents(tmp_path) == contents(library)


def test_who_was_killed_in_the_first_shard_has_a_library_that_is_unfinished(tmp_path):
    def killed(plan, shard_indices, tell):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        build_library(tmp_path, PLAN, make_shards=killed)
    assert not (tmp_path / "shards").exists()
    with pytest.raises(ValueError, match="this library is unfinished; run the `mcrl synth` command that began it"):
        load_tasks(tmp_path, split="val")


def test_a_run_that_was_killed_goes_on_where_it_was(library, tmp_path):
    def killed(plan, shard_indices, tell):
        yield from shards_here(plan, shard_indices[:2], tell)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_library(tmp_path, PLAN, make_shards=killed)
    with pytest.raises(ValueError, match="this library is unfinished"):
        load_tasks(tmp_path, split="val")
    heard = []
    assert build_library(tmp_path, PLAN, on_progress=heard.append).num_made == 5
    assert (heard[0], heard[-1]) == (20, 25)
    assert contents(tmp_path) == contents(library)


def test_a_harmed_shard_is_made_again(library, tmp_path):
    harmed_copy(library, tmp_path)
    shard_file(tmp_path, 0).write_bytes(gzip.compress(b"{}\n"))
    shard_file(tmp_path, 2).write_bytes(b"torn")
    assert num_finished(tmp_path, PLAN) == 10
    assert build_library(tmp_path, PLAN).num_made == 15
    assert contents(tmp_path) == contents(library)


def test_a_shard_whose_bytes_were_overwritten_is_made_again(library, tmp_path):
    shard = harmed_copy(library, tmp_path)
    packed = shard.read_bytes()
    shard.write_bytes(packed[:10] + b"\xff" * 500 + packed[510:])
    with pytest.raises(ValueError, match="this shard is damaged"):
        load_tasks(tmp_path, split="val")
    assert build_library(tmp_path, PLAN).num_made == 10
    assert contents(tmp_path) == contents(library)


def test_a_shard_that_is_another_one_is_not_read(library, tmp_path):
    shard = harmed_copy(library, tmp_path)
    shard.write_bytes(shard_file(tmp_path, 0).read_bytes())
    with pytest.raises(ValueError, match=f"{shard}: this shard is damaged; run the `mcrl synth` command"):
        list(read_lines(tmp_path))


def harmed_copy(library, folder):
    """Copy the library and return the file of the second shard, for somebody to harm."""
    for path, held in contents(library).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(held)
    return shard_file(folder, 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_shards": None}, "num_shards must be a whole number from 1 on, got None"),
        ({"num_shards": "3"}, "num_shards must be a whole number from 1 on, got '3'"),
        ({"num_tasks": True}, "num_tasks must be a whole number from 1 on, got True"),
        ({"num_worlds": 0}, "num_worlds must be a whole number from 1 on, got 0"),
        ({"rejections": 3}, "rejections must be an object, got 3"),
        ({"config": {}}, "config.image_px must be a whole number from 1 on, got None"),
        ({"config": 5}, "not a library's manifest"),
        ({"sha256": 0}, "sha256 must be the hash of the tasks, got 0"),
    ],
)
def test_a_manifest_with_a_field_that_none_has_is_one_sentence(library, tmp_path, changes, said):
    harmed_copy(library, tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    for read in (lambda: load_tasks(tmp_path, split="val"), lambda: build_library(tmp_path, PLAN)):
        with pytest.raises(ValueError, match=f"{path}: {said}.*; remove the file and run the `mcrl synth`"):
            read()


@pytest.mark.parametrize("text", ["{", "[]", '{"num_tasks": 25}', "[" * 200_000], ids=lambda text: text[:20])
def test_a_manifest_that_is_none_is_one_sentence(library, tmp_path, text):
    harmed_copy(library, tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match="manifest.json: not a library's manifest; remove the file and run"):
        load_tasks(tmp_path, split="val")


@pytest.mark.parametrize("num_bytes", [0, 1, 60, -5])
def test_a_shard_that_was_cut_is_not_read(library, tmp_path, num_bytes):
    shard = harmed_copy(library, tmp_path)
    shard.write_bytes(shard.read_bytes()[:num_bytes])
    with pytest.raises(ValueError, match=f"{shard}: this shard is damaged; run the `mcrl synth` command"):
        load_tasks(tmp_path, split="val")


def test_a_file_that_could_not_be_written_leaves_what_was_there_and_nothing_else(tmp_path):
    (tmp_path / "a.json").mkdir()
    with pytest.raises(OSError, match="a.json") as failed:
        write_whole(tmp_path / "a.json", "text")
    assert failed.value.filename == str(tmp_path / "a.json")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_another_plan_for_the_same_folder_is_refused(library):
    for change, said in (({"seed": 4}, "seed 3, not 4"), ({"num_tasks": 24}, "25 tasks, more than 24")):
        with pytest.raises(ValueError, match=said):
            build_library(library, dataclasses.replace(PLAN, **change))
    for options, said in (
        ({"hidden_share": 0.5}, r"hidden_share 0\.0, not 0\.5"),
        ({"bands": {"easy": 1.0}}, "bands near, not easy"),
    ):
        with pytest.raises(ValueError, match=said):
            build_library(library, dataclasses.replace(PLAN, config=dataclasses.replace(CONFIG, **options)))


def test_shards_that_have_lost_their_plan_are_not_taken_for_those_of_another(library, tmp_path):
    harmed_copy(library, tmp_path)
    for name in ("plan.json", "manifest.json"):
        (tmp_path / name).unlink()
    with pytest.raises(ValueError, match="holds tasks made in another way"):
        build_library(tmp_path, dataclasses.replace(PLAN, seed=4))


def test_a_larger_library_of_the_same_plan_keeps_the_full_shards(library, tmp_path):
    build_library(tmp_path, dataclasses.replace(PLAN, num_tasks=20))
    assert build_library(tmp_path, PLAN).num_made == 5
    assert contents(tmp_path) == contents(library)


def test_a_task_that_was_made_twice_is_refused(tmp_path):
    def twice(plan, shard_indices, tell):
        for shard_index in shard_indices:
            yield dataclasses.replace(make_shard(dataclasses.replace(plan, num_tasks=20), 0), index=shard_index)

    with pytest.raises(ValueError, match="was made twice"):
        build_library(tmp_path, dataclasses.replace(PLAN, num_tasks=20), make_shards=twice)


def test_a_small_library_is_one_file_and_the_draw_of_its_seed(tmp_path):
    plan = dataclasses.replace(PLAN, num_tasks=10)
    build_library(tmp_path, plan)
    assert (tmp_path / "tasks.jsonl").is_file()
    tasks = load_tasks(tmp_path, split="val")
    assert tasks == Synthesizer(CONFIG, split="val", seed=3, num_parallel=plan.num_parallel).run(10)
    assert build_library(tmp_path, plan).num_made == 0


def test_a_small_library_that_grew_half_is_not_taken_for_a_whole_one(tmp_path, monkeypatch):
    build_library(tmp_path, dataclasses.replace(PLAN, num_tasks=4))
    larger = dataclasses.replace(PLAN, num_tasks=8)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("task_synthesis.libraries.library_build.make_shard", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build_library(tmp_path, larger)
    assert build_library(tmp_path, larger).num_made == 8
    assert len(load_tasks(tmp_path, split="val")) == read_manifest(tmp_path)["num_tasks"] == 8


def test_lines_are_the_tasks_and_rejections_are_kept(library):
    lines = [json.loads(line) for _, line in read_lines(library)]
    assert len(lines) == 25
    assert sum(read_manifest(library)["rejections"].values()) > 0


def test_writers_of_one_file_never_show_a_part_of_it(tmp_path):
    path, texts = tmp_path / "status.json", [letter * 200_000 for letter in "ab"]
    write_whole(path, texts[0])

    def write(text: str) -> None:
        for _ in range(100):
            write_whole(path, text)

    with ThreadPoolExecutor() as pool:
        written = [pool.submit(write, text) for text in texts]
        while not all(one.done() for one in written):
            assert path.read_text() in texts
        for one in written:
            one.result()
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_is_removed_and_nothing_of_anybody_else(tmp_path):
    for name in ("shards", "run"):
        (tmp_path / name).mkdir()
    kept = {"film.mkv.part", "run/config.json.0123abcd.part"}
    for name in ("tasks.jsonl.0123abcd.part", "shards/00001.jsonl.gz.89ab0123.part", *kept):
        (tmp_path / name).touch()
    remove_parts(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == kept
