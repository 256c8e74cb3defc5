"""Claims about the check before a run: a report that cannot be made is refused before there is anything to report."""

import dataclasses

import pytest

from eval.judging.suite_row import SuiteRow
from mcrl.cli import main
from mcrl.commands.evaluation.eval_tasks import suite_tasks
from mcrl.commands.evaluation.evaluate import DEFAULT_BANDS, DEFAULT_SKILLS, check_report
from mcrl.recipes import RECIPES
from task_synthesis.synthesis_config import SynthesisConfig


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_report_of_every_recipe_can_be_made(recipe):
    check_report(RECIPES[recipe]())


@pytest.mark.parametrize("recipe", RECIPES)
def test_eval_of_every_recipe_can_make_its_default_tasks(recipe):
    config = RECIPES[recipe]()
    SynthesisConfig(
        skills=dict.fromkeys(DEFAULT_SKILLS, 1.0),
        bands=dict.fromkeys(DEFAULT_BANDS, 1.0),
        biomes=config.tasks.biomes,
        side_blocks=config.tasks.side_blocks,
        image_px=config.env.image_px,
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_row_of_every_recipe_stands_in_the_worlds_of_the_report(recipe):
    config = dataclasses.replace(RECIPES[recipe](), env=dataclasses.replace(RECIPES[recipe]().env, image_px=16))
    task = suite_tasks(config.report_suite, 1).tasks[0]
    env = SuiteRow(name="random", agent="random", source="", config=config).make_env(
        lambda env_index: task, 1, side_blocks=task.world.size_blocks[0]
    )
    assert env.reset().tasks == [task]
    env.backend.close()


@pytest.mark.parametrize("command", ["train", "pretrain"])
def test_too_few_tasks_for_the_report_are_refused_before_there_is_a_run(capsys, tmp_path, command):
    argv = [command, "smoke", "--run-dir", str(tmp_path / "run"), "--tasks.num-eval-tasks", "3"]
    assert main(argv) == 2
    assert "tasks.num_eval_tasks 3: the report shows goals of other tasks" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_four_tasks_are_enough_for_the_report():
    config = RECIPES["smoke"]()
    check_report(dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, num_eval_tasks=4)))
