"""The state of E envs as arrays, one row an env. E envs, X Y Z blocks, S slots, M mobs, A arrows, D drops, N events.

Groups are NamedTuples, so that compiled code of every target can take them apart; a kernel gets only the groups that it
reads or writes. Velocities are in blocks a tick. Positions are feet; x and z are wrapped into the world.
"""

from typing import NamedTuple

import numpy as np

from worlds.types import MAX_EVENTS

FULL_HEALTH = 20.0
FULL_AIR_TICKS = 300
NUM_SLOTS = 36  # 0 .. 8 the hotbar, then the bag
MAX_MOBS, MAX_ARROWS, MAX_DROPS = 16, 8, 16
NO_MOB = NO_ITEM = -1


class Terrain(NamedTuple):
    """Blocks and what is derived from them."""

    block_EXZY: np.ndarray  # uint16 [E, X, Z, Y], state id in the low 12 bits, object slot + 1 in the high 4
    field_EXZY: np.ndarray  # uint8 [E, X, Z, Y], see worlds.voxel.field


class Bodies(NamedTuple):
    """The agents."""

    position_E3: np.ndarray  # float64 [E, 3] feet
    velocity_E3: np.ndarray  # float64 [E, 3]
    yaw_deg_E: np.ndarray  # float64 [E]
    pitch_deg_E: np.ndarray  # float64 [E]
    is_on_ground_E: np.ndarray  # bool [E]
    is_sprinting_E: np.ndarray  # bool [E]
    is_sneaking_E: np.ndarray  # bool [E]
    has_bumped_E: np.ndarray  # bool [E], horizontal collision in the last tick
    jump_delay_ticks_E: np.ndarray  # int32 [E]
    fall_blocks_E: np.ndarray  # float64 [E]
    health_E: np.ndarray  # float32 [E] half hearts, 0 is dead
    hurt_ticks_E: np.ndarray  # int32 [E], ticks of invulnerability left after a hit
    air_ticks_E: np.ndarray  # int32 [E], breath left, 300 at the surface


class Hands(NamedTuple):
    """What the agents do with blocks, tools and weapons, and what they carry."""

    mine_cell_E: np.ndarray  # int64 [E], flat cell being mined, -1 none
    mine_progress_E: np.ndarray  # float64 [E], share already mined
    mine_delay_ticks_E: np.ndarray  # int32 [E]
    use_delay_ticks_E: np.ndarray  # int32 [E], ticks until the use key acts again
    button_cell_E: np.ndarray  # int64 [E], flat cell of the button pressed last, -1 none
    button_state_E: np.ndarray  # int32 [E], state it returns to
    button_ticks_E: np.ndarray  # int32 [E], ticks until it does
    bow_ticks_E: np.ndarray  # int32 [E], ticks that the bow has been drawn or food been chewed, 0 neither
    swing_ticks_E: np.ndarray  # int32 [E], ticks since the last blow, for the attack cooldown
    was_attacking_E: np.ndarray  # bool [E], attack key in the tick before: a blow needs a fresh press
    was_dropping_E: np.ndarray  # bool [E], drop key in the tick before
    selected_E: np.ndarray  # int32 [E], slot in hand, 0 .. 8
    item_ES: np.ndarray  # int32 [E, 36] item id, -1 empty
    count_ES: np.ndarray  # int32 [E, 36]


class Mobs(NamedTuple):
    """Animals and monsters; a row without one has kind -1."""

    kind_EM: np.ndarray  # int32 [E, M], index into worlds.mobs.kinds.MOBS, -1 none
    object_EM: np.ndarray  # int32 [E, M], object slot + 1 of a placed mob, 0 of an ambient one
    position_EM3: np.ndarray  # float64 [E, M, 3] feet
    velocity_EM3: np.ndarray  # float64 [E, M, 3]
    yaw_deg_EM: np.ndarray  # float64 [E, M], of the body
    is_on_ground_EM: np.ndarray  # bool [E, M]
    has_bumped_EM: np.ndarray  # bool [E, M]
    fall_blocks_EM: np.ndarray  # float64 [E, M]
    health_EM: np.ndarray  # float32 [E, M] half hearts
    hurt_ticks_EM: np.ndarray  # int32 [E, M], ticks of invulnerability left
    is_alarmed_EM: np.ndarray  # bool [E, M], by a wound that its mood has not heard of yet
    mood_EM: np.ndarray  # int32 [E, M], MOOD_* of worlds.voxel.mob_moods
    mood_ticks_EM: np.ndarray  # int32 [E, M], ticks until the mood is thought over
    goal_EM2: np.ndarray  # float64 [E, M, 2], x, z it walks to
    limb_EM: np.ndarray  # float64 [E, M], blocks walked: the phase of the walk cycle
    attack_ticks_EM: np.ndarray  # int32 [E, M], ticks until it may attack again


class Arrows(NamedTuple):
    """Arrows in flight or stuck; a row without one has life 0."""

    life_ticks_EA: np.ndarray  # int32 [E, A], ticks left, 0 no arrow
    owner_EA: np.ndarray  # int32 [E, A], -1 the agent, -2 the agent with a fully drawn bow, else the mob's row
    position_EA3: np.ndarray  # float64 [E, A, 3] tip
    velocity_EA3: np.ndarray  # float64 [E, A, 3]
    is_stuck_EA: np.ndarray  # bool [E, A]


