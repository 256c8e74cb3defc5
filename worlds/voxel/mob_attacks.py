"""How mobs hurt the agent: a blow, an arrow, an explosion; and whether they see it. Java Edition 1.16.5.

The difficulty is normal. An explosion hurts and pushes, but breaks no blocks: a world keeps its targets. Partial cover
does not lessen it; a body that the creeper's eye cannot see takes no harm.
"""

import math

from worlds.types import DAMAGE_MOB, EVENT_NONE, EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel.arrows import shoot_arrow
from worlds.voxel.combat import hurt_agent, hurt_mob
from worlds.voxel.link import Kernel
from worlds.voxel.raycast import first_hit, nearest_image
from worlds.voxel.state import NO_MOB

ATTACK_TICKS = 20
SHOOT_TICKS = 40
FUSE_TICKS = 30
_ARROW_SPEED = 1.6
_ARROW_SPREAD = 0.0075 * 6.0  # the game's inaccuracy of 14 - 4 * difficulty
_ARROW_RISE = 0.2  # aims this much higher a block of distance
_AGENT_CHEST_BLOCKS = 0.6  # a third of the agent's height is what skeletons aim at
_BLAST_BLOCKS = 6.0  # twice the creeper's power of 3


def agent_eye_height(is_sneaking):
    """Return the height of the agent's eye above its feet in blocks."""
    return SNEAK_EYE_HEIGHT_BLOCKS if is_sneaking else EYE_HEIGHT_BLOCKS


def can_see(block_XZY, collision, x, y, z, dx, dy, dz):
    """Tell whether no block lies between (x, y, z) and the point (dx, dy, dz) from there."""
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length < 1e-6:
        return True
    _, hit_y, _, _, _ = first_hit(block_XZY, collision, x, y, z, dx, dy, dz, length)
    return hit_y < 0


def can_reach_to_strike(reach_squared, agent_width, distance_squared):
    """Tell whether the agent is near enough for a blow, as MeleeAttackGoal and the goals of spiders and bears do."""
    return distance_squared <= reach_squared + agent_width


def shoot_at_agent(e, m, mobs, arrows, clock, eye, dx, dy, dz):
    """Shoot an arrow at the chest of the agent, whose feet are (dx, dy, dz) from the mob's feet."""
    from_y = eye - 0.1
    distance = math.sqrt(dx * dx + dz * dz)
    shoot_arrow(
        e, arrows, clock, mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1] + from_y, mobs.position_EM3[e, m, 2],
        dx, dy + _AGENT_CHEST_BLOCKS - from_y + _ARROW_RISE * distance, dz, _ARROW_SPEED, _ARROW_SPREAD, m,
    )  # fmt: skip


def blast_damage(distance):
    """Return the half hearts that a creeper's explosion costs at a distance in blocks: power 3, as in the game."""
    if distance >= _BLAST_BLOCKS:
        return 0.0
    impact = 1.0 - distance / _BLAST_BLOCKS
    return math.floor((impact * impact + impact) / 2.0 * 7.0 * _BLAST_BLOCKS + 1.0) + 0.0


def explode(e, m, block_XZY, collision, bodies, mobs, drops, log, clock, mob_tables):
    """Let mob m blow up: it is gone without a drop, and whatever it sees within six blocks is hurt and thrown back."""
    x, z = mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 2]
    y = mobs.position_EM3[e, m, 1]
    eye = mob_tables.eye_K[mobs.kind_EM[e, m]]
    mobs.kind_EM[e, m], mobs.health_EM[e, m] = NO_MOB, 0.0
    size_x, size_z = block_XZY.shape[0], block_XZY.shape[1]
    for n in range(mobs.kind_EM.shape[1] + 1):
        is_agent = n == mobs.kind_EM.shape[1]
        if is_agent:
            dx, dz = bodies.position_E3[e, 0] - x, bodies.position_E3[e, 2] - z
            dy = bodies.position_E3[e, 1] - y
            other_eye = agent_eye_height(bodies.is_sneaking_E[e])
        else:
            if mobs.kind_EM[e, n] < 0:
                continue
            dx, dz = mobs.position_EM3[e, n, 0] - x, mobs.position_EM3[e, n, 2] - z
            dy = mobs.position_EM3[e, n, 1] - y
            other_eye = mob_tables.eye_K[mobs.kind_EM[e, n]]
        dx, dz = nearest_image(dx, size_x), nearest_image(dz, size_z)
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        half_hearts = blast_damage(distance)
        if half_hearts == 0.0 or not can_see(block_XZY, collision, x, y + eye, z, dx, dy + other_eye - eye, dz):
            continue
        if is_agent:
            hurt_agent(e, bodies, log, half_hearts, DAMAGE_MOB, dx, dz)
        else:
            hurt_mob(
                e, n, mobs, drops, log, clock, mob_tables, half_hearts, dx, dz, EVENT_NONE
            )  # fmt: skip


SOURCES: tuple[Kernel, ...] = (
    agent_eye_height, can_see, can_reach_to_strike, shoot_at_agent, blast_damage, explode,
)  # fmt: skip
