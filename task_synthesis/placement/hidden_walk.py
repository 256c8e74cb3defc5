"""How much of the way to a target is walked without seeing it: what a task asks of the memory."""

import dataclasses
import math

import numpy as np

from task_synthesis.placement.aim import aimed_at, wrapped_deg
from task_synthesis.placement.layout import Layout
from task_synthesis.placement.reachability import (
    DIAGONAL_COST,
    JUMP_COST,
    MAX_DROP_BLOCKS,
    STRAIGHT_COST,
    UNREACHED,
    can_step,
    sees_cell,
    walk_costs,
)
from task_synthesis.placement.sites import Sites
from task_synthesis.placement.starts import Start
from task_synthesis.placement.targets import torus_delta
from worlds.types import EYE_HEIGHT_BLOCKS
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.tables import Boxes

# How far off the middle of the first frame the target is, at most; half the field of view is 35 degrees.
_YAW_JITTER_DEG, _PITCH_JITTER_DEG = 20.0, 10.0
_STEPS = [(dx, dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1) if dx or dz]


def remembering_start(
    rng: np.random.Generator,
    start: Start,
    layout: Layout,
    block_XZY: np.ndarray,
    sites: Sites,
    *,
    circle_blocks: tuple[int, int],
    min_hidden_walk: float,
    sight: Boxes,
) -> Start | str:
    """Return a start turned so that it sees the target, or why it asks nothing of the memory.

    Args:
        rng: of the jitter around the target.
        start: as drawn.
        layout: the objects.
        block_XZY: uint16 cells of the world, objects included.
        sites: tables of what a body can stand on.
        circle_blocks: after how many blocks along x and z one is back, see `circle_of`.
        min_hidden_walk: share of the shortest walk that must be without a sight of the target.
        sight: boxes that hide the target from an eye.
    """
    if not start.in_sight:
        return "start_hidden"
    # A body on a slab belongs to the cell above it.
    x, y, z = math.floor(start.pose.x), math.ceil(start.pose.y), math.floor(start.pose.z)
    target_x, target_y, target_z = layout.target_position
    circle_x, circle_z = circle_blocks
    near = x + int(torus_delta(target_x - x, circle_x)), target_y, z + int(torus_delta(target_z - z, circle_z))
    walk = shortest_walk(block_XZY, sites, (x, y, z), layout.target_position, most_blocks=start.path_blocks)
    if hidden_share(block_XZY, sight, walk, near) < min_hidden_walk:
        return "walk_in_sight"
    eye = start.pose._replace(y=start.pose.y + EYE_HEIGHT_BLOCKS)
    turned = aimed_at(eye, layout.target_position, circle_blocks)
    yaw_deg = turned.yaw_deg + rng.uniform(-_YAW_JITTER_DEG, _YAW_JITTER_DEG)
    pitch_deg = turned.pitch_deg + rng.uniform(-_PITCH_JITTER_DEG, _PITCH_JITTER_DEG)
    pose = start.pose._replace(
        yaw_deg=round(wrapped_deg(yaw_deg), 2), pitch_deg=round(max(-90.0, min(90.0, pitch_deg)), 2)
    )
    return dataclasses.replace(start, pose=pose)


def shortest_walk(
    block_XZY: np.ndarray,
    sites: Sites,
    start: tuple[int, int, int],
    target: tuple[int, int, int],
    *,
    most_blocks: float,
) -> list[tuple[int, int, int]]:
    """Return the standing cells x, y, z of a shortest walk, from `start` to where the target is in reach.

    Each cell is beside the one before, so they are not wrapped. Empty where every walk is longer than `most_blocks`.
    """
    size_x, size_z, size_y = block_XZY.shape
    footing_S, is_fluid_S = sites.footing_S, sites.is_fluid_S
    cost_XZY = np.empty(block_XZY.shape, np.uint16)
    # A step dearer than the walk, so that rounding cuts nothing off.
    most_cost = round(10 * most_blocks) + DIAGONAL_COST
    walk_costs(block_XZY, engine_tables().blocks.outline, footing_S, is_fluid_S, *target, most_cost, cost_XZY)
    x, y, z = start
    cost = int(cost_XZY[x % size_x, z % size_z, y])
    if cost == UNREACHED:
        return []
    walk = [start]
    while cost > 0:
        for dx, dz in _STEPS:
            step_cost = DIAGONAL_COST if dx and dz else STRAIGHT_COST
            column_Y = cost_XZY[(x + dx) % size_x, (z + dz) % size_z]
            for next_y in range(max(1, y - MAX_DROP_BLOCKS), min(size_y, y + 2)):
                is_cheaper = int(column_Y[next_y]) == cost - step_cost - (JUMP_COST if next_y > y else 0)
                if is_cheaper and can_step(block_XZY, footing_S, is_fluid_S, x, y, z, dx, dz, next_y):
                    break
            else:
                continue
            break
        else:
            raise AssertionError(f"no step leads on from ({x}, {y}, {z}), cost {cost}")
        x, y, z, cost = x + dx, next_y, z + dz, int(column_Y[next_y])
        walk.append((x, y, z))
    return walk


def hidden_share(
    block_XZY: np.ndarray, sight: Boxes, walk: list[tuple[int, int, int]], target: tuple[int, int, int]
) -> float:
    """Return the share of a walk's cells, the first left out, from which a body does not see the target; 0 for none.

    `target` is its cell as near to the walk as the torus allows; `sight` are the boxes that hide it from an eye.
    """
    num_hidden = sum(not sees_cell(block_XZY, sight, x + 0.5, y, z + 0.5, *target) for x, y, z in walk[1:])
    return num_hidden / max(1, len(walk) - 1)
