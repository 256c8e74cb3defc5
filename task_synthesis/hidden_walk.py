"""How much of the way to a target is walked without seeing it: what a task asks of the memory."""

import dataclasses
import math

import numpy as np

from task_synthesis.candidate import facing
from task_synthesis.layout import Layout
from task_synthesis.reachability import DIAGONAL_COST, JUMP_COST, STRAIGHT_COST, UNREACHED, sees_cell
from task_synthesis.starts import Start
from task_synthesis.targets import torus_delta
from worlds.types import EYE_HEIGHT_BLOCKS
from worlds.voxel.tables import Boxes

# How far off the middle of the first frame the target is, at most; half the field of view is 35 degrees.
_YAW_JITTER_DEG, _PITCH_JITTER_DEG = 20.0, 10.0
_STEPS = [(dx, dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1) if dx or dz]


def remembering_start(
    rng: np.random.Generator,
    start: Start,
    layout: Layout,
    block_XZY: np.ndarray,
    cost_XZY: np.ndarray,
    *,
    min_hidden_walk: float,
    sight: Boxes,
) -> Start | str:
    """Return a start turned so that it sees the target, or why it asks nothing of the memory.

    Args:
        rng: of the jitter around the target.
        start: as drawn.
        layout: the objects.
        block_XZY: uint16 cells of the world, objects included.
        cost_XZY: walking costs to the target.
        min_hidden_walk: share of the shortest walk that must be without a sight of the target.
        sight: boxes that hide the target from an eye.
    """
    if not start.in_sight:
        return "start_hidden"
    side = block_XZY.shape[0]
    # A body on a slab belongs to the cell above it.
    x, y, z = math.floor(start.pose.x), math.ceil(start.pose.y), math.floor(start.pose.z)
    target_x, target_y, target_z = layout.target_position
    near = x + int(torus_delta(target_x - x, side)), target_y, z + int(torus_delta(target_z - z, side))
    if hidden_share(block_XZY, cost_XZY, sight, (x, y, z), near) < min_hidden_walk:
        return "walk_in_sight"
    eye = start.pose._replace(y=start.pose.y + EYE_HEIGHT_BLOCKS)
    turned = facing(eye, layout, side)
    yaw_deg = turned.yaw_deg + rng.uniform(-_YAW_JITTER_DEG, _YAW_JITTER_DEG)
    pitch_deg = turned.pitch_deg + rng.uniform(-_PITCH_JITTER_DEG, _PITCH_JITTER_DEG)
    pose = start.pose._replace(
        yaw_deg=round((yaw_deg + 180.0) % 360.0 - 180.0, 2), pitch_deg=round(max(-90.0, min(90.0, pitch_deg)), 2)
    )
    return dataclasses.replace(start, pose=pose)


def shortest_walk(cost_XZY: np.ndarray, start: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Return the standing cells x, y, z of a shortest walk, from `start` to where the target is in reach.

    Args:
        cost_XZY: uint16, walking costs to the target, see task_synthesis.reachability. On the torus; the cells of the
            walk are not wrapped, so that each is beside the one before.
        start: a cell that is reached.
    """
    size_x, size_z, size_y = cost_XZY.shape
    x, y, z = start
    cost = int(cost_XZY[x % size_x, z % size_z, y])
    assert cost != UNREACHED, "no walk begins there"
    walk = [(x, y, z)]
    while cost > 0:
        x, y, z, cost = _next_cell(cost_XZY, x, y, z, cost)
        walk.append((x, y, z))
    return walk


def hidden_share(
    block_XZY: np.ndarray, cost_XZY: np.ndarray, sight: Boxes, start: tuple[int, int, int], target: tuple[int, int, int]
) -> float:
    """Return the share of the shortest walk's cells, the first left out, from which a body does not see the target.

    Args:
        block_XZY: uint16 cells of the world, objects included.
        cost_XZY: walking costs to the target.
        sight: boxes that hide the target from an eye.
        start: standing cell.
        target: its cell, as near to the start as the torus allows.
    """
    walk = shortest_walk(cost_XZY, start)[1:]
    if not walk:
        return 0.0
    num_hidden = sum(not sees_cell(block_XZY, sight, x + 0.5, y, z + 0.5, *target) for x, y, z in walk)
    return num_hidden / len(walk)


def _next_cell(cost_XZY: np.ndarray, x: int, y: int, z: int, cost: int) -> tuple[int, int, int, int]:
    """Return the cell, and its cost, whose cost is less by exactly what the step to it takes."""
    size_x, size_z, size_y = cost_XZY.shape
    for dx, dz in _STEPS:
        step = DIAGONAL_COST if dx and dz else STRAIGHT_COST
        column_Y = cost_XZY[(x + dx) % size_x, (z + dz) % size_z]
        for next_y in range(max(1, y - 3), min(size_y, y + 2)):
            paid = step + (JUMP_COST if next_y > y else 0)
            # A cell may cost just so much less and yet be no neighbour, behind a corner say: rare, and as near.
            if int(column_Y[next_y]) == cost - paid:
                return x + dx, next_y, z + dz, cost - paid
    raise AssertionError(f"no step leads on from ({x}, {y}, {z}), cost {cost}")
