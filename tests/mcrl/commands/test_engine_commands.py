"""Claims about the commands on other engines: what is refused in one sentence, what a machine lacks, what plays."""

import dataclasses
import json
import platform
import sys

import pytest

from mcrl.cli import main
from mcrl.commands.engine_options import EngineOptions
from mcrl.config import EnvConfig
from mcrl.doctor.engine import examine_engine
from mcrl.recipes import RECIPES
from mcrl.tasks.engine_tasks import check_engine, goal_view_px
from mcrl.tasks.engine_worlds import check_world
from task_synthesis.foreign.foreign_library import write_foreign_library
from task_synthesis.libraries.library import load_tasks
from task_synthesis.task import to_json_line
from tests.task_synthesis.fixtures import some_tasks
from tests.worlds.adapters import flat_engine
from tests.worlds.adapters.engine_pair import compile_kernels
from worlds.adapters.catalogue import ENGINES, choice_of, options_of
from worlds.adapters.engine_choice import is_program
from worlds.spec import WorldSpec


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["eval", "small", "--backend", "luant"], "did you mean luanti?"),
        (["eval", "small", "--engine-python", "/usr/bin/python3"], "are for another --backend"),
        (
            ["eval", "small", "--backend", "luanti", "--suite", "laptop"],
            "--suite and --save are of the built-in engine",
        ),
        (["synth", "--backend", "./robot.py", "-n", "2", "--out", "x"], "no such file"),
        (["synth", "--backend", "~nouser/robot.py", "-n", "2", "--out", "x"], "backend ~nouser/robot.py: no such file"),
        (
            ["synth", "--backend", "luanti", "--engine-python", "~nouser/python", "-n", "2", "--out", "x"],
            "--engine-python ~nouser/python: no such program",
        ),
        (["synth", "--backend", "luanti", "-n", "2", "--out", "x", "--skills", "hunt"], "not hunt"),
        (["play", "--backend", "vizdoom", "--agent", "expert"], "plays in the built-in engine alone"),
        (["play", "--backend", "vizdoom", "--policy", "small"], "name a task of its worlds with --task"),
        (["synth", "--backend", "voxel", "-n", "2", "--out", "x"], "leave the option out"),
        (["synth", "--backend", "video", "-n", "2", "--out", "x"], "no tasks can be made in its worlds"),
        (["synth", "--backend", "luanti", "-n", "2", "--out", "."], "--out .: holds other things than a library"),
        (["doctor", "mincraft"], "no such engine"),
        (["doctor", "gpu"], "mcrl doctor --recipe gpu"),
        (
            ["play", "--backend", "luanti", "--task", "laptop:1", "--policy", "small", "--out", "x.mp4"],
            "--task laptop:1: is in a world of 'generated', and luanti plays in worlds of its own; make tasks there",
        ),
    ],
)
def test_what_another_engine_cannot_do_is_refused_in_one_sentence(args, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").touch()
    assert main(args) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_a_run_cannot_clone_the_expert_in_another_engine():
    config = dataclasses.replace(RECIPES["laptop"](), env=EnvConfig(backend="luanti"))
    with pytest.raises(ValueError, match="the expert that imitation learns from plays in the built-in engine alone"):
        check_engine(config)


@pytest.mark.parametrize(
    ("backend", "source", "is_taken"),
    [
        ("voxel", "generated", True),
        ("voxel-process", "generated", True),
        ("luanti", "luanti:v7:minetest_game", True),
        ("luanti", "generated", False),
        ("minestudio", "generated", False),
        ("vizdoom", "vizdoom:my_way_home", True),
        ("vizdoom", "luanti:v7:minetest_game", False),
        ("./robot.py", "generated", True),
        ("video", "generated", True),
    ],
)
def test_an_engine_with_worlds_of_its_own_takes_no_task_of_others(backend, source, is_taken):
    world = WorldSpec(seed=1, source=source)
    if is_taken:
        check_world(backend, world, where="here")
        return
    with pytest.raises(ValueError, match=f"here: is in a world of '{source}', and {backend} plays in worlds of its"):
        check_world(backend, world, where="here")


def test_options_of_an_engine_are_json_or_text():
    options = options_of(["number=3", "flag=true", "name=abc", "path=/a/b=c"], where="--engine-options")
    assert options == {"number": 3, "flag": True, "name": "abc", "path": "/a/b=c"}
    for text in ("[" * 200_000, "9" * 5000):  # JSON that cannot be read
        assert options_of([f"name={text}"], where="--engine-options") == {"name": text}


@pytest.mark.parametrize("name", [*ENGINES])
def test_every_engine_of_the_catalogue_is_examined_and_every_lack_has_a_command(name):
    findings = examine_engine(name)
    assert findings
    assert all(finding.remedy for finding in findings if finding.status == "bad")
    assert {finding.found for finding in findings if finding.what == "note"} == set(ENGINES[name].notes)


@pytest.mark.parametrize("program", ["/bin/echo", "/bin/true", "/bin/false"])
def test_an_interpreter_that_is_none_is_said_so(program):
    (found,) = [finding for finding in examine_engine("vizdoom", program) if finding.what == "vizdoom"]
    assert (found.status, found.found) == ("bad", f"{program} is no Python")


def test_a_python_without_the_package_is_one_all_the_same():
    (found,) = [finding for finding in examine_engine("minerl", sys.executable) if finding.what == "minerl"]
    assert (found.status, found.found) == ("bad", f"not installed in {sys.executable}")


def test_a_link_to_an_engine_is_what_its_own_name_says(tmp_path):
    (tmp_path / "robot.py").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "robot.py").chmod(0o755)
    (tmp_path / "robot").symlink_to("robot.py")
    (tmp_path / "engine").write_text("")
    (tmp_path / "engine.py").symlink_to("engine")
    for name, is_one in (("robot", True), ("robot.py", False), ("engine.py", False)):
        choice = choice_of(str(tmp_path / name))
        assert (choice.engine, is_program(choice.engine)) == (str(tmp_path / name), is_one)


