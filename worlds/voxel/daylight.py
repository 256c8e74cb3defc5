"""From a Look to numbers: how high the sun stands and how dark the sky is."""

import math

import numpy as np

from worlds.spec import Look
from worlds.voxel.scene import NUM_LOOKS

DAY_TICKS = 24000
MOST_DARKNESS = 11  # levels that midnight takes off the sky's light, as in Minecraft
RAIN_SHADE = 5.0 / 16.0  # share of daylight that rain takes


def sun_angle_deg(time_ticks: int) -> float:
    """Return where the sun stands: 0 rising in the east, 90 overhead, 180 setting, up to 360."""
    return 360.0 * time_ticks / DAY_TICKS


def daylight(look: Look) -> float:
    """Return the share of full daylight, 0 at night: Minecraft's cos(angle from noon) * 2 + 0.5, less in rain."""
    height = math.cos(math.radians(sun_angle_deg(look.time_ticks) - 90.0))
    share = min(1.0, max(0.0, 2.0 * height + 0.5))
    return share * (1.0 - RAIN_SHADE) if look.weather == "rain" else share


def darkness(look: Look) -> int:
    """Return the light levels, 0 .. 11, that the sky lacks."""
    return int((1.0 - daylight(look)) * MOST_DARKNESS)


def look_row(look: Look, texture_set: int) -> np.ndarray:
    """Return float32 [10], see worlds.voxel.scene.LOOK_COLUMNS."""
    rain = 1.0 if look.weather == "rain" else 0.0
    sun = sun_angle_deg(look.time_ticks)
    row = (look.fov_deg, look.brightness, daylight(look), sun, look.fog, rain, *look.tint, texture_set)
    assert len(row) == NUM_LOOKS
    return np.array(row, np.float32)