class Drops(NamedTuple):
    """Items on the ground; a row without one has item -1."""

    item_ED: np.ndarray  # int32 [E, D] item id, -1 none
    object_ED: np.ndarray  # int32 [E, D], object slot + 1 of a placed item, 0 of any other
    count_ED: np.ndarray  # int32 [E, D]
    position_ED3: np.ndarray  # float64 [E, D, 3] bottom centre
    velocity_ED3: np.ndarray  # float64 [E, D, 3]
    age_ticks_ED: np.ndarray  # int32 [E, D], can be picked up from 10 on; starts at -30 when thrown by the agent


class Log(NamedTuple):
    """Events of the running step."""

    event_EN4: np.ndarray  # int32 [E, 8, 4], rows of worlds.types
    num_events_E: np.ndarray  # int32 [E]


class Clock(NamedTuple):
    """Time and randomness: a draw is a hash of (key, tick, who, what), so the order of threads cannot matter."""

    key_E: np.ndarray  # int64 [E], 0 .. 2**31 - 1, from the episode's seed
    tick_E: np.ndarray  # int64 [E], ticks since the episode began


class EnvState(NamedTuple):
    """Everything that changes while envs are played, and nothing that is drawn."""

    terrain: Terrain
    bodies: Bodies
    hands: Hands
    mobs: Mobs
    arrows: Arrows
    drops: Drops
    log: Log
    clock: Clock


def empty_state(num_envs: int, size_blocks: tuple[int, int, int]) -> EnvState:
    """Return `num_envs` envs of `size_blocks` (x, y, z) without blocks, mobs or items."""
    e, (size_x, size_y, size_z) = num_envs, size_blocks
    m, a, d = MAX_MOBS, MAX_ARROWS, MAX_DROPS

    def ints(*shape: int) -> np.ndarray:
        return np.zeros((e, *shape), np.int32)

    def flags(*shape: int) -> np.ndarray:
        return np.zeros((e, *shape), bool)

    def reals(*shape: int) -> np.ndarray:
        return np.zeros((e, *shape))

    return EnvState(
        Terrain(np.zeros((e, size_x, size_z, size_y), np.uint16), np.zeros((e, size_x, size_z, size_y), np.uint8)),
        Bodies(
            position_E3=reals(3),
            velocity_E3=reals(3),
            yaw_deg_E=reals(),
            pitch_deg_E=reals(),
            is_on_ground_E=flags(),
            is_sprinting_E=flags(),
            is_sneaking_E=flags(),
            has_bumped_E=flags(),
            jump_delay_ticks_E=ints(),
            fall_blocks_E=reals(),
            health_E=np.zeros(e, np.float32),
            hurt_ticks_E=ints(),
            air_ticks_E=ints(),
        ),
        Hands(
            mine_cell_E=np.full(e, -1, np.int64),
            mine_progress_E=reals(),
            mine_delay_ticks_E=ints(),
            use_delay_ticks_E=ints(),
            button_cell_E=np.full(e, -1, np.int64),
            button_state_E=ints(),
            button_ticks_E=ints(),
            bow_ticks_E=ints(),
            swing_ticks_E=ints(),
            was_attacking_E=flags(),
            was_dropping_E=flags(),
            selected_E=ints(),
            item_ES=np.full((e, NUM_SLOTS), NO_ITEM, np.int32),
            count_ES=ints(NUM_SLOTS),
        ),
        Mobs(
            kind_EM=np.full((e, m), NO_MOB, np.int32),
            object_EM=ints(m),
            position_EM3=reals(m, 3),
            velocity_EM3=reals(m, 3),
            yaw_deg_EM=reals(m),
            is_on_ground_EM=flags(m),
            has_bumped_EM=flags(m),
            fall_blocks_EM=reals(m),
            health_EM=np.zeros((e, m), np.float32),
            hurt_ticks_EM=ints(m),
            is_alarmed_EM=flags(m),
            mood_EM=ints(m),
            mood_ticks_EM=ints(m),
            goal_EM2=reals(m, 2),
            limb_EM=reals(m),
            attack_ticks_EM=ints(m),
        ),
        Arrows(ints(a), ints(a), reals(a, 3), reals(a, 3), flags(a)),
        Drops(np.full((e, d), NO_ITEM, np.int32), ints(d), ints(d), reals(d, 3), reals(d, 3), ints(d)),
        Log(np.zeros((e, MAX_EVENTS, 4), np.int32), ints()),
        Clock(np.zeros(e, np.int64), np.zeros(e, np.int64)),
    )


def rows_of(state: EnvState, index_N: np.ndarray) -> EnvState:
    """Return copies of the rows of some envs."""
    copies = [type(group)(*(array[index_N].copy() for array in group)) for group in state]
    return EnvState._make(copies)


def write_rows(state: EnvState, index_N: np.ndarray, rows: EnvState) -> None:
    """Overwrite the rows of some envs by what rows_of returned."""
    for group, group_rows in zip(state, rows, strict=True):
        for array, array_rows in zip(group, group_rows, strict=True):
            array[index_N] = array_rows
