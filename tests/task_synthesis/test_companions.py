"""Claims about companions: the goal picture tells the target from the others of its kind."""

from functools import cache

import numpy as np
import pytest

from task_synthesis.held_out import HELD_OUT_KINDS
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.skills import base_kind
from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import SKILLS, TaskSpec
from worlds.spec import MAX_OBJECTS
from worlds.types import INSTANCE_FIRST_OBJECT
from worlds.voxel.backend import VoxelBackend

BARE = SynthesisConfig(companions=True, num_same_kind=(1, 4), tasks_per_world=4)
FULL = at_scale(companions=True, num_same_kind=(2, 4), side_blocks=64, bands={"near": 1.0}, tasks_per_world=8)


@cache
def accompanied(config_name: str) -> tuple[TaskSpec, ...]:
    config = {"bare": BARE, "full": FULL}[config_name]
    return tuple(Synthesizer(config, split="train", seed=5, num_parallel=8).run(28))


def distance(task: TaskSpec, one: int, other: int) -> float:
    """Blocks between two objects, on the map and the short way round."""
    side = task.world.size_blocks[0]
    delta = np.subtract(task.placements[other].position, task.placements[one].position)
    dx, _, dz = (delta + side // 2) % side - side // 2
    return float(np.hypot(dx, dz))


def beside(task: TaskSpec) -> list[tuple[bool, set[str]]]:
    """For each object of the target's kind: whether it is the target, and the other kinds within 2.5 blocks."""
    kind = base_kind(task.placements[task.target_index].kind)
    found = []
    for index, host in enumerate(task.placements):
        if base_kind(host.kind) != kind:
            continue
        kinds = set()
        for number, other in enumerate(task.placements):
            if base_kind(other.kind) != kind and distance(task, index, number) < 2.5:
                kinds.add(base_kind(other.kind))
        found.append((index == task.target_index, kinds))
    return found


@pytest.mark.parametrize("name", ["bare", "full"])
def test_what_stands_beside_the_target_stands_beside_no_other_of_its_kind(name):
    for task in accompanied(name):
        assert len(task.placements) <= MAX_OBJECTS
        objects = beside(task)
        assert len(objects) == 1 + task.difficulty.num_same_kind
        assert all(kinds for _, kinds in objects)
        (of_target,) = (kinds for is_target, kinds in objects if is_target)
        for is_target, kinds in objects:
            assert is_target or of_target - kinds


@pytest.mark.parametrize("name", ["bare", "full"])
def test_the_goal_view_shows_the_companion(name):
    tasks = accompanied(name)
    backend = VoxelBackend(1, size_blocks=tasks[0].world.size_blocks, image_px=(128, 128))
    for task in tasks[:10]:
        TaskEnv(backend, lambda _, task=task: task).reset()
        instance_HW = backend.render_views([0], np.array([task.goal_view])).instance_VHW[0]
        kind = base_kind(task.placements[task.target_index].kind)
        shares = [
            (instance_HW == INSTANCE_FIRST_OBJECT + index).mean()
            for index, other in enumerate(task.placements)
            if base_kind(other.kind) != kind and distance(task, task.target_index, index) < 2.5
        ]
        # Counted at 64 pixels for bare worlds: a pixel more or less at 128.
        assert max(shares) >= 0.0015


def test_every_skill_has_tasks_with_companions():
    assert {task.skill for task in accompanied("full")} == set(SKILLS)


def test_a_training_task_has_no_companion_that_is_held_out():
    for task in accompanied("full"):
        assert not {base_kind(placement.kind) for placement in task.placements} & HELD_OUT_KINDS


def test_few_kinds_are_used_again_but_never_the_targets_own():
    config = SynthesisConfig(companions=True, num_same_kind=(3, 3), kinds="held_out", tasks_per_world=4)
    for task in Synthesizer(config, split="held_out", seed=1, num_parallel=8).run(12):
        objects = beside(task)
        (of_target,) = (kinds for is_target, kinds in objects if is_target)
        assert all(is_target or of_target - kinds for is_target, kinds in objects)


def test_a_target_that_has_no_room_for_a_companion_is_counted():
    config = SynthesisConfig(companions=True, biomes=("mountains",), detail="full", tasks_per_world=4)
    synthesizer = Synthesizer(config, split="train", seed=0, num_parallel=8)
    synthesizer.run(60)
    assert synthesizer.rejections["companion_no_ground"] + synthesizer.rejections["companion_hidden"] > 0
