"""Claims about the pictures that a policy learns to see by: which it is given, and what is said where it gets none."""

import dataclasses
import logging

import pytest

from mcrl.assembly import PRODUCT
from mcrl.config import TrainConfig
from mcrl.interrupt import StopRequest
from mcrl.learning.glimpse_pairs import NEAR_BLOCKS, GlimpsePairs
from mcrl.learning.pairs import PairDraws
from mcrl.recipes import smoke
from mcrl.run import Run
from mcrl.stages import picture_pairs
from mcrl.stages.picture_pairs import draw_pairs
from mcrl.telemetry.metrics import MetricsLog
from mcrl.telemetry.progress import ProgressDisplay
from mcrl.telemetry.run_status import StatusFile
from mcrl.telemetry.wandb_log import WandbLog
from policies.presets import build_policy, tiny
from task_synthesis.task import TaskSpec
from task_synthesis.views.sightings import DISTANCE_BLOCKS
from tests.task_synthesis.fixtures import some_tasks


def opened(tmp_path, **imitation) -> Run:
    config: TrainConfig = smoke()
    config = dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, **imitation))
    status = StatusFile(tmp_path, config.recipe)
    return Run(
        config=config,
        run_dir=tmp_path,
        parts=PRODUCT,
        stop=StopRequest("stopping"),
        progress=ProgressDisplay(status.show),
        metrics=MetricsLog(tmp_path / "metrics.jsonl"),
        wandb=WandbLog("disabled", tmp_path, {}),
        status=status,
    )


def policy(num_glimpses: int):
    return build_policy(dataclasses.replace(tiny(), num_glimpses=num_glimpses), 0)


@pytest.mark.parametrize(
    ("num_glimpses", "kind", "distance_blocks"), [(0, PairDraws, DISTANCE_BLOCKS), (1, GlimpsePairs, NEAR_BLOCKS)]
)
def test_who_looks_closely_is_given_pictures_from_near(tmp_path, monkeypatch, num_glimpses, kind, distance_blocks):
    asked, photograph = [], picture_pairs.photograph

    def asking(tasks, **options):
        asked.append(options["distance_blocks"])
        return photograph(tasks, **options)

    monkeypatch.setattr(picture_pairs, "photograph", asking)
    pairs = draw_pairs(opened(tmp_path, pair_goals=8), policy(num_glimpses), some_tasks()[:8])
    assert isinstance(pairs, kind)
    assert asked == [distance_blocks]


def no_tasks() -> list[TaskSpec]:
    return []


def few_tasks() -> list[TaskSpec]:
    return some_tasks()[:2]


def lone_tasks() -> list[TaskSpec]:
    return [
        dataclasses.replace(task, task_id="", difficulty=dataclasses.replace(task.difficulty, num_same_kind=0))
        for task in few_tasks()
    ]


@pytest.mark.parametrize(
    ("num_glimpses", "pair_goals", "tasks", "said"),
    [
        (1, 0, few_tasks, "--imitation.pair-goals 96 gives it some"),
        (1, 8, lone_tasks, "which tasks.num_same_kind leaves out"),
        (1, 0, lone_tasks, "which tasks.num_same_kind leaves out"),
        (1, 8, no_tasks, "worlds of the built-in engine alone"),
        (1, 0, no_tasks, "worlds of the built-in engine alone"),
        (0, 8, no_tasks, "worlds of the built-in engine alone"),
    ],
)
def test_where_there_are_none_it_is_said_why(tmp_path, caplog, num_glimpses, pair_goals, tasks, said):
    caplog.set_level(logging.INFO)
    assert draw_pairs(opened(tmp_path, pair_goals=pair_goals), policy(num_glimpses), tasks()) is None
    assert said in caplog.text


@pytest.mark.parametrize("tasks", [few_tasks, lone_tasks, no_tasks])
def test_who_neither_wants_nor_needs_pairs_hears_nothing_of_them(tmp_path, caplog, tasks):
    caplog.set_level(logging.INFO)
    assert draw_pairs(opened(tmp_path, pair_goals=0), policy(0), tasks()) is None
    assert not caplog.text