@pytest.mark.parametrize(("backend", "side_px"), [("vizdoom", 64), ("luanti", 128), ("./robot.py", 128)])
def test_a_library_says_in_which_pictures_its_goal_views_were_measured(backend, side_px, tmp_path):
    library = tmp_path / "tasks"
    write_foreign_library(library, some_tasks()[:1], split="train", backend=backend, image_px=goal_view_px(backend))
    assert json.loads((library / "manifest.json").read_text())["config"]["image_px"] == side_px


def test_tasks_of_another_engine_are_not_said_to_be_in_a_save(tmp_path, capsys):
    task = dataclasses.replace(some_tasks()[0], world=WorldSpec(seed=1, source="own:robot"), task_id="")
    (tmp_path / "tasks.jsonl").write_text(to_json_line(task) + "\n")
    assert main(["demos", "export", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "is in a world of 'own:robot'; the expert is exported in generated worlds" in capsys.readouterr().err


def test_the_side_environment_that_was_built_last_is_the_engines_interpreter(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert choice_of("minerl").python is None
    folder = tmp_path / "mcrl" / "engines" / f"minerl-{platform.machine()}-0123"
    of_another = folder.with_name("minerl-other-0123")  # a home that machines of two kinds share
    of_another.mkdir(parents=True)
    (of_another / "complete").touch()
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    assert choice_of("minerl").python is None  # an interrupted build is none
    (folder / "complete").touch()
    assert choice_of("minerl").python == folder / "bin" / "python"


@pytest.mark.slow
def test_tasks_are_made_judged_and_played_in_another_engines_worlds(tmp_path, capsys):
    compile_kernels()
    library, report = tmp_path / "tasks", tmp_path / "report"
    engine = ["--backend", "voxel-process", "--engine-options", "has_masks=false"]
    assert main(["synth", *engine, "-n", "4", "--out", str(library), "--split", "held_out"]) == 0
    tasks = load_tasks(library, split="held_out")
    assert len(tasks) == 4
    assert {task.world.source for task in tasks} == {ENGINES["voxel-process"].source}
    eval_args = ["--tasks", str(library), "--num-workers", "1", "--out", str(report)]
    assert main(["eval", "small", *engine, *eval_args]) == 0
    lines = (report / "episodes.jsonl").read_text().splitlines()
    assert {json.loads(line)["row"] for line in lines} >= {"random"}
    assert not any(json.loads(line)["cause"] == "fault" for line in lines)
    picture = tmp_path / "seen.png"
    keys = ["--keys", "w*4 attack*4", "--image", "64", "64"]
    assert main(["play", *engine, "--task", f"{library}:1", *keys, "--out", str(picture)]) == 0
    assert picture.stat().st_size > 500


@pytest.mark.slow
def test_an_evaluation_whose_engine_always_fails_is_no_success(tmp_path, capsys):
    compile_kernels()
    engine = ["--backend", flat_engine.__file__, "--engine-options", "fault=exit", "at=step"]
    args = ["--skills", "approach", "--num-tasks", "2", "--num-workers", "1", "--out", str(tmp_path)]
    assert main(["eval", "small", *engine, *args]) == 1
    assert "the engine failed in every episode of random, rl, shuffled goal" in capsys.readouterr().err
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize(
    ("trained", "played", "is_told"),
    [("./mine.py", "voxel", True), ("./mine.py", "./mine.py", False), ("voxel", "luanti", False)],
)
def test_a_policy_of_another_engine_is_not_played_in_the_built_in_one_without_a_word(trained, played, is_told, capsys):
    EngineOptions(backend=played).say_elsewhere("mcrl eval", EnvConfig(backend=trained))
    assert ("trained in ./mine.py" in capsys.readouterr().err) == is_told
