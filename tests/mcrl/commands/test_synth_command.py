"""`mcrl synth` through main(argv): what it says of what it makes."""

import json

from mcrl.cli import main


def test_synth_says_what_it_made(task_dirs):
    manifest = json.loads((task_dirs["held_out"] / "manifest.json").read_text())
    assert (manifest["num_tasks"], manifest["split"]) == (6, "held_out")
    assert isinstance(manifest["rejections"], dict)


def test_synth_does_not_make_a_complete_library_again(task_dirs, capsys):
    argv = ["synth", "-n", "6", "--out", str(task_dirs["train"]), "--size", "32", "--bands", "near"]
    assert main(argv) == 0
    assert "complete before; nothing was made" in capsys.readouterr().out


def test_synth_stats_counts_a_library(task_dirs, capsys):
    assert main(["synth", "--stats", str(task_dirs["train"])]) == 0
    printed = capsys.readouterr().out
    assert "6 tasks in" in printed
    assert "distance_blocks" in printed
