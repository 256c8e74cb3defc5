"""The walk that a task was accepted for: a shortest path from its start to where the target is in reach."""

import math

import numpy as np

from task_synthesis.placement.hidden_walk import shortest_walk
from task_synthesis.placement.sites import Sites
from task_synthesis.task import TaskSpec


def path_of(task: TaskSpec, block_XZY: np.ndarray) -> list[tuple[int, int]]:
    """Return the columns (x, z) of the walk, not wrapped, the start's first; the start alone where there is no walk.

    `block_XZY` is the world with the task's objects in it, uint16 [X, Z, Y].
    """
    # A body on a slab belongs to the cell above it.
    start = math.floor(task.start.x), math.ceil(task.start.y), math.floor(task.start.z)
    target = task.placements[task.target_index].position
    walk = shortest_walk(block_XZY, Sites(), start, target, most_blocks=task.difficulty.path_blocks)
    return [(x, z) for x, _, z in walk or [start]]
