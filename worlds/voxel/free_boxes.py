"""Free boxes: what the low nibble of a field's cell promises to rays, beyond a cube of free cells.

A code 1 .. 8 is the Chebyshev distance to the nearest cell that is not air: a cube. Codes 9 .. 15 are flat boxes, as
they lie on open ground: so many cells along x and z both ways, up, and down, the cell itself counted. On worlds of the
generator they save a quarter of the steps of a ray. 0 is a cell that is not air. x and z wrap.
"""

import numba
import numpy as np

from worlds.voxel.link import Kernel

BOX_BITS = 15
FIRST_FLAT = 9
# Cells aside, up and down of every code.
BOXES: tuple[tuple[int, int, int], ...] = (
    *((size, size, size) for size in range(9)),
    (2, 1, 1), (4, 1, 1), (8, 8, 1), (4, 2, 2), (8, 8, 2), (8, 8, 4), (4, 4, 1),
)  # fmt: skip
MOST_CELLS = 8  # aside, up or down
# The same for codes 8 .. 15 as numbers of four bits, the lowest first: what kernels read.
FREE_ASIDE, FREE_UP, FREE_DOWN = (
    sum(BOXES[code][way] << 4 * (code - 8) for code in range(8, 16)) for way in range(3)
)  # fmt: skip


def _area(box: tuple[int, int, int]) -> int:
    return box[0] * box[0] * (box[1] + box[2])


_AREA = np.array([_area(box) for box in BOXES], np.int64)
_BOX_C3 = np.array(BOXES, np.int64)


def free_aside(code):  # type: ignore[no-untyped-def]
    """Return how many cells along x and z a code promises, both ways."""
    return code if code < 8 else (FREE_ASIDE >> 4 * (code - 8)) & 15


def free_up(code):  # type: ignore[no-untyped-def]
    """Return how many cells upwards a code promises."""
    return code if code < 8 else (FREE_UP >> 4 * (code - 8)) & 15


def free_down(code):  # type: ignore[no-untyped-def]
    """Return how many cells downwards a code promises."""
    return code if code < 8 else (FREE_DOWN >> 4 * (code - 8)) & 15


@numba.njit(nogil=True, cache=True)
def _spread_aside(near_XZ: np.ndarray, row_XZ: np.ndarray, reach: int) -> None:
    """Grow the set of cells by `reach` along x and z, in place: a column is a word of 64 bits. `row_XZ` is scratch."""
    size_x, size_z = near_XZ.shape
    for x in range(size_x):
        for z in range(size_z):
            before, after = (z - reach) & (size_z - 1), (z + reach) & (size_z - 1)
            row_XZ[x, z] = near_XZ[x, before] | near_XZ[x, z] | near_XZ[x, after]
    for x in range(size_x):
        before, after = (x - reach) & (size_x - 1), (x + reach) & (size_x - 1)
        for z in range(size_z):
            near_XZ[x, z] = row_XZ[before, z] | row_XZ[x, z] | row_XZ[after, z]


@numba.njit(nogil=True, cache=True)
def _near(bits: np.uint64, up: int, down: int) -> np.uint64:
    """Return the cells of a column that have one of `bits` less than `up` above or `down` below them."""
    near = bits
    for cells in range(1, up):
        near |= bits >> np.uint64(cells)
    for cells in range(1, down):
        near |= bits << np.uint64(cells)
    return near


@numba.njit(nogil=True, cache=True)
def _add_flat_boxes(distance_XZY: np.ndarray, box_C3: np.ndarray, area_C: np.ndarray) -> None:
    size_x, size_z, size_y = distance_XZY.shape
    near_2_XZ = np.empty((size_x, size_z), np.uint64)
    row_XZ = np.empty((size_x, size_z), np.uint64)
    for x in range(size_x):
        for z in range(size_z):
            bits = np.uint64(0)
            for y in range(size_y):
                bits |= np.uint64(distance_XZY[x, z, y] == 0) << np.uint64(y)
            near_2_XZ[x, z] = bits
    # A box of 2 cells aside sees one cell further; of 4, three; of 8, seven.
    _spread_aside(near_2_XZ, row_XZ, 1)
    near_4_XZ = near_2_XZ.copy()
    _spread_aside(near_4_XZ, row_XZ, 2)
    near_8_XZ = near_4_XZ.copy()
    _spread_aside(near_8_XZ, row_XZ, 4)
    free_C = np.zeros(len(box_C3), np.uint64)
    for x in range(size_x):
        for z in range(size_z):
            for code in range(FIRST_FLAT, len(box_C3)):
                aside = box_C3[code, 0]
                bits = near_2_XZ[x, z] if aside == 2 else (near_4_XZ[x, z] if aside == 4 else near_8_XZ[x, z])
                free_C[code] = ~_near(bits, box_C3[code, 1], box_C3[code, 2])
            for y in range(size_y):
                distance = distance_XZY[x, z, y]
                if distance == 0 or distance >= MOST_CELLS:
                    continue
                best = np.int64(distance)
                for code in range(FIRST_FLAT, len(box_C3)):
                    if (free_C[code] >> np.uint64(y)) & np.uint64(1) and area_C[code] > area_C[best]:
                        best = np.int64(code)
                distance_XZY[x, z, y] = best


def add_flat_boxes(distance_XZY: np.ndarray) -> None:
    """Turn distances 0 .. 8 into codes: flat boxes replace cubes where they are larger.

    Args:
        distance_XZY: uint8 [X, Z, 64] as build_distance writes it, changed in place.
    """
    _add_flat_boxes(distance_XZY, _BOX_C3, _AREA)


def narrow_boxes(field_XZY, x, y, z):  # type: ignore[no-untyped-def]
    """Bring the codes up to date after a block was put at cell x, y, z (wrapped): no box holds it any more.

    A box that held it becomes the largest one inside of it that does not.
    """
    mask_x, mask_z = field_XZY.shape[0] - 1, field_XZY.shape[1] - 1
    reach = MOST_CELLS - 1
    for step_x in range(-reach, reach + 1):
        for step_z in range(-reach, reach + 1):
            aside = max(abs(step_x), abs(step_z))
            for other_y in range(max(0, y - reach), min(field_XZY.shape[2] - 1, y + reach) + 1):
                cell_x, cell_z = (x + step_x) & mask_x, (z + step_z) & mask_z
                value = int(field_XZY[cell_x, cell_z, other_y])
                code = value & BOX_BITS
                narrower = narrower_code(code, aside, y - other_y)
                if narrower != code:
                    field_XZY[cell_x, cell_z, other_y] = (value & ~BOX_BITS & 255) | narrower


def narrower_code(code, aside, above):  # type: ignore[no-untyped-def]
    """Return the code of a cell after a block was put so many cells aside of it and above it (below: negative)."""
    below = -above
    if aside >= free_aside(code) or above >= free_up(code) or below >= free_down(code):
        return code
    best, best_area = 0, 0
    for other in range(1, BOX_BITS + 1):
        other_aside, other_up, other_down = free_aside(other), free_up(other), free_down(other)
        is_within = other_aside <= free_aside(code) and other_up <= free_up(code) and other_down <= free_down(code)
        is_clear = aside >= other_aside or above >= other_up or below >= other_down
        area = other_aside * other_aside * (other_up + other_down)
        if is_within and is_clear and area > best_area:
            best, best_area = other, area
    return best


SOURCES: tuple[Kernel, ...] = (free_aside, free_up, free_down, narrower_code, narrow_boxes)
