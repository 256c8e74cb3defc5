"""Where to look and what stands in the way: turns, the ray of the pointer, lines through plants."""

import math

from numba import njit

from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel import raycast
from worlds.voxel.raycast import first_hit_cpu

MAX_TURN_DEG = 10.0
_MAX_PLANTS = 4  # in one line
_STEP_BLOCKS = 0.05
BLOCKED = -1

box_centre = njit(cache=True, nogil=True, error_model="numpy")(raycast.box_centre)
nearest_image = njit(cache=True, nogil=True, error_model="numpy")(raycast.nearest_image)
ray_box = njit(cache=True, nogil=True, error_model="numpy")(raycast.ray_box)


@njit(cache=True, nogil=True)
def turn(error_deg, slack_deg, num_ticks):
    """Return the turn in degrees a tick that takes away an error over `num_ticks`; none within the slack."""
    if abs(error_deg) <= slack_deg:
        return 0.0
    return min(MAX_TURN_DEG, max(-MAX_TURN_DEG, error_deg / num_ticks))


@njit(cache=True, nogil=True)
def eye_height(is_sneaking):
    """Return how far above the feet the eye is, in blocks."""
    return SNEAK_EYE_HEIGHT_BLOCKS if is_sneaking else EYE_HEIGHT_BLOCKS


@njit(cache=True, nogil=True)
def angles_to(dx, dy, dz):
    """Return (yaw, pitch) in degrees of a direction of any length."""
    return math.degrees(math.atan2(-dx, dz)), -math.degrees(math.atan2(dy, math.hypot(dx, dz)))


@njit(cache=True, nogil=True)
def direction_of(yaw_deg, pitch_deg):
    """Return the direction of length 1 of a view."""
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    return -math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)


@njit(cache=True, nogil=True)
def angle_between(from_deg, to_deg):
    """Return the turn from one yaw to another, in degrees, -180 .. 180."""
    return (to_deg - from_deg + 180.0) % 360.0 - 180.0


@njit(cache=True, nogil=True)
def plants_between(block_XZY, outline, ground, x, y, z, to_x, to_y, to_z, slot):
    """Return how many plants a line to a point meets, BLOCKED where anything firmer does.

    With `slot` (object slot + 1) the line must end on a block of that object; with 0 it only has to get to the point.
    """
    num_plants = 0
    for _ in range(_MAX_PLANTS):
        dx, dy, dz = to_x - x, to_y - y, to_z - z
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if length < 1e-6:
            return num_plants if slot == 0 else BLOCKED
        cell_x, cell_y, cell_z, _, clear = first_hit_cpu(
            block_XZY, outline, x, y, z, dx, dy, dz, length + 0.1 if slot > 0 else length
        )
        if cell_y < 0:
            return num_plants if slot == 0 else BLOCKED
        packed = int(block_XZY[cell_x, cell_z, cell_y])
        if slot > 0 and packed >> BLOCK_BITS == slot:
            return num_plants
        if not ground.is_plant_S[packed & BLOCK_MASK]:
            return BLOCKED
        num_plants += 1
        dx, dy, dz = dx / length, dy / length, dz / length
        x, y, z = x + dx * (clear + 1e-6), y + dy * (clear + 1e-6), z + dz * (clear + 1e-6)
        from_x, from_y, from_z = math.floor(x), math.floor(y), math.floor(z)
        while math.floor(x) == from_x and math.floor(y) == from_y and math.floor(z) == from_z:
            x, y, z = x + dx * _STEP_BLOCKS, y + dy * _STEP_BLOCKS, z + dz * _STEP_BLOCKS
    return BLOCKED
