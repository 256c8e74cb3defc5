"""The renderer, one pixel at a time: the plain source of truth. V views, W worlds, H W C image, K blocks, F faces.

Everything here is written for one ray and one pixel in functions without a decorator; `link` compiles them for a
target. `render_scalar` is the CPU build, worlds.voxel.render_lanes its fast twin.

A ray works in cells relative to the eye's own cell, so that float32 keeps a precision of 1e-5 blocks at the far end of
the view, wherever in the world the eye is.
"""

import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numba
import numpy as np

from worlds.blocks import AIR, BLOCK_ID
from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.textures.atlas import FACE_BOTTOM, FACE_SIDE, FACE_TOP, MIP_OFFSETS, NUM_FACE_TEXELS, NUM_FACES
from worlds.types import INSTANCE_SKY

WATER = BLOCK_ID["water"]
AXIS_X, AXIS_Y, AXIS_Z = 0, 1, 2
WORLD_HEIGHT = 64

f32 = np.float32
i32 = np.int32
u32 = np.uint32

ZERO, HALF, ONE = f32(0.0), f32(0.5), f32(1.0)
SMALLEST_SLOPE = f32(1e-6)  # keeps 1 / slope finite; over 64 blocks it moves a ray by 1e-4

# Light on a face by where it looks, as in Minecraft.
LIGHT_X, LIGHT_Z, LIGHT_TOP, LIGHT_BOTTOM = f32(0.6), f32(0.8), f32(1.0), f32(0.5)

# Colours 0 .. 255 of the sky at the horizon and overhead, of the sun and of deep water.
HORIZON_RED, HORIZON_GREEN, HORIZON_BLUE = f32(196.0), f32(218.0), f32(250.0)
ZENITH_RED, ZENITH_GREEN, ZENITH_BLUE = f32(108.0), f32(156.0), f32(246.0)
SUN_RED, SUN_GREEN, SUN_BLUE = f32(255.0), f32(248.0), f32(206.0)
WATER_RED, WATER_GREEN, WATER_BLUE = f32(22.0), f32(54.0), f32(132.0)
SKY_GRADIENT = f32(1.5)  # the overhead colour is reached at sin(elevation) = 1 / 1.5

# The sun stands in the east at 50 degrees; half its side is 0.07 of its distance.
SUN_EAST, SUN_UP, SUN_HALF_SIDE = f32(math.cos(math.radians(50.0))), f32(math.sin(math.radians(50.0))), f32(0.07)

FOG_START_SHARE = 0.6  # of the view range; fog is full at the range, so far terrain fades in instead of popping up
UNDERWATER_FOG_START_BLOCKS, UNDERWATER_FOG_END_BLOCKS = -8.0, 20.0

# A mip level starts where a pixel covers more than 2 ** (level - 0.5) texels; squared, because that saves the root.
MIP_1_FROM, MIP_2_FROM, MIP_3_FROM, MIP_4_FROM = f32(2.0), f32(8.0), f32(32.0), f32(128.0)
MIP_STEP_1, MIP_STEP_2, MIP_STEP_3, MIP_STEP_4 = np.diff(MIP_OFFSETS).tolist()

Kernel = Callable[..., Any]


def camera_axes(yaw_deg, pitch_deg, fov_deg, aspect):
    """Return forward, right and up, nine floats; right and up end at the border of the picture one unit ahead."""
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    half_height = math.tan(math.radians(fov_deg) / 2)
    half_width = half_height * aspect
    sin_yaw, cos_yaw, sin_pitch, cos_pitch = math.sin(yaw), math.cos(yaw), math.sin(pitch), math.cos(pitch)
    return (
        f32(-sin_yaw * cos_pitch), f32(-sin_pitch), f32(cos_yaw * cos_pitch),
        f32(-cos_yaw * half_width), ZERO, f32(-sin_yaw * half_width),
        f32(-sin_yaw * sin_pitch * half_height), f32(cos_pitch * half_height), f32(cos_yaw * sin_pitch * half_height),
    )  # fmt: skip


def steer(slope):
    """Return the slope, or a tiny one in place of zero, so that its inverse is finite."""
    return slope if abs(slope) >= SMALLEST_SLOPE else SMALLEST_SLOPE


