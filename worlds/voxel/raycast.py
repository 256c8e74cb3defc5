"""Straight lines through the blocks: what a hand reaches, what an arrow meets, what a camera sees. V rows."""

import math

import numba
import numpy as np

from worlds.spec import BLOCK_MASK
from worlds.types import FACE_DOWN, FACE_EAST, FACE_NORTH, FACE_SOUTH, FACE_UP, FACE_WEST
from worlds.voxel.link import Kernel, link

NO_CELL = -1
NEVER = 1e30  # distance to what a ray does not meet


def nearest_image(offset, size):
    """Return the offset on a circle of `size` blocks, shortened to [-size / 2, size / 2)."""
    return offset - size * math.floor(offset / size + 0.5)


def ray_box(ox, oy, oz, dx, dy, dz, x0, y0, z0, x1, y1, z1):
    """Return (distance, face) where a ray enters a box: distance in lengths of the direction, face as in FACES.

    A ray from inside enters at (0.0, -1); one that misses the box gives (NEVER, -1).
    """
    enter, leave, face = -NEVER, NEVER, NO_CELL
    if dx != 0.0:
        near, far = (x0 - ox) / dx, (x1 - ox) / dx
        if near > far:
            near, far = far, near
        enter, leave, face = near, far, FACE_WEST if dx > 0.0 else FACE_EAST
    elif ox < x0 or ox > x1:
        return NEVER, NO_CELL
    if dy != 0.0:
        near, far = (y0 - oy) / dy, (y1 - oy) / dy
        if near > far:
            near, far = far, near
        if near > enter:
            enter, face = near, FACE_DOWN if dy > 0.0 else FACE_UP
        leave = min(leave, far)
    elif oy < y0 or oy > y1:
        return NEVER, NO_CELL
    if dz != 0.0:
        near, far = (z0 - oz) / dz, (z1 - oz) / dz
        if near > far:
            near, far = far, near
        if near > enter:
            enter, face = near, FACE_NORTH if dz > 0.0 else FACE_SOUTH
        leave = min(leave, far)
    elif oz < z0 or oz > z1:
        return NEVER, NO_CELL
    if enter > leave or leave < 0.0:
        return NEVER, NO_CELL
    if enter < 0.0:
        return 0.0, NO_CELL
    return enter, face


def first_hit(block_XZY, boxes, ox, oy, oz, dx, dy, dz, max_blocks):
    """Return the first box of a block on a ray as (x, y, z, face, distance); states without boxes let it pass.

    `block_XZY` is uint16 [X, Z, Y] cells of one world, `boxes` the outlines (what a pointer meets) or the collision
    boxes (what an arrow meets). The direction need not have length 1. The cell is wrapped into the world, the
    distance is in blocks. Nothing within `max_blocks`: (-1, -1, -1, -1, max_blocks). A ray that starts inside a box
    hits it at distance 0 on face -1.
    """
    size_x, size_z, size_y = block_XZY.shape
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    x, y, z = math.floor(ox), math.floor(oy), math.floor(oz)
    to_x = ((x + (dx > 0)) - ox) / dx * length if dx != 0 else NEVER
    to_y = ((y + (dy > 0)) - oy) / dy * length if dy != 0 else NEVER
    to_z = ((z + (dz > 0)) - oz) / dz * length if dz != 0 else NEVER
    per_x = length / abs(dx) if dx != 0 else NEVER
    per_y = length / abs(dy) if dy != 0 else NEVER
    per_z = length / abs(dz) if dz != 0 else NEVER
    face, distance = NO_CELL, 0.0
    while distance <= max_blocks:
        if 0 <= y < size_y:
            state = block_XZY[x & (size_x - 1), z & (size_z - 1), y] & BLOCK_MASK
            if boxes.is_cube_S[state]:
                return x & (size_x - 1), y, z & (size_z - 1), face, distance
            best, best_face = NEVER, NO_CELL
            start = boxes.start_S[state]
            for b in range(start, start + boxes.count_S[state]):
                near, near_face = ray_box(
                    ox, oy, oz, dx, dy, dz,
                    x + boxes.box_B6[b, 0], y + boxes.box_B6[b, 1], z + boxes.box_B6[b, 2],
                    x + boxes.box_B6[b, 3], y + boxes.box_B6[b, 4], z + boxes.box_B6[b, 5],
                )  # fmt: skip
                if near * length < best:
                    best, best_face = near * length, near_face
            if best <= max_blocks:
                return x & (size_x - 1), y, z & (size_z - 1), best_face, best
        elif (y < 0 and dy <= 0) or (y >= size_y and dy >= 0):
            break
        if to_x < to_y and to_x < to_z:
            distance = to_x
            to_x += per_x
            x += 1 if dx > 0 else -1
            face = FACE_WEST if dx > 0 else FACE_EAST
        elif to_y < to_z:
            distance = to_y
            to_y += per_y
            y += 1 if dy > 0 else -1
            face = FACE_DOWN if dy > 0 else FACE_UP
        else:
            distance = to_z
            to_z += per_z
            z += 1 if dz > 0 else -1
            face = FACE_NORTH if dz > 0 else FACE_SOUTH
    return NO_CELL, NO_CELL, NO_CELL, NO_CELL, max_blocks


