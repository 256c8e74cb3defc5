"""The renderer, sixteen rays at a time: the fast twin of worlds.voxel.render. V views, W worlds, H W C image.

A tile of 4 x 4 pixels marches in lockstep. Every inner loop runs over the 16 lanes, has no branch, and is turned into
vector instructions by LLVM. Three ideas keep it short:

- Each axis is mirrored where the ray runs down it, so that in its own ("folded") coordinates every ray climbs. A cell
  is folded by `cell ^ flip` with flip 0 or -1, which is also how it is unfolded.
- A step leaves the cube of free cells that the distance field promises around the present cell, through the wall met
  first. Cells never go down: rounding cannot make a ray turn back and cycle.
- In a block the promised cube is empty, so its exit lies behind the ray, and a ray that has hit stays where it is
  without being told. A ray that has left the world or the range flies on and is sorted out at the end.
"""

import math

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from worlds.spec import BLOCK_MASK
from worlds.textures.atlas import TEXTURE_PX
from worlds.voxel.render import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    CPU_KERNELS,
    CPU_OPTIONS,
    FOG_START_SHARE,
    HALF,
    ONE,
    WORLD_HEIGHT,
    ZERO,
    f32,
    i32,
    u32,
)

NUM_LANES = 16
TILE_PX = 4
MAX_STEPS = 256  # a 64-block ray enters at most 3 * 64 cells

_camera_axes, _steer, _draw_view = CPU_KERNELS["camera_axes"], CPU_KERNELS["steer"], CPU_KERNELS["draw_view"]
_texel_index, _face_light, _shade = CPU_KERNELS["texel_index"], CPU_KERNELS["face_light"], CPU_KERNELS["shade"]
_instance_of, _label_target = CPU_KERNELS["instance_of"], CPU_KERNELS["label_target"]
_is_under_water = CPU_KERNELS["is_under_water"]

# Rows of the two scratch arrays, one number a lane. One array for each type: a single base address lets LLVM prove
# that rows do not overlap, which it needs for vector code.
DX, DY, DZ, SLOPE_X, SLOPE_Y, SLOPE_Z, INVERSE_X, INVERSE_Y, INVERSE_Z = range(9)
START_X, START_Y, START_Z, DISTANCE, LIGHT, NUM_REAL_ROWS = range(9, 15)
FLIP_X, FLIP_Y, FLIP_Z, BASE_X, BASE_Y, BASE_Z, CELL_X, CELL_Y, CELL_Z = range(9)
INDEX, FETCHED, CELL, COLOR, INSTANCE, NUM_WHOLE_ROWS = range(9, 15)


@intrinsic
def _gather(typing_context, values_N, rows_RL, index_row, value_row):  # noqa: ANN001
    """Set rows_RL[value_row] to values_N[rows_RL[index_row]], zero-extended.

    A loop over lanes would do, but LLVM cannot prove that its stores leave `values_N` alone and would fetch lane by
    lane through memory.
    """
    signature = types.void(values_N, rows_RL, index_row, value_row)

    def codegen(context, builder, sig, args):  # noqa: ANN001
        values, rows = (
            cgutils.create_struct_proxy(kind)(context, builder, value=value).data
            for kind, value in zip(sig.args[:2], args[:2], strict=True)
        )
        i32_type = ir.IntType(32)
        lanes = ir.Constant(ir.IntType(64), NUM_LANES)
        index_at = builder.gep(rows, [builder.mul(args[2], lanes)])
        value_at = builder.gep(rows, [builder.mul(args[3], lanes)])
        width = sig.args[0].dtype.bitwidth
        vector = ir.Constant(ir.VectorType(ir.IntType(width), NUM_LANES), ir.Undefined)
        for lane in range(NUM_LANES):
            index = builder.load(builder.gep(index_at, [ir.Constant(ir.IntType(64), lane)]))
            element = builder.load(builder.gep(values, [builder.zext(index, ir.IntType(64))]))
            vector = builder.insert_element(vector, element, ir.Constant(i32_type, lane))
        wide = ir.VectorType(i32_type, NUM_LANES)
        if width < 32:
            vector = builder.zext(vector, wide)
        store = builder.store(vector, builder.bitcast(value_at, wide.as_pointer()))
        store.align = 4
        return context.get_dummy_value()

    return signature, codegen


