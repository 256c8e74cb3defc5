"""A ray on a GPU: the same as worlds.voxel.render.trace_ray, but over free cells in leaps. N flat cells or texels.

trace_ray enters every cell, some 60 on the way to the sky. Here a ray leaves the whole free box that the field promises
around its cell in one step, as the CPU's lanes do (worlds.voxel.trace_lanes): each axis is mirrored at the eye's cell
where the ray runs down it, so that in its own coordinates every ray climbs from cell 0, and the world's cell is
`base + (cell ^ flip)` with flip 0 or, to negate, -1. Cells never go down: rounding cannot make a ray turn back.

The source knows nothing of CUDA, see worlds.voxel.link. Numbers are kept at 32 bits: a GPU has few units for 64.
"""

import math
from typing import NamedTuple

from worlds.blocks import AIR
from worlds.spec import BLOCK_MASK
from worlds.textures.atlas import NUM_FACE_TEXELS, TEXTURE_PX
from worlds.voxel.field import LIGHT_SHIFT
from worlds.voxel.free_boxes import BOX_BITS, FREE_ASIDE, FREE_DOWN, FREE_UP
from worlds.voxel.link import Kernel
from worlds.voxel.render_shapes import MISSED, meet_elements, meet_fluid
from worlds.voxel.render_view import WORLD_HEIGHT
from worlds.voxel.scene import DRAW_CUBE, DRAW_ELEMENTS, DRAW_FLUID, DRAW_VOID
from worlds.voxel.shading import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    ONE,
    ZERO,
    Whole,
    f32,
    face_light,
    face_met,
    i32,
    texel_on_face,
    u32,
)

_FIRST_BOX = 8  # smaller codes are their own number of cells all ways


class Torus(NamedTuple):
    """How a world lies in memory, int32; cells are numbered (x * Z + z) * Y + y."""

    mask_x: Whole
    mask_z: Whole
    stride_x: Whole
    stride_z: Whole


def torus_of(block_XZY):  # type: ignore[no-untyped-def]
    """Return the Torus of a world."""
    size_x, size_z, size_y = block_XZY.shape
    return Torus(i32(size_x - 1), i32(size_z - 1), i32(size_z * size_y), i32(size_y))


def flat_cell(torus, x, y, z):  # type: ignore[no-untyped-def]
    """Return the number of a cell; x and z are wrapped. Unsigned: a signed index costs a test for negative ones."""
    in_x, in_z = i32(i32(x & torus.mask_x) * torus.stride_x), i32(i32(z & torus.mask_z) * torus.stride_z)
    return u32(i32(i32(in_x + in_z) + y))


def cells_aside(code):  # type: ignore[no-untyped-def]
    """Return how many cells along x and z a ray may take from a cell of this code, see worlds.voxel.free_boxes."""
    boxed = u32(u32(FREE_ASIDE) >> u32(u32(u32(code) & u32(7)) << u32(2))) & u32(15)
    return i32(code) if code < _FIRST_BOX else i32(boxed)


def cells_upright(code, is_up):  # type: ignore[no-untyped-def]
    """Return how many cells up or down."""
    cells = u32(FREE_UP) if is_up else u32(FREE_DOWN)
    boxed = u32(cells >> u32(u32(u32(code) & u32(7)) << u32(2))) & u32(15)
    return i32(code) if code < _FIRST_BOX else i32(boxed)


def light_level(field_N, torus, view, x, y, z):  # type: ignore[no-untyped-def]
    """Return the light level of a cell seen from the eye's own; above and below the world shines the sky."""
    height = i32(view.cell_y + y)
    if u32(height) >= u32(WORLD_HEIGHT):
        return i32(view.sky_level)
    return i32(i32(field_N[flat_cell(torus, i32(view.cell_x + x), height, i32(view.cell_z + z))]) >> LIGHT_SHIFT)


def meet_cell(  # type: ignore[no-untyped-def]
    block_N, torus, looks, atlas_N, view, state, draw, x, y, z, is_start, axis, enter, leave, dx, dy, dz
):
    """Return (distance, address of the texel, light of the face) where a ray meets a cell that is not air, or MISSED.

    x, y, z is the cell seen from the eye's own; the ray came through a wall across `axis` and is in it from `enter` to
    `leave`.
    """
    if draw == DRAW_ELEMENTS:
        return meet_elements(
            looks, atlas_N, view.texels, state, view.px - f32(x), view.py - f32(y), view.pz - f32(z), dx, dy, dz
        )
    if not (draw == DRAW_FLUID or (draw == DRAW_CUBE and not is_start)):
        return MISSED, i32(0), ZERO
    distance, wall = enter, i32(axis)
    if draw == DRAW_FLUID:
        height = min(i32(i32(view.cell_y + y) + 1), i32(WORLD_HEIGHT - 1))
        above = i32(block_N[flat_cell(torus, i32(view.cell_x + x), i32(height), i32(view.cell_z + z))])
        has_same_above = (above & BLOCK_MASK) == state
        distance, wall = meet_fluid(has_same_above, enter, leave, axis, view.py - f32(y), dy)
    sub_x = i32(math.floor((view.px + dx * distance) * f32(TEXTURE_PX))) & 15
    sub_y = i32(math.floor((view.py + dy * distance) * f32(TEXTURE_PX))) & 15
    sub_z = i32(math.floor((view.pz + dz * distance) * f32(TEXTURE_PX))) & 15
    texel = texel_on_face(wall, sub_x, sub_y, sub_z, dx, dy, dz, distance * distance * view.texels)
    row = looks.texture_S6[state, face_met(wall, dx, dy, dz)]
    return distance, i32(row * NUM_FACE_TEXELS + texel), face_light(wall, dy)


