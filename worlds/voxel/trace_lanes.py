"""Sixteen rays in lockstep from the eye to the first cell that is not air. L lanes, R rows of scratch, N flat cells.

Every inner loop runs over the lanes, has no branch, and is turned into vector instructions by LLVM. Three ideas keep it
short:

- Each axis is mirrored at the eye's cell where the ray runs down it, so that in its own ("folded") coordinates every
  ray climbs from cell 0. The world's cell is `base + (cell ^ flip)`: flip is 0 or, to negate, -1.
- A step leaves the box of free cells that the field promises around the present cell, through the wall met first.
  Cells never go down: rounding cannot make a ray turn back and cycle.
- In a block the promised box is empty and its walls lie behind the ray, so a ray that has hit stays where it is
  without being told. A ray that has left the world or the range flies on and is sorted out at the end.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from worlds.voxel.free_boxes import BOX_BITS, FREE_ASIDE, FREE_DOWN, FREE_UP
from worlds.voxel.link import Kernel
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS
from worlds.voxel.render_view import WORLD_HEIGHT, View
from worlds.voxel.shading import ONE, ZERO, Real, Whole, f32, i32, u32

TILE_HEIGHT_PX, TILE_WIDTH_PX = 4, 4
NUM_LANES = TILE_HEIGHT_PX * TILE_WIDTH_PX
MAX_STEPS = 256  # a ray enters at most 3 * 64 cells within 64 blocks

# Rows of the scratch array, one number a lane: first int32, then float32. They share one array, seen as int32
# (whole_RL) and as float32 (real_RL), because from one base address LLVM can prove that rows do not overlap, which it
# needs for vector code.
FLIP_X, FLIP_Y, FLIP_Z, BASE_X, BASE_Y, BASE_Z, CELL_X, CELL_Y, CELL_Z, INDEX, FETCHED = range(11)
CELL, AXIS, PACKED, PENDING, INSTANCE, ADDRESS, MET_ADDRESS, COLOR, SPARE, SPARE_TOO = range(11, 21)
DX, DY, DZ, SLOPE_X, SLOPE_Y, SLOPE_Z, INVERSE_X, INVERSE_Y, INVERSE_Z, START_X, START_Y, START_Z = range(21, 33)
DISTANCE, LIGHT, MET_DISTANCE, MET_LIGHT, SPARE_A, SPARE_B, NUM_ROWS = range(33, 40)

_pixel_ray = CPU_KERNELS["pixel_ray"]


class Torus(NamedTuple):
    """How a world lies in memory, int32."""

    mask_x: Whole
    mask_z: Whole
    stride_x: Whole
    stride_z: Whole


def _emit_gather(typing_context: Any, values_N: Any, whole_RL: Any, index_row: Any, value_row: Any) -> Any:
    """Set whole_RL[value_row] to values_N[whole_RL[index_row]], zero-extended.

    In a loop over lanes LLVM cannot prove that the stores leave `values_N` alone, and fetches lane by lane through
    memory. On Zen 4 sixteen single loads put together were faster than AVX-512's own gather.
    """
    signature = types.void(values_N, whole_RL, index_row, value_row)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values, rows = (
            cgutils.create_struct_proxy(kind)(context, builder, value=value).data
            for kind, value in zip(sig.args[:2], args[:2], strict=True)
        )
        word, address = ir.IntType(32), ir.IntType(64)
        lanes = ir.VectorType(word, NUM_LANES)
        index_at, value_at = (
            builder.bitcast(builder.gep(rows, [builder.mul(row, address(NUM_LANES))]), lanes.as_pointer())
            for row in args[2:]
        )
        index_L = builder.load(index_at)
        index_L.align = 4
        value_L = ir.Constant(lanes, ir.Undefined)
        for lane in range(NUM_LANES):
            index = builder.zext(builder.extract_element(index_L, word(lane)), address)
            value = builder.load(builder.gep(values, [index]))
            if sig.args[0].dtype.bitwidth < 32:
                value = builder.zext(value, word)
            value_L = builder.insert_element(value_L, value, word(lane))
        builder.store(value_L, value_at).align = 4
        return context.get_dummy_value()

    return signature, codegen


gather: Kernel = intrinsic(_emit_gather)

inlined = numba.njit(forceinline=True, **CPU_OPTIONS)


@inlined
def free_extent(code: Whole, flip_y: Whole) -> tuple[Whole, Whole]:
    """Return how many cells a lane may take along x and z, and along y, from a cell of this code."""
    shift = i32(i32(code & i32(7)) << i32(2))
    aside = i32(i32(i32(FREE_ASIDE) >> shift) & i32(15))
    upright = i32(i32(i32(i32(FREE_UP) ^ i32(i32(FREE_UP ^ FREE_DOWN) & flip_y)) >> shift) & i32(15))
    return aside if code > i32(7) else code, upright if code > i32(7) else code


@inlined
def aim(view: View, code: Whole, tile_row: int, tile_column: int, whole_RL: np.ndarray, real_RL: np.ndarray) -> None:
    """Set the rays of a tile off: fold them and take the step out of the free box around the eye, that of `code`."""
    for lane in range(NUM_LANES):
        dx, dy, dz = _pixel_ray(view, tile_row + lane // TILE_WIDTH_PX, tile_column + lane % TILE_WIDTH_PX)
        real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane] = dx, dy, dz
        whole_RL[FLIP_X, lane] = i32(0) if dx > ZERO else i32(-1)
        whole_RL[FLIP_Y, lane] = i32(0) if dy > ZERO else i32(-1)
        whole_RL[FLIP_Z, lane] = i32(0) if dz > ZERO else i32(-1)
        whole_RL[BASE_X, lane] = view.cell_x if dx > ZERO else i32(view.cell_x + 1)
        whole_RL[BASE_Y, lane] = view.cell_y if dy > ZERO else i32(view.cell_y + 1)
        whole_RL[BASE_Z, lane] = view.cell_z if dz > ZERO else i32(view.cell_z + 1)
        slope_x, slope_y, slope_z = abs(dx), abs(dy), abs(dz)
        inverse_x, inverse_y, inverse_z = ONE / slope_x, ONE / slope_y, ONE / slope_z
        start_x = view.px if dx > ZERO else ONE - view.px
        start_y = view.py if dy > ZERO else ONE - view.py
        start_z = view.pz if dz > ZERO else ONE - view.pz
        real_RL[SLOPE_X, lane], real_RL[SLOPE_Y, lane], real_RL[SLOPE_Z, lane] = slope_x, slope_y, slope_z
        real_RL[INVERSE_X, lane], real_RL[INVERSE_Y, lane], real_RL[INVERSE_Z, lane] = inverse_x, inverse_y, inverse_z
        real_RL[START_X, lane], real_RL[START_Y, lane], real_RL[START_Z, lane] = start_x, start_y, start_z
        aside, upright = free_extent(code, whole_RL[FLIP_Y, lane])
        to_x = (f32(aside) - start_x) * inverse_x
        to_y = (f32(upright) - start_y) * inverse_y
        to_z = (f32(aside) - start_z) * inverse_z
        to_wall = min(to_x, min(to_y, to_z))
        whole_RL[CELL_X, lane] = max(i32(start_x + slope_x * to_wall), aside if to_wall == to_x else i32(0))
        whole_RL[CELL_Y, lane] = max(i32(start_y + slope_y * to_wall), upright if to_wall == to_y else i32(0))
        whole_RL[CELL_Z, lane] = max(i32(start_z + slope_z * to_wall), aside if to_wall == to_z else i32(0))


@inlined
def height_of(whole_RL: np.ndarray, lane: int) -> Whole:
    """Return the world's y of a lane's cell; outside 0 .. 63 once the ray has left the world."""
    return i32(whole_RL[BASE_Y, lane] + i32(whole_RL[CELL_Y, lane] ^ whole_RL[FLIP_Y, lane]))


@inlined
def index_of(torus: Torus, whole_RL: np.ndarray, lane: int, cell_x: Whole, cell_y: Whole, cell_z: Whole) -> Whole:
    """Return where a lane's folded cell lies in memory; somewhere inside the world for one outside of it."""
    x = i32(whole_RL[BASE_X, lane] + i32(cell_x ^ whole_RL[FLIP_X, lane])) & torus.mask_x
    z = i32(whole_RL[BASE_Z, lane] + i32(cell_z ^ whole_RL[FLIP_Z, lane])) & torus.mask_z
    y = i32(whole_RL[BASE_Y, lane] + i32(cell_y ^ whole_RL[FLIP_Y, lane])) & i32(WORLD_HEIGHT - 1)
    return i32(i32(i32(x) * torus.stride_x) + i32(i32(z) * torus.stride_z) + i32(y))


