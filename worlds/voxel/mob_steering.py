"""Where a mob sets its foot: what lies ahead, and the way around it. S block states.

There is no path search: a mob looks one step ahead.
"""

import math

from worlds.voxel.body import block_at
from worlds.voxel.link import Kernel
from worlds.voxel.tables import FLUID_LAVA, FLUID_NONE

STEP_LEVEL, STEP_UP, STEP_WALL, STEP_DANGER = range(4)
_LOOK_BLOCKS = 0.6  # ahead of the body's side: farther than a fleeing mob slides before it stands
LARGEST_DROP, CLIMBERS_LARGEST_DROP = 3, 6  # blocks
_TURNS = 7
_EIGHTH = math.pi / 4.0


def is_tall(collision, state):
    """Tell whether a state's collision boxes reach above its cell: fences and walls, which nothing jumps."""
    first = collision.start_S[state]
    for row in range(first, first + collision.count_S[state]):
        if collision.box_B6[row, 4] > 1.01:
            return True
    return False


def step_ahead(block_XZY, blocks, x, y, z, half_width, height, is_swimming, climbs, ahead_x, ahead_z):
    """Return STEP_* of the next step of a body at (x, y, z) in the direction (ahead_x, ahead_z), of length 1.

    A drop of more than three blocks (six for those who climb), a fluid (but for those who swim already) and what hurts
    are a danger.
    """
    reach = half_width + _LOOK_BLOCKS
    cell_x, cell_z = math.floor(x + ahead_x * reach), math.floor(z + ahead_z * reach)
    feet_y = math.floor(y + 0.4)  # a body on a slab or a path steps as from the block above
    for cell_y in range(feet_y + math.ceil(height) - 1, feet_y, -1):
        state = block_at(block_XZY, cell_x, cell_y, cell_z)
        if blocks.is_solid_S[state]:
            return STEP_WALL
        if blocks.fluid_S[state] == FLUID_LAVA:
            return STEP_DANGER
    largest_drop = CLIMBERS_LARGEST_DROP if climbs else LARGEST_DROP
    for drop in range(largest_drop + 2):
        state = block_at(block_XZY, cell_x, feet_y - drop, cell_z)
        if blocks.fluid_S[state] != FLUID_NONE:
            if not is_swimming or blocks.fluid_S[state] == FLUID_LAVA:
                return STEP_DANGER
            return STEP_LEVEL
        if blocks.hurt_S[state] > 0:
            return STEP_DANGER
        if blocks.is_solid_S[state]:
            if is_tall(blocks.collision, state):
                return STEP_WALL if drop <= 1 else STEP_DANGER
            if drop > 0:
                return STEP_LEVEL
            head_y = feet_y + math.ceil(height)
            if blocks.is_solid_S[block_at(block_XZY, cell_x, head_y, cell_z)]:
                return STEP_WALL
            return STEP_UP
    return STEP_LEVEL if is_swimming else STEP_DANGER


def way_around(block_XZY, blocks, x, y, z, half_width, height, is_swimming, climbs, side, ahead_x, ahead_z):
    """Return the direction nearest to the closed one (ahead_x, ahead_z) in which the next step is safe.

    Directions differ by an eighth of a turn. `side` is 1 or -1, the side that is tried first: a mob keeps to one side,
    so it follows a wall instead of trembling. Returns (x, z, number of eighths turned); (0, 0, 0) when all are closed.
    """
    for n in range(1, _TURNS):
        eighths = (n + 1) // 2 * (side if n % 2 == 1 else -side)
        cos, sin = math.cos(eighths * _EIGHTH), math.sin(eighths * _EIGHTH)
        turned_x, turned_z = ahead_x * cos - ahead_z * sin, ahead_x * sin + ahead_z * cos
        step = step_ahead(block_XZY, blocks, x, y, z, half_width, height, is_swimming, climbs, turned_x, turned_z)
        if step <= STEP_UP or (climbs and step == STEP_WALL):
            return turned_x, turned_z, eighths
    return 0.0, 0.0, 0


SOURCES: tuple[Kernel, ...] = (is_tall, step_ahead, way_around)
