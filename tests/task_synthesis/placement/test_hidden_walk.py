"""Claims about the way to a target: its steps, its length, and how much of it is without a sight of the target."""

import dataclasses
import math

import numpy as np
import pytest

from task_synthesis.placement.hidden_walk import hidden_share, shortest_walk
from task_synthesis.placement.reachability import DIAGONAL_COST, JUMP_COST, STRAIGHT_COST, can_step
from task_synthesis.placement.sites import Sites
from task_synthesis.placement.targets import torus_delta
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from task_synthesis.views.view_shift import view_shift_deg
from tests.task_synthesis.fixtures import some_tasks
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables

SIZE = (64, 64, 64)


@pytest.fixture(scope="module")
def backend():
    return VoxelBackend(1, size_blocks=SIZE, image_px=(64, 64))


def _walk(backend: VoxelBackend, task: TaskSpec) -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """Start a task and return the cells of its world and its shortest walk."""
    TaskEnv(backend, lambda _: task).reset()
    block_XZY = backend.state.terrain.block_EXZY[0]
    start = math.floor(task.start.x), math.ceil(task.start.y), math.floor(task.start.z)
    target = task.placements[task.target_index].position
    walk = shortest_walk(block_XZY, Sites(), start, target, most_blocks=task.difficulty.path_blocks)
    return block_XZY, walk


def _hidden(block_XZY: np.ndarray, task: TaskSpec, walk: list[tuple[int, int, int]]) -> float:
    x, y, z = task.placements[task.target_index].position
    near = [walk[0][axis] + int(torus_delta(at - walk[0][axis], 64)) for axis, at in ((0, x), (2, z))]
    return hidden_share(block_XZY, engine_tables().blocks.outline, walk, (near[0], y, near[1]))


def test_the_walk_is_made_of_steps_and_as_long_as_the_task_says(backend):
    sites = Sites()
    for task in some_tasks()[:12]:
        block_XZY, walk = _walk(backend, task)
        cost = 0
        for (x, y, z), (next_x, next_y, next_z) in zip(walk, walk[1:], strict=False):
            dx, dz = next_x - x, next_z - z
            assert can_step(block_XZY, sites.footing_S, sites.is_fluid_S, x, y, z, dx, dz, next_y)
            cost += (DIAGONAL_COST if dx and dz else STRAIGHT_COST) + (JUMP_COST if next_y > y else 0)
        assert cost / 10 == pytest.approx(task.difficulty.path_blocks)


def test_a_wall_around_the_target_hides_all_of_the_walk(backend):
    task = next(task for task in some_tasks() if task.difficulty.path_blocks > 8)
    block_XZY, walk = _walk(backend, task)
    seen = _hidden(block_XZY, task, walk)
    x, y, z = task.placements[task.target_index].position
    walled_XZY = block_XZY.copy()
    ring = [(dx, dz) for dx in range(-3, 4) for dz in range(-3, 4) if max(abs(dx), abs(dz)) == 3]
    for dx, dz in ring:
        walled_XZY[(x + dx) % 64, (z + dz) % 64, y - 3 : y + 8] = 1
    outside = [cell for cell in walk if max(abs(torus_delta(cell[0] - x, 64)), abs(torus_delta(cell[2] - z, 64))) > 3]
    assert _hidden(walled_XZY, task, outside) == 1.0
    assert seen < 1.0


def test_memory_tasks_show_their_target_first_and_hide_it_on_half_the_walk(backend):
    config = SynthesisConfig(min_hidden_walk=0.5, bands={"easy": 1.0}, biomes=("mountains", "dark_forest"))
    tasks = Synthesizer(config, split="train", seed=0, num_parallel=16).run(4)
    for task in tasks:
        assert task.difficulty.visible_at_start
        assert task.difficulty.in_sight
        block_XZY, walk = _walk(backend, task)
        assert _hidden(block_XZY, task, walk) >= 0.5


@pytest.mark.parametrize("around_deg", [0, 45, 90, 179])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_shift_of_view_is_the_angle_at_the_target(around_deg, sign):
    task = some_tasks()[0]
    x, y, z = task.placements[task.target_index].position
    angles = math.radians(30), math.radians(30 + sign * around_deg)
    start, camera = (
        Pose(x + 0.5 + reach * math.sin(angle), y + 2.0, z + 0.5 + reach * math.cos(angle), 0.0, 0.0)
        for angle, reach in zip(angles, (9.0, 5.0), strict=True)
    )
    wrapped = start._replace(x=start.x % 64, z=start.z % 64)
    moved = dataclasses.replace(task, task_id="", start=wrapped, goal_view=camera)
    assert view_shift_deg(moved) == pytest.approx(around_deg, abs=1e-6)
