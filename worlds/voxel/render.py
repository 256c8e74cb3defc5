"""The renderer, one pixel at a time: the plain source of truth. V views, W worlds, H W C image, K blocks, F faces.

Everything here is written for one ray and one pixel in functions without a decorator; `link` compiles them for a
target. `render_scalar` is the CPU build, worlds.voxel.render_lanes its fast twin.

A ray works in cells relative to the eye's own cell, so that float32 keeps a precision of 1e-5 blocks at the far end of
the view, wherever in the world the eye is.
"""

import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np

from worlds.blocks import AIR, BLOCK_ID
from worlds.spec import BLOCK_MASK
from worlds.textures.atlas import TEXTURE_PX
from worlds.types import INSTANCE_SKY
from worlds.voxel.shading import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    HALF,
    ONE,
    ZERO,
    Real,
    Whole,
    f32,
    face_light,
    i32,
    instance_of,
    shade,
    texel_index,
    u32,
)

WATER = BLOCK_ID["water"]
WORLD_HEIGHT = 64
SMALLEST_SLOPE = f32(1e-6)  # keeps 1 / slope finite; over 64 blocks it moves a ray by 1e-4
FOG_START_SHARE = 0.6  # of the view range; fog is full at the range, so far terrain fades in instead of popping up
UNDERWATER_FOG_START_BLOCKS, UNDERWATER_FOG_END_BLOCKS = -8.0, 20.0

Kernel = Callable[..., Any]


class View(NamedTuple):
    """What all pixels of a view share. Lengths in blocks, float32, unless said otherwise."""

    ahead_x: Real  # direction of the picture's centre
    ahead_y: Real
    ahead_z: Real
    right_x: Real  # from the centre to the right border, one block ahead
    right_z: Real
    up_x: Real  # from the centre to the upper border, one block ahead
    up_y: Real
    up_z: Real
    row_scale: Real  # rows to heights -1 .. 1
    column_scale: Real  # columns to sides -1 .. 1
    cell_x: Whole  # int32, the eye's cell
    cell_y: Whole
    cell_z: Whole
    px: Real  # the eye's place in its cell, 0 .. 1
    py: Real
    pz: Real
    range_blocks: Real
    pixel_texels: Real  # texels that a pixel covers on a face one block ahead
    fog_start: Real
    fog_per_block: Real
    brightness: Real
    see_through: Whole  # block id that this view looks through, besides air
    water: Real  # 1 for an eye under water, else 0


def make_view(
    block_XZY: np.ndarray,
    eye_5: np.ndarray,
    fov_deg: Real,
    brightness: Real,
    view_range_blocks: float,
    height_px: int,
    width_px: int,
) -> View:
    """Return the View of an eye at x, y, z, yaw, pitch."""
    yaw, pitch = math.radians(eye_5[3]), math.radians(eye_5[4])
    sin_yaw, cos_yaw, sin_pitch, cos_pitch = math.sin(yaw), math.cos(yaw), math.sin(pitch), math.cos(pitch)
    half_height = math.tan(math.radians(fov_deg) / 2)
    half_width = half_height * width_px / height_px
    cell_x, cell_y, cell_z = int(math.floor(eye_5[0])), int(math.floor(eye_5[1])), int(math.floor(eye_5[2]))
    fog_start, fog_end = FOG_START_SHARE * view_range_blocks, view_range_blocks
    see_through, water = AIR, ZERO
    if 0 <= cell_y < WORLD_HEIGHT:
        cell = block_XZY[cell_x & (block_XZY.shape[0] - 1), cell_z & (block_XZY.shape[1] - 1), cell_y]
        if cell & BLOCK_MASK == WATER:
            see_through, water = WATER, ONE
            fog_start, fog_end = UNDERWATER_FOG_START_BLOCKS, UNDERWATER_FOG_END_BLOCKS
    return View(
        f32(-sin_yaw * cos_pitch), f32(-sin_pitch), f32(cos_yaw * cos_pitch),
        f32(-cos_yaw * half_width), f32(-sin_yaw * half_width),
        f32(-sin_yaw * sin_pitch * half_height), f32(cos_pitch * half_height), f32(cos_yaw * sin_pitch * half_height),
        f32(2.0 / height_px), f32(2.0 / width_px),
        i32(cell_x), i32(cell_y), i32(cell_z), f32(eye_5[0] - cell_x), f32(eye_5[1] - cell_y), f32(eye_5[2] - cell_z),
        f32(view_range_blocks), f32(2.0 * half_height / height_px * TEXTURE_PX),
        f32(fog_start), f32(1.0 / (fog_end - fog_start)), f32(brightness), i32(see_through), water,
    )  # fmt: skip


def steer(slope: Real) -> Real:
    """Return the slope, or a tiny one in place of zero, so that its inverse is finite."""
    return slope if abs(slope) >= SMALLEST_SLOPE else SMALLEST_SLOPE


