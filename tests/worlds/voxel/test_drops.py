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


def test_reach_is_one_block_sideways_and_half_a_block_up_and_down():
    # From the agent's box (0.3 wide, 1.8 high) to that of the item (0.125 wide, 0.25 high).
    for dx, dy, is_taken in (
        (1.42, 0.0, True), (1.43, 0.0, False), (0.0, 2.29, True), (0.0, 2.31, False), (0.0, -0.74, True),
        (0.0, -0.76, False),
    ):  # fmt: skip
        arena = Arena()
        arena.state.terrain.block_EXZY[:] = 0
        spawn(arena, x=16.5 + dx, y=GROUND_Y + dy + 0.04)
        arena.state.drops.velocity_ED3[0, 0] = 0.0, 1e-12, 0.0
        arena.state.drops.age_ticks_ED[0, 0] = 50
        wait(arena)
        assert (arena.count("dirt") == 1) == is_taken, (dx, dy)


def test_pick_up_reaches_over_the_seam():
    arena = Arena()
    arena.state.bodies.position_E3[0, 0] = 0.2
    spawn(arena, x=31.5)
    wait(arena, 10)
    assert arena.count("dirt") == 1


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


def test_drops_scatter_by_episode_seed_and_tick_alone():
    first, second, third = Arena(), Arena(), Arena()
    third.state.clock.key_E[0] = 8
    for arena in (first, second, third):
        spawn(arena)
    np.testing.assert_array_equal(first.state.drops.velocity_ED3, second.state.drops.velocity_ED3)
    assert (first.state.drops.velocity_ED3 != third.state.drops.velocity_ED3).any()
