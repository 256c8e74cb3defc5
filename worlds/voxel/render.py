"""The renderer, one pixel at a time: the plain source of truth. V views, W worlds, H W C image.

Everything here is written for one ray and one pixel in functions without a decorator; `link` compiles them for a
target. `render_scalar` is the CPU build, worlds.voxel.render_lanes its fast twin.

A ray works in cells relative to the eye's own cell, so that float32 keeps a precision of 1e-5 blocks at the far end of
the view, wherever in the world the eye is.
"""

import math
from typing import Any

import numba
import numpy as np

from worlds.blocks import AIR
from worlds.spec import BLOCK_MASK
from worlds.textures.atlas import NUM_FACE_TEXELS, TEXTURE_PX
from worlds.types import INSTANCE_SKY
from worlds.voxel import render_entities, render_labels, render_shapes, render_view, shading
from worlds.voxel.field import LIGHT_SHIFT
from worlds.voxel.link import Kernel, link
from worlds.voxel.render_entities import ENTITY_INSTANCE, HURT, meet_entities
from worlds.voxel.render_shapes import MISSED, meet_elements, meet_fluid
from worlds.voxel.render_view import LOOK_TEXTURE_SET, WORLD_HEIGHT, View, pixel_ray
from worlds.voxel.scene import (
    DRAW_CUBE,
    DRAW_ELEMENTS,
    DRAW_FLUID,
    DRAW_VOID,
    BlockLooks,
    ModelLooks,
    Picture,
    Scene,
)
from worlds.voxel.shading import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    ONE,
    ZERO,
    Real,
    Whole,
    f32,
    face_light,
    face_met,
    i32,
    instance_of,
    light_of_level,
    redden,
    shade,
    texel_on_face,
    u32,
)


def level_at(field_XZY, view, x, y, z):  # type: ignore[no-untyped-def]
    """Return the light level of a cell, given relative to the eye's; above and below the world shines the sky."""
    height = view.cell_y + y
    if height < 0 or height >= WORLD_HEIGHT:
        return int(view.sky_level)
    mask_x, mask_z = field_XZY.shape[0] - 1, field_XZY.shape[1] - 1
    return int(field_XZY[(view.cell_x + x) & mask_x, (view.cell_z + z) & mask_z, height]) >> LIGHT_SHIFT


