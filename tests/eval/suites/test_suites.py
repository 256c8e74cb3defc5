"""Claims about the frozen suites: what their tasks have, and that nobody can change them or train on them."""

import dataclasses
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from eval.suites import suite_index
from eval.suites.suite_freeze import make_suite
from eval.suites.suites import SUITES, load_suite
from task_synthesis.held_out import HELD_OUT_BIOMES, HELD_OUT_KINDS, held_out_reason, look_reason, unseen_reason
from task_synthesis.libraries.library import load_tasks
from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks
from task_synthesis.task import TaskSpec
from task_synthesis.views.view_shift import view_shift_deg
from worlds.spec import GENERATOR_VERSION

GOLDEN = Path(__file__).parents[2] / "golden" / "suites.json"
UNSEEN = ("unseen_biomes", "unseen_textures", "unseen_objects")


def _groups(tasks: list[TaskSpec]) -> Counter[tuple[str, str]]:
    return Counter((task.skill, task.band) for task in tasks)


def test_a_suite_whose_tasks_change_gets_a_new_version():
    frozen = {suite.label: suite.sha256 for suite in SUITES.values()}
    assert frozen == json.loads(GOLDEN.read_text()), "tasks of a suite changed: raise its version, then add it here"


def test_the_folder_holds_the_suites_and_nothing_else():
    names = {path.name for path in suite_index.FOLDER.iterdir()}
    assert names == {"index.json", *(suite.path.name for suite in SUITES.values())}
    assert sum(path.stat().st_size for path in suite_index.FOLDER.iterdir()) <= 4_000_000


@pytest.mark.parametrize("name", SUITES)
def test_every_prefix_is_balanced_over_skills_and_bands(name):
    suite, tasks = SUITES[name], load_suite(name)
    assert len(tasks) == suite.num_tasks >= 1000
    assert [(cell.skill, cell.band) for cell in suite.order()] == [(task.skill, task.band) for task in tasks]
    num_groups = len(suite.skills) * len(suite.bands)
    for length in (len(suite.skills), num_groups, 5 * num_groups + 3, len(tasks)):
        prefix = tasks[:length]
        for key in (lambda task: task.skill, lambda task: task.band):
            counts = Counter(key(task) for task in prefix)
            assert max(counts.values()) - min(counts.values()) <= 2
    counts = _groups(tasks)
    assert len(counts) == num_groups
    assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize("name", ["occluded", "goal_view_shift"])
def test_tasks_belong_to_the_parts_that_the_definition_deals_out(name):
    suite = SUITES[name]
    assert suite.part_of is not None
    assert [cell.part for cell in suite.order()] == [suite.part_of(task) for task in load_suite(name)]


@pytest.mark.parametrize("name", SUITES)
def test_a_shorter_suite_is_the_beginning_of_the_whole(name):
    assert load_suite(name, 9) == load_suite(name)[:9]


@pytest.mark.parametrize("name", SUITES)
def test_no_task_occurs_twice_and_worlds_are_many(name):
    tasks = load_suite(name)
    assert len({task.task_id for task in tasks}) == len(tasks)
    assert len({task.world.seed for task in tasks}) >= 300


