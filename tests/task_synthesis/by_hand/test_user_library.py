"""Claims about libraries of hand-made tasks: written once, replaced by what the file says, never mixed."""

import copy
import json
import re
from pathlib import Path

import pytest

import task_synthesis
from mcrl.cli import main
from task_synthesis.libraries.library import load_tasks, read_manifest
from tests.task_synthesis.by_hand.test_user_tasks import GOOD
from worlds.spec import split_of

EXAMPLE = Path(task_synthesis.__file__).parent / "examples" / "approach_pumpkin.yaml"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library") / "mine"
    assert main(["synth", "--from", str(EXAMPLE), "--out", str(folder)]) == 0
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def refusal(capsys, *argv):
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def written(path, *tasks):
    path.write_text(json.dumps({"tasks": tasks}))
    return path


def test_a_file_becomes_a_library_that_is_read_like_any_other(library):
    (task,) = load_tasks(library, split="train")
    assert task.family == "approach/pumpkin"
    manifest = read_manifest(library)
    assert manifest["num_tasks"] == manifest["counts"]["skill"]["approach"] == 1
    assert manifest["hand_made"]["file"] == EXAMPLE.name


@pytest.mark.parametrize("example", sorted(EXAMPLE.parent.iterdir()), ids=lambda path: path.name)
def test_every_example_becomes_a_library(example, tmp_path):
    assert main(["synth", "--from", str(example), "--out", str(tmp_path / "mine")]) == 0


def test_a_folder_of_libraries_names_those_in_it(library, capsys):
    assert f"name one of {library}" in refusal(capsys, "synth", "--check", library.parent)


def test_who_puts_another_file_there_is_told_whose_tasks_go(tmp_path, capsys):
    for name in ("a.json", "b.json"):
        written(tmp_path / name, GOOD)
        assert main(["synth", "--from", str(tmp_path / name), "--out", str(tmp_path / "mine")]) == 0
    assert capsys.readouterr().err == f"{tmp_path}/mine held the tasks of a.json, which these replace\n"


def test_the_same_file_again_changes_no_byte(library):
    before = contents(library)
    assert main(["synth", "--from", str(EXAMPLE), "--out", str(library)]) == 0
    assert contents(library) == before


def test_a_changed_file_replaces_its_tasks(tmp_path):
    source, folder = tmp_path / "mine.json", tmp_path / "library"
    for max_ticks in (100, 200):
        written(source, GOOD | {"max_ticks": max_ticks})
        assert main(["synth", "--from", str(source), "--out", str(folder)]) == 0
        assert [task.max_ticks for task in load_tasks(folder, split="train")] == [max_ticks]


def test_tasks_of_two_splits_are_refused_with_a_seed_that_would_do(tmp_path, capsys):
    held_out = json.loads((EXAMPLE.parent / "devices_and_animals.json").read_text())["tasks"][0]
    source = written(tmp_path / "mine.json", GOOD, held_out)
    said = refusal(capsys, "synth", "--from", source, "--out", tmp_path / "library")
    assert "tasks[1].world.seed 3 is in split 'held_out', tasks[0] is in 'train'" in said
    assert split_of("generated", int(re.search(r"take seed (\d+)", said)[1])) == "train"
    assert not (tmp_path / "library").exists()


def test_a_task_written_twice_is_refused(tmp_path, capsys):
    source = written(tmp_path / "mine.json", GOOD, GOOD)
    assert "tasks[1] is tasks[0] again" in refusal(capsys, "synth", "--from", source, "--out", tmp_path / "library")


def test_a_folder_with_other_tasks_is_left_alone(tmp_path, capsys):
    (tmp_path / "tasks.jsonl").write_text("{}\n")
    said = refusal(capsys, "synth", "--from", EXAMPLE, "--out", tmp_path)
    assert "holds tasks that no hand-made file gave" in said
    assert (tmp_path / "tasks.jsonl").read_text() == "{}\n"


def test_a_target_out_of_reach_is_warned_of_and_kept(tmp_path, capsys):
    task = copy.deepcopy(GOOD)
    task["placements"][0]["position"][1] = "ground+12"
    task["goal_view"]["position"][1] = "ground+13"
    argv = ["synth", "--from", str(written(tmp_path / "mine.json", task)), "--out", str(tmp_path / "library")]
    assert main(argv) == 0
    assert "warning: " in (warned := capsys.readouterr().err)
    assert "no walk leads" in warned
    assert len(load_tasks(tmp_path / "library", split="train")) == 1


def test_the_expert_plays_a_hand_made_task_from_the_command_line(library, tmp_path, capsys):
    assert main(["play", "--task", f"{library}:1", "--agent", "expert", "--out", str(tmp_path / "last.png")]) == 0
    assert "success after" in capsys.readouterr().out


def test_a_hand_made_library_can_be_checked_and_shown(library, tmp_path, capsys):
    assert main(["synth", "--check", str(library)]) == 0
    assert main(["synth", "--gallery", str(library), "--out", str(tmp_path / "page.html")]) == 0
    assert main(["synth", "--stats", str(library)]) == 0
    assert "every checked task is exact" in capsys.readouterr().out


def test_the_help_shows_how_such_a_file_is_written(capsys):
    assert main(["synth", "--from", "--help"]) == 0
    printed = capsys.readouterr().out
    assert '"placements": [{"kind": "gold_block", "position": [20, "ground", 30]},' in printed


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--from", "/nonexistent.json", "--out", "x"], "/nonexistent.json: no such file"),
        (["--from", "x.json"], "--out must be given"),
        (["--from", "x.json", "--out", "x", "--fro", "y"], "did you mean --from?"),
        (["--from", "x.json", "--out", "x", "--split", "val"], "--split: not with --from, whose file says"),
    ],
)
def test_a_wrong_option_is_one_sentence(argv, said, capsys):
    assert said in refusal(capsys, "synth", *argv)