def trace_ray(  # type: ignore[no-untyped-def]
    block_XZY, field_XZY, looks, atlas_N, view, dx, dy, dz
) -> tuple[Whole, Real, Whole, Real, Whole]:
    """Return what a ray meets first: (cell, distance, address of the texel, light of the face, light level).

    Air and the fluid that the eye is in are seen through, and so is a cube around the eye. Where nothing is in range or
    a void state ends the ray the cell is 0 and the distance that of the range.
    """
    nothing = 0, view.range_blocks, i32(0), ZERO, 0
    px, py, pz = view.px, view.py, view.pz
    cell_x, cell_y, cell_z = int(view.cell_x), int(view.cell_y), int(view.cell_z)
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    inverse_x, inverse_y, inverse_z = ONE / dx, ONE / dy, ONE / dz
    step_x, step_y, step_z = (1 if dx > ZERO else -1), (1 if dy > ZERO else -1), (1 if dz > ZERO else -1)
    ahead_x, ahead_y, ahead_z = (1 if dx > ZERO else 0), (1 if dy > ZERO else 0), (1 if dz > ZERO else 0)
    x, y, z = 0, 0, 0
    axis, enter, is_start = AXIS_Y, MISSED, True
    if cell_y >= WORLD_HEIGHT:
        if dy >= ZERO:
            return nothing
        # Above the world: fly to the cell of air that lies on its uppermost layer.
        distance = (f32(WORLD_HEIGHT - cell_y) - py) * inverse_y
        x = int(math.floor(px + dx * distance))
        z = int(math.floor(pz + dz * distance))
        y = WORLD_HEIGHT - cell_y
    to_x = (f32(x + ahead_x) - px) * inverse_x
    to_y = (f32(y + ahead_y) - py) * inverse_y
    to_z = (f32(z + ahead_z) - pz) * inverse_z
    while True:
        height = cell_y + y
        # Not "enter >= range": a ray with a NaN in it must end too.
        if not (enter < view.range_blocks):
            return nothing
        if 0 <= height < WORLD_HEIGHT:
            cell = int(block_XZY[(cell_x + x) & mask_x, (cell_z + z) & mask_z, height])
            state = cell & BLOCK_MASK
            if state != AIR and state != view.see_through:
                draw = looks.draw_S[state]
                if draw == DRAW_VOID and not is_start:
                    return nothing
                distance, address, light = MISSED, i32(0), ZERO
                if draw == DRAW_ELEMENTS:
                    distance, address, light = meet_elements(
                        looks, atlas_N, view.texels, state, px - f32(x), py - f32(y), pz - f32(z), dx, dy, dz
                    )
                elif draw == DRAW_FLUID or (draw == DRAW_CUBE and not is_start):
                    distance, wall = enter, axis
                    if draw == DRAW_FLUID:
                        above = int(block_XZY[(cell_x + x) & mask_x, (cell_z + z) & mask_z, min(height + 1, 63)])
                        leave = min(to_x, min(to_y, to_z))
                        distance, wall = meet_fluid(
                            (above & BLOCK_MASK) == state, enter, leave, axis, py - f32(y), dy
                        )  # fmt: skip
                    if distance >= ZERO:  # 0 where the eye is exactly on a wall
                        sub_x = i32(math.floor((px + dx * distance) * f32(TEXTURE_PX))) & 15
                        sub_y = i32(math.floor((py + dy * distance) * f32(TEXTURE_PX))) & 15
                        sub_z = i32(math.floor((pz + dz * distance) * f32(TEXTURE_PX))) & 15
                        spread = distance * distance * view.texels
                        texel = texel_on_face(wall, sub_x, sub_y, sub_z, dx, dy, dz, spread)
                        row = looks.texture_S6[state, face_met(wall, dx, dy, dz)]
                        address, light = i32(row * NUM_FACE_TEXELS + texel), face_light(wall, dy)
                if distance >= ZERO and distance < view.range_blocks:
                    # An opaque cell has no light but what it gives off itself.
                    level = int(looks.emission_S[state])
                    if draw != DRAW_CUBE:
                        level = max(level, level_at(field_XZY, view, x, y, z))
                    if not is_start:
                        front_x = x - step_x if axis == AXIS_X else x
                        front_y = y - step_y if axis == AXIS_Y else y
                        front_z = z - step_z if axis == AXIS_Z else z
                        level = max(level, level_at(field_XZY, view, front_x, front_y, front_z))
                    return cell, distance, address, light, level
        is_start = False
        if to_x < to_y and to_x < to_z:
            axis, enter = AXIS_X, to_x
            x += step_x
            to_x = (f32(x + ahead_x) - px) * inverse_x
        elif to_y < to_z:
            axis, enter = AXIS_Y, to_y
            y += step_y
            to_y = (f32(y + ahead_y) - py) * inverse_y
            if cell_y + y < 0 or cell_y + y >= WORLD_HEIGHT:
                return nothing
        else:
            axis, enter = AXIS_Z, to_z
            z += step_z
            to_z = (f32(z + ahead_z) - pz) * inverse_z


def draw_pixel(  # type: ignore[no-untyped-def]
    scene: Scene, block_looks: BlockLooks, model_looks: ModelLooks, view: View, world, v, row, column, picture: Picture
) -> None:
    """Draw one pixel of view v, which looks into `world`; target_V7 is not touched."""
    atlas_N = scene.atlas_AN[int(scene.look_WL[world, LOOK_TEXTURE_SET])]
    dx, dy, dz = pixel_ray(view, row, column)
    cell, distance, address, light, level = trace_ray(
        scene.block_WXZY[world], scene.field_WXZY[world], block_looks, atlas_N, view, dx, dy, dz
    )
    is_hit, instance, texel = cell != 0, i32(INSTANCE_SKY), u32(0)
    hue_red, hue_green, hue_blue = view.tint_red, view.tint_green, view.tint_blue
    if is_hit:
        light *= light_of_level(level)
        texel, instance = atlas_N[address], i32(instance_of(cell))
    m, near, near_address, near_light = meet_entities(
        scene, model_looks, view, world, atlas_N, dx, dy, dz, distance
    )  # fmt: skip
    if m >= 0:
        is_hit, distance, light = True, near, near_light
        texel = redden(atlas_N[near_address], scene.entity_WMF[world, m, HURT])
        instance = i32(scene.entity_WMF[world, m, ENTITY_INSTANCE])
        hue_red, hue_green, hue_blue = view.hue_red, view.hue_green, view.hue_blue
    color = shade(view, texel, is_hit, light, hue_red, hue_green, hue_blue, distance, dx, dy, dz)
    picture.image_VHWC[v, row, column, 0] = color & u32(255)
    picture.image_VHWC[v, row, column, 1] = (color >> u32(8)) & u32(255)
    picture.image_VHWC[v, row, column, 2] = (color >> u32(16)) & u32(255)
    picture.instance_VHW[v, row, column] = instance
    if picture.depth_VHW.shape[0] > 0:
        picture.depth_VHW[v, row, column] = distance