def pixel_ray(view: View, row: Whole, column: Whole) -> tuple[Real, Real, Real]:
    """Return the direction of a pixel's ray: x, y, z of length 1, none of them zero."""
    rise = ONE - (f32(i32(row)) + HALF) * view.row_scale
    aside = (f32(i32(column)) + HALF) * view.column_scale - ONE
    dx = view.ahead_x + view.right_x * aside + view.up_x * rise
    dy = view.ahead_y + view.up_y * rise
    dz = view.ahead_z + view.right_z * aside + view.up_z * rise
    scale = ONE / math.sqrt(dx * dx + dy * dy + dz * dz)
    return steer(dx * scale), steer(dy * scale), steer(dz * scale)


def trace_ray(block_XZY: np.ndarray, view: View, dx: Real, dy: Real, dz: Real) -> tuple[Whole, Whole, Real]:
    """Return the first cell on a ray that is neither air nor seen through, as (cell, axis of the face met, distance).

    The eye's own cell is never drawn. Nothing in range: (0, 0, range_blocks).
    """
    px, py, pz = view.px, view.py, view.pz
    cell_x, cell_y, cell_z, range_blocks = int(view.cell_x), int(view.cell_y), int(view.cell_z), view.range_blocks
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
        if block != AIR and block != view.see_through:
            return cell, axis, distance


def label_target(instance_HW: np.ndarray, target_instance: Whole, label_7: np.ndarray) -> None:
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


def draw_view(
    block_XZY: np.ndarray,
    view: View,
    atlas_N: np.ndarray,
    image_HWC: np.ndarray,
    instance_HW: np.ndarray,
    depth_VHW: np.ndarray,
    v: int,
) -> None:
    """Draw view v, pixel by pixel; see render_scalar."""
    has_depth = depth_VHW.shape[0] > 0
    height_px, width_px = instance_HW.shape
    for row in range(height_px):
        for column in range(width_px):
            dx, dy, dz = pixel_ray(view, row, column)
            cell, axis, distance = trace_ray(block_XZY, view, dx, dy, dz)
            texel = u32(0)
            if cell != 0:
                sub_x = i32(math.floor((view.px + dx * distance) * f32(TEXTURE_PX))) & 15
                sub_y = i32(math.floor((view.py + dy * distance) * f32(TEXTURE_PX))) & 15
                sub_z = i32(math.floor((view.pz + dz * distance) * f32(TEXTURE_PX))) & 15
                texel = atlas_N[texel_index(view, cell, axis, sub_x, sub_y, sub_z, dx, dy, dz, distance)]
            color = shade(view, texel, cell != 0, axis, distance, dx, dy, dz)
            image_HWC[row, column, 0] = color & u32(255)
            image_HWC[row, column, 1] = (color >> u32(8)) & u32(255)
            image_HWC[row, column, 2] = (color >> u32(16)) & u32(255)
            instance_HW[row, column] = instance_of(cell)
            if has_depth:
                depth_VHW[v, row, column] = distance


# Functions of one pixel, then functions of one view.
PIXEL_SOURCES: tuple[Kernel, ...] = (steer, pixel_ray, trace_ray, texel_index, face_light, shade, instance_of)
VIEW_SOURCES: tuple[Kernel, ...] = (make_view, draw_view, label_target)


def link(
    sources: Sequence[Kernel], compile_function: Callable[[Kernel], Kernel], known: dict[str, Kernel]
) -> dict[str, Kernel]:
    """Return `known` and the compiled sources by name; the sources stay as they are.

    A function may call `known` ones and those before it in `sources`: compiled code can only call code compiled for the
    same target, so every target gets copies of its own.
    """
    compiled = dict(known)
    for source in sources:
        assert isinstance(source, FunctionType)
        copy = FunctionType(source.__code__, {**source.__globals__, **compiled}, source.__name__)
        compiled[source.__name__] = compile_function(copy)
    return compiled


# fastmath lets LLVM fuse multiply-adds and use bare minimum instructions; nothing here computes with NaN or infinity.
CPU_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}
# Left to itself LLVM calls the pixel functions, and a loop with calls is not vectorised: 1.5 times slower lanes.
_PIXEL_KERNELS = link(PIXEL_SOURCES, numba.njit(forceinline=True, **CPU_OPTIONS), {})
CPU_KERNELS = link(VIEW_SOURCES, numba.njit(**CPU_OPTIONS), _PIXEL_KERNELS)
_make_view, _draw_view, _label_target = (CPU_KERNELS[name] for name in ("make_view", "draw_view", "label_target"))


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
    _, height_px, width_px = instance_VHW.shape
    for v in numba.prange(len(world_index_V)):
        block_XZY = block_WXZY[world_index_V[v]]
        view = _make_view(block_XZY, eye_V5[v], fov_deg_V[v], brightness_V[v], view_range_blocks, height_px, width_px)
        _draw_view(block_XZY, view, atlas_N, image_VHWC[v], instance_VHW[v], depth_VHW, v)
        _label_target(instance_VHW[v], target_instance_V[v], target_V7[v])
