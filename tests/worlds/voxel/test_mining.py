import math

import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena, flat
from worlds.blocks import state_of
from worlds.items import ITEM_ID
from worlds.types import EVENT_BLOCK_BROKEN, EVENT_NONE
from worlds.voxel.cells import clear_cell

AHEAD = (16, 11, 18)  # a cell two blocks in front of the agent's face (it looks along +z)


def ticks_to_break(arena, limit=2000):
    for ticks in range(1, limit):
        arena.press("attack")
        if arena.at(*AHEAD) == 0:
            return ticks
    raise AssertionError("did not break")


def arena_with(block, item="", slot=0):
    arena = Arena()
    arena.put(block, *AHEAD, slot=slot)
    arena.look_at(16.5, 11.5, 18.5)
    if item:
        arena.give(item)
    return arena


@pytest.mark.parametrize(
    ("block", "item", "seconds"),
    [
        # minecraft.wiki/w/Breaking and the blocks' own pages; no enchantments.
        ("dirt", "", 0.75), ("stone", "", 7.5), ("stone", "wooden_pickaxe", 1.15), ("stone", "iron_pickaxe", 0.4),
        ("oak_log", "", 3.0), ("oak_log", "stone_axe", 0.75), ("white_wool", "shears", 0.25),
        ("iron_ore", "wooden_pickaxe", 7.5), ("obsidian", "diamond_pickaxe", 9.4), ("cobweb", "iron_sword", 0.4),
    ],
)  # fmt: skip
def test_a_block_breaks_after_its_published_time(block, item, seconds):
    assert ticks_to_break(arena_with(block, item)) == round(seconds * 20)


def test_a_fifth_of_the_speed_in_the_air_and_a_fifth_under_water():
    dry = ticks_to_break(arena_with("dirt"))
    arena = arena_with("dirt")
    arena.state.bodies.is_on_ground_E[0] = False
    assert ticks_to_break(arena) == 5 * dry
    arena = arena_with("dirt")
    arena.put("water", 16, 11, 16)
    assert ticks_to_break(arena) == 5 * dry
    arena.state.bodies.is_on_ground_E[0] = False
    arena.put("dirt", *AHEAD)
    arena.press(ticks=6)
    assert ticks_to_break(arena) == 25 * dry


def test_the_next_block_waits_five_ticks_after_one_that_took_time():
    arena = arena_with("dirt")
    first = ticks_to_break(arena)
    arena.put("dirt", *AHEAD)
    assert ticks_to_break(arena) == first + 5


def test_blocks_that_break_at_once_follow_each_other():
    arena = arena_with("poppy")
    arena.look_at(16.5, 11.3, 18.5)
    assert ticks_to_break(arena) == 1
    arena.put("poppy", *AHEAD)
    assert ticks_to_break(arena) == 1


def test_looking_away_starts_from_nothing():
    arena = arena_with("dirt")
    arena.put("stone", 15, 11, 18)
    arena.press("attack", ticks=14)
    arena.look_at_block(15, 11, 18)
    arena.press("attack")
    arena.look_at_block(*AHEAD)
    arena.press("attack", ticks=14)
    assert arena.at(*AHEAD) != 0
    arena.press("attack")
    assert arena.at(*AHEAD) == 0


def test_letting_go_or_changing_the_tool_starts_from_nothing():
    arena = arena_with("dirt")
    arena.press("attack", ticks=14)
    arena.press()
    arena.press("attack", ticks=14)
    assert arena.at(*AHEAD) != 0
    arena.give("apple", slot=1)
    arena.press("attack", "hotbar.2")
    assert arena.at(*AHEAD) != 0
    arena.press("attack", ticks=13)
    arena.press("attack", "drop")
    assert arena.at(*AHEAD) != 0


def test_reach_ends_at_four_and_a_half_blocks():
    arena = Arena()
    arena.put("dirt", 16, 11, 21)
    arena.look_at(16.5, 11.62, 30.0)
    arena.state.bodies.position_E3[0, 2] = 16.49
    arena.press("attack", ticks=40)
    assert arena.at(16, 11, 21) != 0
    arena.state.bodies.position_E3[0, 2] = 16.51
    arena.press("attack", ticks=40)
    assert arena.at(16, 11, 21) == 0


def test_the_event_tells_state_slot_and_cell():
    arena = arena_with("gold_block", "iron_pickaxe", slot=5)
    ticks_to_break(arena)
    assert arena.events() == [(EVENT_BLOCK_BROKEN, state_of("gold_block"), 5, flat(*AHEAD))]
    arena = arena_with("bedrock")
    arena.press("attack", ticks=100)
    assert arena.events() == []
    assert EVENT_NONE == 0


@pytest.mark.parametrize(
    ("block", "item", "drop"),
    [
        ("stone", "", None), ("stone", "wooden_pickaxe", "cobblestone"), ("diamond_ore", "stone_pickaxe", None),
        ("diamond_ore", "iron_pickaxe", "diamond"), ("grass_block", "", "dirt"), ("glass", "", None),
    ],
)  # fmt: skip
def test_the_drop_follows_the_harvest_rule(block, item, drop):
    arena = arena_with(block, item)
    ticks_to_break(arena)
    assert arena.dropped() == ({} if drop is None else {ITEM_ID[drop]: 1})


def test_the_drop_lies_inside_the_cell():
    arena = arena_with("dirt")
    ticks_to_break(arena)
    position = arena.state.drops.position_ED3[0, 0]
    assert all(cell + 0.25 <= part <= cell + 0.75 for cell, part in zip(AHEAD, position, strict=True))


