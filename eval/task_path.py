"""The walk that a task was accepted for: a shortest path from its start to where the target is in reach."""

import numpy as np

from task_synthesis.reachability import DIAGONAL_COST, STRAIGHT_COST, UNREACHED, can_step, walk_costs
from task_synthesis.task import TaskSpec
from worlds.blocks import fluid_table, solid_table
from worlds.voxel.engine_tables import engine_tables

_MAX_COST = 4000  # tenths of a block
_NEIGHBOURS = [(dx, dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1) if dx or dz]


def path_of(task: TaskSpec, block_XZY: np.ndarray) -> list[tuple[int, int]]:
    """Return the columns (x, z) of the walk, not wrapped, the start's first; the start alone where there is no walk.

    `block_XZY` is the world with the task's objects in it, uint16 [X, Z, Y].
    """
    is_solid_K, is_fluid_K = solid_table(), fluid_table()
    size_x, size_z, size_y = block_XZY.shape
    cost_XZY = np.empty(block_XZY.shape, np.uint16)
    target = task.placements[task.target_index].position
    walk_costs(block_XZY, engine_tables().blocks.outline, is_solid_K, is_fluid_K, *target, _MAX_COST, cost_XZY)
    x, y, z = (int(np.floor(value)) for value in task.start[:3])
    path = [(x, z)]
    cost = int(cost_XZY[x % size_x, z % size_z, y])
    while 0 < cost < UNREACHED:
        best = (cost, cost, x, y, z)
        for dx, dz in _NEIGHBOURS:
            for next_y in range(max(1, y - 3), min(size_y - 1, y + 2)):
                there = int(cost_XZY[(x + dx) % size_x, (z + dz) % size_z, next_y])
                if there < cost and can_step(block_XZY, is_solid_K, is_fluid_K, x, y, z, dx, dz, next_y):
                    step = DIAGONAL_COST if dx and dz else STRAIGHT_COST
                    best = min(best, (there + step, there, x + dx, next_y, z + dz))
        if best[1] == cost:
            break  # the start stands higher than its cell's path: what is drawn ends here
        _, cost, x, y, z = best
        path.append((x, z))
    return path