@inlined
def locate(torus: Torus, whole_RL: np.ndarray) -> None:
    """Set INDEX to where the lanes' cells lie in memory."""
    for lane in range(NUM_LANES):
        x, y, z = whole_RL[CELL_X, lane], whole_RL[CELL_Y, lane], whole_RL[CELL_Z, lane]
        whole_RL[INDEX, lane] = index_of(torus, whole_RL, lane, x, y, z)


@inlined
def leave_box(whole_RL: np.ndarray, real_RL: np.ndarray, lane: int, aside: Whole, upright: Whole) -> Real:
    """Move a lane out of the free box ahead of it, given in cells; return the distance. With 0, 0 it stays."""
    x, y, z = whole_RL[CELL_X, lane], whole_RL[CELL_Y, lane], whole_RL[CELL_Z, lane]
    wall_x, wall_y, wall_z = i32(x + aside), i32(y + upright), i32(z + aside)
    start_x, start_y, start_z = real_RL[START_X, lane], real_RL[START_Y, lane], real_RL[START_Z, lane]
    to_x = (f32(wall_x) - start_x) * real_RL[INVERSE_X, lane]
    to_y = (f32(wall_y) - start_y) * real_RL[INVERSE_Y, lane]
    to_z = (f32(wall_z) - start_z) * real_RL[INVERSE_Z, lane]
    to_wall = min(to_x, min(to_y, to_z))
    next_x = i32(start_x + real_RL[SLOPE_X, lane] * to_wall)
    next_y = i32(start_y + real_RL[SLOPE_Y, lane] * to_wall)
    next_z = i32(start_z + real_RL[SLOPE_Z, lane] * to_wall)
    whole_RL[CELL_X, lane] = max(next_x, wall_x if to_wall == to_x else x)
    whole_RL[CELL_Y, lane] = max(next_y, wall_y if to_wall == to_y else y)
    whole_RL[CELL_Z, lane] = max(next_z, wall_z if to_wall == to_z else z)
    return to_wall


@inlined
def fetch_codes(torus: Torus, field_N: np.ndarray, whole_RL: np.ndarray) -> None:
    """Set FETCHED to the field where the lanes stand: the first half of a step."""
    locate(torus, whole_RL)
    gather(field_N, whole_RL, INDEX, FETCHED)


@inlined
def step(range_blocks: Real, whole_RL: np.ndarray, real_RL: np.ndarray) -> Whole:
    """Move every lane out of the free box around it, given FETCHED; return how many are still flying.

    A lane has ended when it stands in a cell that is not air, or has left the world or the range.
    """
    num_flying = i32(0)
    for lane in range(NUM_LANES):
        code = i32(whole_RL[FETCHED, lane] & i32(BOX_BITS))
        height = height_of(whole_RL, lane)
        aside, upright = free_extent(code, whole_RL[FLIP_Y, lane])
        to_wall = leave_box(whole_RL, real_RL, lane, aside, upright)
        is_flying = (code != 0) & (to_wall < range_blocks) & (u32(height) < u32(WORLD_HEIGHT))
        num_flying = i32(num_flying + i32(is_flying))
    return num_flying
