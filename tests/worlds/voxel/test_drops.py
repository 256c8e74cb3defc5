import numpy as np
import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena
from worlds.items import ITEM_ID
from worlds.types import EVENT_ITEM_PICKED
from worlds.voxel.drops import move_drops, spawn_drop
from worlds.voxel.state import MAX_DROPS, NO_ITEM, NUM_SLOTS

DIRT = ITEM_ID["dirt"]


def spawn(arena, x=22.5, y=GROUND_Y + 1.0, z=16.5, item=DIRT, count=1):
    s = arena.state
    return spawn_drop(0, s.drops, s.clock, item, count, x, y, z)


def wait(arena, ticks=1):
    s = arena.state
    for _ in range(ticks):
        move_drops(0, s.terrain, s.bodies, s.hands, s.drops, s.log, s.clock, TABLES)
        s.clock.tick_E[0] += 1


def test_a_drop_falls_with_its_gravity_and_drag():
    arena = Arena()
    spawn(arena, y=30.0)
    y, velocity = 30.0, 0.2
    for _ in range(20):
        velocity -= 0.04
        y += velocity
        velocity *= 0.98
        wait(arena)
        assert arena.state.drops.position_ED3[0, 0, 1] == pytest.approx(y, abs=1e-9)


def test_a_drop_comes_to_rest_on_the_floor_and_falls_again_when_it_goes():
    arena = Arena()
    spawn(arena)
    wait(arena, 60)
    drops = arena.state.drops
    assert drops.position_ED3[0, 0, 1] == pytest.approx(GROUND_Y)
    np.testing.assert_array_equal(drops.velocity_ED3[0, 0], 0.0)
    arena.state.terrain.block_EXZY[0, 20:26, 14:20, GROUND_Y - 3 : GROUND_Y] = 0
    wait(arena, 30)
    assert drops.position_ED3[0, 0, 1] == pytest.approx(GROUND_Y - 3)


def test_a_drop_slides_farther_on_ice():
    travelled = []
    for floor in ("stone", "ice"):
        arena = Arena()
        for x in range(32):
            arena.put(floor, x, GROUND_Y - 1, 16)
        spawn(arena, y=GROUND_Y)
        arena.state.drops.velocity_ED3[0, 0] = (0.2, 0.0, 0.0)
        wait(arena, 40)
        travelled.append(arena.state.drops.position_ED3[0, 0, 0] - 22.5)
    assert travelled[1] > 3 * travelled[0] > 0


def test_a_drop_rises_in_water_and_burns_in_lava():
    arena = Arena()
    for y in range(GROUND_Y, GROUND_Y + 6):
        arena.put("water", 22, y, 16)
    spawn(arena, y=GROUND_Y + 0.1)
    arena.state.drops.velocity_ED3[0, 0] = 0.0, -0.01, 0.0
    wait(arena, 100)
    assert arena.state.drops.position_ED3[0, 0, 1] > GROUND_Y + 1.0
    arena = Arena()
    arena.put("lava", 22, GROUND_Y, 16)
    spawn(arena, y=GROUND_Y + 0.1)
    wait(arena, 30)
    assert arena.state.drops.item_ED[0, 0] == NO_ITEM


def test_items_are_picked_up_ten_ticks_after_they_fell():
    arena = Arena()
    spawn(arena, x=16.5, count=3)
    wait(arena, 9)
    assert arena.count("dirt") == 0
    wait(arena)
    assert arena.count("dirt") == 3
    assert arena.events() == [(EVENT_ITEM_PICKED, DIRT, 3, 0)]
    assert arena.dropped() == {}


def test_a_thrown_item_waits_forty_ticks():
    arena = Arena()
    arena.give("dirt")
    arena.state.bodies.pitch_deg_E[0] = 90.0
    arena.press("drop")
    wait(arena, 39)
    assert arena.count("dirt") == 0
    wait(arena)
    assert arena.count("dirt") == 1


def test_who_throws_the_last_of_its_items_strikes_weakly_at_first():
    for count, swing_ticks in ((1, 0), (2, 1001)):
        arena = Arena()
        arena.give("diamond_sword", count)
        arena.press("drop")
        assert arena.state.hands.swing_ticks_E[0] == swing_ticks


