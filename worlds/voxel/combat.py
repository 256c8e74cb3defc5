"""Blows: who is hit, what it costs, where it throws the one hit. Java Edition 1.16.5.

Simplified: no armour, no enchantments, no sweeping edge of swords; within the 10 ticks of invulnerability a stronger
blow does nothing (Minecraft deals the difference), but falls and the void always hurt. Those ticks are 9 for a mob that
is not passive where another mob, a fall or lava hurt it.
"""

import math

from worlds.mobs.kinds import BEHAVIOUR_MASK, BEHAVIOUR_PASSIVE
from worlds.types import (
    DAMAGE_FALL,
    DAMAGE_VOID,
    EVENT_DAMAGE,
    EVENT_DEATH,
    EVENT_MOB_KILLED,
    EVENT_MOB_STRUCK,
    EVENT_NONE,
)
from worlds.voxel.body import block_at, fluid_at_box
from worlds.voxel.drops import spawn_drop
from worlds.voxel.inventory import held_item
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event
from worlds.voxel.motion import HALF_WIDTH, SNEAKING_HEIGHT, STANDING_HEIGHT
from worlds.voxel.raycast import nearest_image, ray_box
from worlds.voxel.state import NO_ITEM, NO_MOB
from worlds.voxel.tables import FLUID_WATER

ENTITY_REACH_BLOCKS = 3.0
INVULNERABLE_TICKS = 10
KNOCK_BACK, SPRINT_KNOCK_BACK, HIGHEST_KNOCK_BACK = 0.4, 0.5, 0.4
BARE_HAND_DAMAGE, BARE_HAND_SPEED = 1.0, 4.0
TICKS_PER_S = 20.0
FULL_STRENGTH, CRITICAL_FACTOR = 0.9, 1.5
SPRINT_HIT_DRAG = 0.6


def first_mob_hit(e, mobs, mob_tables, size_x, size_z, ox, oy, oz, dx, dy, dz, max_blocks, grow_blocks, skip_m):
    """Return (row, distance) of the first mob whose box, grown on all sides, a ray meets; (-1, max_blocks) for none.

    The direction has length 1; `skip_m` is a row that the ray passes (-1: none).
    """
    best_m, best = -1, max_blocks
    for m in range(mobs.kind_EM.shape[1]):
        kind = mobs.kind_EM[e, m]
        if kind == NO_MOB or m == skip_m:
            continue
        x = ox + nearest_image(mobs.position_EM3[e, m, 0] - ox, size_x)
        y = mobs.position_EM3[e, m, 1]
        z = oz + nearest_image(mobs.position_EM3[e, m, 2] - oz, size_z)
        half_width = mob_tables.half_width_K[kind] + grow_blocks
        distance, _ = ray_box(
            ox, oy, oz, dx, dy, dz, x - half_width, y - grow_blocks, z - half_width,
            x + half_width, y + mob_tables.height_K[kind] + grow_blocks, z + half_width,
        )  # fmt: skip
        if distance < best:
            best_m, best = m, distance
    return best_m, best


def agent_height(e, bodies):
    """Return how tall the agent's box is now."""
    return SNEAKING_HEIGHT if bodies.is_sneaking_E[e] else STANDING_HEIGHT


def agent_hit(e, bodies, size_x, size_z, ox, oy, oz, dx, dy, dz, grow_blocks):
    """Return the distance at which a ray with a direction of length 1 meets the agent's grown box, NEVER if not."""
    x = ox + nearest_image(bodies.position_E3[e, 0] - ox, size_x)
    y = bodies.position_E3[e, 1]
    z = oz + nearest_image(bodies.position_E3[e, 2] - oz, size_z)
    half_width = HALF_WIDTH + grow_blocks
    distance, _ = ray_box(
        ox, oy, oz, dx, dy, dz, x - half_width, y - grow_blocks, z - half_width,
        x + half_width, y + agent_height(e, bodies) + grow_blocks, z + half_width,
    )  # fmt: skip
    return distance


def knock_back(vx, vy, vz, push_x, push_z, strength, is_on_ground):
    """Return the velocity after a push along (push_x, push_z), of which only the direction counts; none for zeros."""
    length = math.sqrt(push_x * push_x + push_z * push_z)
    if length < 1e-9:
        return vx, vy, vz
    if is_on_ground:
        vy = min(HIGHEST_KNOCK_BACK, vy / 2.0 + strength)
    return vx / 2.0 + push_x / length * strength, vy, vz / 2.0 + push_z / length * strength


def hurt_agent(e, bodies, log, half_hearts, cause, push_x, push_z):
    """Take health from the agent and knock it back along (push_x, push_z), zeros for no push; tell whether it hurt."""
    if bodies.health_E[e] <= 0.0 or half_hearts <= 0.0:
        return False
    if bodies.hurt_ticks_E[e] > 0 and cause != DAMAGE_FALL and cause != DAMAGE_VOID:
        return False
    lost = min(float(half_hearts), float(bodies.health_E[e]))
    bodies.health_E[e] = float(bodies.health_E[e]) - lost
    bodies.hurt_ticks_E[e] = INVULNERABLE_TICKS
    vx, vy, vz = knock_back(
        bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2], push_x, push_z, KNOCK_BACK,
        bodies.is_on_ground_E[e],
    )  # fmt: skip
    bodies.velocity_E3[e, 0] = vx
    bodies.velocity_E3[e, 1] = vy
    bodies.velocity_E3[e, 2] = vz
    push_event(e, log, EVENT_DAMAGE, cause, math.ceil(lost), 0)
    if bodies.health_E[e] <= 0.0:
        push_event(e, log, EVENT_DEATH, cause, 0, 0)
    return True