def draw_view(  # type: ignore[no-untyped-def]
    scene: Scene, block_looks: BlockLooks, model_looks: ModelLooks, view: View, world, v, picture: Picture
) -> None:
    """Draw view v, pixel by pixel."""
    _, height_px, width_px = picture.instance_VHW.shape
    for row in range(height_px):
        for column in range(width_px):
            draw_pixel(scene, block_looks, model_looks, view, world, v, row, column, picture)


# Small functions without branches, for one ray and inside the lanes alike; then functions of one pixel; of one view.
LANE_SOURCES: tuple[Kernel, ...] = (
    *shading.SOURCES, *render_view.PIXEL_SOURCES, *render_shapes.LANE_SOURCES, *render_entities.LANE_SOURCES,
)  # fmt: skip
PIXEL_SOURCES: tuple[Kernel, ...] = (
    *render_shapes.SOURCES, *render_entities.SOURCES, level_at, trace_ray, draw_pixel,
)  # fmt: skip
VIEW_SOURCES: tuple[Kernel, ...] = (*render_view.SOURCES, draw_view, *render_labels.SOURCES)
SOURCES: tuple[Kernel, ...] = (*LANE_SOURCES, *PIXEL_SOURCES, *VIEW_SOURCES)

# Without fastmath, which would be 5 % faster: with it LLVM rounds otherwise where it inlines otherwise, and code fresh
# from the compiler and the same from the cache drew other pixels, one in ten thousand pictures.
CPU_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Left to itself LLVM calls the small functions, and a loop with calls is not vectorised: 1.5 times slower lanes.
_LANE_KERNELS = link(LANE_SOURCES, numba.njit(forceinline=True, **CPU_OPTIONS), {})
CPU_KERNELS = link((*PIXEL_SOURCES, *VIEW_SOURCES), numba.njit(**CPU_OPTIONS), _LANE_KERNELS)
_make_view, _draw_view, _label_target = (CPU_KERNELS[name] for name in ("make_view", "draw_view", "label_target"))


@numba.njit(parallel=True, cache=True, **CPU_OPTIONS)
def render_scalar(
    scene: Scene,
    block_looks: BlockLooks,
    model_looks: ModelLooks,
    world_index_V: np.ndarray,
    eye_V5: np.ndarray,
    target_instance_V: np.ndarray,
    view_range_blocks: float,
    picture: Picture,
) -> None:
    """Draw V views: colours, instance ids, depth, and where the target is.

    Args:
        scene: what is drawn.
        block_looks: how blocks are drawn.
        model_looks: how mobs, arrows and items are drawn.
        world_index_V: int64 [V], the world each view looks into.
        eye_V5: float64 [V, 5] eye x, y, z in blocks, yaw, pitch in degrees; x and z may be unwrapped, y may lie above.
        target_instance_V: int32 [V], instance id that target_V7 describes, 0 for none.
        view_range_blocks: rays end there, at most half a side of the world.
        picture: written.
    """
    _, height_px, width_px = picture.instance_VHW.shape
    for n in numba.prange(len(world_index_V)):
        v = np.int64(n)  # unsigned in a parallel loop, so that all that takes it would be compiled once more
        world = world_index_V[v]
        view = _make_view(scene, block_looks, world, eye_V5[v], view_range_blocks, height_px, width_px)
        _draw_view(scene, block_looks, model_looks, view, world, v, picture)
        _label_target(picture.instance_VHW[v], target_instance_V[v], picture.target_V7[v])
