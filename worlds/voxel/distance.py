"""The distance field: how many cells a ray may skip in every direction without missing a block.

`distance_XZY` is uint8 [X, Z, 64]: Chebyshev distance in cells to the nearest cell that is not air, 0 for such a cell,
at most MAX_DISTANCE. x and z wrap; outside y = 0 .. 63 there is air. A value that is too small only costs time, so
taking a block away needs no update.
"""

import numba
import numpy as np

MAX_DISTANCE = 8

# Byte i of _SPREAD[bits] is bit i of `bits`: eight cells of a column become eight bytes in one look-up.
_SPREAD = np.array([sum((bits >> i & 1) << 8 * i for i in range(8)) for bits in range(256)], np.uint64)


@numba.njit(nogil=True, cache=True)
def _occupied_columns(block_XZY: np.ndarray) -> np.ndarray:
    """Return uint64 [X, Z]: bit y tells whether cell y of the column is not air."""
    size_x, size_z, _ = block_XZY.shape
    occupied_XZ = np.empty((size_x, size_z), np.uint64)
    for x in range(size_x):
        for z in range(size_z):
            bits = np.uint64(0)
            for y in range(64):
                bits |= np.uint64(block_XZY[x, z, y] != 0) << np.uint64(y)
            occupied_XZ[x, z] = bits
    return occupied_XZ


@numba.njit(nogil=True, cache=True)
def _dilate(reached_XZ: np.ndarray, row_XZ: np.ndarray) -> None:
    """Grow the set of cells by one in all 26 directions, in place; `row_XZ` is scratch."""
    size_x, size_z = reached_XZ.shape
    one = np.uint64(1)
    for x in range(size_x):
        for z in range(size_z):
            before, after = (z - 1) & (size_z - 1), (z + 1) & (size_z - 1)
            bits = reached_XZ[x, before] | reached_XZ[x, z] | reached_XZ[x, after]
            row_XZ[x, z] = bits | bits << one | bits >> one
    for x in range(size_x):
        before, after = (x - 1) & (size_x - 1), (x + 1) & (size_x - 1)
        for z in range(size_z):
            reached_XZ[x, z] = row_XZ[before, z] | row_XZ[x, z] | row_XZ[after, z]


@numba.njit(nogil=True, cache=True)
def _fill(block_XZY: np.ndarray, distance_XZ8: np.ndarray, spread: np.ndarray) -> None:
    """Write the field as uint64 [X, Z, 8], eight cells a word.

    The distance of a cell is the number of dilations 0 .. 7 that have not reached it. The four bits of that count are
    kept as bit planes, one uint64 a column each: cells drop out one level after the other, so counting is four logic
    operations for 64 cells.
    """
    size_x, size_z, _ = block_XZY.shape
    reached_XZ = _occupied_columns(block_XZY)
    row_XZ = np.empty_like(reached_XZ)
    bit_XZ4 = np.zeros((size_x, size_z, 4), np.uint64)
    for _ in range(MAX_DISTANCE):
        for x in range(size_x):
            for z in range(size_z):
                carry = ~reached_XZ[x, z]
                for i in range(4):
                    bits = bit_XZ4[x, z, i]
                    bit_XZ4[x, z, i] = bits ^ carry
                    carry &= bits
        _dilate(reached_XZ, row_XZ)
    for x in range(size_x):
        for z in range(size_z):
            for part in range(8):
                shift = np.uint64(8 * part)
                word = np.uint64(0)
                for i in range(4):
                    byte = (bit_XZ4[x, z, i] >> shift) & np.uint64(255)
                    word |= spread[byte] << np.uint64(i)
                distance_XZ8[x, z, part] = word


def build_distance(block_XZY: np.ndarray, distance_XZY: np.ndarray) -> None:
    """Write the distance field of a world into `distance_XZY`.

    Args:
        block_XZY: uint16 [X, Z, 64] cells; X and Z are powers of two.
        distance_XZY: uint8 [X, Z, 64], C-contiguous, overwritten.
    """
    _fill(block_XZY, distance_XZY.view(np.uint64), _SPREAD)


@numba.njit(nogil=True, cache=True)
def lower_distance(distance_XZY: np.ndarray, x: int, y: int, z: int) -> None:
    """Bring the field up to date after a block was put at cell x, y, z (wrapped); exact if it was exact before."""
    mask_x, mask_z = distance_XZY.shape[0] - 1, distance_XZY.shape[1] - 1
    reach = MAX_DISTANCE - 1
    for step_x in range(-reach, reach + 1):
        for step_z in range(-reach, reach + 1):
            aside = max(abs(step_x), abs(step_z))
            for other_y in range(max(0, y - reach), min(63, y + reach) + 1):
                distance = max(aside, abs(other_y - y))
                cell = ((x + step_x) & mask_x, (z + step_z) & mask_z, other_y)
                if distance < distance_XZY[cell]:
                    distance_XZY[cell] = distance
