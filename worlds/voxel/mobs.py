"""What mobs do in a tick: they wander, flee, hunt the agent, strike, shoot and explode. E envs, M mobs.

A mob keeps a mood until its ticks are up. Looking (a ray to the agent) and choosing a way happen every few ticks, in
another tick for every row, so that the cost of a tick is even; a mob that stands still is not moved at all in three
ticks of four. A mob sees all around, and has no path search: it walks straight at its goal and around what stops it.
"""

import math

from worlds.mobs.kinds import (
    BEHAVIOUR_CREEPER,
    BEHAVIOUR_MASK,
    BEHAVIOUR_RANGED,
    TRAIT_CLIMBS,
    TRAIT_HOPS,
    TRAIT_MASK,
)
from worlds.types import DAMAGE_MOB, EVENT_NONE
from worlds.voxel import mob_attacks, mob_moods, mob_motion, mob_steering
from worlds.voxel.body import block_at
from worlds.voxel.chance import chance
from worlds.voxel.combat import hurt_agent, hurt_mob
from worlds.voxel.link import Kernel
from worlds.voxel.mob_attacks import (
    ATTACK_TICKS,
    FUSE_TICKS,
    SHOOT_TICKS,
    can_reach_to_strike,
    explode,
    shoot_at_agent,
)
from worlds.voxel.mob_moods import (
    MOOD_CHASE,
    MOOD_IDLE,
    MOOD_PANIC,
    MOOD_WALK,
    SIGHT_BLOCKS,
    feel,
    notices_agent,
    set_goal_around,
)
from worlds.voxel.mob_motion import move_mob, push_apart
from worlds.voxel.mob_steering import STEP_DANGER, STEP_UP, STEP_WALL, step_ahead, way_around
from worlds.voxel.raycast import nearest_image
from worlds.voxel.tables import FLUID_LAVA, FLUID_NONE

_PANIC_SPEED = 1.25
_ARRIVED_BLOCKS, _CLOSE_BLOCKS = 0.7, 2.0
_REST_VELOCITY = 0.003
_DETOUR_BLOCKS = 3.0
_STEER_EVERY, _REST_EVERY = 4, 4  # ticks; powers of two
_TURN_DEG = 30.0  # a tick
_KEEP_NEAR_BLOCKS, _KEEP_FAR_BLOCKS = 6.0, 13.0  # a shooter's distance from the agent
_FUSE_BLOCKS, _FUSE_LOST_BLOCKS = 3.0, 7.0
_JUMP_VELOCITY, _HOP_VELOCITY, _LEAP_VELOCITY = 0.42, 0.3, 0.4
_AGENT_HALF_WIDTH, _AGENT_HEIGHT = 0.3, 1.8
_LAVA_HALF_HEARTS = 4.0
_DRAW_LEAP = 710  # what the draw is for; worlds.voxel.mob_moods has 700 .. 702


def chase_speed(behaviour, is_seen, is_fusing, distance):
    """Return how fast a hunter goes towards the agent, -1 (backwards) .. 1."""
    if behaviour == BEHAVIOUR_CREEPER:
        return 0.0 if is_fusing else 1.0
    if behaviour == BEHAVIOUR_RANGED and is_seen:
        if distance < _KEEP_NEAR_BLOCKS:
            return -0.8
        return 0.0 if distance < _KEEP_FAR_BLOCKS else 1.0
    return 1.0


def turn_towards(yaw_deg, wanted_deg):
    """Return the yaw after a tick of turning, in [-180, 180)."""
    turn = nearest_image(wanted_deg - yaw_deg, 360.0)
    return nearest_image(yaw_deg + min(_TURN_DEG, max(-_TURN_DEG, turn)), 360.0)


