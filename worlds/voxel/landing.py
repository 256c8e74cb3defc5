"""What a landing does: the damage of a fall, and blocks that bounce. Java Edition 1.16.5; kernels, see link."""

import math

from worlds.blocks import BLOCK_ID
from worlds.voxel.link import Kernel

SAFE_FALL_BLOCKS = 3.0
SOFT_FALL_FACTOR = 0.2
BED_FALL_FACTOR = 0.5
BED_BOUNCE = 0.66
SLIME_SLOW_VELOCITY, SLIME_SLOW_FACTOR = 0.1, 0.4

# Kinds with rules of their own.
HAY = BLOCK_ID["hay_block"]
HONEY = BLOCK_ID["honey_block"]
SLIME = BLOCK_ID["slime_block"]
WHITE_BED, RED_BED = BLOCK_ID["white_bed"], BLOCK_ID["red_bed"]


def landing_damage(kind, fall_blocks, is_sneaking):
    """Return the half hearts that a landing on a block of `kind` costs."""
    factor = 1.0
    if kind == HAY or kind == HONEY:
        factor = SOFT_FALL_FACTOR
    elif kind == SLIME and not is_sneaking:
        factor = 0.0
    elif kind == WHITE_BED or kind == RED_BED:
        fall_blocks *= BED_FALL_FACTOR
    return max(0.0, float(math.ceil((fall_blocks - SAFE_FALL_BLOCKS) * factor)))


def bounce_velocity(kind, velocity_y, is_sneaking):
    """Return the vertical velocity after a body hit the floor or the ceiling; `kind` is the block it stands on."""
    if is_sneaking:
        return 0.0
    if kind == SLIME:
        return abs(velocity_y)
    if kind == WHITE_BED or kind == RED_BED:
        return -velocity_y * BED_BOUNCE if velocity_y < 0.0 else velocity_y
    return 0.0


def touch_floor(kind, vx, vy, vz, is_on_ground, has_hit_y, is_sneaking):
    """Return the velocity after a body met the block of `kind` under its feet: stopped, bounced, slowed by slime."""
    if has_hit_y:
        vy = bounce_velocity(kind, vy, is_sneaking)
    if kind == SLIME and is_on_ground and not is_sneaking and abs(vy) < SLIME_SLOW_VELOCITY:
        factor = SLIME_SLOW_FACTOR + abs(vy) * 0.2
        vx, vz = vx * factor, vz * factor
    return vx, vy, vz


SOURCES: tuple[Kernel, ...] = (landing_damage, bounce_velocity, touch_floor)
