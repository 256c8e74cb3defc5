"""The field: one byte a cell that tells rays how far they may skip and how bright the cell is.

`field_XZY` is uint8 [X, Z, 64]. Its low nibble is the code of a box of free cells around the cell, see
worlds.voxel.free_boxes: 0 for a cell that is not air, 1 .. 8 the Chebyshev distance to the nearest such cell, above
that flat boxes. A box that is too small only costs time, so taking a block away needs no update. Its high nibble is the
light level 0 .. 15. x and z wrap; outside y = 0 .. 63 there is air under an open sky.

A world is prepared once: `build_distance` and flat boxes, and `build_light` with sky and lamps apart (high and low
nibble); an episode then joins them with its own time of day by `write_field`.
"""

import numba
import numpy as np

from worlds.spec import BLOCK_MASK

MAX_DISTANCE = 8
LIGHT_SHIFT, FULL_LIGHT = 4, 15

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
def _count(bit_XZ4: np.ndarray, member_XZ: np.ndarray) -> None:
    """Add 1 to the number of every member cell: numbers 0 .. 15 are kept as four bit planes, a word a column each."""
    size_x, size_z = member_XZ.shape
    for x in range(size_x):
        for z in range(size_z):
            carry = member_XZ[x, z]
            for i in range(4):
                bits = bit_XZ4[x, z, i]
                bit_XZ4[x, z, i] = bits ^ carry
                carry &= bits


@numba.njit(nogil=True, cache=True)
def _write_numbers(bit_XZ4: np.ndarray, shift: np.uint64, number_XZ8: np.ndarray, spread: np.ndarray) -> None:
    """Or the numbers of the bit planes, shifted by `shift` bits, into bytes: uint64 [X, Z, 8], eight cells a word."""
    size_x, size_z, _ = bit_XZ4.shape
    for x in range(size_x):
        for z in range(size_z):
            for part in range(8):
                from_bit = np.uint64(8 * part)
                word = np.uint64(0)
                for i in range(4):
                    byte = (bit_XZ4[x, z, i] >> from_bit) & np.uint64(255)
                    word |= spread[byte] << np.uint64(i)
                number_XZ8[x, z, part] |= word << shift


@numba.njit(nogil=True, cache=True)
def _build_distance(block_XZY: np.ndarray, distance_XZ8: np.ndarray, spread: np.ndarray) -> None:
    """The distance of a cell is the number of dilations 0 .. 7 that have not reached it."""
    size_x, size_z, _ = block_XZY.shape
    reached_XZ = _occupied_columns(block_XZY)
    row_XZ = np.empty_like(reached_XZ)
    bit_XZ4 = np.zeros((size_x, size_z, 4), np.uint64)
    for _ in range(MAX_DISTANCE):
        _count(bit_XZ4, ~reached_XZ)
        _dilate(reached_XZ, row_XZ)
    distance_XZ8[:] = np.uint64(0)
    _write_numbers(bit_XZ4, np.uint64(0), distance_XZ8, spread)


@numba.njit(nogil=True, cache=True)
def _flow(reached_XZ: np.ndarray, before_XZ: np.ndarray, is_clear_XZ: np.ndarray) -> None:
    """Let light take one step: grow the set by its 6 neighbours that let light through, in place."""
    size_x, size_z = reached_XZ.shape
    one = np.uint64(1)
    before_XZ[:] = reached_XZ
    for x in range(size_x):
        west, east = (x - 1) & (size_x - 1), (x + 1) & (size_x - 1)
        for z in range(size_z):
            own = before_XZ[x, z]
            near = before_XZ[west, z] | before_XZ[east, z]
            near |= before_XZ[x, (z - 1) & (size_z - 1)] | before_XZ[x, (z + 1) & (size_z - 1)]
            reached_XZ[x, z] = own | ((near | own << one | own >> one) & is_clear_XZ[x, z])