def test_reach_is_one_block_sideways_and_half_a_block_up_and_down():
    # From the agent's box (0.3 wide, 1.8 high) to that of the item (0.125 wide, 0.25 high).
    for dx, dy, is_sneaking, is_taken in (
        (1.42, 0.0, False, True), (1.43, 0.0, False, False), (0.0, 2.29, False, True), (0.0, 2.31, False, False),
        (0.0, -0.74, False, True), (0.0, -0.76, False, False), (0.0, 1.99, True, True), (0.0, 2.01, True, False),
    ):  # fmt: skip
        arena = Arena()
        arena.state.terrain.block_EXZY[:] = 0
        arena.state.bodies.is_sneaking_E[0] = is_sneaking  # and 1.5 high
        spawn(arena, x=16.5 + dx, y=GROUND_Y + dy + 0.04)
        arena.state.drops.velocity_ED3[0, 0] = 0.0, 1e-12, 0.0
        arena.state.drops.age_ticks_ED[0, 0] = 50
        wait(arena)
        assert (arena.count("dirt") == 1) == is_taken, (dx, dy, is_sneaking)


def test_the_dead_pick_nothing_up():
    arena = Arena()
    arena.state.bodies.health_E[0] = 0.0
    spawn(arena, x=16.5)
    wait(arena, 20)
    assert arena.count("dirt") == 0


def test_pick_up_reaches_over_the_seam():
    arena = Arena()
    arena.state.bodies.position_E3[0, 0] = 0.2
    spawn(arena, x=31.5)
    wait(arena, 10)
    assert arena.count("dirt") == 1


def test_what_comes_into_the_empty_hand_mines_from_nothing_and_strikes_weakly_at_first():
    arena, busy = Arena(), Arena()
    busy.give("dirt", 1)
    for each in (arena, busy):
        each.put("oak_log", 16, GROUND_Y + 1, 18)
        each.look_at_block(16, GROUND_Y + 1, 18)
        each.press("attack", ticks=30)
        each.state.hands.swing_ticks_E[0] = 1000
        spawn(each, x=16.5, item=ITEM_ID["diamond_axe"])
        wait(each, 10)
    assert arena.count("diamond_axe") == busy.count("diamond_axe") == 1
    assert arena.state.hands.mine_progress_E[0] == 0.0
    assert arena.state.hands.swing_ticks_E[0] == 0
    assert busy.state.hands.mine_progress_E[0] == pytest.approx(0.5)  # its hand was full
    assert busy.state.hands.swing_ticks_E[0] == 1000


def test_what_finds_no_room_stays_on_the_ground():
    arena = Arena()
    for slot in range(NUM_SLOTS):
        arena.give("dirt", 64, slot=slot)
    arena.give("dirt", 62, slot=5)
    spawn(arena, x=16.5, count=5)
    wait(arena, 12)
    assert arena.dropped() == {DIRT: 3}
    assert arena.events() == [(EVENT_ITEM_PICKED, DIRT, 2, 0)]


def test_the_oldest_drop_gives_way_and_all_vanish_after_five_minutes():
    arena = Arena()
    for i in range(MAX_DROPS + 1):
        spawn(arena, item=DIRT if i else ITEM_ID["stone"])
        wait(arena)
    assert arena.dropped() == {DIRT: MAX_DROPS}
    arena.state.drops.age_ticks_ED[0] = 5999
    wait(arena)
    assert arena.dropped() == {}


def test_what_the_episode_has_laid_down_stays_longer_than_five_minutes_and_gives_way_to_no_drop():
    arena = Arena()
    drops = arena.state.drops
    for i in range(MAX_DROPS + 4):
        spawn(arena, item=DIRT if i else ITEM_ID["apple"])
        drops.object_ED[0, 0] = 1  # the apple's row
        wait(arena)
    assert arena.dropped() == {ITEM_ID["apple"]: 1, DIRT: MAX_DROPS - 1}
    drops.age_ticks_ED[0] = 5999
    wait(arena)
    assert arena.dropped() == {ITEM_ID["apple"]: 1}


def test_drops_scatter_by_episode_seed_and_tick_alone():
    first, second, third = Arena(), Arena(), Arena()
    third.state.clock.key_E[0] = 8
    for arena in (first, second, third):
        spawn(arena)
    np.testing.assert_array_equal(first.state.drops.velocity_ED3, second.state.drops.velocity_ED3)
    assert (first.state.drops.velocity_ED3 != third.state.drops.velocity_ED3).any()