def attack(
    e, m, block_XZY, collision, bodies, mobs, arrows, drops, log, clock, mob_tables, behaviour, is_seen, dx, dy, dz
):  # fmt: skip
    """Do what a hunting mob does to an agent (dx, dy, dz) away, as far as its attack has recovered."""
    kind = mobs.kind_EM[e, m]
    distance_squared = dx * dx + dy * dy + dz * dz
    if behaviour == BEHAVIOUR_CREEPER:
        # The attack ticks of a creeper are those of its fuse, which burns back when the agent gets away.
        burnt = mobs.attack_ticks_EM[e, m]
        reach = _FUSE_BLOCKS if burnt == 0 else _FUSE_LOST_BLOCKS
        if is_seen and distance_squared < reach * reach:
            mobs.attack_ticks_EM[e, m] = burnt + 1
            if burnt + 1 >= FUSE_TICKS:
                explode(e, m, block_XZY, collision, bodies, mobs, drops, log, clock, mob_tables)
        elif burnt > 0:
            mobs.attack_ticks_EM[e, m] = burnt - 1
        return
    if mobs.attack_ticks_EM[e, m] > 0 or not is_seen:
        return
    if behaviour == BEHAVIOUR_RANGED:
        if distance_squared < SIGHT_BLOCKS * SIGHT_BLOCKS:
            shoot_at_agent(e, m, mobs, arrows, clock, mob_tables.eye_K[kind], dx, dy, dz)
            mobs.attack_ticks_EM[e, m] = SHOOT_TICKS
    elif can_reach_to_strike(mob_tables.reach_squared_K[kind], 2.0 * _AGENT_HALF_WIDTH, distance_squared):
        hurt_agent(e, bodies, log, float(mob_tables.damage_K[kind]), DAMAGE_MOB, dx, dz)
        mobs.attack_ticks_EM[e, m] = ATTACK_TICKS


def walk(e, m, block_XZY, blocks, mobs, clock, half_width, height, traits, speed, pace, face_x, face_z, is_close):
    """Let a mob take a step towards its goal and return what move_mob returns.

    `pace` is the share of its speed, negative backwards; it turns to (face_x, face_z), towards the goal if both are 0.
    `is_close` is true for a hunter that goes for the agent without looking for a way.
    """
    tick = clock.tick_E[e] + m
    x, y, z = mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1], mobs.position_EM3[e, m, 2]
    goal_x = nearest_image(mobs.goal_EM2[e, m, 0] - x, block_XZY.shape[0])
    goal_z = nearest_image(mobs.goal_EM2[e, m, 1] - z, block_XZY.shape[1])
    distance = math.sqrt(goal_x * goal_x + goal_z * goal_z)
    ahead_x, ahead_z, jump_velocity = 0.0, 0.0, 0.0
    if pace != 0.0 and distance > 1e-6:
        ahead_x, ahead_z = goal_x / distance, goal_z / distance
        if pace < 0.0:
            ahead_x, ahead_z = -ahead_x, -ahead_z
        fluid = blocks.fluid_S[block_at(block_XZY, math.floor(x), math.floor(y), math.floor(z))]
        is_swimming = fluid != FLUID_NONE
        climbs = traits & TRAIT_CLIMBS != 0
        step = step_ahead(block_XZY, blocks, x, y, z, half_width, height, is_swimming, climbs, ahead_x, ahead_z)
        is_blocked = step == STEP_DANGER or (step == STEP_WALL and not climbs and not is_close)
        if is_blocked and tick & (_STEER_EVERY - 1) == 0 and pace > 0.0:
            side = 1 if m & 1 else -1
            ahead_x, ahead_z, eighths = way_around(
                block_XZY, blocks, x, y, z, half_width, height, is_swimming, climbs, side, ahead_x, ahead_z
            )
            is_blocked = eighths == 0
            if not is_blocked:
                mobs.goal_EM2[e, m, 0] = x + ahead_x * _DETOUR_BLOCKS
                mobs.goal_EM2[e, m, 1] = z + ahead_z * _DETOUR_BLOCKS
            elif mobs.mood_EM[e, m] == MOOD_WALK:
                mobs.mood_ticks_EM[e, m] = 0
        if is_blocked:
            pace = 0.0
        if step == STEP_UP and mobs.has_bumped_EM[e, m]:
            jump_velocity = _JUMP_VELOCITY
        elif traits & TRAIT_HOPS and pace > 0.0 and (tick & 7 == 0 or mobs.mood_EM[e, m] == MOOD_PANIC):
            jump_velocity = _HOP_VELOCITY
    if face_x == 0.0 and face_z == 0.0:
        face_x, face_z = ahead_x, ahead_z
    if face_x != 0.0 or face_z != 0.0:
        wanted_deg = math.degrees(math.atan2(-face_x, face_z))
        mobs.yaw_deg_EM[e, m] = turn_towards(mobs.yaw_deg_EM[e, m], wanted_deg)
        # It does not walk off sideways while it is still turning round.
        if pace > 0.0 and abs(nearest_image(wanted_deg - mobs.yaw_deg_EM[e, m], 360.0)) > 60.0:
            pace = 0.0
    share = abs(pace)
    return move_mob(
        e, m, block_XZY, blocks, mobs, half_width, height, traits, speed, share * ahead_x, share * ahead_z,
        jump_velocity,
    )  # fmt: skip


