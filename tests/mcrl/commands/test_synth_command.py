"""`mcrl synth` through main(argv): what it says of what it makes."""

import json

import pytest

from mcrl.cli import main


def test_synth_says_what_it_made(task_dirs):
    manifest = json.loads((task_dirs["held_out"] / "manifest.json").read_text())
    assert (manifest["num_tasks"], manifest["split"]) == (6, "held_out")
    assert isinstance(manifest["rejections"], dict)


def test_synth_does_not_make_a_complete_library_again(task_dirs, capsys):
    argv = ["synth", "-n", "6", "--out", str(task_dirs["train"]), "--size", "32", "--bands", "near"]
    assert main(argv) == 0
    assert "complete before; nothing was made" in capsys.readouterr().out


def test_a_refused_synth_leaves_nothing_that_the_next_one_stumbles_over(tmp_path, capsys):
    argv = ["synth", "-n", "1", "--out", str(tmp_path / "library"), "--biomes", "swamp"]
    assert main(argv) == 2
    assert "--biomes of split 'train': biome 'swamp' is held out of training" in capsys.readouterr().err
    assert not (tmp_path / "library").exists()


def test_synth_stats_counts_a_library(task_dirs, capsys):
    assert main(["synth", "--stats", str(task_dirs["train"])]) == 0
    printed = capsys.readouterr().out
    assert "6 tasks in" in printed
    assert "distance_blocks" in printed


def test_synth_stats_counts_a_frozen_suite_by_its_name(capsys):
    assert main(["synth", "--stats", "laptop"]) == 0
    assert "1024 tasks in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "way"), [("luanti:v7:minetest_game", "--backend luanti"), ("anvil:0123", "--save FOLDER")]
)
@pytest.mark.parametrize("look", [("--check",), ("--gallery", "--out", "page.html")])
def test_tasks_of_other_worlds_are_named_with_what_shows_them(task_dirs, tmp_path, capsys, source, way, look):
    path = tmp_path / "tasks.jsonl"
    line = (task_dirs["train"] / "manifest.json").parent.glob("*.jsonl").__next__().read_text().splitlines()[0]
    task = json.loads(line)
    task["world"]["source"] = source
    task["task_id"] = ""
    path.write_text(json.dumps(task) + "\n")
    option, *rest = look
    assert main(["synth", option, str(path), *rest]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert f"mcrl play {way} --task {path}:1" in said