def push_mob(e, m, mobs, push_x, push_z, strength):
    """Knock a mob back along (push_x, push_z)."""
    vx, vy, vz = knock_back(
        mobs.velocity_EM3[e, m, 0], mobs.velocity_EM3[e, m, 1], mobs.velocity_EM3[e, m, 2], push_x, push_z, strength,
        mobs.is_on_ground_EM[e, m],
    )  # fmt: skip
    mobs.velocity_EM3[e, m, 0] = vx
    mobs.velocity_EM3[e, m, 1] = vy
    mobs.velocity_EM3[e, m, 2] = vz


def hurt_mob(e, m, mobs, drops, log, clock, mob_tables, half_hearts, push_x, push_z, event_kind):
    """Take health from mob m and knock it back along (push_x, push_z), zeros for no push; tell whether it hurt.

    `event_kind` is EVENT_MOB_STRUCK or EVENT_MOB_SHOT where the agent did it, EVENT_NONE otherwise. A mob that has no
    health left leaves its drop and its row (kind -1).
    """
    kind = mobs.kind_EM[e, m]
    if kind == NO_MOB or mobs.hurt_ticks_EM[e, m] > 0 or half_hearts <= 0.0:
        return False
    lost = min(float(half_hearts), float(mobs.health_EM[e, m]))
    mobs.health_EM[e, m] = float(mobs.health_EM[e, m]) - lost
    mobs.hurt_ticks_EM[e, m] = INVULNERABLE_TICKS
    # Whoever hunts does so for the agent's blows: nobody hunts it for another's.
    is_passive = mob_tables.behaviour_K[kind] & BEHAVIOUR_MASK == BEHAVIOUR_PASSIVE
    mobs.is_alarmed_EM[e, m] = is_passive or event_kind != EVENT_NONE
    push_mob(e, m, mobs, push_x, push_z, KNOCK_BACK)
    slot = mobs.object_EM[e, m]
    if event_kind != EVENT_NONE:
        push_event(e, log, event_kind, kind, slot, math.ceil(lost))
    if mobs.health_EM[e, m] <= 0.0:
        if event_kind != EVENT_NONE:
            push_event(e, log, EVENT_MOB_KILLED, kind, slot, event_kind)
        item = mob_tables.drop_item_K[kind]
        if item != NO_ITEM and mob_tables.drop_count_K[kind] > 0:
            spawn_drop(
                e, drops, clock, item, mob_tables.drop_count_K[kind], mobs.position_EM3[e, m, 0],
                mobs.position_EM3[e, m, 1], mobs.position_EM3[e, m, 2],
            )  # fmt: skip
        mobs.kind_EM[e, m] = NO_MOB
    return True


def attack_strength(ticks, blows_per_s):
    """Return how far the attack cooldown has come, 0 .. 1, so many ticks after the last swing."""
    return max(0.0, min(1.0, (ticks + 0.5) * blows_per_s / TICKS_PER_S))


def blow_damage(base_half_hearts, strength, is_critical):
    """Return the half hearts of a blow: base x (0.2 + 0.8 strength squared), half as much again when critical."""
    half_hearts = base_half_hearts * (0.2 + strength * strength * 0.8)
    return half_hearts * CRITICAL_FACTOR if is_critical else half_hearts


def strike_mob(e, m, terrain, bodies, hands, mobs, drops, log, clock, tables):
    """Hit mob m with what is in hand: cooldown, critical blows out of a fall, harder knock-back out of a sprint."""
    item = held_item(e, hands)
    base, blows_per_s = BARE_HAND_DAMAGE, BARE_HAND_SPEED
    if item != NO_ITEM:
        base, blows_per_s = tables.items.attack_damage_I[item], tables.items.attack_speed_I[item]
    strength = attack_strength(hands.swing_ticks_E[e], blows_per_s)
    block_XZY = terrain.block_EXZY[e]
    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    feet = block_at(block_XZY, math.floor(x), math.floor(y), math.floor(z))
    is_strong = strength > FULL_STRENGTH
    is_critical = (
        is_strong
        and bodies.fall_blocks_E[e] > 0.0
        and not bodies.is_on_ground_E[e]
        and not bodies.is_sprinting_E[e]
        and not tables.blocks.is_climbable_S[feet]
        and fluid_at_box(
            block_XZY, tables.blocks, x - HALF_WIDTH, y, z - HALF_WIDTH,
            x + HALF_WIDTH, y + agent_height(e, bodies), z + HALF_WIDTH,
        ) != FLUID_WATER
    )  # fmt: skip
    push_x = nearest_image(mobs.position_EM3[e, m, 0] - x, block_XZY.shape[0])
    push_z = nearest_image(mobs.position_EM3[e, m, 2] - z, block_XZY.shape[1])
    half_hearts = blow_damage(base, strength, is_critical)
    has_hurt = hurt_mob(
        e, m, mobs, drops, log, clock, tables.mobs, half_hearts, push_x, push_z, EVENT_MOB_STRUCK
    )  # fmt: skip
    if has_hurt and is_strong and bodies.is_sprinting_E[e]:
        yaw = math.radians(bodies.yaw_deg_E[e])
        push_mob(e, m, mobs, -math.sin(yaw), math.cos(yaw), SPRINT_KNOCK_BACK)
        bodies.velocity_E3[e, 0] *= SPRINT_HIT_DRAG
        bodies.velocity_E3[e, 2] *= SPRINT_HIT_DRAG
        bodies.is_sprinting_E[e] = False


SOURCES: tuple[Kernel, ...] = (
    first_mob_hit, agent_height, agent_hit, knock_back, hurt_agent, push_mob, hurt_mob, attack_strength, blow_damage,
    strike_mob,
)  # fmt: skip