def box_centre(boxes, state):
    """Return the centre of the largest box of a state within its cell; the cell's centre when there is none."""
    x, y, z, largest = 0.5, 0.5, 0.5, 0.0
    start = boxes.start_S[state]
    for b in range(start, start + boxes.count_S[state]):
        x0, y0, z0 = boxes.box_B6[b, 0], boxes.box_B6[b, 1], boxes.box_B6[b, 2]
        x1, y1, z1 = boxes.box_B6[b, 3], boxes.box_B6[b, 4], boxes.box_B6[b, 5]
        volume = (x1 - x0) * (y1 - y0) * (z1 - z0)
        if volume > largest:
            x, y, z, largest = (x0 + x1) / 2.0, (y0 + y1) / 2.0, (z0 + z1) / 2.0, volume
    return x, y, z


def is_cell_in_sight(block_XZY, outline, ox, oy, oz, cell_x, cell_y, cell_z):
    """Tell whether a ray from (ox, oy, oz) to the middle of a cell's outline meets that cell first.

    The middle of a shape is that of its largest box. The nearest of the cell's images on the torus is meant. False
    where the cell holds nothing to meet.
    """
    size_x, size_z, size_y = block_XZY.shape
    if cell_y < 0 or cell_y >= size_y:
        return False
    state = block_XZY[cell_x & (size_x - 1), cell_z & (size_z - 1), cell_y] & BLOCK_MASK
    middle_x, middle_y, middle_z = box_centre(outline, state)
    dx = nearest_image(cell_x + middle_x - ox, size_x)
    dy = cell_y + middle_y - oy
    dz = nearest_image(cell_z + middle_z - oz, size_z)
    reach_blocks = math.sqrt(dx * dx + dy * dy + dz * dz)
    x, y, z, _, _ = first_hit(block_XZY, outline, ox, oy, oz, dx, dy, dz, reach_blocks)
    return y == cell_y and x == (cell_x & (size_x - 1)) and z == (cell_z & (size_z - 1))


SOURCES: tuple[Kernel, ...] = (nearest_image, ray_box, first_hit, box_centre, is_cell_in_sight)

_CPU = link(SOURCES, numba.njit(nogil=True, cache=True, error_model="numpy"), {})
first_hit_cpu = _CPU["first_hit"]
_is_cell_in_sight = _CPU["is_cell_in_sight"]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def is_line_clear(
    block_WXZY: np.ndarray,
    outline,  # type: ignore[no-untyped-def]
    world_index_V: np.ndarray,
    from_V3: np.ndarray,
    cell_V3: np.ndarray,
) -> np.ndarray:
    """Tell for each row whether the ray to the middle of a cell's outline meets that cell first; bool [V].

    Args: block_WXZY: uint16 [W, X, Z, 64] cells. outline: the Boxes that rays meet. world_index_V: int64 [V], the
    row's world. from_V3: float64 [V, 3] x, y, z in blocks. cell_V3: int64 [V, 3] x, y, z; the nearest of its images
    on the torus is meant. False where it is air or water.
    """
    is_clear_V = np.zeros(len(world_index_V), np.bool_)
    for v in range(len(world_index_V)):
        is_clear_V[v] = _is_cell_in_sight(
            block_WXZY[world_index_V[v]], outline, from_V3[v, 0], from_V3[v, 1], from_V3[v, 2],
            cell_V3[v, 0], cell_V3[v, 1], cell_V3[v, 2],
        )  # fmt: skip
    return is_clear_V