@pytest.mark.parametrize("name", SUITES)
def test_the_training_border_refuses_every_task(name, tmp_path):
    tasks = load_suite(name)
    assert all(held_out_reason(task) for task in tasks)
    for task in tasks[:: len(tasks) // 24]:
        for split in ("train", "val"):
            for make in (
                lambda split=split, task=task: ShuffledTasks([task], split=split, seed=0),
                lambda split=split, task=task: MixedTasks([task], split=split, seed=0, shares={task.band: 1.0}),
                lambda split=split, task=task: AdaptiveTasks([task], split=split, seed=0),
            ):
                with pytest.raises(ValueError, match="task "):
                    make()
    with pytest.raises(ValueError, match="is in split 'held_out'"):
        load_tasks(SUITES[name].path, split="train")


def test_only_the_unseen_suites_show_what_training_never_shows():
    for name in SUITES:
        is_unseen = [unseen_reason(task) is not None for task in load_suite(name)]
        assert all(is_unseen) if name in UNSEEN else not any(is_unseen)


def test_each_unseen_suite_changes_one_thing_alone():
    seen_look = {task.look for task in load_suite("unseen_seeds")}
    for task in load_suite("unseen_biomes"):
        assert task.world.biome in HELD_OUT_BIOMES
        assert not {placement.kind.partition("[")[0] for placement in task.placements} & HELD_OUT_KINDS
        assert task.look in seen_look
    for task in load_suite("unseen_objects"):
        assert {placement.kind.partition("[")[0] for placement in task.placements} <= HELD_OUT_KINDS
        assert task.world.biome not in HELD_OUT_BIOMES
        assert task.look in seen_look
    for task in load_suite("unseen_textures"):
        assert look_reason(task.look)
        assert look_reason(dataclasses.replace(task.look, textures="own", fog=1.0))
        assert look_reason(dataclasses.replace(task.look, textures="own", time_ticks=6000))
        assert task.world.biome not in HELD_OUT_BIOMES


def test_tasks_are_as_hard_as_their_suite_says():
    assert {task.band for task in load_suite("far")} == {"medium", "hard"}
    for task in load_suite("occluded"):
        assert not task.difficulty.in_sight
        assert not task.difficulty.visible_at_start
    assert all(2 <= task.difficulty.num_same_kind <= 4 for task in load_suite("distractors"))
    assert all(task.difficulty.visible_at_start and task.difficulty.in_sight for task in load_suite("memory"))
    shifts = Counter(min(int(view_shift_deg(task) / 30), 5) for task in load_suite("goal_view_shift"))
    assert shifts == dict.fromkeys(range(6), 168)
    for part in range(6):
        of_part = [task for task in load_suite("goal_view_shift") if int(view_shift_deg(task) / 30) == part]
        assert set(_groups(of_part).values()) == {8}


def _is_close(ours: object, theirs: object) -> bool:
    """Compare tasks of two machines: measured numbers may differ in their last digit, all else must be equal."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_is_close(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(_is_close, ours, theirs))
    return ours == pytest.approx(theirs, abs=2e-3) if isinstance(ours, float) else ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITES)
def test_a_suite_can_be_made_again_from_its_definition(name):
    frozen = load_suite(name, 16)
    version = frozen[0].world.generator_version
    if version != GENERATOR_VERSION:
        pytest.skip(f"worlds are of generator {GENERATOR_VERSION} now, the suite of {version}")
    for ours, theirs in zip(make_suite(SUITES[name], 16), frozen, strict=True):
        made, kept = dataclasses.asdict(ours), dataclasses.asdict(theirs)
        del made["task_id"], kept["task_id"]
        assert _is_close(made, kept)


def test_a_changed_or_missing_file_is_refused(monkeypatch, tmp_path):
    suite = SUITES["laptop"]
    text = gzip.decompress(suite.path.read_bytes())
    monkeypatch.setattr("eval.suites.suite.FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"laptop\.v1\.jsonl\.gz: missing, broken or not the tasks"):
        load_suite("laptop")
    for content in (gzip.compress(text.replace(b"near", b"easy", 1)), gzip.compress(text)[:-9], b"no gzip"):
        suite.path.write_bytes(content)
        with pytest.raises(ValueError, match=r"laptop\.v1\.jsonl\.gz: missing, broken or not the tasks"):
            load_suite("laptop")
    suite.path.write_bytes(gzip.compress(text))
    assert len(load_suite("laptop", 3)) == 3


@pytest.mark.parametrize("content", ["{", "[]", '{"laptop.v1": 3}', "\u00e9"])
def test_a_broken_index_is_named(monkeypatch, tmp_path, content):
    path = tmp_path / "index.json"
    path.write_text(content, encoding="utf-8")
    monkeypatch.setattr("eval.suites.suite_index._FILE", path)
    suite_index.read_index.cache_clear()
    with pytest.raises(ValueError, match=r"index\.json: broken"):
        suite_index.read_index()


@pytest.mark.parametrize(("name", "num_tasks"), [("nether", None), ("laptop", 0), ("laptop", 100_000)])
def test_unknown_suites_and_numbers_are_refused(name, num_tasks):
    with pytest.raises(ValueError, match=r"suite 'nether' is unknown; there are laptop|suite laptop.v1 holds 1024"):
        load_suite(name, num_tasks)
