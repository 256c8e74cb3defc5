"""Arrows: ballistic flight, what they hit, where they stick. Constants of Java Edition 1.16.5's AbstractArrow.

A flying arrow first meets what lies on its way (blocks by their collision boxes, so that grass does not stop it; mobs
and the agent by their boxes grown by 0.3), then moves by its velocity; then the velocity is damped and gravity is
taken off. Simplified: a row lives 1200 ticks from the shot on, and an arrow never hits the one who shot it.
"""

import math

from worlds.types import DAMAGE_ARROW, EVENT_MOB_SHOT, EVENT_NONE
from worlds.voxel.body import block_at
from worlds.voxel.chance import chance
from worlds.voxel.combat import agent_hit, first_mob_hit, hurt_agent, hurt_mob
from worlds.voxel.drops import PICK_UP_AGE_TICKS, is_within_grasp, spawn_drop
from worlds.voxel.link import Kernel
from worlds.voxel.raycast import NEVER, first_hit
from worlds.voxel.tables import FLUID_WATER

ARROW_DRAG, ARROW_WATER_DRAG, ARROW_GRAVITY = 0.99, 0.6, 0.05
ARROW_LIFE_TICKS = 1200
ARROW_DAMAGE_PER_SPEED = 2.0
ARROW_GROW_BLOCKS = 0.3
ARROW_SIZE_BLOCKS = 0.5
ARROW_DEPTH_BLOCKS = 0.05  # a stuck arrow is drawn back so far from the face that it hit
ARROW_BOUNCE = -0.1  # off a mob that cannot be hurt just now
LOWEST_ARROW_Y = -16.0
OWNER_AGENT, OWNER_AGENT_CRITICAL = -1, -2
_WHO_ARROW = 1100  # row 0 in the draws of chance
_ROOT_3 = 1.7320508075688772


def bell(key, tick, who, what):
    """Return a random number of mean 0 and variance 1, bell-shaped, within 3.5: the sum of four even ones."""
    total = chance(key, tick, who, what) + chance(key, tick, who, what + 1)
    total += chance(key, tick, who, what + 2) + chance(key, tick, who, what + 3)
    return (total - 2.0) * _ROOT_3


def shoot_arrow(e, arrows, clock, x, y, z, dx, dy, dz, speed, spread, owner):
    """Let an arrow fly from (x, y, z) along a direction of any length but 0; return its row.

    `speed` is in blocks a tick, `spread` the standard deviation of each part of the direction (0.0075 for the
    agent's), `owner` the mob's row, OWNER_AGENT or OWNER_AGENT_CRITICAL. Where all rows are in use, the oldest arrow
    goes.
    """
    row = 0
    for a in range(arrows.life_ticks_EA.shape[1]):
        if arrows.life_ticks_EA[e, a] < arrows.life_ticks_EA[e, row]:
            row = a
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    key, tick, who = int(clock.key_E[e]), int(clock.tick_E[e]), _WHO_ARROW + row
    arrows.life_ticks_EA[e, row] = ARROW_LIFE_TICKS
    arrows.owner_EA[e, row] = owner
    arrows.is_stuck_EA[e, row] = False
    arrows.position_EA3[e, row, 0] = x
    arrows.position_EA3[e, row, 1] = y
    arrows.position_EA3[e, row, 2] = z
    arrows.velocity_EA3[e, row, 0] = (dx / length + spread * bell(key, tick, who, 0)) * speed
    arrows.velocity_EA3[e, row, 1] = (dy / length + spread * bell(key, tick, who, 4)) * speed
    arrows.velocity_EA3[e, row, 2] = (dz / length + spread * bell(key, tick, who, 8)) * speed
    return row


