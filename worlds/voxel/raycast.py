"""Straight lines through the blocks: what a tool reaches and what a camera can see. V rows of queries, W worlds."""

import math

import numba
import numpy as np

from worlds.blocks import AIR, BLOCK_ID
from worlds.spec import BLOCK_MASK

WATER = BLOCK_ID["water"]
NO_CELL = -1

# Faces of a block, named by where they look.
FACE_WEST, FACE_EAST, FACE_BOTTOM, FACE_TOP, FACE_NORTH, FACE_SOUTH = range(6)
_NEVER = 1e30  # crossing distance of a plane that the ray runs parallel to


@numba.njit(nogil=True, cache=True)
def first_hit(
    block_XZY: np.ndarray, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, max_blocks: float
) -> tuple[int, int, int, int, float]:
    """Return the first block on a ray as (x, y, z, face, distance); water does not stop the ray.

    The cell is wrapped into the world. Nothing within `max_blocks`: (-1, -1, -1, -1, max_blocks). A ray that starts
    inside a block hits it at distance 0 on face -1. The direction need not have length 1; the distance is in blocks.
    """
    size_x, size_z, size_y = block_XZY.shape
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    x, y, z = math.floor(ox), math.floor(oy), math.floor(oz)
    to_x = ((x + (dx > 0)) - ox) / dx * length if dx != 0 else _NEVER
    to_y = ((y + (dy > 0)) - oy) / dy * length if dy != 0 else _NEVER
    to_z = ((z + (dz > 0)) - oz) / dz * length if dz != 0 else _NEVER
    per_x = length / abs(dx) if dx != 0 else _NEVER
    per_y = length / abs(dy) if dy != 0 else _NEVER
    per_z = length / abs(dz) if dz != 0 else _NEVER
    face, distance = NO_CELL, 0.0
    while distance <= max_blocks:
        if 0 <= y < size_y:
            block = block_XZY[x & (size_x - 1), z & (size_z - 1), y] & BLOCK_MASK
            if block != AIR and block != WATER:
                return x & (size_x - 1), y, z & (size_z - 1), face, distance
        if to_x < to_y and to_x < to_z:
            distance = to_x
            to_x += per_x
            x += 1 if dx > 0 else -1
            face = FACE_WEST if dx > 0 else FACE_EAST
        elif to_y < to_z:
            distance = to_y
            to_y += per_y
            y += 1 if dy > 0 else -1
            face = FACE_BOTTOM if dy > 0 else FACE_TOP
        else:
            distance = to_z
            to_z += per_z
            z += 1 if dz > 0 else -1
            face = FACE_NORTH if dz > 0 else FACE_SOUTH
    return NO_CELL, NO_CELL, NO_CELL, NO_CELL, max_blocks


@numba.njit(nogil=True, cache=True)
def _nearest_image(offset: float, size: int) -> float:
    """Return the offset on a circle of `size` blocks, shortened to [-size / 2, size / 2)."""
    return offset - size * math.floor(offset / size + 0.5)


@numba.njit(nogil=True, cache=True)
def is_line_clear(
    block_WXZY: np.ndarray, world_index_V: np.ndarray, from_V3: np.ndarray, cell_V3: np.ndarray
) -> np.ndarray:
    """Tell for each row whether the ray to the centre of the cell meets that cell first; bool [V].

    Args:
        block_WXZY: uint16 [W, X, Z, 64] cells.
        world_index_V: int64 [V], the row's world.
        from_V3: float64 [V, 3] x, y, z in blocks.
        cell_V3: int64 [V, 3] x, y, z; the nearest of its images on the torus is meant. False where it is air or water.
    """
    is_clear_V = np.zeros(len(world_index_V), np.bool_)
    for v in range(len(world_index_V)):
        block_XZY = block_WXZY[world_index_V[v]]
        size_x, size_z, _ = block_XZY.shape
        ox, oy, oz = from_V3[v]
        cell_x, cell_y, cell_z = cell_V3[v]
        dx = _nearest_image(cell_x + 0.5 - ox, size_x)
        dy = cell_y + 0.5 - oy
        dz = _nearest_image(cell_z + 0.5 - oz, size_z)
        reach_blocks = math.sqrt(dx * dx + dy * dy + dz * dz)
        x, y, z, _, _ = first_hit(block_XZY, ox, oy, oz, dx, dy, dz, reach_blocks)
        is_clear_V[v] = y == cell_y and x == (cell_x & (size_x - 1)) and z == (cell_z & (size_z - 1))
    return is_clear_V
