"""Where a ray meets what is no full cube: boxes, diagonals and the surface of fluids. Functions of one ray.

A ray runs from (ox, oy, oz), the eye as seen from the corner of the cell, along (dx, dy, dz), none of them zero. Only
the outer side of a box is drawn, and its holes (texels below half opacity) let the ray through; a diagonal has two
sides. The functions that are also used inside the lanes have no branches.
"""

import math

from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.types import FACE_NORTH
from worlds.voxel.link import Kernel
from worlds.voxel.render_view import FLUID_HEIGHT
from worlds.voxel.scene import ELEMENT_BOX, ELEMENT_DIAGONAL_A
from worlds.voxel.shading import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    HALF,
    ONE,
    OPAQUE_FROM,
    ZERO,
    f32,
    face_light,
    face_met,
    i32,
    steer,
    texel_at,
    texel_on_face,
)

SIXTEEN = f32(16.0)
MISSED = f32(-1.0)
HALF_ROOT = f32(math.sqrt(0.5))


def sixteenth(place):  # type: ignore[no-untyped-def]
    """Return in which sixteenth 0 .. 15 of a cell a place in it (0 .. 1) lies."""
    return i32(min(max(i32(place * SIXTEEN), i32(0)), i32(15)))


def meet_box(ox, oy, oz, inverse_x, inverse_y, inverse_z, x0, y0, z0, x1, y1, z1):  # type: ignore[no-untyped-def]
    """Return (distance, axis of the face) where a ray enters a box from outside; MISSED where it does not."""
    one_x, other_x = (x0 - ox) * inverse_x, (x1 - ox) * inverse_x
    one_y, other_y = (y0 - oy) * inverse_y, (y1 - oy) * inverse_y
    one_z, other_z = (z0 - oz) * inverse_z, (z1 - oz) * inverse_z
    near_x, near_y, near_z = min(one_x, other_x), min(one_y, other_y), min(one_z, other_z)
    far = min(max(one_x, other_x), min(max(one_y, other_y), max(one_z, other_z)))
    near = max(near_x, max(near_y, near_z))
    axis = i32(AXIS_X) if near == near_x else (i32(AXIS_Y) if near == near_y else i32(AXIS_Z))
    return near if (near <= far) & (near > ZERO) else MISSED, axis


def meet_diagonal(ox, oy, oz, dx, dy, dz, turn, x0, y0, x1, y1, spread_per_square):  # type: ignore[no-untyped-def]
    """Return (distance, texel) where a ray meets the plane x = z (`turn` 1) or x = 1 - z (-1); MISSED off its picture.

    `texel` is the place in the texture's 341; the picture is upright and reads from left to right on both sides.
    """
    towards = dx - turn * dz
    distance = (HALF - HALF * turn + turn * oz - ox) / steer(towards)
    place_x, place_y = ox + dx * distance, oy + dy * distance
    is_met = (distance > ZERO) & (place_x >= x0) & (place_x <= x1) & (place_y >= y0) & (place_y <= y1)
    sub_x = sixteenth(place_x)
    column = sub_x if turn * towards > ZERO else i32(15 - sub_x)
    row = i32(15 - sixteenth(place_y))
    spread = distance * distance * spread_per_square * HALF_ROOT
    texel = texel_at(row, column, spread, abs(towards) * HALF_ROOT)
    return distance if is_met else MISSED, texel


def meet_fluid(has_same_above, enter, leave, axis, oy, dy):  # type: ignore[no-untyped-def]
    """Return (distance, axis) where a ray that is in a fluid's cell from `enter` to `leave` meets it, or MISSED.

    `axis` is that of the wall it came through. An eye in the cell itself (`enter` below zero) is above the surface.
    """
    is_within = (enter > ZERO) & (has_same_above | (oy + dy * enter <= FLUID_HEIGHT))
    surface = (FLUID_HEIGHT - oy) / dy
    is_above = (not has_same_above) & (dy < ZERO) & (surface > ZERO) & (surface <= leave)
    distance = enter if is_within else (surface if is_above else MISSED)
    return distance, i32(axis if is_within else i32(AXIS_Y))


def meet_elements(  # type: ignore[no-untyped-def]
    looks, atlas_N, texels, state, ox, oy, oz, dx, dy, dz
):
    """Return (distance, address of the texel, light of the face) of the first element of a state, or MISSED, 0, 0."""
    best, best_address, best_light = MISSED, i32(0), ZERO
    start = looks.element_start_S[state]
    inverse_x, inverse_y, inverse_z = ONE / dx, ONE / dy, ONE / dz
    for n in range(start, start + looks.element_count_S[state]):
        x0, y0, z0 = looks.element_box_N6[n, 0], looks.element_box_N6[n, 1], looks.element_box_N6[n, 2]
        x1, y1, z1 = looks.element_box_N6[n, 3], looks.element_box_N6[n, 4], looks.element_box_N6[n, 5]
        kind = looks.element_kind_N[n]
        if kind == ELEMENT_BOX:
            distance, axis = meet_box(ox, oy, oz, inverse_x, inverse_y, inverse_z, x0, y0, z0, x1, y1, z1)
            if distance < ZERO or (best > ZERO and distance >= best):
                continue
            row = looks.element_texture_N6[n, face_met(axis, dx, dy, dz)]
            sub_x = sixteenth(ox + dx * distance)
            sub_y = sixteenth(oy + dy * distance)
            sub_z = sixteenth(oz + dz * distance)
            texel = texel_on_face(axis, sub_x, sub_y, sub_z, dx, dy, dz, distance * distance * texels)
            light = face_light(axis, dy)
        else:
            turn = ONE if kind == ELEMENT_DIAGONAL_A else -ONE
            distance, texel = meet_diagonal(ox, oy, oz, dx, dy, dz, turn, x0, y0, x1, y1, texels)
            if distance < ZERO or (best > ZERO and distance >= best):
                continue
            row = looks.element_texture_N6[n, FACE_NORTH]
            light = ONE
        if row < 0:
            continue
        address = i32(row * NUM_FACE_TEXELS + texel)
        if atlas_N[address] >= OPAQUE_FROM:
            best, best_address, best_light = distance, address, light
    return best, best_address, best_light


LANE_SOURCES: tuple[Kernel, ...] = (sixteenth, meet_box, meet_diagonal, meet_fluid)
SOURCES: tuple[Kernel, ...] = (meet_elements,)
