"""A camera: what all pixels of a view share, and the ray of each of them."""

import math
from typing import NamedTuple

import numpy as np

from worlds.blocks import AIR, BLOCK_ID
from worlds.spec import BLOCK_MASK
from worlds.textures.atlas import TEXTURE_PX
from worlds.voxel.link import Kernel
from worlds.voxel.scene import DRAW_FLUID, BlockLooks, Scene
from worlds.voxel.shading import (
    HALF,
    MOON_HALF_SIDE,
    ONE,
    SUN_HALF_SIDE,
    Real,
    Whole,
    f32,
    i32,
    steer,
)

WORLD_HEIGHT = 64
FLUID_HEIGHT = f32(8.0 / 9.0)  # of a fluid's surface in its cell, under anything but itself
FOG_START_SHARE = 0.6  # of the view range; fog is full at the range, so far terrain fades in instead of popping up
LATEST_FOG_START_SHARE = 0.9  # of the view range, however thin the fog is
UNDERWATER_FOG_START_BLOCKS, UNDERWATER_FOG_END_BLOCKS = -8.0, 20.0
LAVA_FOG_START_BLOCKS, LAVA_FOG_END_BLOCKS = -1.0, 2.0
MOST_DARKNESS = 11  # light levels that midnight takes off the sky's light

# Columns of look_WL, see worlds.voxel.scene.
LOOK_FOV, LOOK_BRIGHTNESS, LOOK_DAYLIGHT, LOOK_SUN_ANGLE, LOOK_FOG, LOOK_RAIN = range(6)
LOOK_RED, LOOK_GREEN, LOOK_BLUE, LOOK_TEXTURE_SET = range(6, 10)

# Red, green, blue 0 .. 255 of the sky by day and by night, at the horizon and overhead; of deep water and lava.
DAY_HORIZON, DAY_ZENITH = (196.0, 218.0, 250.0), (108.0, 156.0, 246.0)
NIGHT_HORIZON, NIGHT_ZENITH = (24.0, 29.0, 54.0), (7.0, 9.0, 24.0)
WATER_COLOR, LAVA_COLOR = (22.0, 54.0, 132.0), (200.0, 70.0, 10.0)
SUN_COLOR, MOON_COLOR = (255.0, 248.0, 206.0), (214.0, 222.0, 236.0)
RAIN_GREY = (0.62, 0.65, 0.70)  # of the brightness of a clear sky
NIGHT_HUE = (0.80, 0.92, 1.30)  # of what the night's light falls on
GLOW_HEIGHT, MOST_GLOW = 0.45, 0.7  # sine of the sun's height at which its glow is gone; share of it at the horizon

LAVA = BLOCK_ID["lava"]


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
    texels: Real  # area that a pixel covers on a face one block ahead, in texels of a block's face
    fog_start: Real
    fog_per_block: Real
    brightness: Real
    see_through: Whole  # int32, block state that this view looks through, besides air
    sky_level: Whole  # int32, light level under the open sky
    horizon_red: Real  # colour of the sky at the horizon
    horizon_green: Real
    horizon_blue: Real
    zenith_red: Real  # what is added to it overhead
    zenith_green: Real
    zenith_blue: Real
    glow: Real  # share of the glow at the horizon
    sun_side: Real  # 1 in the east, -1 in the west
    sun_x: Real  # direction of the sun; the moon stands opposite
    sun_y: Real
    sun_half_side: Real  # zero hides it
    moon_half_side: Real
    sun_red: Real
    sun_green: Real
    sun_blue: Real
    moon_red: Real
    moon_green: Real
    moon_blue: Real
    hue_red: Real  # what colours are multiplied with: brightness and the colour of the light
    hue_green: Real
    hue_blue: Real
    tint_red: Real  # the same for blocks, with the palette
    tint_green: Real
    tint_blue: Real


def sky_color(channel, daylight, rain, day, night):  # type: ignore[no-untyped-def]
    """Return one channel of the sky's colour, from its colour on a clear day and at night."""
    clear = night[channel] + (day[channel] - night[channel]) * daylight
    bright = 0.3 * (night[0] + (day[0] - night[0]) * daylight) + 0.7 * (night[1] + (day[1] - night[1]) * daylight)
    return clear + (RAIN_GREY[channel] * bright * 1.35 - clear) * 0.85 * rain