def arrow_damage(key, tick, who, speed, is_critical):
    """Return the half hearts of an arrow: twice its speed, rounded up; a critical one adds up to half of that and 1."""
    half_hearts = math.ceil(speed * ARROW_DAMAGE_PER_SPEED)
    if is_critical:
        half_hearts += math.floor(chance(key, tick, who, 12) * (half_hearts // 2 + 2))
    return half_hearts


def set_arrow(e, a, arrows, size_x, size_z, x, y, z):
    """Bring an arrow to a place, wrapped into the world."""
    arrows.position_EA3[e, a, 0] = x - math.floor(x / size_x) * size_x
    arrows.position_EA3[e, a, 1] = y
    arrows.position_EA3[e, a, 2] = z - math.floor(z / size_z) * size_z


def rest_arrow(e, a, terrain, bodies, arrows, drops, clock, tables):
    """Keep a stuck arrow for a tick: it falls when its block has gone, and the agent can take its own back.

    An arrow within the agent's grasp turns into an arrow on the ground, which is picked up in the same tick.
    """
    block_XZY = terrain.block_EXZY[e]
    x, y, z = arrows.position_EA3[e, a, 0], arrows.position_EA3[e, a, 1], arrows.position_EA3[e, a, 2]
    vx, vy, vz = arrows.velocity_EA3[e, a, 0], arrows.velocity_EA3[e, a, 1], arrows.velocity_EA3[e, a, 2]
    _, held_y, _, _, _ = first_hit(
        block_XZY, tables.blocks.collision, x, y, z, vx, vy, vz, 2.0 * ARROW_DEPTH_BLOCKS
    )  # fmt: skip
    if held_y < 0 and y > 0.0:
        arrows.is_stuck_EA[e, a] = False
        slow = 0.2 * chance(int(clock.key_E[e]), int(clock.tick_E[e]), _WHO_ARROW + a, 13) + 1e-6
        arrows.velocity_EA3[e, a, 0] = vx * slow
        arrows.velocity_EA3[e, a, 1] = vy * slow
        arrows.velocity_EA3[e, a, 2] = vz * slow
        return
    if arrows.owner_EA[e, a] < 0 and is_within_grasp(
        e, bodies, block_XZY.shape[0], block_XZY.shape[1], x, y, z, ARROW_SIZE_BLOCKS / 2.0, ARROW_SIZE_BLOCKS
    ):
        for item in range(len(tables.items.is_arrow_I)):
            if tables.items.is_arrow_I[item]:
                row = spawn_drop(e, drops, clock, item, 1, x, y, z)
                drops.age_ticks_ED[e, row] = PICK_UP_AGE_TICKS
                break
        arrows.life_ticks_EA[e, a] = 0


def fly_arrow(e, a, terrain, bodies, mobs, arrows, drops, log, clock, tables):
    """Advance a flying arrow by one tick."""
    block_XZY = terrain.block_EXZY[e]
    size_x, size_z = block_XZY.shape[0], block_XZY.shape[1]
    x, y, z = arrows.position_EA3[e, a, 0], arrows.position_EA3[e, a, 1], arrows.position_EA3[e, a, 2]
    vx, vy, vz = arrows.velocity_EA3[e, a, 0], arrows.velocity_EA3[e, a, 1], arrows.velocity_EA3[e, a, 2]
    owner = arrows.owner_EA[e, a]
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    if speed > 1e-9:
        dx, dy, dz = vx / speed, vy / speed, vz / speed
        _, hit_y, _, _, clear = first_hit(block_XZY, tables.blocks.collision, x, y, z, dx, dy, dz, speed)
        m, mob_blocks = first_mob_hit(
            e, mobs, tables.mobs, size_x, size_z, x, y, z, dx, dy, dz, clear, ARROW_GROW_BLOCKS, owner
        )  # fmt: skip
        agent_blocks = NEVER
        if owner >= 0 and bodies.health_E[e] > 0.0:
            agent_blocks = agent_hit(e, bodies, size_x, size_z, x, y, z, dx, dy, dz, ARROW_GROW_BLOCKS)
        if m >= 0 or agent_blocks <= clear:
            half_hearts = arrow_damage(
                int(clock.key_E[e]), int(clock.tick_E[e]), _WHO_ARROW + a, speed, owner == OWNER_AGENT_CRITICAL
            )  # fmt: skip
            if m >= 0 and mob_blocks <= agent_blocks:
                event_kind = EVENT_MOB_SHOT if owner < 0 else EVENT_NONE
                has_hurt = hurt_mob(
                    e, m, mobs, drops, log, clock, tables.mobs, half_hearts, dx, dz, event_kind
                )  # fmt: skip
            else:
                has_hurt = hurt_agent(e, bodies, log, half_hearts, DAMAGE_ARROW, dx, dz)
            if has_hurt:
                arrows.life_ticks_EA[e, a] = 0
                return
            vx, vy, vz = vx * ARROW_BOUNCE, vy * ARROW_BOUNCE, vz * ARROW_BOUNCE
        elif hit_y >= 0:
            back = max(0.0, clear - ARROW_DEPTH_BLOCKS)
            set_arrow(e, a, arrows, size_x, size_z, x + dx * back, y + dy * back, z + dz * back)
            arrows.is_stuck_EA[e, a] = True
            return
    state = block_at(block_XZY, math.floor(x), math.floor(y), math.floor(z))
    drag = ARROW_WATER_DRAG if tables.blocks.fluid_S[state] == FLUID_WATER else ARROW_DRAG
    set_arrow(e, a, arrows, size_x, size_z, x + vx, y + vy, z + vz)
    arrows.velocity_EA3[e, a, 0] = vx * drag
    arrows.velocity_EA3[e, a, 1] = vy * drag - ARROW_GRAVITY
    arrows.velocity_EA3[e, a, 2] = vz * drag
    if y + vy < LOWEST_ARROW_Y:
        arrows.life_ticks_EA[e, a] = 0


def move_arrows(e, terrain, bodies, mobs, arrows, drops, log, clock, tables):
    """Advance the arrows of env e by one tick."""
    for a in range(arrows.life_ticks_EA.shape[1]):
        if arrows.life_ticks_EA[e, a] <= 0:
            continue
        arrows.life_ticks_EA[e, a] -= 1
        if arrows.life_ticks_EA[e, a] == 0:
            continue
        if arrows.is_stuck_EA[e, a]:
            rest_arrow(e, a, terrain, bodies, arrows, drops, clock, tables)
        else:
            fly_arrow(e, a, terrain, bodies, mobs, arrows, drops, log, clock, tables)


SOURCES: tuple[Kernel, ...] = (
    bell, shoot_arrow, arrow_damage, set_arrow, rest_arrow, fly_arrow, move_arrows,
)  # fmt: skip