def pursue(e, m, bodies, mobs, clock, behaviour, traits, is_seen, dx, dy, dz):
    """Set the goal of a hunting mob, let spiders leap, and return its pace, see chase_speed."""
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    is_lit = behaviour == BEHAVIOUR_CREEPER and mobs.attack_ticks_EM[e, m] > 0
    pace = chase_speed(behaviour, is_seen, is_lit, distance)
    if distance < _CLOSE_BLOCKS or (clock.tick_E[e] + m) & (_STEER_EVERY - 1) == 0:
        mobs.goal_EM2[e, m, 0], mobs.goal_EM2[e, m, 1] = bodies.position_E3[e, 0], bodies.position_E3[e, 2]
    if traits & TRAIT_CLIMBS and 2.0 < distance < 4.0 and mobs.is_on_ground_EM[e, m]:
        if chance(int(clock.key_E[e]), int(clock.tick_E[e]), m, _DRAW_LEAP) < 0.2:
            mobs.velocity_EM3[e, m, 0] = 0.2 * mobs.velocity_EM3[e, m, 0] + _LEAP_VELOCITY * dx / distance
            mobs.velocity_EM3[e, m, 1] = _LEAP_VELOCITY
            mobs.velocity_EM3[e, m, 2] = 0.2 * mobs.velocity_EM3[e, m, 2] + _LEAP_VELOCITY * dz / distance
    return 0.0 if pace > 0.0 and dx * dx + dz * dz < 0.25 else pace


def roam(e, m, mobs, clock, size_x, size_z, dx, dz):
    """Return the pace of a mob that walks or flees; one that has arrived stops, or flees on."""
    goal_x = nearest_image(mobs.goal_EM2[e, m, 0] - mobs.position_EM3[e, m, 0], size_x)
    goal_z = nearest_image(mobs.goal_EM2[e, m, 1] - mobs.position_EM3[e, m, 2], size_z)
    if goal_x * goal_x + goal_z * goal_z < _ARRIVED_BLOCKS * _ARRIVED_BLOCKS:
        if mobs.mood_EM[e, m] == MOOD_WALK:
            mobs.mood_ticks_EM[e, m] = 0
            return 0.0
        set_goal_around(e, m, mobs, clock, math.atan2(-dz, -dx), math.pi)
    return 1.0


def is_at_rest(e, m, mobs, clock):
    """Tell whether nothing moves a mob in this tick; one that rests feels for the ground in one tick of four."""
    return (
        mobs.mood_EM[e, m] == MOOD_IDLE
        and mobs.is_on_ground_EM[e, m]
        and abs(mobs.velocity_EM3[e, m, 0]) < _REST_VELOCITY
        and abs(mobs.velocity_EM3[e, m, 2]) < _REST_VELOCITY
        and mobs.velocity_EM3[e, m, 1] <= 0.0
        and (clock.tick_E[e] + m) & (_REST_EVERY - 1) != 0
    )


