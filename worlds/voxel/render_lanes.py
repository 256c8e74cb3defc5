"""The renderer, sixteen rays at a time: the fast twin of worlds.voxel.render. V views, W worlds, H W C image.

A tile of 4 x 4 pixels marches in lockstep. Every inner loop runs over the 16 lanes, has no branch, and is turned into
vector instructions by LLVM. Three ideas keep it short:

- Each axis is mirrored at the eye's cell where the ray runs down it, so that in its own ("folded") coordinates every
  ray climbs from cell 0. The world's cell is `base + (cell ^ flip)`: flip is 0 or, to negate, -1.
- A step leaves the cube of free cells that the distance field promises around the present cell, through the wall met
  first. Cells never go down: rounding cannot make a ray turn back and cycle.
- In a block the promised cube is empty and its walls lie behind the ray, so a ray that has hit stays where it is
  without being told. A ray that has left the world or the range flies on and is sorted out at the end.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from worlds.textures.atlas import TEXTURE_PX
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS, WORLD_HEIGHT, Kernel, View
from worlds.voxel.shading import AXIS_X, AXIS_Y, AXIS_Z, ONE, ZERO, Real, Whole, f32, i32, u32

NUM_LANES = 16
TILE_PX = 4
MAX_STEPS = 256  # a ray enters at most 3 * 64 cells within 64 blocks

_pixel_ray, _texel_index, _shade = CPU_KERNELS["pixel_ray"], CPU_KERNELS["texel_index"], CPU_KERNELS["shade"]
_instance_of, _label_target = CPU_KERNELS["instance_of"], CPU_KERNELS["label_target"]
_make_view, _draw_view = CPU_KERNELS["make_view"], CPU_KERNELS["draw_view"]

# Rows of the scratch array, one number a lane: first int32, then float32. They share one array because from one base
# address LLVM can prove that rows do not overlap, which it needs for vector code.
FLIP_X, FLIP_Y, FLIP_Z, BASE_X, BASE_Y, BASE_Z, CELL_X, CELL_Y, CELL_Z = range(9)
INDEX, FETCHED, AXIS, COLOR, INSTANCE, NUM_WHOLE_ROWS = range(9, 15)
DX, DY, DZ, SLOPE_X, SLOPE_Y, SLOPE_Z, INVERSE_X, INVERSE_Y, INVERSE_Z = range(9)
START_X, START_Y, START_Z, DISTANCE, NUM_REAL_ROWS = range(9, 14)


class _Torus(NamedTuple):
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


_gather: Kernel = intrinsic(_emit_gather)


_inlined = numba.njit(forceinline=True, **CPU_OPTIONS)


@_inlined
def _aim(
    view: View, first_free: Whole, tile_row: int, tile_column: int, whole_RL: np.ndarray, real_RL: np.ndarray
) -> None:
    """Set the rays of a tile off: fold them and take the step out of the eye's own free cube."""
    for lane in range(NUM_LANES):
        dx, dy, dz = _pixel_ray(view, tile_row + (lane >> 2), tile_column + (lane & 3))
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
        to_x = (f32(first_free) - start_x) * inverse_x
        to_y = (f32(first_free) - start_y) * inverse_y
        to_z = (f32(first_free) - start_z) * inverse_z
        to_wall = min(to_x, min(to_y, to_z))
        whole_RL[CELL_X, lane] = max(i32(start_x + slope_x * to_wall), first_free if to_wall == to_x else i32(0))
        whole_RL[CELL_Y, lane] = max(i32(start_y + slope_y * to_wall), first_free if to_wall == to_y else i32(0))
        whole_RL[CELL_Z, lane] = max(i32(start_z + slope_z * to_wall), first_free if to_wall == to_z else i32(0))


@_inlined
def _height(whole_RL: np.ndarray, lane: int) -> Whole:
    """Return the world's y of a lane's cell; outside 0 .. 63 once the ray has left the world."""
    return i32(whole_RL[BASE_Y, lane] + i32(whole_RL[CELL_Y, lane] ^ whole_RL[FLIP_Y, lane]))