def make_view(  # type: ignore[no-untyped-def]
    scene: Scene, block_looks: BlockLooks, world, eye_5: np.ndarray, view_range_blocks, height_px, width_px
) -> View:
    """Return the View of an eye at x, y, z, yaw, pitch in a world."""
    block_XZY, look_L = scene.block_WXZY[world], scene.look_WL[world]
    yaw, pitch = math.radians(eye_5[3]), math.radians(eye_5[4])
    sin_yaw, cos_yaw, sin_pitch, cos_pitch = math.sin(yaw), math.cos(yaw), math.sin(pitch), math.cos(pitch)
    half_height = math.tan(math.radians(look_L[LOOK_FOV]) / 2)
    half_width = half_height * width_px / height_px
    cell_x, cell_y, cell_z = int(math.floor(eye_5[0])), int(math.floor(eye_5[1])), int(math.floor(eye_5[2]))
    brightness, daylight, rain = float(look_L[LOOK_BRIGHTNESS]), float(look_L[LOOK_DAYLIGHT]), float(look_L[LOOK_RAIN])
    density = max(0.01, float(look_L[LOOK_FOG])) * (1.0 + 0.5 * rain)
    fog_end = min(view_range_blocks, view_range_blocks / density)
    fog_start = min(FOG_START_SHARE * view_range_blocks / density, LATEST_FOG_START_SHARE * fog_end)
    horizon_red = sky_color(0, daylight, rain, DAY_HORIZON, NIGHT_HORIZON)
    horizon_green = sky_color(1, daylight, rain, DAY_HORIZON, NIGHT_HORIZON)
    horizon_blue = sky_color(2, daylight, rain, DAY_HORIZON, NIGHT_HORIZON)
    zenith_red = sky_color(0, daylight, rain, DAY_ZENITH, NIGHT_ZENITH)
    zenith_green = sky_color(1, daylight, rain, DAY_ZENITH, NIGHT_ZENITH)
    zenith_blue = sky_color(2, daylight, rain, DAY_ZENITH, NIGHT_ZENITH)
    angle = math.radians(look_L[LOOK_SUN_ANGLE])
    sun_x, sun_y = math.cos(angle), math.sin(angle)
    sun_side = ONE if sun_x > 0.0 else -ONE
    glow = MOST_GLOW * max(0.0, 1.0 - (sun_y / GLOW_HEIGHT) * (sun_y / GLOW_HEIGHT)) * (1.0 - 0.8 * rain)
    sun_half_side, moon_half_side = float(SUN_HALF_SIDE) * (1.0 - rain), float(MOON_HALF_SIDE) * (1.0 - rain)
    see_through = AIR
    if 0 <= cell_y < WORLD_HEIGHT:
        x, z = cell_x & (block_XZY.shape[0] - 1), cell_z & (block_XZY.shape[1] - 1)
        state = int(block_XZY[x, z, cell_y]) & BLOCK_MASK
        above = int(block_XZY[x, z, min(cell_y + 1, WORLD_HEIGHT - 1)]) & BLOCK_MASK
        is_under = above == state or eye_5[1] - cell_y < FLUID_HEIGHT
        if block_looks.draw_S[state] == DRAW_FLUID and is_under:
            see_through = state
            glow, sun_half_side, moon_half_side = 0.0, 0.0, 0.0
            fog_start, fog_end = UNDERWATER_FOG_START_BLOCKS, UNDERWATER_FOG_END_BLOCKS
            dim = 0.25 + 0.75 * daylight
            horizon_red, horizon_green, horizon_blue = WATER_COLOR[0] * dim, WATER_COLOR[1] * dim, WATER_COLOR[2] * dim
            if state == LAVA:
                fog_start, fog_end = LAVA_FOG_START_BLOCKS, LAVA_FOG_END_BLOCKS
                horizon_red, horizon_green, horizon_blue = LAVA_COLOR
            zenith_red, zenith_green, zenith_blue = horizon_red, horizon_green, horizon_blue
    night = 1.0 - daylight
    hue_red = brightness * (1.0 + (NIGHT_HUE[0] - 1.0) * night)
    hue_green = brightness * (1.0 + (NIGHT_HUE[1] - 1.0) * night)
    hue_blue = brightness * (1.0 + (NIGHT_HUE[2] - 1.0) * night)
    moon = 1.0 - 0.5 * daylight
    return View(
        f32(-sin_yaw * cos_pitch), f32(-sin_pitch), f32(cos_yaw * cos_pitch),
        f32(-cos_yaw * half_width), f32(-sin_yaw * half_width),
        f32(-sin_yaw * sin_pitch * half_height), f32(cos_pitch * half_height), f32(cos_yaw * sin_pitch * half_height),
        f32(2.0 / height_px), f32(2.0 / width_px),
        i32(cell_x), i32(cell_y), i32(cell_z), f32(eye_5[0] - cell_x), f32(eye_5[1] - cell_y), f32(eye_5[2] - cell_z),
        f32(view_range_blocks), f32((2.0 * half_height / height_px * TEXTURE_PX) ** 2),
        f32(fog_start), f32(1.0 / (fog_end - fog_start)), f32(brightness), i32(see_through),
        i32(15 - int(night * MOST_DARKNESS)),
        f32(horizon_red), f32(horizon_green), f32(horizon_blue),
        f32(zenith_red - horizon_red), f32(zenith_green - horizon_green), f32(zenith_blue - horizon_blue),
        f32(glow), sun_side, f32(sun_x), f32(sun_y), f32(sun_half_side), f32(moon_half_side),
        f32(SUN_COLOR[0]), f32(SUN_COLOR[1]), f32(SUN_COLOR[2]),
        f32(zenith_red + (MOON_COLOR[0] - zenith_red) * moon),
        f32(zenith_green + (MOON_COLOR[1] - zenith_green) * moon),
        f32(zenith_blue + (MOON_COLOR[2] - zenith_blue) * moon),
        f32(hue_red), f32(hue_green), f32(hue_blue),
        f32(hue_red * look_L[LOOK_RED]), f32(hue_green * look_L[LOOK_GREEN]), f32(hue_blue * look_L[LOOK_BLUE]),
    )  # fmt: skip


def pixel_ray(view: View, row: Whole, column: Whole) -> tuple[Real, Real, Real]:
    """Return the direction of a pixel's ray: x, y, z of length 1, none of them zero."""
    rise = ONE - (f32(i32(row)) + HALF) * view.row_scale
    aside = (f32(i32(column)) + HALF) * view.column_scale - ONE
    dx = view.ahead_x + view.right_x * aside + view.up_x * rise
    dy = view.ahead_y + view.up_y * rise
    dz = view.ahead_z + view.right_z * aside + view.up_z * rise
    scale = ONE / math.sqrt(dx * dx + dy * dy + dz * dz)
    return steer(dx * scale), steer(dy * scale), steer(dz * scale)


PIXEL_SOURCES: tuple[Kernel, ...] = (pixel_ray,)
SOURCES: tuple[Kernel, ...] = (sky_color, make_view)
