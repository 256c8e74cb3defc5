"""What colour a ray brings home: texel, light, fog and sky. Functions of one pixel, compiled by worlds.voxel.render.

They are shared by both renderers, so they have no branches: inside the lanes they become vector code.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from worlds.spec import BLOCK_BITS
from worlds.textures.atlas import MIP_OFFSETS
from worlds.voxel.link import Kernel

if TYPE_CHECKING:
    from worlds.voxel.render_view import View

f32 = np.float32
i32 = np.int32
u32 = np.uint32
Real: TypeAlias = "np.floating[Any]"
Whole: TypeAlias = np.int32 | int

ZERO, HALF, ONE = f32(0.0), f32(0.5), f32(1.0)
TOP = f32(255.0)
AXIS_X, AXIS_Y, AXIS_Z = 0, 1, 2
SMALLEST_SLOPE = f32(1e-6)  # keeps 1 / slope finite; over 64 blocks it moves a ray by 1e-4
OPAQUE_FROM = u32(128 << 24)  # a texel below it is a hole

# Light on a face by where it looks, as in Minecraft.
LIGHT_X, LIGHT_Z, LIGHT_TOP, LIGHT_BOTTOM = f32(0.6), f32(0.8), f32(1.0), f32(0.5)

# Minecraft's curve of light levels, half way to its "bright" setting: caves and nights stay readable.
PER_LEVEL = f32(1.0 / 15.0)
DIMMEST = f32(0.06)
LIFT = f32(0.5)

SKY_GRADIENT = f32(1.5)  # the overhead colour is reached at sin(elevation) = 1 / 1.5
SUN_HALF_SIDE, MOON_HALF_SIDE = f32(0.07), f32(0.05)  # of its distance
LOWEST_STAR = f32(-0.02)  # sine of the elevation below which sun and moon have set
GLOW_RED, GLOW_GREEN, GLOW_BLUE = f32(255.0), f32(132.0), f32(58.0)  # of the horizon where the sun rises and sets
HURT_SHARE = f32(0.45)  # of red over a mob that was hit

# A mip level starts where a pixel covers more than 2 ** (level - 0.5) texels; squared, because that saves the root.
MIP_1_FROM, MIP_2_FROM, MIP_3_FROM, MIP_4_FROM = f32(2.0), f32(8.0), f32(32.0), f32(128.0)
MIP_STEP_1, MIP_STEP_2, MIP_STEP_3, MIP_STEP_4 = np.diff(MIP_OFFSETS).tolist()


def steer(slope: Real) -> Real:
    """Return the slope, or a tiny one in place of zero, so that its inverse is finite."""
    return slope if abs(slope) >= SMALLEST_SLOPE else SMALLEST_SLOPE


def texel_at(row: Whole, column: Whole, spread: Real, slope: Real) -> Whole:
    """Return where in a texture's 341 texels the one at `row`, `column` (0 .. 15) lies, at the right size.

    A pixel covers spread / slope texels of the full size. That is an area: its long side alone would blur, its short
    side alone would shimmer.
    """
    level_1, level_2 = i32(spread > slope * MIP_1_FROM), i32(spread > slope * MIP_2_FROM)
    level_3, level_4 = i32(spread > slope * MIP_3_FROM), i32(spread > slope * MIP_4_FROM)
    level = i32(level_1 + level_2 + level_3 + level_4)
    start = level_1 * MIP_STEP_1 + level_2 * MIP_STEP_2 + level_3 * MIP_STEP_3 + level_4 * MIP_STEP_4
    return i32(start + ((row >> level) << i32(4 - level)) + (column >> level))


def texel_on_face(
    axis: Whole, sub_x: Whole, sub_y: Whole, sub_z: Whole, dx: Real, dy: Real, dz: Real, spread: Real
) -> Whole:
    """Return where in its texture's 341 texels a ray meets a face across `axis`.

    `sub_x`, `sub_y`, `sub_z` (int32) are the place in sixteenths, 0 .. 15; the ray runs along (dx, dy, dz). Textures of
    sides are upright and not mirrored seen from outside; the top has north (-z) at its upper edge.
    """
    is_x, is_y = axis == AXIS_X, axis == AXIS_Y
    along_x = sub_z if dx > ZERO else i32(15 - sub_z)
    along_z = i32(15 - sub_x) if dz > ZERO else sub_x
    row_y = i32(15 - sub_z) if dy > ZERO else sub_z
    column = i32(along_x if is_x else (sub_x if is_y else along_z))
    row = i32(row_y if is_y else i32(15 - sub_y))
    slope = abs(dx if is_x else (dy if is_y else dz))
    return texel_at(row, column, spread, slope)


def face_met(axis: Whole, dx: Real, dy: Real, dz: Real) -> Whole:
    """Return the face across `axis` that a ray along (dx, dy, dz) meets, in the order of worlds.types.FACES."""
    away_x = i32(0) if dx > ZERO else i32(1)
    away_y = i32(2) if dy > ZERO else i32(3)
    away_z = i32(4) if dz > ZERO else i32(5)
    return i32(away_x if axis == AXIS_X else (away_y if axis == AXIS_Y else away_z))


def face_light(axis: Whole, dy: Real) -> Real:
    """Return the share of light that the face gets, by where it looks."""
    upright = LIGHT_X if axis == AXIS_X else LIGHT_Z
    level = LIGHT_BOTTOM if dy > ZERO else LIGHT_TOP
    return level if axis == AXIS_Y else upright


def light_of_level(level: Whole) -> Real:
    """Return the share of full light at a light level 0 .. 15; 1 at 15."""
    share = f32(level) * PER_LEVEL
    plain = share / (f32(4.0) - f32(3.0) * share)
    dark = ONE - plain
    dark_2 = dark * dark
    lit = plain + (ONE - dark_2 * dark_2 - plain) * LIFT
    return DIMMEST + (ONE - DIMMEST) * lit


def redden(texel: np.uint32, hurt: Real) -> np.uint32:
    """Return the texel with red laid over it when `hurt` is 1, itself when it is 0."""
    share = hurt * HURT_SHARE
    red = f32(i32(texel & u32(255)))
    green = f32(i32((texel >> u32(8)) & u32(255)))
    blue = f32(i32((texel >> u32(16)) & u32(255)))
    red += (TOP - red) * share
    green -= green * share
    blue -= blue * share
    return u32(i32(red)) | (u32(i32(green)) << u32(8)) | (u32(i32(blue)) << u32(16))


def shade(
    view: "View",
    texel: np.uint32,
    is_hit: bool,
    light: Real,
    hue_red: Real,
    hue_green: Real,
    hue_blue: Real,
    distance: Real,
    dx: Real,
    dy: Real,
    dz: Real,
) -> np.uint32:
    """Return the colour of a pixel, packed red, green, blue from the lowest byte.

    `texel` is the packed colour met after `distance` blocks, lit by `light` and multiplied by the hue. Without a hit
    the sky is drawn.
    """
    fog = min(max((distance - view.fog_start) * view.fog_per_block, ZERO), ONE)
    fog = fog if is_hit else ONE
    own = light * (ONE - fog)
    height = min(max(dy * SKY_GRADIENT, ZERO), ONE)
    glow = view.glow * max(dx * view.sun_side, ZERO) * (ONE - height)
    sky_red = view.horizon_red + view.zenith_red * height
    sky_green = view.horizon_green + view.zenith_green * height
    sky_blue = view.horizon_blue + view.zenith_blue * height
    sky_red += (GLOW_RED - sky_red) * glow
    sky_green += (GLOW_GREEN - sky_green) * glow
    sky_blue += (GLOW_BLUE - sky_blue) * glow
    ahead = dx * view.sun_x + dy * view.sun_y
    aside = max(abs(dy * view.sun_x - dx * view.sun_y), abs(dz))
    is_open = (not is_hit) & (dy > LOWEST_STAR)
    is_sun = is_open & (aside < ahead * view.sun_half_side)
    is_moon = is_open & (aside < -ahead * view.moon_half_side)
    sky_red = view.sun_red if is_sun else (view.moon_red if is_moon else sky_red)
    sky_green = view.sun_green if is_sun else (view.moon_green if is_moon else sky_green)
    sky_blue = view.sun_blue if is_sun else (view.moon_blue if is_moon else sky_blue)
    fog *= view.brightness
    red = f32(i32(texel & u32(255))) * (own * hue_red) + sky_red * fog
    green = f32(i32((texel >> u32(8)) & u32(255))) * (own * hue_green) + sky_green * fog
    blue = f32(i32((texel >> u32(16)) & u32(255))) * (own * hue_blue) + sky_blue * fog
    red, green, blue = min(red + HALF, TOP), min(green + HALF, TOP), min(blue + HALF, TOP)
    return u32(i32(red)) | (u32(i32(green)) << u32(8)) | (u32(i32(blue)) << u32(16))


def instance_of(cell: Whole) -> Whole:
    """Return the instance id of a cell that was hit: 1 terrain, 1 + the object bits for a placed object."""
    return i32(i32(1) + (cell >> BLOCK_BITS))


SOURCES: tuple[Kernel, ...] = (
    steer, texel_at, texel_on_face, face_met, face_light, light_of_level, redden, shade, instance_of,
)  # fmt: skip