@_inlined
def _locate(torus: _Torus, whole_RL: np.ndarray) -> None:
    """Set INDEX to where the lanes' cells lie in memory; somewhere inside the world for a ray that has left it."""
    for lane in range(NUM_LANES):
        x = i32(whole_RL[BASE_X, lane] + i32(whole_RL[CELL_X, lane] ^ whole_RL[FLIP_X, lane])) & torus.mask_x
        z = i32(whole_RL[BASE_Z, lane] + i32(whole_RL[CELL_Z, lane] ^ whole_RL[FLIP_Z, lane])) & torus.mask_z
        y = _height(whole_RL, lane) & i32(WORLD_HEIGHT - 1)
        whole_RL[INDEX, lane] = i32(i32(x) * torus.stride_x) + i32(i32(z) * torus.stride_z) + i32(y)


@_inlined
def _march(
    torus: _Torus, range_blocks: Real, distance_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray
) -> None:
    """Step until every ray has hit, left the world or left the range."""
    for _ in range(MAX_STEPS):
        _locate(torus, whole_RL)
        _gather(distance_N, whole_RL, INDEX, FETCHED)
        num_flying = i32(0)
        for lane in range(NUM_LANES):
            free = whole_RL[FETCHED, lane]
            height = _height(whole_RL, lane)
            x, y, z = whole_RL[CELL_X, lane], whole_RL[CELL_Y, lane], whole_RL[CELL_Z, lane]
            wall_x, wall_y, wall_z = i32(x + free), i32(y + free), i32(z + free)
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
            is_flying = (free != 0) & (to_wall < range_blocks) & (u32(height) < u32(WORLD_HEIGHT))
            num_flying = i32(num_flying + i32(is_flying))
        if num_flying == 0:
            break


@_inlined
def _color(
    view: View,
    torus: _Torus,
    block_N: np.ndarray,
    atlas_N: np.ndarray,
    whole_RL: np.ndarray,
    real_RL: np.ndarray,
) -> None:
    """Set COLOR, INSTANCE and DISTANCE from the cells where the rays have ended."""
    _locate(torus, whole_RL)
    _gather(block_N, whole_RL, INDEX, FETCHED)
    for lane in range(NUM_LANES):
        start_x, start_y, start_z = real_RL[START_X, lane], real_RL[START_Y, lane], real_RL[START_Z, lane]
        # The face met is the wall of the cell that the ray reaches last.
        to_x = (f32(whole_RL[CELL_X, lane]) - start_x) * real_RL[INVERSE_X, lane]
        to_y = (f32(whole_RL[CELL_Y, lane]) - start_y) * real_RL[INVERSE_Y, lane]
        to_z = (f32(whole_RL[CELL_Z, lane]) - start_z) * real_RL[INVERSE_Z, lane]
        distance = max(to_x, max(to_y, to_z))
        axis = i32(AXIS_X) if distance == to_x else (i32(AXIS_Y) if distance == to_y else i32(AXIS_Z))
        is_inside = (distance < view.range_blocks) & (u32(_height(whole_RL, lane)) < u32(WORLD_HEIGHT))
        cell = whole_RL[FETCHED, lane] if is_inside else i32(0)
        distance = distance if cell != 0 else view.range_blocks
        sixteenth_x = i32((start_x + real_RL[SLOPE_X, lane] * distance) * f32(TEXTURE_PX))
        sixteenth_y = i32((start_y + real_RL[SLOPE_Y, lane] * distance) * f32(TEXTURE_PX))
        sixteenth_z = i32((start_z + real_RL[SLOPE_Z, lane] * distance) * f32(TEXTURE_PX))
        sub_x = i32(i32(sixteenth_x ^ whole_RL[FLIP_X, lane]) & i32(TEXTURE_PX - 1))
        sub_y = i32(i32(sixteenth_y ^ whole_RL[FLIP_Y, lane]) & i32(TEXTURE_PX - 1))
        sub_z = i32(i32(sixteenth_z ^ whole_RL[FLIP_Z, lane]) & i32(TEXTURE_PX - 1))
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        whole_RL[INDEX, lane] = _texel_index(view, cell, axis, sub_x, sub_y, sub_z, dx, dy, dz, distance)
        whole_RL[INSTANCE, lane] = _instance_of(cell)
        whole_RL[AXIS, lane] = axis
        real_RL[DISTANCE, lane] = distance
    _gather(atlas_N, whole_RL, INDEX, FETCHED)
    for lane in range(NUM_LANES):
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        texel, is_hit = u32(whole_RL[FETCHED, lane]), whole_RL[INSTANCE, lane] != 0
        color = _shade(view, texel, is_hit, whole_RL[AXIS, lane], real_RL[DISTANCE, lane], dx, dy, dz)
        whole_RL[COLOR, lane] = i32(color)


