"""Claims about what an engine tells of a moment, as rows of a TickBatch: what is kept where there is more than room."""

import numpy as np

from worlds.adapters.engine import Event, Mob, Moment, Sight
from worlds.adapters.event_rows import event_rows
from worlds.adapters.names import mob_id, state_id
from worlds.adapters.tick_rows import empty_tick, write_moment
from worlds.types import (
    DAMAGE_BLOCK,
    DAMAGE_FALL,
    DAMAGE_VOID,
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_PLACED,
    EVENT_DEATH,
    MAX_EVENTS,
)
from worlds.voxel.state import MAX_MOBS

ORIGIN, SIZE = (100, 10, -50), (32, 64, 32)


def rows_of(*events, object_at=None):
    rows = event_rows(events, origin=ORIGIN, size_blocks=SIZE, object_at=object_at or {})
    return [tuple(row) for row in rows.tolist() if row[0]]


def test_of_more_events_than_there_is_room_for_a_death_and_what_is_about_objects_is_kept():
    many = [Event("block_broken", "dirt", 0, (101, 11, -49))] * MAX_EVENTS
    rows = rows_of(*many, Event("item_picked", "apple", 1, None, 2), Event("death", "fall"))
    assert len(rows) == MAX_EVENTS
    assert [row[3] for row in rows[:1]] == [3]  # slot of placement 2
    assert rows[1][0] == EVENT_DEATH


def test_a_block_is_the_object_that_stands_in_its_cell_unless_it_was_just_placed_there():
    flat = (1 * SIZE[2] + 2) * SIZE[1] + 3
    told = [Event(name, "gold_block", 0, (101, 13, -48)) for name in ("block_broken", "block_placed")]
    assert rows_of(*told, object_at={(1, 3, 2): 4}) == [
        (EVENT_BLOCK_BROKEN, state_id("gold_block"), 5, flat),
        (EVENT_BLOCK_PLACED, state_id("gold_block"), 0, flat),
    ]


def test_harm_of_which_there_is_no_name_is_a_blocks():
    told = [Event("damage", cause, 2) for cause in ("fall", "void", "lava")]
    assert [row[1] for row in rows_of(*told)] == [DAMAGE_FALL, DAMAGE_VOID, DAMAGE_BLOCK]


def test_of_more_mobs_than_there_is_room_for_the_placed_ones_and_the_nearest_are_kept():
    tick = empty_tick(1, (4, 4), with_depth=False)
    near_last = [Mob("cow", 100.0 + far, 10.0, -50.0, 10.0) for far in range(MAX_MOBS + 4, 0, -1)]
    moment = Moment(
        sight=Sight(np.zeros((4, 4, 3), np.uint8)),
        pose=(100.0, 10.0, -50.0, 0.0, 0.0),
        mobs=[*near_last, Mob("pig", 160.0, 10.0, -50.0, 10.0, 3)],
    )
    write_moment(tick, 0, moment, origin=ORIGIN, size_blocks=SIZE, object_at={})
    mob_M6 = tick.mob_EM6[0]
    assert mob_M6[0].tolist() == [mob_id("pig"), 4, 60.0, 0.0, 0.0, 10.0]
    assert mob_M6[1:, 2].tolist() == [float(far) for far in range(1, MAX_MOBS)]
