"""What a mob is in the mood for: rest, a stroll, flight, a hunt. E envs, M mobs.

A mood lasts until its ticks are up; a blow or the sight of the agent changes it at once.
"""

import math

from worlds.mobs.kinds import BEHAVIOUR_CREEPER, BEHAVIOUR_MELEE, BEHAVIOUR_PASSIVE, BEHAVIOUR_RANGED
from worlds.voxel.chance import chance
from worlds.voxel.link import Kernel
from worlds.voxel.mob_attacks import agent_eye_height, can_see

MOOD_IDLE, MOOD_WALK, MOOD_PANIC, MOOD_CHASE = range(4)
SIGHT_BLOCKS = 16.0
PANIC_TICKS = 100
CHASE_TICKS = 100  # a hunter that has not seen the agent for so long gives up
_WALK_TICKS = 200  # a goal that has not been reached by then is given up
_IDLE_TICKS, _IDLE_MORE_TICKS = 40, 120
_NEAREST_GOAL_BLOCKS, _FARTHEST_GOAL_BLOCKS = 3.0, 10.0
_READY_BLOCKS = 4.0
_LOOK_EVERY = 8  # ticks, a power of two
# What a draw is for: no other module draws numbers of these kinds.
_DRAW_IDLE, _DRAW_ANGLE, _DRAW_DISTANCE = range(700, 703)


def set_goal_around(e, m, mobs, clock, middle_angle, width):
    """Give a mob a goal 3 to 10 blocks away, in a direction within `width` / 2 of `middle_angle`, both in radians."""
    key, tick = int(clock.key_E[e]), int(clock.tick_E[e])
    angle = middle_angle + width * (chance(key, tick, m, _DRAW_ANGLE) - 0.5)
    share = chance(key, tick, m, _DRAW_DISTANCE)
    distance = _NEAREST_GOAL_BLOCKS + share * (_FARTHEST_GOAL_BLOCKS - _NEAREST_GOAL_BLOCKS)
    mobs.goal_EM2[e, m, 0] = mobs.position_EM3[e, m, 0] + math.cos(angle) * distance
    mobs.goal_EM2[e, m, 1] = mobs.position_EM3[e, m, 2] + math.sin(angle) * distance


def rest_a_while(e, m, mobs, clock):
    """Let a mob stand for two to eight seconds."""
    mobs.mood_EM[e, m] = MOOD_IDLE
    more = chance(int(clock.key_E[e]), int(clock.tick_E[e]), m, _DRAW_IDLE) * _IDLE_MORE_TICKS
    mobs.mood_ticks_EM[e, m] = _IDLE_TICKS + int(more)


def notices_agent(e, m, block_XZY, collision, bodies, mobs, clock, mob_tables, behaviour, dx, dy, dz):
    """Tell whether a mob that hunts, or is of a kind that does, looks at the agent in this tick and sees it.

    Whoever may strike now, burns or aims looks in every tick, the others in one of eight.
    """
    distance_squared = dx * dx + dy * dy + dz * dz
    is_hunting = mobs.mood_EM[e, m] == MOOD_CHASE
    if not (is_hunting or behaviour >= BEHAVIOUR_MELEE) or bodies.health_E[e] <= 0.0:
        return False
    if distance_squared >= SIGHT_BLOCKS * SIGHT_BLOCKS:
        return False
    is_lit = behaviour == BEHAVIOUR_CREEPER and mobs.attack_ticks_EM[e, m] > 0
    is_ready = is_hunting and mobs.attack_ticks_EM[e, m] == 0 and distance_squared < _READY_BLOCKS * _READY_BLOCKS
    is_aiming = is_hunting and behaviour == BEHAVIOUR_RANGED
    if not (is_lit or is_ready or is_aiming) and (clock.tick_E[e] + m) & (_LOOK_EVERY - 1) != 0:
        return False
    eye = mob_tables.eye_K[mobs.kind_EM[e, m]]
    return can_see(
        block_XZY, collision, mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1] + eye,
        mobs.position_EM3[e, m, 2], dx, dy + agent_eye_height(bodies.is_sneaking_E[e]) - eye, dz,
    )  # fmt: skip


def feel(e, m, mobs, clock, behaviour, sees_agent, dx, dz):
    """Choose the mood of a mob whose agent is (dx, dz) away: after a blow, at a sight, when a mood is over."""
    if mobs.is_alarmed_EM[e, m]:
        mobs.is_alarmed_EM[e, m] = False
        if behaviour == BEHAVIOUR_PASSIVE:
            mobs.mood_EM[e, m], mobs.mood_ticks_EM[e, m] = MOOD_PANIC, PANIC_TICKS
            set_goal_around(e, m, mobs, clock, math.atan2(-dz, -dx), math.pi)
        else:
            mobs.mood_EM[e, m], mobs.mood_ticks_EM[e, m] = MOOD_CHASE, CHASE_TICKS
        return
    if sees_agent and (behaviour >= BEHAVIOUR_MELEE or mobs.mood_EM[e, m] == MOOD_CHASE):
        mobs.mood_EM[e, m], mobs.mood_ticks_EM[e, m] = MOOD_CHASE, CHASE_TICKS
        return
    if mobs.mood_ticks_EM[e, m] > 0:
        mobs.mood_ticks_EM[e, m] -= 1
    elif mobs.mood_EM[e, m] == MOOD_IDLE:
        mobs.mood_EM[e, m], mobs.mood_ticks_EM[e, m] = MOOD_WALK, _WALK_TICKS
        set_goal_around(e, m, mobs, clock, 0.0, 2.0 * math.pi)
    else:
        rest_a_while(e, m, mobs, clock)


SOURCES: tuple[Kernel, ...] = (set_goal_around, rest_a_while, notices_agent, feel)
