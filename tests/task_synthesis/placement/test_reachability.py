"""Claims about walking distances: equal to an obvious search, and true for a body that walks."""

import heapq
import itertools

import numpy as np
import pytest

from task_synthesis.placement.reachability import (
    DIAGONAL_COST,
    JUMP_COST,
    STRAIGHT_COST,
    UNREACHED,
    can_step,
    walk_costs,
)
from task_synthesis.placement.targets import footing_table, is_standable
from worlds.blocks import BLOCK_ID, fluid_table, solid_table, state_of
from worlds.voxel.engine_tables import engine_tables

SOLID, FLUID = solid_table(), fluid_table()
OUTLINE = engine_tables().blocks.outline
SIDE = 32
TARGET = (16, 21, 16)


def bumpy_world(seed: int) -> np.ndarray:
    """A small world of random steps, pillars and puddles with a target block in the middle."""
    rng = np.random.default_rng(seed)
    block_XZY = np.zeros((SIDE, SIDE, 64), np.uint16)
    height_XZ = 20 + rng.integers(0, 3, (SIDE, SIDE)) * (rng.random((SIDE, SIDE)) < 0.4)
    for x, z in np.ndindex(SIDE, SIDE):
        block_XZY[x, z, : height_XZ[x, z] + 1] = BLOCK_ID["stone"]
        if rng.random() < 0.05:
            block_XZY[x, z, height_XZ[x, z]] = BLOCK_ID["water"]
        if rng.random() < 0.05:
            block_XZY[x, z, 22:26] = BLOCK_ID["oak_leaves"]
    x, y, z = TARGET
    block_XZY[x - 2 : x + 3, z - 2 : z + 3, y:] = 0
    block_XZY[x - 2 : x + 3, z - 2 : z + 3, :y] = BLOCK_ID["stone"]
    block_XZY[x, z, y] = BLOCK_ID["gold_block"]
    return block_XZY


def obvious_costs(block_XZY: np.ndarray, cost_XZY: np.ndarray) -> dict[tuple[int, int, int], int]:
    """Dijkstra with a heap from the cells that the fast search found to be ends."""
    best = {tuple(cell): 0 for cell in np.argwhere(cost_XZY == 0).tolist()}
    queue = [(0, cell) for cell in best]
    while queue:
        cost, (x, z, y) = heapq.heappop(queue)
        if best[(x, z, y)] < cost:
            continue
        for dx, dz in itertools.product((-1, 0, 1), repeat=2):
            if dx == dz == 0:
                continue
            from_x, from_z = (x - dx) % SIDE, (z - dz) % SIDE
            for from_y in range(1, 62):
                if not is_standable(block_XZY, SOLID, FLUID, from_x, from_y, from_z):
                    continue
                if not can_step(block_XZY, SOLID, FLUID, from_x, from_y, from_z, dx, dz, y):
                    continue
                step = (DIAGONAL_COST if dx and dz else STRAIGHT_COST) + (JUMP_COST if y == from_y + 1 else 0)
                if cost + step < best.get((from_x, from_z, from_y), 10**9):
                    best[(from_x, from_z, from_y)] = cost + step
                    heapq.heappush(queue, (cost + step, (from_x, from_z, from_y)))
    return best


def test_costs_equal_those_of_an_obvious_search():
    for seed in range(3):
        block_XZY = bumpy_world(seed)
        cost_XZY = np.empty(block_XZY.shape, np.uint16)
        num_ends = walk_costs(block_XZY, OUTLINE, SOLID, FLUID, *TARGET, 5000, cost_XZY)
        assert num_ends > 0
        expected = obvious_costs(block_XZY, cost_XZY)
        found = {tuple(cell): int(cost_XZY[tuple(cell)]) for cell in np.argwhere(cost_XZY != UNREACHED).tolist()}
        assert found == expected


def test_what_is_dearer_than_the_limit_stays_unreached():
    block_XZY = bumpy_world(0)
    near, far = np.empty(block_XZY.shape, np.uint16), np.empty(block_XZY.shape, np.uint16)
    walk_costs(block_XZY, OUTLINE, SOLID, FLUID, *TARGET, 60, near)
    walk_costs(block_XZY, OUTLINE, SOLID, FLUID, *TARGET, 5000, far)
    reached = near != UNREACHED
    assert near[reached].max() <= 60
    assert np.array_equal(near[reached], far[reached])
    assert (far[~reached] > 60).all()


def test_a_walled_in_target_cannot_be_reached():
    block_XZY = bumpy_world(0)
    x, y, z = TARGET
    for dx, dz in itertools.product(range(-4, 5), repeat=2):
        if max(abs(dx), abs(dz)) == 4:
            block_XZY[x + dx, z + dz, y : y + 5] = BLOCK_ID["stone"]
    cost_XZY = np.empty(block_XZY.shape, np.uint16)
    walk_costs(block_XZY, OUTLINE, SOLID, FLUID, *TARGET, 5000, cost_XZY)
    assert cost_XZY[1, 1].min() == UNREACHED


@pytest.mark.parametrize(
    ("floor", "stands"), [("stone", True), ("oak_slab", True), ("oak_fence", False), ("cactus", False), ("air", False)]
)
def test_a_body_stands_on_floors_and_slabs_and_on_nothing_that_is_in_the_way(floor, stands):
    block_XZY = np.zeros((4, 4, 8), np.uint16)
    block_XZY[1, 2, 3] = state_of(floor)
    assert is_standable(block_XZY, footing_table(), FLUID, 1, 4, 2) == stands
