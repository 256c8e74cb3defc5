"""Where the goal camera stands and where the agent starts."""

import math

import numpy as np

from worlds.types import Pose

# Goal camera: horizontal distance to the target, height of the eye above the target's floor, and how far off centre
# the target may be, so that where it is in the picture tells nothing by itself.
CAMERA_DISTANCE_BLOCKS = (3.0, 8.0)
CAMERA_HEIGHT_BLOCKS = (1.2, 4.5)
CAMERA_YAW_JITTER_DEG = 16.0
CAMERA_PITCH_JITTER_DEG = 10.0
START_PITCH_DEG = (-5.0, 20.0)


def draw_goal_view(rng: np.random.Generator, target: tuple[int, int, int]) -> Pose:
    """Return the eye of a camera that looks roughly at the target; positions are not wrapped."""
    distance = rng.uniform(*CAMERA_DISTANCE_BLOCKS)
    height = rng.uniform(*CAMERA_HEIGHT_BLOCKS)
    yaw_deg = rng.uniform(-180.0, 180.0)
    direction = math.radians(yaw_deg)
    x = target[0] + 0.5 + math.sin(direction) * distance
    z = target[2] + 0.5 - math.cos(direction) * distance
    pitch_deg = math.degrees(math.atan2(height - 0.5, distance))
    return Pose(
        x=round(x, 3),
        y=round(target[1] + height, 3),
        z=round(z, 3),
        yaw_deg=round(yaw_deg + rng.uniform(-1, 1) * CAMERA_YAW_JITTER_DEG, 2),
        pitch_deg=round(pitch_deg + rng.uniform(-1, 1) * CAMERA_PITCH_JITTER_DEG, 2),
    )


def draw_start_column(
    rng: np.random.Generator, target: tuple[int, int, int], band_blocks: tuple[float, float]
) -> tuple[int, int]:
    """Return the column (x, z), not wrapped, of a start whose distance is uniform in the band."""
    distance = rng.uniform(*band_blocks)
    direction = rng.uniform(0.0, 2 * math.pi)
    return (
        math.floor(target[0] + 0.5 + math.cos(direction) * distance),
        math.floor(target[2] + 0.5 + math.sin(direction) * distance),
    )


def draw_start_view(rng: np.random.Generator) -> tuple[float, float]:
    """Return (yaw, pitch) of an agent that looks anywhere around, roughly level."""
    return round(rng.uniform(-180.0, 180.0), 2), round(rng.uniform(*START_PITCH_DEG), 2)