@numba.njit(**CPU_OPTIONS)
def _draw_view_lanes(
    block_XZY: np.ndarray,
    distance_XZY: np.ndarray,
    view: View,
    atlas_N: np.ndarray,
    image_HWC: np.ndarray,
    instance_HW: np.ndarray,
    depth_VHW: np.ndarray,
    v: int,
) -> None:
    """Draw view v for an eye inside the world and out of water; see render_scalar."""
    has_depth = depth_VHW.shape[0] > 0
    height_px, width_px = instance_HW.shape
    size_x, size_z, size_y = block_XZY.shape
    torus = _Torus(i32(size_x - 1), i32(size_z - 1), i32(size_z * size_y), i32(size_y))
    block_N, distance_N = block_XZY.reshape(-1), distance_XZY.reshape(-1)
    # The eye's own cell is never drawn: a ray leaves it even if it holds a block.
    first_free = i32(max(1, distance_XZY[view.cell_x & torus.mask_x, view.cell_z & torus.mask_z, view.cell_y]))
    scratch_RL = np.empty((NUM_WHOLE_ROWS + NUM_REAL_ROWS, NUM_LANES), np.int32)
    whole_RL, real_RL = scratch_RL[:NUM_WHOLE_ROWS], scratch_RL[NUM_WHOLE_ROWS:].view(np.float32)
    for tile_row in range(0, height_px, TILE_PX):
        for tile_column in range(0, width_px, TILE_PX):
            _aim(view, first_free, tile_row, tile_column, whole_RL, real_RL)
            _march(torus, view.range_blocks, distance_N, whole_RL, real_RL)
            _color(view, torus, block_N, atlas_N, whole_RL, real_RL)
            for lane in range(NUM_LANES):
                row, column = tile_row + (lane >> 2), tile_column + (lane & 3)
                if row >= height_px or column >= width_px:
                    continue
                color = whole_RL[COLOR, lane]
                image_HWC[row, column, 0] = color & 255
                image_HWC[row, column, 1] = (color >> 8) & 255
                image_HWC[row, column, 2] = (color >> 16) & 255
                instance_HW[row, column] = whole_RL[INSTANCE, lane]
                if has_depth:
                    depth_VHW[v, row, column] = real_RL[DISTANCE, lane]


@numba.njit(parallel=True, cache=True, **CPU_OPTIONS)
def render_lanes(
    block_WXZY: np.ndarray,
    distance_WXZY: np.ndarray,
    world_index_V: np.ndarray,
    eye_V5: np.ndarray,
    fov_deg_V: np.ndarray,
    brightness_V: np.ndarray,
    target_instance_V: np.ndarray,
    atlas_KFN: np.ndarray,
    view_range_blocks: float,
    image_VHWC: np.ndarray,
    instance_VHW: np.ndarray,
    depth_VHW: np.ndarray,
    target_V7: np.ndarray,
) -> None:
    """Draw V views; arguments and results are those of worlds.voxel.render.render_scalar."""
    atlas_N = atlas_KFN.reshape(-1)
    _, height_px, width_px = instance_VHW.shape
    for v in numba.prange(len(world_index_V)):
        block_XZY, distance_XZY = block_WXZY[world_index_V[v]], distance_WXZY[world_index_V[v]]
        view = _make_view(block_XZY, eye_V5[v], fov_deg_V[v], brightness_V[v], view_range_blocks, height_px, width_px)
        # The distance field counts water as a block and ends at the top of the world.
        if view.water == ZERO and 0 <= view.cell_y < WORLD_HEIGHT:
            _draw_view_lanes(
                block_XZY, distance_XZY, view, atlas_N, image_VHWC[v], instance_VHW[v], depth_VHW, v
            )  # fmt: skip
        else:
            _draw_view(block_XZY, view, atlas_N, image_VHWC[v], instance_VHW[v], depth_VHW, v)
        _label_target(instance_VHW[v], target_instance_V[v], target_V7[v])