def trace_ray(block_XZY, cell_x, cell_y, cell_z, px, py, pz, dx, dy, dz, see_through, range_blocks):
    """Return the first cell on a ray that is neither air nor block `see_through`, as (cell, axis, distance).

    The eye is at (px, py, pz) in [0, 1) inside its cell, which is never drawn itself; (dx, dy, dz) has length 1.
    The axis is that of the face met. Nothing in range: (0, 0, range_blocks).
    """
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    inverse_x, inverse_y, inverse_z = ONE / dx, ONE / dy, ONE / dz
    step_x, step_y, step_z = (1 if dx > ZERO else -1), (1 if dy > ZERO else -1), (1 if dz > ZERO else -1)
    ahead_x, ahead_y, ahead_z = (1 if dx > ZERO else 0), (1 if dy > ZERO else 0), (1 if dz > ZERO else 0)
    x, y, z = 0, 0, 0
    if cell_y >= WORLD_HEIGHT:
        if dy >= ZERO:
            return 0, 0, range_blocks
        # Above the world: fly to the cell of air that lies on its uppermost layer.
        distance = (f32(WORLD_HEIGHT - cell_y) - py) * inverse_y
        x = int(math.floor(px + dx * distance))
        z = int(math.floor(pz + dz * distance))
        y = WORLD_HEIGHT - cell_y
    to_x = (f32(x + ahead_x) - px) * inverse_x
    to_y = (f32(y + ahead_y) - py) * inverse_y
    to_z = (f32(z + ahead_z) - pz) * inverse_z
    while True:
        if to_x < to_y and to_x < to_z:
            axis, distance = AXIS_X, to_x
            x += step_x
            to_x = (f32(x + ahead_x) - px) * inverse_x
        elif to_y < to_z:
            axis, distance = AXIS_Y, to_y
            y += step_y
            to_y = (f32(y + ahead_y) - py) * inverse_y
        else:
            axis, distance = AXIS_Z, to_z
            z += step_z
            to_z = (f32(z + ahead_z) - pz) * inverse_z
        height = cell_y + y
        # Not "distance >= range": a ray with a NaN in it must end too.
        if not (distance < range_blocks) or height < 0 or height >= WORLD_HEIGHT:
            return 0, 0, range_blocks
        cell = i32(block_XZY[(cell_x + x) & mask_x, (cell_z + z) & mask_z, height])
        block = cell & BLOCK_MASK
        if block != AIR and block != see_through:
            return cell, axis, distance


def texel_index(block, axis, sub_x, sub_y, sub_z, dx, dy, dz, pixel_texels):
    """Return where in the flat atlas the texel lies that a ray meets.

    Args:
        block: block id.
        axis: axis of the face met.
        sub_x, sub_y, sub_z: place on the block in sixteenths, 0 .. 15.
        dx, dy, dz: direction of the ray.
        pixel_texels: how many texels a pixel covers on a face seen head-on.
    """
    is_x, is_y = axis == AXIS_X, axis == AXIS_Y
    # Side textures are upright and not mirrored seen from outside; the top has north (-z) at its upper edge.
    along_x = sub_z if dx > ZERO else i32(15 - sub_z)
    along_z = i32(15 - sub_x) if dz > ZERO else sub_x
    row_y = i32(15 - sub_z) if dy > ZERO else sub_z
    column = i32(along_x if is_x else (sub_x if is_y else along_z))
    row = i32(row_y if is_y else i32(15 - sub_y))
    face = i32((FACE_BOTTOM if dy > ZERO else FACE_TOP) if is_y else FACE_SIDE)
    slope = abs(dx if is_x else (dy if is_y else dz))
    # Area of the pixel on the face: between the blur of the long side and the noise of the short one.
    covered = pixel_texels * pixel_texels
    level_1, level_2 = i32(covered > slope * MIP_1_FROM), i32(covered > slope * MIP_2_FROM)
    level_3, level_4 = i32(covered > slope * MIP_3_FROM), i32(covered > slope * MIP_4_FROM)
    level = i32(level_1 + level_2 + level_3 + level_4)
    start = level_1 * MIP_STEP_1 + level_2 * MIP_STEP_2 + level_3 * MIP_STEP_3 + level_4 * MIP_STEP_4
    texel = ((row >> level) << i32(4 - level)) + (column >> level)
    return i32((block * NUM_FACES + face) * NUM_FACE_TEXELS + start + texel)


def face_light(axis, dy):
    """Return the share of light that the face gets, by where it looks."""
    upright = LIGHT_X if axis == AXIS_X else LIGHT_Z
    level = LIGHT_BOTTOM if dy > ZERO else LIGHT_TOP
    return level if axis == AXIS_Y else upright


