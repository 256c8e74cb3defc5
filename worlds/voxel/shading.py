"""What colour a ray brings home: texel, light, fog and sky. Functions of one pixel, compiled by worlds.voxel.render.

They are shared by both renderers, so they have no branches: inside the lanes they become vector code.
"""

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.textures.atlas import FACE_BOTTOM, FACE_SIDE, FACE_TOP, MIP_OFFSETS, NUM_FACE_TEXELS, NUM_FACES

if TYPE_CHECKING:
    from worlds.voxel.render import View

f32 = np.float32
i32 = np.int32
u32 = np.uint32
Real: TypeAlias = "np.floating[Any]"
Whole: TypeAlias = np.int32 | int

ZERO, HALF, ONE = f32(0.0), f32(0.5), f32(1.0)
AXIS_X, AXIS_Y, AXIS_Z = 0, 1, 2

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

# A mip level starts where a pixel covers more than 2 ** (level - 0.5) texels; squared, because that saves the root.
MIP_1_FROM, MIP_2_FROM, MIP_3_FROM, MIP_4_FROM = f32(2.0), f32(8.0), f32(32.0), f32(128.0)
MIP_STEP_1, MIP_STEP_2, MIP_STEP_3, MIP_STEP_4 = np.diff(MIP_OFFSETS).tolist()


def texel_index(
    view: "View",
    cell: Whole,
    axis: Whole,
    sub_x: Whole,
    sub_y: Whole,
    sub_z: Whole,
    dx: Real,
    dy: Real,
    dz: Real,
    distance: Real,
) -> Whole:
    """Return where in the flat atlas the texel lies that a ray meets.

    `sub_x`, `sub_y`, `sub_z` (int32) are the place on the block in sixteenths, 0 .. 15; the ray runs along (dx, dy, dz)
    and meets the face across `axis` after `distance` blocks.
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
    # The area that the pixel covers on the face: its long side alone would blur, its short side alone would shimmer.
    covered = distance * distance * view.pixel_texels * view.pixel_texels
    level_1, level_2 = i32(covered > slope * MIP_1_FROM), i32(covered > slope * MIP_2_FROM)
    level_3, level_4 = i32(covered > slope * MIP_3_FROM), i32(covered > slope * MIP_4_FROM)
    level = i32(level_1 + level_2 + level_3 + level_4)
    start = level_1 * MIP_STEP_1 + level_2 * MIP_STEP_2 + level_3 * MIP_STEP_3 + level_4 * MIP_STEP_4
    texel = ((row >> level) << i32(4 - level)) + (column >> level)
    return i32(((cell & BLOCK_MASK) * NUM_FACES + face) * NUM_FACE_TEXELS + start + texel)


def face_light(axis: Whole, dy: Real) -> Real:
    """Return the share of light that the face gets, by where it looks."""
    upright = LIGHT_X if axis == AXIS_X else LIGHT_Z
    level = LIGHT_BOTTOM if dy > ZERO else LIGHT_TOP
    return level if axis == AXIS_Y else upright


def shade(
    view: "View", texel: np.uint32, is_hit: bool, axis: Whole, distance: Real, dx: Real, dy: Real, dz: Real
) -> np.uint32:
    """Return the colour of a pixel, packed red, green, blue from the lowest byte.

    `texel` is the packed colour of the face across `axis`, met after `distance` blocks. Without a hit the sky is drawn.
    """
    fog = min(max((distance - view.fog_start) * view.fog_per_block, ZERO), ONE)
    fog = fog if is_hit else ONE
    own = face_light(axis, dy) * (ONE - fog)
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
    sky_red += (WATER_RED - sky_red) * view.water
    sky_green += (WATER_GREEN - sky_green) * view.water
    sky_blue += (WATER_BLUE - sky_blue) * view.water
    red = (f32(i32(texel & u32(255))) * own + sky_red * fog) * view.brightness
    green = (f32(i32((texel >> u32(8)) & u32(255))) * own + sky_green * fog) * view.brightness
    blue = (f32(i32((texel >> u32(16)) & u32(255))) * own + sky_blue * fog) * view.brightness
    red, green, blue = min(red + HALF, f32(255.0)), min(green + HALF, f32(255.0)), min(blue + HALF, f32(255.0))
    return u32(i32(red)) | (u32(i32(green)) << u32(8)) | (u32(i32(blue)) << u32(16))


def instance_of(cell: Whole) -> Whole:
    """Return the instance id of a cell: 0 sky, 1 terrain, 1 + the object bits for a placed object."""
    return i32(cell != 0) + (cell >> BLOCK_BITS)