@numba.njit(**CPU_OPTIONS)
def _draw_view_lanes(
    block_XZY, distance_XZY, eye_5, fov_deg, brightness, atlas_N, view_range_blocks, image_HWC, instance_HW, depth_VHW, v
):  # fmt: skip
    """Draw view v for an eye inside the world and out of water; see render_scalar."""
    has_depth = depth_VHW.shape[0] > 0
    height_px, width_px = instance_HW.shape
    ahead_x, ahead_y, ahead_z, right_x, right_y, right_z, up_x, up_y, up_z = _camera_axes(
        eye_5[3], eye_5[4], fov_deg, width_px / height_px
    )
    eye_x, eye_y, eye_z = i32(math.floor(eye_5[0])), i32(math.floor(eye_5[1])), i32(math.floor(eye_5[2]))
    px, py, pz = f32(eye_5[0] - eye_x), f32(eye_5[1] - eye_y), f32(eye_5[2] - eye_z)
    size_x, size_z, _ = block_XZY.shape
    # A cell's index is x, z and y side by side in its bits: Z and the height are powers of two.
    shift_x = i32(6 + i32(math.log2(size_z)))
    mask_x, mask_z = i32((size_x - 1) << shift_x), i32((size_z - 1) << 6)
    block_N, distance_N = block_XZY.reshape(-1), distance_XZY.reshape(-1)
    pixel_texels_per_block = f32(2.0 * math.tan(math.radians(fov_deg) / 2) / height_px * TEXTURE_PX)
    range_blocks = f32(view_range_blocks)
    fog_offset = f32(FOG_START_SHARE * view_range_blocks)
    fog_per_block = f32(1.0 / (view_range_blocks - FOG_START_SHARE * view_range_blocks))
    # The eye's own cell is never drawn: a ray leaves it even if it holds a block.
    first_free = i32(max(1, distance_XZY[eye_x & (size_x - 1), eye_z & (size_z - 1), eye_y]))
    row_scale, column_scale = f32(2.0 / height_px), f32(2.0 / width_px)
    real = np.empty((NUM_REAL_ROWS, NUM_LANES), np.float32)
    whole = np.empty((NUM_WHOLE_ROWS, NUM_LANES), np.int32)
    for tile_row in range(0, height_px, TILE_PX):
        for tile_column in range(0, width_px, TILE_PX):
            for lane in range(NUM_LANES):
                rise = ONE - (f32(i32(tile_row + (lane >> 2))) + HALF) * row_scale
                aside = (f32(i32(tile_column + (lane & 3))) + HALF) * column_scale - ONE
                dx = ahead_x + right_x * aside + up_x * rise
                dy = ahead_y + right_y * aside + up_y * rise
                dz = ahead_z + right_z * aside + up_z * rise
                scale = ONE / math.sqrt(dx * dx + dy * dy + dz * dz)
                dx, dy, dz = _steer(dx * scale), _steer(dy * scale), _steer(dz * scale)
                real[DX, lane], real[DY, lane], real[DZ, lane] = dx, dy, dz
                slope_x, slope_y, slope_z = abs(dx), abs(dy), abs(dz)
                inverse_x, inverse_y, inverse_z = ONE / slope_x, ONE / slope_y, ONE / slope_z
                start_x = px if dx > ZERO else ONE - px
                start_y = py if dy > ZERO else ONE - py
                start_z = pz if dz > ZERO else ONE - pz
                real[SLOPE_X, lane], real[SLOPE_Y, lane], real[SLOPE_Z, lane] = slope_x, slope_y, slope_z
                real[INVERSE_X, lane], real[INVERSE_Y, lane], real[INVERSE_Z, lane] = inverse_x, inverse_y, inverse_z
                real[START_X, lane], real[START_Y, lane], real[START_Z, lane] = start_x, start_y, start_z
                whole[FLIP_X, lane] = i32(0) if dx > ZERO else i32(-1)
                whole[BASE_X, lane] = eye_x if dx > ZERO else i32(eye_x + 1)
                whole[FLIP_Y, lane] = i32(0) if dy > ZERO else i32(-1)
                whole[BASE_Y, lane] = eye_y if dy > ZERO else i32(eye_y + 1)
                whole[FLIP_Z, lane] = i32(0) if dz > ZERO else i32(-1)
                whole[BASE_Z, lane] = eye_z if dz > ZERO else i32(eye_z + 1)
                to_x = (f32(first_free) - start_x) * inverse_x
                to_y = (f32(first_free) - start_y) * inverse_y
                to_z = (f32(first_free) - start_z) * inverse_z
                to_wall = min(to_x, min(to_y, to_z))
                whole[CELL_X, lane] = max(i32(start_x + slope_x * to_wall), first_free if to_wall == to_x else i32(0))
                whole[CELL_Y, lane] = max(i32(start_y + slope_y * to_wall), first_free if to_wall == to_y else i32(0))
                whole[CELL_Z, lane] = max(i32(start_z + slope_z * to_wall), first_free if to_wall == to_z else i32(0))
            for _ in range(MAX_STEPS):
                for lane in range(NUM_LANES):
                    x, y, z = whole[CELL_X, lane], whole[CELL_Y, lane], whole[CELL_Z, lane]
                    height = i32(whole[BASE_Y, lane] + (y ^ whole[FLIP_Y, lane]))
                    column_x = i32(i32(whole[BASE_X, lane] + i32(x ^ whole[FLIP_X, lane])) << shift_x)
                    column_z = i32(i32(whole[BASE_Z, lane] + i32(z ^ whole[FLIP_Z, lane])) << i32(6))
                    whole[INDEX, lane] = i32(column_x & mask_x) | i32(column_z & mask_z) | i32(height & i32(63))
                _gather(distance_N, whole, INDEX, FETCHED)
                num_flying = i32(0)
                for lane in range(NUM_LANES):
                    x, y, z = whole[CELL_X, lane], whole[CELL_Y, lane], whole[CELL_Z, lane]
                    height = i32(whole[BASE_Y, lane] + (y ^ whole[FLIP_Y, lane]))
                    free = whole[FETCHED, lane]
                    wall_x, wall_y, wall_z = i32(x + free), i32(y + free), i32(z + free)
                    start_x, start_y, start_z = real[START_X, lane], real[START_Y, lane], real[START_Z, lane]
                    to_x = (f32(wall_x) - start_x) * real[INVERSE_X, lane]
                    to_y = (f32(wall_y) - start_y) * real[INVERSE_Y, lane]
                    to_z = (f32(wall_z) - start_z) * real[INVERSE_Z, lane]
                    to_wall = min(to_x, min(to_y, to_z))
                    next_x = i32(start_x + real[SLOPE_X, lane] * to_wall)
                    next_y = i32(start_y + real[SLOPE_Y, lane] * to_wall)
                    next_z = i32(start_z + real[SLOPE_Z, lane] * to_wall)
                    whole[CELL_X, lane] = max(next_x, wall_x if to_wall == to_x else x)
                    whole[CELL_Y, lane] = max(next_y, wall_y if to_wall == to_y else y)
                    whole[CELL_Z, lane] = max(next_z, wall_z if to_wall == to_z else z)
                    is_flying = (free != 0) & (to_wall < range_blocks) & (u32(height) < u32(WORLD_HEIGHT))
                    num_flying = i32(num_flying + i32(is_flying))
                if num_flying == 0:
                    break
            for lane in range(NUM_LANES):
                x, y, z = whole[CELL_X, lane], whole[CELL_Y, lane], whole[CELL_Z, lane]
                dx, dy, dz = real[DX, lane], real[DY, lane], real[DZ, lane]
                flip_x, flip_y, flip_z = whole[FLIP_X, lane], whole[FLIP_Y, lane], whole[FLIP_Z, lane]
                start_x, start_y, start_z = real[START_X, lane], real[START_Y, lane], real[START_Z, lane]
                height = i32(whole[BASE_Y, lane] + (y ^ flip_y))
                column_x = i32(i32(whole[BASE_X, lane] + i32(x ^ flip_x)) << shift_x)
                column_z = i32(i32(whole[BASE_Z, lane] + i32(z ^ flip_z)) << i32(6))
                whole[INDEX, lane] = i32(column_x & mask_x) | i32(column_z & mask_z) | i32(height & i32(63))
            _gather(block_N, whole, INDEX, CELL)
            for lane in range(NUM_LANES):
                x, y, z = whole[CELL_X, lane], whole[CELL_Y, lane], whole[CELL_Z, lane]
                dx, dy, dz = real[DX, lane], real[DY, lane], real[DZ, lane]
                flip_x, flip_y, flip_z = whole[FLIP_X, lane], whole[FLIP_Y, lane], whole[FLIP_Z, lane]
                start_x, start_y, start_z = real[START_X, lane], real[START_Y, lane], real[START_Z, lane]
                height = i32(whole[BASE_Y, lane] + (y ^ flip_y))
                # The face met is the wall of the cell that the ray reaches last.
                to_x = (f32(x) - start_x) * real[INVERSE_X, lane]
                to_y = (f32(y) - start_y) * real[INVERSE_Y, lane]
                to_z = (f32(z) - start_z) * real[INVERSE_Z, lane]
                distance = max(to_x, max(to_y, to_z))
                axis = i32(AXIS_X) if distance == to_x else (i32(AXIS_Y) if distance == to_y else i32(AXIS_Z))
                is_inside = (distance < range_blocks) & (u32(height) < u32(WORLD_HEIGHT))
                cell = whole[CELL, lane] if is_inside else i32(0)
                is_hit = cell != 0
                distance = distance if is_hit else range_blocks
                sub_x = i32((i32((start_x + real[SLOPE_X, lane] * distance) * f32(16.0)) ^ flip_x) & 15)
                sub_y = i32((i32((start_y + real[SLOPE_Y, lane] * distance) * f32(16.0)) ^ flip_y) & 15)
                sub_z = i32((i32((start_z + real[SLOPE_Z, lane] * distance) * f32(16.0)) ^ flip_z) & 15)
                whole[INDEX, lane] = _texel_index(
                    i32(cell & BLOCK_MASK), axis, sub_x, sub_y, sub_z, dx, dy, dz, distance * pixel_texels_per_block
                )
                whole[INSTANCE, lane] = _instance_of(cell)
                real[DISTANCE, lane] = distance
                real[LIGHT, lane] = _face_light(axis, dy)
            _gather(atlas_N, whole, INDEX, FETCHED)
            for lane in range(NUM_LANES):
                dx, dy, dz, distance = real[DX, lane], real[DY, lane], real[DZ, lane], real[DISTANCE, lane]
                is_hit = distance < range_blocks
                fog = min(max((distance - fog_offset) * fog_per_block, ZERO), ONE)
                texel = u32(whole[FETCHED, lane])
                whole[COLOR, lane] = i32(_shade(texel, is_hit, real[LIGHT, lane], fog, dx, dy, dz, brightness, ZERO))
            for lane in range(NUM_LANES):
                row, column = tile_row + (lane >> 2), tile_column + (lane & 3)
                if row >= height_px or column >= width_px:
                    continue
                color = whole[COLOR, lane]
                image_HWC[row, column, 0] = color & 255
                image_HWC[row, column, 1] = (color >> 8) & 255
                image_HWC[row, column, 2] = (color >> 16) & 255
                instance_HW[row, column] = whole[INSTANCE, lane]
                if has_depth:
                    depth_VHW[v, row, column] = real[DISTANCE, lane]


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
    for v in numba.prange(len(world_index_V)):
        block_XZY, eye_5 = block_WXZY[world_index_V[v]], eye_V5[v]
        cell_x, cell_y, cell_z = int(math.floor(eye_5[0])), int(math.floor(eye_5[1])), int(math.floor(eye_5[2]))
        is_plain = 0 <= cell_y < WORLD_HEIGHT and not _is_under_water(block_XZY, cell_x, cell_y, cell_z)
        if is_plain:
            _draw_view_lanes(
                block_XZY, distance_WXZY[world_index_V[v]], eye_5, fov_deg_V[v], brightness_V[v], atlas_N,
                view_range_blocks, image_VHWC[v], instance_VHW[v], depth_VHW, v,
            )  # fmt: skip
        else:
            _draw_view(
                block_XZY, eye_5, fov_deg_V[v], brightness_V[v], atlas_N, view_range_blocks, image_VHWC[v],
                instance_VHW[v], depth_VHW, v,
            )  # fmt: skip
        _label_target(instance_VHW[v], target_instance_V[v], target_V7[v])