def shade(texel, is_hit, light, fog, dx, dy, dz, brightness, water):
    """Return the colour of a pixel, packed red, green, blue from the lowest byte.

    Args:
        texel: packed colour of the face; any where nothing was hit.
        is_hit: whether the ray met a block.
        light: 0 .. 1, light on the face.
        fog: 0 .. 1, share of the sky's colour in the pixel; 1 where nothing was hit.
        dx, dy, dz: direction of the ray.
        brightness: multiplies every colour.
        water: 0 in air, 1 for an eye under water.
    """
    height = min(max(dy * SKY_GRADIENT, ZERO), ONE)
    sky_red = HORIZON_RED + (ZENITH_RED - HORIZON_RED) * height
    sky_green = HORIZON_GREEN + (ZENITH_GREEN - HORIZON_GREEN) * height
    sky_blue = HORIZON_BLUE + (ZENITH_BLUE - HORIZON_BLUE) * height
    ahead = dx * SUN_EAST + dy * SUN_UP
    aside = max(abs(dy * SUN_EAST - dx * SUN_UP), abs(dz))
    is_sun = (aside < ahead * SUN_HALF_SIDE) & (not is_hit)
    sky_red = SUN_RED if is_sun else sky_red
    sky_green = SUN_GREEN if is_sun else sky_green
    sky_blue = SUN_BLUE if is_sun else sky_blue
    sky_red += (WATER_RED - sky_red) * water
    sky_green += (WATER_GREEN - sky_green) * water
    sky_blue += (WATER_BLUE - sky_blue) * water
    own = light * (ONE - fog)
    red = (f32(i32(texel & u32(255))) * own + sky_red * fog) * brightness
    green = (f32(i32((texel >> u32(8)) & u32(255))) * own + sky_green * fog) * brightness
    blue = (f32(i32((texel >> u32(16)) & u32(255))) * own + sky_blue * fog) * brightness
    red, green, blue = min(red + HALF, f32(255.0)), min(green + HALF, f32(255.0)), min(blue + HALF, f32(255.0))
    return u32(i32(red)) | (u32(i32(green)) << u32(8)) | (u32(i32(blue)) << u32(16))


def instance_of(cell):
    """Return the instance id of a cell: 0 sky, 1 terrain, 1 + the object bits for a placed object."""
    return i32(cell != 0) + (cell >> BLOCK_BITS)


def label_target(instance_HW, target_instance, label_7):
    """Write the share of pixels of the target, its centroid and its box, all in [0, 1]; zeros where it is unseen."""
    height_px, width_px = instance_HW.shape
    num_pixels, sum_row, sum_column = 0, 0, 0
    top, bottom, left, right = height_px, 0, width_px, 0
    label_7[:] = ZERO
    if target_instance == INSTANCE_SKY:
        return
    for row in range(height_px):
        num_in_row = 0
        for column in range(width_px):
            num_in_row += instance_HW[row, column] == target_instance
        if num_in_row == 0:
            continue
        num_pixels += num_in_row
        sum_row += num_in_row * row
        top, bottom = min(top, row), row + 1
        for column in range(width_px):
            if instance_HW[row, column] == target_instance:
                sum_column += column
                left, right = min(left, column), max(right, column + 1)
    if num_pixels > 0:
        label_7[0] = num_pixels / (height_px * width_px)
        label_7[1] = (sum_column / num_pixels + 0.5) / width_px
        label_7[2] = (sum_row / num_pixels + 0.5) / height_px
        label_7[3], label_7[4] = left / width_px, top / height_px
        label_7[5], label_7[6] = right / width_px, bottom / height_px


def draw_view(block_XZY, eye_5, fov_deg, brightness, atlas_N, view_range_blocks, image_HWC, instance_HW, depth_VHW, v):
    """Draw view v, pixel by pixel; see render_scalar."""
    has_depth = depth_VHW.shape[0] > 0
    height_px, width_px = instance_HW.shape
    ahead_x, ahead_y, ahead_z, right_x, right_y, right_z, up_x, up_y, up_z = camera_axes(
        eye_5[3], eye_5[4], fov_deg, width_px / height_px
    )
    cell_x, cell_y, cell_z = int(math.floor(eye_5[0])), int(math.floor(eye_5[1])), int(math.floor(eye_5[2]))
    px, py, pz = f32(eye_5[0] - cell_x), f32(eye_5[1] - cell_y), f32(eye_5[2] - cell_z)
    pixel_texels_per_block = f32(2.0 * math.tan(math.radians(fov_deg) / 2) / height_px * 16.0)
    range_blocks = f32(view_range_blocks)
    fog_start = FOG_START_SHARE * view_range_blocks
    fog_end = view_range_blocks
    see_through, water = AIR, ZERO
    if is_under_water(block_XZY, cell_x, cell_y, cell_z):
        see_through, water = WATER, ONE
        fog_start, fog_end = UNDERWATER_FOG_START_BLOCKS, UNDERWATER_FOG_END_BLOCKS
    fog_offset, fog_per_block = f32(fog_start), f32(1.0 / (fog_end - fog_start))
    for row in range(height_px):
        rise = ONE - (f32(row) + HALF) * f32(2.0 / height_px)
        for column in range(width_px):
            aside = (f32(column) + HALF) * f32(2.0 / width_px) - ONE
            dx = ahead_x + right_x * aside + up_x * rise
            dy = ahead_y + right_y * aside + up_y * rise
            dz = ahead_z + right_z * aside + up_z * rise
            scale = ONE / math.sqrt(dx * dx + dy * dy + dz * dz)
            dx, dy, dz = steer(dx * scale), steer(dy * scale), steer(dz * scale)
            cell, axis, distance = trace_ray(
                block_XZY, cell_x, cell_y, cell_z, px, py, pz, dx, dy, dz, see_through, range_blocks
            )
            is_hit = cell != 0
            fog, light, texel = ONE, ONE, u32(0)
            if is_hit:
                sub_x = i32(math.floor((px + dx * distance) * f32(16.0))) & 15
                sub_y = i32(math.floor((py + dy * distance) * f32(16.0))) & 15
                sub_z = i32(math.floor((pz + dz * distance) * f32(16.0))) & 15
                texel = atlas_N[
                    texel_index(
                        cell & BLOCK_MASK, axis, sub_x, sub_y, sub_z, dx, dy, dz, distance * pixel_texels_per_block
                    )
                ]
                light = face_light(axis, dy)
                fog = min(max((distance - fog_offset) * fog_per_block, ZERO), ONE)
            color = shade(texel, is_hit, light, fog, dx, dy, dz, brightness, water)
            image_HWC[row, column, 0] = color & u32(255)
            image_HWC[row, column, 1] = (color >> u32(8)) & u32(255)
            image_HWC[row, column, 2] = (color >> u32(16)) & u32(255)
            instance_HW[row, column] = instance_of(cell)
            if has_depth:
                depth_VHW[v, row, column] = distance


