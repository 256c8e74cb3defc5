"""Claims about what an evaluation is made of: what makes two rows other rows, and how many envs play a unit."""

import dataclasses

from eval.judging.suite_rows import suite_rows
from policies.decoding import Decoding
from tests.eval.suite_fixtures import CONFIG, make_plan, make_tasks, save_checkpoint, simple_row
from worlds.adapters.catalogue import BUILT_IN
from worlds.spec import GENERATOR_VERSION


def test_whatever_a_policy_plays_otherwise_by_is_in_its_identity(tmp_path):
    folder = save_checkpoint(tmp_path / "checkpoint")

    def identity(*, precision="fp32", **options):
        config = dataclasses.replace(CONFIG, precision=precision)
        rows = suite_rows({"rl": (folder, config)}, main_row="rl", **options)
        return next(row for row in rows if row.name == "rl").identity()

    assert identity()["arithmetic"] == "fp32"
    assert identity(precision="bf16")["arithmetic"] == "bf16"
    assert identity(decoding=Decoding(temperature=0.5)) != identity() == identity(decoding=Decoding())


def test_a_plan_is_of_one_generator_of_worlds():
    plan = make_plan(make_tasks("held_out", 2), [simple_row("noop")])
    assert plan.common()["generator_version"] == GENERATOR_VERSION


def test_envs_play_four_tasks_each_up_to_what_memory_bears_and_other_engines_alone():
    (task,) = make_tasks("held_out", 1)
    (unit,) = make_plan([task], [simple_row("noop")]).units()

    def num_envs(num_tasks, side_blocks=128, backend=BUILT_IN):
        world = dataclasses.replace(task.world, size_blocks=(side_blocks, 64, side_blocks))
        tasks = (dataclasses.replace(task, world=world, task_id=""),) * num_tasks
        config = dataclasses.replace(CONFIG, env=dataclasses.replace(CONFIG.env, backend=backend))
        return dataclasses.replace(unit, tasks=tasks, row=dataclasses.replace(unit.row, config=config)).num_envs

    assert [num_envs(num_tasks) for num_tasks in (1, 9, 40, 256)] == [1, 2, 10, 64]
    assert num_envs(256, side_blocks=256) == 32
    assert num_envs(256, backend="video") == 1