@numba.njit(nogil=True, cache=True)
def _build_light(
    block_XZY: np.ndarray, emission_S: np.ndarray, opacity_S: np.ndarray, light_XZ8: np.ndarray, spread: np.ndarray
) -> None:
    """A level 1 .. 15 is the number of the sets "brighter than 14, 13, ..." that hold the cell."""
    size_x, size_z, size_y = block_XZY.shape
    is_clear_XZ = np.empty((size_x, size_z), np.uint64)
    open_XZ = np.empty((size_x, size_z), np.uint64)
    lamp_LXZ = np.zeros((FULL_LIGHT + 1, size_x, size_z), np.uint64)
    num_lamps = 0
    for x in range(size_x):
        for z in range(size_z):
            clear, is_open, under_sky = np.uint64(0), True, np.uint64(0)
            for y in range(size_y - 1, -1, -1):
                state = block_XZY[x, z, y] & BLOCK_MASK
                bit = np.uint64(1) << np.uint64(y)
                if opacity_S[state] < FULL_LIGHT:
                    clear |= bit
                is_open = is_open and opacity_S[state] == 0
                if is_open:
                    under_sky |= bit
                if emission_S[state] > 0:
                    lamp_LXZ[emission_S[state], x, z] |= bit
                    num_lamps += 1
            is_clear_XZ[x, z] = clear
            open_XZ[x, z] = under_sky
    light_XZ8[:] = np.uint64(0)
    before_XZ = np.empty_like(open_XZ)
    bit_XZ4 = np.zeros((size_x, size_z, 4), np.uint64)
    for _ in range(FULL_LIGHT):
        _count(bit_XZ4, open_XZ)
        _flow(open_XZ, before_XZ, is_clear_XZ)
    _write_numbers(bit_XZ4, np.uint64(LIGHT_SHIFT), light_XZ8, spread)
    if num_lamps == 0:
        return
    bit_XZ4[:] = np.uint64(0)
    lit_XZ = np.zeros_like(open_XZ)
    for level in range(FULL_LIGHT, 0, -1):
        lit_XZ |= lamp_LXZ[level]
        _count(bit_XZ4, lit_XZ)
        _flow(lit_XZ, before_XZ, is_clear_XZ)
    _write_numbers(bit_XZ4, np.uint64(0), light_XZ8, spread)


@numba.njit(nogil=True, cache=True)
def _write_field(box_N: np.ndarray, light_N: np.ndarray, darkness: int, field_N: np.ndarray) -> None:
    dark = np.uint8(darkness)
    for n in range(len(field_N)):
        sky = np.uint8(light_N[n] >> np.uint8(4))
        lamp = np.uint8(light_N[n] & np.uint8(15))
        level = max(np.uint8(max(sky, dark) - dark), lamp)
        field_N[n] = box_N[n] | np.uint8(level << np.uint8(4))


def build_distance(block_XZY: np.ndarray, distance_XZY: np.ndarray) -> None:
    """Write the distances of a world, 0 .. 8.

    Args:
        block_XZY: uint16 [X, Z, 64] cells; X and Z are powers of two.
        distance_XZY: uint8 [X, Z, 64], C-contiguous, overwritten.
    """
    _build_distance(block_XZY, distance_XZY.view(np.uint64), _SPREAD)


def build_light(block_XZY: np.ndarray, emission_S: np.ndarray, opacity_S: np.ndarray, light_XZY: np.ndarray) -> None:
    """Write the light of a world: sky light in the high nibble, lamp light in the low one, both 0 .. 15.

    Minecraft's rule: the sky shines 15 down to the first cell that takes light away; from there, and from lamps, every
    step to one of the 6 neighbours costs 1, and opaque cells stop it.

    Args:
        block_XZY: uint16 [X, Z, 64] cells.
        emission_S: uint8 [S], light given off by each block state.
        opacity_S: uint8 [S], 15 stops light, 0 lets the open sky through.
        light_XZY: uint8 [X, Z, 64], C-contiguous, overwritten.
    """
    _build_light(block_XZY, emission_S, opacity_S, light_XZY.view(np.uint64), _SPREAD)


def write_field(box_XZY: np.ndarray, light_XZY: np.ndarray, darkness: int, field_XZY: np.ndarray) -> None:
    """Join free boxes and light into the field; `darkness` 0 (day) .. 11 (midnight) is taken off the sky's light."""
    _write_field(box_XZY.reshape(-1), light_XZY.reshape(-1), darkness, field_XZY.reshape(-1))
