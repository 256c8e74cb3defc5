"""An engine of one's own, one file: tasks are made in its worlds, and a policy plays them."""

import json
from pathlib import Path

import pytest

from mcrl.cli import main
from mcrl.tasks.engine_tasks import engine_entry
from task_synthesis.libraries.library import load_tasks
from worlds.adapters.catalogue import choice_of

PILLARS = Path(__file__).parents[2] / "worlds" / "adapters" / "pillar_engine.py"


def test_an_own_engine_may_be_named_by_an_absolute_path():
    choice = choice_of(str(PILLARS))
    assert choice.engine == str(PILLARS)
    assert choice.python is None


def test_a_run_finds_its_engine_again_from_every_folder(tmp_path, capsys, monkeypatch):
    (tmp_path / "mine.py").write_text(PILLARS.read_text())
    monkeypatch.chdir(tmp_path)
    args = ["--env.backend", "./mine.py", "--env.engine-python", "bin/python", "--initial-policy", "small"]
    sizes = ["--preset", "small", "--imitation.control-updates", "0", "--imitation.dagger-rounds", "0"]
    assert main(["train", "laptop", *args, *sizes, "--print-config"]) == 0
    env = json.loads(capsys.readouterr().out)["env"]
    assert (env["backend"], env["engine_python"]) == (str(tmp_path / "mine.py"), str(tmp_path / "bin" / "python"))


def test_a_package_that_an_engine_lacks_is_named_with_the_python_that_lacks_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lacking.py").write_text("import a_package_that_is_not_here\n")
    assert main(["synth", "--backend", "./lacking.py", "-n", "1", "--out", "x"]) == 2
    error = capsys.readouterr().err
    assert "has no package a_package_that_is_not_here; install it there" in error
    assert "doctor" not in error, "it knows no engine of one's own"
    assert "Traceback" not in error


def test_the_split_of_an_own_engines_worlds_does_not_depend_on_where_its_file_lies():
    assert engine_entry("./mine.py").source == engine_entry("/elsewhere/mine.py").source == "own:mine"


@pytest.mark.slow
def test_an_own_engine_that_can_be_scanned_has_tasks_that_a_policy_plays(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["synth", "--backend", str(PILLARS), "-n", "4", "--out", "tasks"]) == 0
    tasks = load_tasks(tmp_path / "tasks" / "tasks.jsonl", split="train")
    assert {task.skill for task in tasks} == {"approach", "break"}
    capsys.readouterr()
    args = ["--backend", str(PILLARS), "--task", "tasks:1", "--policy", "small", "--ticks", "40"]
    assert main(["play", *args, "--out", "seen.webm"]) == 0
    assert " ticks at (" in capsys.readouterr().out
    assert (tmp_path / "seen.webm").stat().st_size > 0