def is_under_water(block_XZY, cell_x, cell_y, cell_z):
    """Tell whether the cell is water."""
    if cell_y < 0 or cell_y >= WORLD_HEIGHT:
        return False
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    return (block_XZY[cell_x & mask_x, cell_z & mask_z, cell_y] & BLOCK_MASK) == WATER


SOURCES: tuple[Kernel, ...] = (
    camera_axes, steer, trace_ray, texel_index, face_light, shade, instance_of, label_target, is_under_water, draw_view,
)  # fmt: skip


def link(sources: Sequence[Kernel], compile_function: Callable[[Kernel], Kernel]) -> dict[str, Kernel]:
    """Compile functions that call one another, each under its own name, and leave the sources as they are.

    A function may call those before it in `sources`: a compiled function can only call functions compiled for the same
    target, so every target gets copies of its own.
    """
    compiled: dict[str, Kernel] = {}
    for source in sources:
        assert isinstance(source, FunctionType)
        copy = FunctionType(source.__code__, {**source.__globals__, **compiled}, source.__name__)
        compiled[source.__name__] = compile_function(copy)
    return compiled


# fastmath: lets LLVM fuse multiply-adds and use bare minimum instructions; no NaN or infinity is computed with.
CPU_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}
CPU_KERNELS = link(SOURCES, numba.njit(**CPU_OPTIONS))
_draw_view, _label_target = CPU_KERNELS["draw_view"], CPU_KERNELS["label_target"]


@numba.njit(parallel=True, cache=True, **CPU_OPTIONS)
def render_scalar(
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
    """Draw V views: colours, instance ids, depth, and where the target is.

    Args:
        block_WXZY: uint16 [W, X, Z, 64] cells; x and z wrap, X and Z are powers of two.
        distance_WXZY: uint8 [W, X, Z, 64], see worlds.voxel.distance; only the fast twin reads it.
        world_index_V: int64 [V], the world each view looks into.
        eye_V5: float64 [V, 5] eye x, y, z in blocks, yaw, pitch in degrees; x and z may be unwrapped, y may lie above.
        fov_deg_V: float32 [V], vertical field of view.
        brightness_V: float32 [V], multiplies every colour.
        target_instance_V: int32 [V], instance id that target_V7 describes, 0 for none.
        atlas_KFN: uint32 [K, 3, 341], see worlds.textures.atlas.
        view_range_blocks: rays end there, at most half a side of the world.
        image_VHWC: uint8 [V, H, W, 3] RGB, row 0 the top; written.
        instance_VHW: int32 [V, H, W], 0 sky, 1 terrain, 2 + i the i-th placed object; written.
        depth_VHW: float32 [V, H, W] blocks along the ray, the range where nothing is hit; written unless it is empty.
        target_V7: float32 [V, 7], see worlds.types.TARGET_LABELS; written.
    """
    atlas_N = atlas_KFN.reshape(-1)
    for v in numba.prange(len(world_index_V)):
        _draw_view(
            block_WXZY[world_index_V[v]], eye_V5[v], fov_deg_V[v], brightness_V[v], atlas_N, view_range_blocks,
            image_VHWC[v], instance_VHW[v], depth_VHW, v,
        )  # fmt: skip
        _label_target(instance_VHW[v], target_instance_V[v], target_V7[v])