def live(e, m, block_XZY, bodies, mobs, arrows, drops, log, clock, blocks, mob_tables):
    """Play one tick of mob m."""
    kind, size_x, size_z = mobs.kind_EM[e, m], block_XZY.shape[0], block_XZY.shape[1]
    behaviour = mob_tables.behaviour_K[kind] & BEHAVIOUR_MASK
    traits = mob_tables.behaviour_K[kind] & TRAIT_MASK
    if mobs.attack_ticks_EM[e, m] > 0 and (behaviour != BEHAVIOUR_CREEPER or mobs.mood_EM[e, m] != MOOD_CHASE):
        mobs.attack_ticks_EM[e, m] -= 1
    dx = nearest_image(bodies.position_E3[e, 0] - mobs.position_EM3[e, m, 0], size_x)
    dy = bodies.position_E3[e, 1] - mobs.position_EM3[e, m, 1]
    dz = nearest_image(bodies.position_E3[e, 2] - mobs.position_EM3[e, m, 2], size_z)
    is_seen = notices_agent(
        e, m, block_XZY, blocks.collision, bodies, mobs, clock, mob_tables, behaviour, dx, dy, dz
    )  # fmt: skip
    feel(e, m, mobs, clock, behaviour, is_seen, dx, dz)
    if is_at_rest(e, m, mobs, clock):
        return
    mood, speed = mobs.mood_EM[e, m], mob_tables.speed_K[kind]
    pace, face_x, face_z, is_close = 0.0, 0.0, 0.0, False
    if mood == MOOD_CHASE:
        pace = pursue(e, m, bodies, mobs, clock, behaviour, traits, is_seen, dx, dy, dz)
        is_close = dx * dx + dy * dy + dz * dz < _CLOSE_BLOCKS * _CLOSE_BLOCKS
        if pace == 0.0 or (behaviour == BEHAVIOUR_RANGED and is_seen):
            face_x, face_z = dx, dz
    elif mood != MOOD_IDLE:
        pace = roam(e, m, mobs, clock, size_x, size_z, dx, dz)
        if mood == MOOD_PANIC:
            speed *= _PANIC_SPEED
    damage, fluid = walk(
        e, m, block_XZY, blocks, mobs, clock, mob_tables.half_width_K[kind], mob_tables.height_K[kind], traits, speed,
        pace, face_x, face_z, is_close,
    )  # fmt: skip
    if fluid == FLUID_LAVA:
        damage += _LAVA_HALF_HEARTS
    if damage > 0.0:
        hurt_mob(e, m, mobs, drops, log, clock, mob_tables, damage, 0.0, 0.0, EVENT_NONE)
        # Who burns takes flight, who fell does not.
        mobs.is_alarmed_EM[e, m] = mobs.is_alarmed_EM[e, m] and fluid == FLUID_LAVA
    elif mood == MOOD_CHASE:
        attack(
            e, m, block_XZY, blocks.collision, bodies, mobs, arrows, drops, log, clock, mob_tables, behaviour, is_seen,
            dx, dy, dz,
        )  # fmt: skip


def move_mobs(e, terrain, bodies, mobs, arrows, drops, log, clock, tables):
    """Play one tick of all mobs of env e: moods, motion, attacks, and pushing apart of bodies that overlap."""
    block_XZY = terrain.block_EXZY[e]
    for m in range(mobs.kind_EM.shape[1]):
        if mobs.kind_EM[e, m] >= 0:
            live(e, m, block_XZY, bodies, mobs, arrows, drops, log, clock, tables.blocks, tables.mobs)
            if mobs.hurt_ticks_EM[e, m] > 0:
                mobs.hurt_ticks_EM[e, m] -= 1
    for m in range(mobs.kind_EM.shape[1]):
        if mobs.kind_EM[e, m] >= 0:
            push_apart(
                e, m, mobs, bodies, tables.mobs, _AGENT_HALF_WIDTH, _AGENT_HEIGHT, block_XZY.shape[0],
                block_XZY.shape[1],
            )  # fmt: skip


SOURCES: tuple[Kernel, ...] = (
    *mob_motion.SOURCES, *mob_steering.SOURCES, *mob_attacks.SOURCES, *mob_moods.SOURCES, chase_speed,
    turn_towards, attack, walk, pursue, roam, is_at_rest, live, move_mobs,
)  # fmt: skip
