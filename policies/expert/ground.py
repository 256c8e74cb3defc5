"""What a body can stand on, walk through and must stay away from. S block states.

A node of the map of walks is a cell (x, level, z) above something to stand on: its floor is `level - 1` plus the height
of what lies in the cell below, so slabs, carpets and beds have theirs, and the surface of water is one to swim on.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from worlds.spec import BLOCK_MASK
from worlds.voxel.tables import FLUID_LAVA, FLUID_WATER, BlockTables

NO_FLOOR = -1.0
WALK_RISE_BLOCKS, JUMP_RISE_BLOCKS, DROP_BLOCKS = 0.6, 1.2, 3.2
_BODY_BLOCKS = 1.799
_SWIM_BLOCKS = 0.4  # a swimmer's feet in the uppermost cell of water
_SKIN = 0.001


class Ground(NamedTuple):
    """What every block state is to a walker."""

    top_S: np.ndarray  # float64 [S], height of what can be stood on above the cell's floor, 0 none; fences 1.5
    is_body_S: np.ndarray  # bool [S], stops a body
    is_water_S: np.ndarray  # bool [S]
    is_bad_S: np.ndarray  # bool [S], hurts or holds: lava, fire, cactus, magma, bushes, webs
    is_plant_S: np.ndarray  # bool [S], stops a pointer but no body, and breaks at once


def build_ground(blocks: BlockTables) -> Ground:
    """Return the rows of the block table as a walker sees them."""
    collision = blocks.collision
    top_S = np.zeros(len(blocks.kind_S))
    for state, (start, count) in enumerate(zip(collision.start_S, collision.count_S, strict=True)):
        top_S[state] = collision.box_B6[start : start + count, 4].max(initial=0.0)
    is_water_S = blocks.fluid_S == FLUID_WATER
    top_S[is_water_S & ~blocks.is_solid_S] = _SWIM_BLOCKS
    return Ground(
        top_S=top_S,
        is_body_S=blocks.is_solid_S.copy(),
        is_water_S=is_water_S,
        is_bad_S=(blocks.hurt_S > 0) | blocks.is_web_S | (blocks.fluid_S == FLUID_LAVA),
        is_plant_S=~blocks.is_solid_S & (blocks.outline.count_S > 0) & (blocks.hardness_S == 0.0),
    )


@njit(cache=True, nogil=True)
def state_at(block_XZY, x, y, z):
    """Return the state of a cell, wrapped into the world; air above and below it."""
    if y < 0 or y >= block_XZY.shape[2]:
        return 0
    return int(block_XZY[x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1), y]) & BLOCK_MASK


@njit(cache=True, nogil=True)
def is_open(block_XZY, ground, x, z, low, high):
    """Tell whether cells `low` .. `high` of a column neither stop a body nor hurt it."""
    for y in range(low, high + 1):
        state = state_at(block_XZY, x, y, z)
        if ground.is_body_S[state] or ground.is_bad_S[state]:
            return False
    return True


@njit(cache=True, nogil=True)
def floor_of(block_XZY, ground, x, level, z):
    """Return the height of the feet of a body at node (x, level, z), NO_FLOOR where none can stand or swim."""
    if level < 1 or level >= block_XZY.shape[2]:
        return NO_FLOOR
    below = state_at(block_XZY, x, level - 1, z)
    top = ground.top_S[below]
    if top <= 0.0 or ground.is_bad_S[below] or ground.is_water_S[state_at(block_XZY, x, level, z)]:
        return NO_FLOOR
    height = level - 1 + top
    if not is_open(block_XZY, ground, x, z, level, math.floor(height + _BODY_BLOCKS)):
        return NO_FLOOR
    return height


@njit(cache=True, nogil=True)
def floor_near(block_XZY, ground, x, y, z):
    """Return (level, height) of the highest floor of a column that feet at y stand on or fall to, (-1, NO_FLOOR)."""
    cell_x, cell_z = math.floor(x), math.floor(z)
    for level in range(math.floor(y) + 2, max(0, math.floor(y) - 4), -1):
        height = floor_of(block_XZY, ground, cell_x, level, cell_z)
        if height >= 0.0 and height <= y + WALK_RISE_BLOCKS:
            return level, height
    return -1, NO_FLOOR


@njit(cache=True, nogil=True)
def can_go(block_XZY, ground, x, z, height, dx, dz, to_level, to_height):
    """Tell whether a body on a floor at `height` of column (x, z) gets to the floor of a neighbouring column."""
    rise = to_height - height
    if rise > JUMP_RISE_BLOCKS or rise < -DROP_BLOCKS:
        return False
    head = math.floor(max(height, to_height) + _BODY_BLOCKS)
    if rise > WALK_RISE_BLOCKS and dx != 0 and dz != 0:
        return False
    # Onto a slab or deep snow the head rises while the body is still here: under a low ceiling it does not.
    if rise > 0.0 and not is_open(block_XZY, ground, x, z, math.floor(height + 1.0 + _SKIN), head):
        return False
    if rise < 0.0 and not is_open(block_XZY, ground, x + dx, z + dz, to_level, head):
        return False
    if dx == 0 or dz == 0:
        return True
    low = math.floor(height + WALK_RISE_BLOCKS)
    for side in range(2):
        side_x, side_z = (x + dx, z) if side == 0 else (x, z + dz)
        if not is_open(block_XZY, ground, side_x, side_z, low, head):
            return False
        if low - 1 + ground.top_S[state_at(block_XZY, side_x, low - 1, side_z)] > height + WALK_RISE_BLOCKS:
            return False
    return True
