import numpy as np
import pytest

from tests.worlds.voxel.arena import TABLES, Arena
from worlds.items import ITEM_ID
from worlds.types import (
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_PLACED,
    EVENT_DAMAGE,
    EVENT_DEATH,
    EVENT_ITEM_DROPPED,
    EVENT_ITEM_PICKED,
    MAX_EVENTS,
)
from worlds.voxel.inventory import add_items, find_arrows, held_item
from worlds.voxel.log import push_event
from worlds.voxel.state import NO_ITEM, NUM_SLOTS

STONE, SWORD = ITEM_ID["stone"], ITEM_ID["stone_sword"]


def test_items_fill_the_stack_in_hand_then_others_then_empty_slots():
    arena = Arena()
    hands = arena.state.hands
    hands.selected_E[0] = 3
    arena.give("stone", 60, slot=0)
    arena.give("stone", 62, slot=3)
    assert add_items(0, hands, TABLES.items, STONE, 10) == 0
    assert list(hands.count_ES[0, :4]) == [64, 4, 0, 64]
    assert held_item(0, hands) == STONE


def test_a_full_bag_leaves_the_rest():
    arena = Arena()
    for slot in range(NUM_SLOTS):
        arena.give("stone", 63, slot=slot)
    assert add_items(0, arena.state.hands, TABLES.items, STONE, 100) == 100 - NUM_SLOTS
    assert add_items(0, arena.state.hands, TABLES.items, SWORD, 1) == 1


def test_tools_do_not_stack():
    arena = Arena()
    assert add_items(0, arena.state.hands, TABLES.items, SWORD, 2) == 0
    assert list(arena.state.hands.count_ES[0, :3]) == [1, 1, 0]


def test_arrows_are_found_wherever_they_are():
    arena = Arena()
    assert find_arrows(0, arena.state.hands, TABLES.items) == -1
    arena.give("arrow", 5, slot=30)
    assert find_arrows(0, arena.state.hands, TABLES.items) == 30


def test_hotbar_keys_select_and_start_the_cooldown_of_another_item_anew():
    arena = Arena()
    arena.give("stone_sword", slot=4)
    arena.press("hotbar.5")
    assert arena.state.hands.selected_E[0] == 4
    assert arena.state.hands.swing_ticks_E[0] == 0
    arena.press("hotbar.5", ticks=3)
    assert arena.state.hands.swing_ticks_E[0] == 3


def test_drop_key_throws_one_item_a_press():
    arena = Arena()
    arena.give("stone", 2)
    arena.press("drop", ticks=5)
    assert arena.count("stone") == 1
    assert arena.dropped() == {STONE: 1}
    assert arena.events() == [(EVENT_ITEM_DROPPED, STONE, 1, 0)]
    arena.press()
    arena.press("drop")
    assert arena.state.hands.item_ES[0, 0] == NO_ITEM
    assert arena.dropped() == {STONE: 2}
    arena.press()
    arena.press("drop")
    assert arena.dropped() == {STONE: 2}


def test_a_thrown_item_flies_to_where_the_agent_looks():
    arena = Arena()
    arena.give("stone")
    arena.state.bodies.yaw_deg_E[0] = -90.0  # east
    arena.press("drop")
    np.testing.assert_allclose(arena.state.drops.velocity_ED3[0, 0], [0.3, 0.1, 0.0], atol=0.11)
    assert arena.state.drops.velocity_ED3[0, 0, 0] > 0.25


def test_a_full_log_keeps_what_decides_a_task():
    arena = Arena()
    log = arena.state.log
    for i in range(MAX_EVENTS):
        push_event(0, log, EVENT_DAMAGE if i % 2 else EVENT_BLOCK_BROKEN, i, 0, 0)
    push_event(0, log, EVENT_ITEM_PICKED, 90, 0, 0)
    push_event(0, log, EVENT_BLOCK_BROKEN, 91, 0, 0)
    assert [row[1] for row in arena.events()] == [0, 1, 2, 3, 4, 5, 6, 91]
    for i in range(MAX_EVENTS + 2):
        push_event(0, log, EVENT_BLOCK_BROKEN, i, 0, 0)
    assert [row[1] for row in arena.events()] == list(range(MAX_EVENTS))


@pytest.mark.parametrize(
    "decisive",
    [
        (EVENT_BLOCK_BROKEN, 90, 3, 7),
        (EVENT_BLOCK_PLACED, 90, 0, 7),
        (EVENT_ITEM_PICKED, 90, 1, 2),
        (EVENT_DEATH, 90, 0, 0),
    ],
)
def test_terrain_that_fills_the_log_does_not_hide_what_was_done_to_an_object(decisive):
    arena = Arena()
    for i in range(MAX_EVENTS + 2):
        push_event(0, arena.state.log, EVENT_BLOCK_BROKEN, i, 0, 0)
    push_event(0, arena.state.log, *decisive)
    push_event(0, arena.state.log, EVENT_BLOCK_BROKEN, 91, 0, 0)
    events = arena.events()
    assert [row[1] for row in events] == [0, 1, 2, 3, 4, 5, 6, 90]
    assert events[-1] == decisive
