"""Directions in which things lie: yaw 0 looks to +z and grows clockwise, pitch +90 looks straight down. Degrees."""

import math

from task_synthesis.placement.targets import torus_delta
from worlds.types import Pose


def aimed_at(eye: Pose, cell: tuple[int, int, int], sides_blocks: tuple[int, int]) -> Pose:
    """Return the eye turned to the middle of a cell, the short way round a torus of these sides along x and z."""
    x, y, z = cell
    dx = float(torus_delta(x + 0.5 - eye.x, sides_blocks[0]))
    dz = float(torus_delta(z + 0.5 - eye.z, sides_blocks[1]))
    return eye._replace(
        yaw_deg=math.degrees(math.atan2(-dx, dz)),
        pitch_deg=-math.degrees(math.atan2(y + 0.5 - eye.y, math.hypot(dx, dz))),
    )


def wrapped_deg(angle_deg: float) -> float:
    """Return the same direction as an angle in [-180, 180)."""
    return (angle_deg + 180.0) % 360.0 - 180.0
