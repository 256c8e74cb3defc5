"""Tiny evaluations on real worlds: 32 px views, 32 blocks a side, untrained policies."""

import dataclasses
from pathlib import Path

from eval.judging.baselines import shuffled_partners
from eval.judging.evaluation_plan import EvaluationPlan
from eval.judging.suite_row import SuiteRow
from mcrl import checkpoint
from mcrl.assembly import PRODUCT
from mcrl.recipes import RECIPES
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec

CONFIG = RECIPES["smoke"]()
UNIT_TASKS = 4


def make_tasks(split: str, num_tasks: int) -> list[TaskSpec]:
    config = SynthesisConfig(side_blocks=32, image_px=32, bands={"near": 1.0})
    # The shortest: a few dozen decisions each.
    made = Synthesizer(config, split=split, seed=1, num_parallel=8, num_threads=1).run(2 * num_tasks)
    return sorted(made, key=lambda task: (task.max_ticks, task.task_id))[:num_tasks]


def save_checkpoint(folder: Path, *, seed: int = 0) -> Path:
    config = dataclasses.replace(CONFIG, seed=seed)
    state = checkpoint.CheckpointState(
        stage="imitation",
        iteration=0,
        version=0,
        preset=config.preset,
        image_px=config.env.image_px,
        config=dataclasses.asdict(config),
    )
    model = PRODUCT.make_policy(config).state_dict()
    checkpoint.save(folder, checkpoint.Checkpoint(model=model, optimizer={}, state=state))
    return folder


def simple_row(name: str, agent: str = "noop", **fields) -> SuiteRow:
    return SuiteRow(name=name, agent=agent, source="", config=CONFIG, **fields)


def make_plan(tasks: list[TaskSpec], rows, *, seed: int = 0, suite: str = "tiny.v1") -> EvaluationPlan:
    return EvaluationPlan(
        rows=tuple(rows),
        tasks=tuple(tasks),
        partner_of=shuffled_partners(tasks, seed=seed) if any(row.goals == "shuffled" for row in rows) else {},
        suite=suite,
        seed=seed,
        unit_tasks=UNIT_TASKS,
    )
