"""What the blocks around an agent cost it in a tick: cactus, berry bush, lava, magma, and breath under water.

Kernels (see worlds.voxel.link), run after the agent has moved. Falls are in worlds.voxel.motion.
"""

import math

from worlds.types import DAMAGE_BLOCK, DAMAGE_DROWNING, EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel.body import INSIDE_SKIN, block_at, is_box_air, surface_in_cell
from worlds.voxel.link import Kernel
from worlds.voxel.motion import BUSH, HALF_WIDTH, SNEAKING_HEIGHT, STAND_DEPTH, STANDING_HEIGHT
from worlds.voxel.state import FULL_AIR_TICKS
from worlds.voxel.tables import FLUID_NONE, FLUID_WATER

# The eye is under water when the surface is this much below it or higher.
BREATH_DEPTH = 0.11111111
# A berry bush hurts nobody who has moved less than this along x and along z.
LEAST_SCRATCH_BLOCKS = 0.003
DROWNING_TICKS = 20
DROWNING_HALF_HEARTS = 2.0
BREATH_PER_TICK = 4


def touch_damage(block_XZY, blocks, x, y, z, height, moved_blocks):
    """Return the half hearts that the blocks around a body cost: cactus, berry bush, lava; 0.0 when there are none."""
    x0, z0, x1, z1 = x - HALF_WIDTH + INSIDE_SKIN, z - HALF_WIDTH + INSIDE_SKIN, x + HALF_WIDTH, z + HALF_WIDTH
    worst = 0
    for cell_x in range(math.floor(x0), math.ceil(x1 - INSIDE_SKIN)):
        for cell_z in range(math.floor(z0), math.ceil(z1 - INSIDE_SKIN)):
            for cell_y in range(math.floor(y + INSIDE_SKIN), math.ceil(y + height - INSIDE_SKIN)):
                state = block_at(block_XZY, cell_x, cell_y, cell_z)
                is_harmless = blocks.kind_S[state] == BUSH and moved_blocks < LEAST_SCRATCH_BLOCKS
                if blocks.hurt_S[state] > worst and not blocks.collision.is_cube_S[state] and not is_harmless:
                    fluid = blocks.fluid_S[state]
                    if fluid == FLUID_NONE or (
                        cell_y + surface_in_cell(block_XZY, blocks.fluid_S, fluid, cell_x, cell_y, cell_z)
                        >= y + INSIDE_SKIN
                    ):
                        worst = blocks.hurt_S[state]
    return float(worst)


def block_damage(e, terrain, bodies, blocks, moved_blocks):
    """Return (half hearts, DAMAGE_*) that the blocks around the agent cost in this tick, and let it breathe.

    Call it once a tick, after the agent has moved, by `moved_blocks` along x or z, whichever is more; half hearts are
    0.0 when nothing hurts. A hit every tick is meant: the agent's invulnerability after a hit thins them out.
    """
    block_XZY, is_crouched = terrain.block_EXZY[e], bodies.is_sneaking_E[e]
    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    height = SNEAKING_HEIGHT if is_crouched else STANDING_HEIGHT
    half_hearts = 0.0
    if not is_box_air(block_XZY, x - HALF_WIDTH, y, z - HALF_WIDTH, x + HALF_WIDTH, y + height, z + HALF_WIDTH):
        half_hearts = touch_damage(block_XZY, blocks, x, y, z, height, moved_blocks)
    if bodies.is_on_ground_E[e] and not is_crouched:
        floor = block_at(block_XZY, math.floor(x), math.floor(y - STAND_DEPTH), math.floor(z))
        if blocks.collision.is_cube_S[floor]:  # magma
            half_hearts = max(half_hearts, float(blocks.hurt_S[floor]))

    breath_y = y + (SNEAK_EYE_HEIGHT_BLOCKS if is_crouched else EYE_HEIGHT_BLOCKS) - BREATH_DEPTH
    cell_x, cell_y, cell_z = math.floor(x), math.floor(breath_y), math.floor(z)
    if cell_y + surface_in_cell(block_XZY, blocks.fluid_S, FLUID_WATER, cell_x, cell_y, cell_z) > breath_y:
        bodies.air_ticks_E[e] -= 1
        if bodies.air_ticks_E[e] <= -DROWNING_TICKS:
            bodies.air_ticks_E[e] = 0
            if half_hearts <= DROWNING_HALF_HEARTS:
                return DROWNING_HALF_HEARTS, DAMAGE_DROWNING
    else:
        bodies.air_ticks_E[e] = min(FULL_AIR_TICKS, bodies.air_ticks_E[e] + BREATH_PER_TICK)
    return half_hearts, DAMAGE_BLOCK


SOURCES: tuple[Kernel, ...] = (touch_damage, block_damage)