def leap_ray(block_N, field_N, torus, looks, atlas_N, view, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Return what a ray meets first in the world `block_N` (flat), as worlds.voxel.render.trace_ray does.

    After its five values comes the number of leaps; who does not want it does not pay for it.
    """
    num_leaps = i32(0)
    flip_x, flip_y, flip_z = i32(0 if dx > ZERO else -1), i32(0 if dy > ZERO else -1), i32(0 if dz > ZERO else -1)
    base_x, base_y, base_z = i32(view.cell_x - flip_x), i32(view.cell_y - flip_y), i32(view.cell_z - flip_z)
    slope_x, slope_y, slope_z = abs(dx), abs(dy), abs(dz)
    inverse_x, inverse_y, inverse_z = ONE / slope_x, ONE / slope_y, ONE / slope_z
    start_x = view.px if dx > ZERO else ONE - view.px
    start_y = view.py if dy > ZERO else ONE - view.py
    start_z = view.pz if dz > ZERO else ONE - view.pz
    x, y, z = i32(0), i32(0), i32(0)
    height = i32(view.cell_y)
    if u32(height) >= u32(WORLD_HEIGHT):
        # From above, or from the layer below: fly to the first cell of the world.
        if (height < 0) != (dy > ZERO) or height < -1:
            return i32(0), view.range_blocks, i32(0), ZERO, i32(0), num_leaps
        y = i32(1) if height < 0 else i32(height - (WORLD_HEIGHT - 1))
        to_wall = (f32(y) - start_y) * inverse_y
        if not (to_wall < view.range_blocks):
            return i32(0), view.range_blocks, i32(0), ZERO, i32(0), num_leaps
        x, z = i32(start_x + slope_x * to_wall), i32(start_z + slope_z * to_wall)
        height = i32(base_y + i32(y ^ flip_y))
    while True:
        n = flat_cell(torus, i32(base_x + i32(x ^ flip_x)), height, i32(base_z + i32(z ^ flip_z)))
        code = u32(field_N[n]) & u32(BOX_BITS)
        aside, upright = i32(1), i32(1)
        if code != 0:
            aside, upright = cells_aside(code), cells_upright(code, dy > ZERO)
        else:
            cell = i32(block_N[n])
            state = i32(cell & BLOCK_MASK)
            if state != AIR and state != view.see_through:
                is_start = (x | y | z) == 0
                draw = looks.draw_S[state]
                if draw == DRAW_VOID and not is_start:
                    break
                # The face met is the wall of the cell that the ray reaches last.
                to_x, to_y = (f32(x) - start_x) * inverse_x, (f32(y) - start_y) * inverse_y
                to_z = (f32(z) - start_z) * inverse_z
                enter = max(to_x, max(to_y, to_z))
                axis = i32(AXIS_X) if enter == to_x else (i32(AXIS_Y) if enter == to_y else i32(AXIS_Z))
                if is_start:
                    enter, axis = MISSED, i32(AXIS_Y)
                to_x, to_y = (f32(i32(x + 1)) - start_x) * inverse_x, (f32(i32(y + 1)) - start_y) * inverse_y
                leave = min(to_x, min(to_y, (f32(i32(z + 1)) - start_z) * inverse_z))
                own_x, own_y = i32(i32(x ^ flip_x) - flip_x), i32(i32(y ^ flip_y) - flip_y)
                own_z = i32(i32(z ^ flip_z) - flip_z)
                distance, address, light = meet_cell(
                    block_N, torus, looks, atlas_N, view, state, draw, own_x, own_y, own_z, is_start, axis, enter,
                    leave, dx, dy, dz,
                )  # fmt: skip
                if distance >= ZERO and distance < view.range_blocks:
                    # An opaque cell has no light but what it gives off itself.
                    level = i32(looks.emission_S[state])
                    if draw != DRAW_CUBE:
                        level = max(level, light_level(field_N, torus, view, own_x, own_y, own_z))
                    if not is_start:
                        front_x = i32(own_x - i32(1 + 2 * flip_x)) if axis == AXIS_X else own_x
                        front_y = i32(own_y - i32(1 + 2 * flip_y)) if axis == AXIS_Y else own_y
                        front_z = i32(own_z - i32(1 + 2 * flip_z)) if axis == AXIS_Z else own_z
                        level = max(level, light_level(field_N, torus, view, front_x, front_y, front_z))
                    return cell, distance, address, light, level, num_leaps
        wall_x, wall_y, wall_z = i32(x + aside), i32(y + upright), i32(z + aside)
        to_x = (f32(wall_x) - start_x) * inverse_x
        to_y = (f32(wall_y) - start_y) * inverse_y
        to_z = (f32(wall_z) - start_z) * inverse_z
        to_wall = min(to_x, min(to_y, to_z))
        # Not "to_wall >= range": a ray with a NaN in it must end too.
        if not (to_wall < view.range_blocks):
            break
        x = max(i32(start_x + slope_x * to_wall), wall_x if to_wall == to_x else x)
        y = max(i32(start_y + slope_y * to_wall), wall_y if to_wall == to_y else y)
        z = max(i32(start_z + slope_z * to_wall), wall_z if to_wall == to_z else z)
        height = i32(base_y + i32(y ^ flip_y))
        num_leaps = i32(num_leaps + 1)
        if u32(height) >= u32(WORLD_HEIGHT):
            break
    return i32(0), view.range_blocks, i32(0), ZERO, i32(0), num_leaps


SOURCES: tuple[Kernel, ...] = (
    torus_of, flat_cell, cells_aside, cells_upright, light_level, meet_cell, leap_ray,
)  # fmt: skip