def test_both_halves_of_a_door_go_with_one_drop():
    arena = arena_with("oak_door[half=upper]")
    arena.put("oak_door[half=lower]", 16, 10, 18, slot=3)
    arena.look_at(16.5, 11.5, 18.1)
    arena.press("attack", ticks=200)
    assert arena.at(*AHEAD) == 0
    assert arena.at(16, 10, 18) == 0
    assert arena.events()[0] == (EVENT_BLOCK_BROKEN, state_of("oak_door[half=upper]"), 3, flat(*AHEAD))
    assert arena.dropped() == {ITEM_ID["oak_door"]: 1}


def test_what_needs_the_floor_goes_with_it_and_tells_only_of_objects():
    arena = arena_with("dirt")
    arena.put("poppy", 16, 12, 18)
    ticks_to_break(arena)
    assert arena.at(16, 12, 18) == 0
    assert [row[1] for row in arena.events()] == [state_of("dirt")]
    assert arena.dropped() == {ITEM_ID["dirt"]: 1, ITEM_ID["poppy"]: 1}
    arena = arena_with("dirt")
    arena.put("sugar_cane", 16, 12, 18)
    arena.put("sugar_cane", 16, 13, 18, slot=2)
    ticks_to_break(arena)
    assert [row[1:3] for row in arena.events()] == [(state_of("dirt"), 0), (state_of("sugar_cane"), 2)]
    assert arena.dropped() == {ITEM_ID["dirt"]: 1, ITEM_ID["sugar_cane"]: 2}


def test_what_goes_along_drops_as_if_broken_by_hand_whatever_broke_the_floor():
    for block, item, on_top in (("stone", "", "torch"), ("stone", "diamond_pickaxe", "snow")):
        arena = arena_with(block, item)
        arena.put(on_top, 16, 12, 18)
        ticks_to_break(arena)
        assert arena.at(16, 12, 18) == 0
        expected = {"cobblestone": 1} if item else {"torch": 1}
        assert arena.dropped() == {ITEM_ID[name]: count for name, count in expected.items()}


@pytest.mark.parametrize("half_y", [11, 12])
def test_what_stands_on_the_upper_half_goes_whichever_half_is_broken(half_y):
    arena = arena_with("oak_door[half=lower]")
    arena.put("oak_door[half=upper]", 16, 12, 18)
    arena.put("torch", 16, 13, 18)
    arena.look_at(16.5, half_y + 0.5, 18.1)
    arena.press("attack", ticks=200)
    assert [arena.at(16, y, 18) for y in (11, 12, 13)] == [0, 0, 0]


def test_what_stands_on_half_a_door_goes_with_it():
    arena = arena_with("oak_door[half=lower]")
    arena.put("torch", 16, 12, 18)
    arena.look_at(16.5, 11.5, 18.1)
    arena.press("attack", ticks=200)
    assert [arena.at(16, y, 18) for y in (11, 12)] == [0, 0]


def test_fences_let_go_of_a_broken_block():
    arena = arena_with("dirt")
    arena.put("oak_fence[links=4]", 16, 11, 17 + 2, slot=1)
    arena.put("oak_fence[links=3]", 15, 11, 19)
    arena.press("attack", ticks=16)
    assert arena.at(16, 11, 19) == state_of("oak_fence[links=8]")
    assert int(arena.state.terrain.block_EXZY[0, 16, 19, 11]) >> 12 == 1


def test_a_freed_cell_gets_the_light_of_its_neighbours():
    arena = Arena()
    arena.state.terrain.field_EXZY[0, :, :, :GROUND_Y] = 0
    arena.look_at(16.5, GROUND_Y, 18.5)
    arena.press("attack", ticks=math.ceil(7.5 * 20))
    assert arena.light_at(16, GROUND_Y - 1, 18) == 15  # open to the sky
    arena.put("oak_planks", 16, GROUND_Y, 18)
    arena.state.terrain.field_EXZY[0, 16, 18, GROUND_Y] = 0
    arena.put("stone", 16, GROUND_Y + 1, 18)
    arena.look_at(16.5, GROUND_Y + 0.5, 18.0)
    arena.press("attack", ticks=100)
    assert arena.at(16, GROUND_Y, 18) == 0
    assert arena.light_at(16, GROUND_Y, 18) == 14  # from beside


def test_the_uppermost_cell_of_a_world_does_not_shine_at_night_either():
    arena = Arena()
    arena.state.terrain.field_EXZY[:] = 4 << 4  # midnight's sky
    for y in (62, 63):
        arena.put("dirt", 16, y, 18)
        arena.state.bodies.position_E3[0] = (16.5, y - 1.0, 16.5)
        arena.look_at_block(16, y, 18)
        arena.press("attack", ticks=16)
        arena.press(ticks=6)
        assert arena.at(16, y, 18) == 0
    assert arena.light_at(16, 62, 18) == 4
    assert arena.light_at(16, 63, 18) == 4


@pytest.mark.parametrize(("open_light", "expected"), [(None, 15), (15, 15), (4, 4)])
def test_a_shaft_in_rock_up_to_the_uppermost_cell_is_as_light_as_the_sky(open_light, expected):
    arena = Arena()
    terrain = arena.state.terrain
    terrain.block_EXZY[:], terrain.field_EXZY[:] = state_of("stone"), 0
    if open_light is not None:
        for x, light in ((3, 14), (4, open_light)):  # a lamp lights one of them
            arena.put("air", x, 63, 5)
            terrain.field_EXZY[0, x, 5, 63] = max(light, open_light) << 4
    for y in (63, 62):
        clear_cell(0, terrain, TABLES.blocks, 16, y, 18)
        assert arena.light_at(16, y, 18) == expected
