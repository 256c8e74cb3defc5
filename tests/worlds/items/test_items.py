"""The item table: stacks, tools, weapons, food, and what an item becomes when it is placed."""

import numpy as np
import pytest

from worlds.blocks import BLOCK_ID, BLOCKS, STATES, state_of
from worlds.items import ITEM_ID, ITEMS, NUM_ITEMS, TOOL_CLASSES, all_texture_names, build_item_tables
from worlds.types import FACES

SOUTH, WEST, NORTH, EAST = range(4)
LOWER, UPPER = False, True

# https://minecraft.wiki/w/Damage#Dealing_damage, Java Edition 1.16: half hearts, blows a second.
ATTACKS = {
    "wooden_sword": (4, 1.6), "golden_sword": (4, 1.6), "stone_sword": (5, 1.6), "iron_sword": (6, 1.6),
    "diamond_sword": (7, 1.6), "netherite_sword": (8, 1.6),
    "wooden_axe": (7, 0.8), "golden_axe": (7, 1.0), "stone_axe": (9, 0.8), "iron_axe": (9, 0.9),
    "diamond_axe": (9, 1.0), "netherite_axe": (10, 1.0),
    "wooden_pickaxe": (2, 1.2), "golden_pickaxe": (2, 1.2), "stone_pickaxe": (3, 1.2), "iron_pickaxe": (4, 1.2),
    "diamond_pickaxe": (5, 1.2), "netherite_pickaxe": (6, 1.2),
    "wooden_shovel": (2.5, 1.0), "golden_shovel": (2.5, 1.0), "stone_shovel": (3.5, 1.0), "iron_shovel": (4.5, 1.0),
    "diamond_shovel": (5.5, 1.0), "netherite_shovel": (6.5, 1.0),
    "wooden_hoe": (1, 1.0), "golden_hoe": (1, 1.0), "stone_hoe": (1, 2.0), "iron_hoe": (1, 3.0),
    "diamond_hoe": (1, 4.0), "netherite_hoe": (1, 4.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    return build_item_tables()


def placed(tables, item, quadrant, face, half=LOWER):
    """Return the canonical name of the state that `item` becomes, None where it cannot be placed."""
    state_id = tables.place_I462[ITEM_ID[item], quadrant, FACES.index(face), int(half)]
    return None if state_id < 0 else STATES[state_id].name


def test_every_block_is_an_item_but_those_that_come_about_in_other_ways(tables):
    without = {kind.name for kind in BLOCKS} - set(ITEM_ID)
    assert without == {"air", "water", "lava", "nether_portal", "wall_torch", "sweet_berry_bush"}
    assert ITEMS[ITEM_ID["wheat"]].block == ""
    assert len(ITEM_ID) == NUM_ITEMS


def test_every_drop_of_a_block_is_an_item():
    assert {kind.drop for kind in BLOCKS if kind.drop} <= set(ITEM_ID)


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_damage_and_speed_are_the_published_ones(tables, name):
    item = ITEM_ID[name]
    assert (tables.attack_damage_I[item], tables.attack_speed_I[item]) == ATTACKS[name]


def test_what_is_no_weapon_hits_like_a_fist(tables):
    others = [index for index, kind in enumerate(ITEMS) if kind.name not in ATTACKS]
    assert (tables.attack_damage_I[others] == 1).all()
    assert (tables.attack_speed_I[others] == 4).all()


@pytest.mark.parametrize(
    ("name", "tool", "tier", "speed"),
    [
        ("wooden_pickaxe", "pickaxe", 0, 2), ("stone_axe", "axe", 1, 4), ("iron_shovel", "shovel", 2, 6),
        ("golden_hoe", "hoe", 0, 12), ("diamond_pickaxe", "pickaxe", 3, 8), ("netherite_axe", "axe", 3, 9),
        ("iron_sword", "sword", 2, 1.5), ("apple", "", -1, 1), ("stone", "", -1, 1),
    ],
)  # fmt: skip
def test_tools_have_their_class_tier_and_speed(tables, name, tool, tier, speed):
    item = ITEM_ID[name]
    assert TOOL_CLASSES[tables.tool_I[item]] == tool
    assert (tables.tier_I[item], tables.tool_speed_I[item]) == (tier, speed)


@pytest.mark.parametrize(
    ("name", "stack"),
    [("stone", 64), ("arrow", 64), ("snowball", 16), ("egg", 16), ("bucket", 16), ("bow", 1), ("iron_pickaxe", 1),
     ("red_bed", 1), ("cake", 1), ("shears", 1), ("cooked_beef", 64)],
)  # fmt: skip
def test_stacks_hold_as_many_as_in_the_game(tables, name, stack):
    assert tables.max_stack_I[ITEM_ID[name]] == stack


@pytest.mark.parametrize(("name", "food"), [("apple", 4), ("bread", 5), ("cooked_beef", 8), ("beef", 3), ("stone", 0)])
def test_food_heals_its_food_points(tables, name, food):
    assert tables.food_I[ITEM_ID[name]] == food


def test_there_is_one_bow_and_one_arrow(tables):
    assert np.flatnonzero(tables.is_bow_I).tolist() == [ITEM_ID["bow"]]
    assert np.flatnonzero(tables.is_arrow_I).tolist() == [ITEM_ID["arrow"]]


def test_tools_food_and_drops_cannot_be_placed(tables):
    for name in ("iron_pickaxe", "apple", "coal", "arrow", "bow", "wheat", "lily_pad", "seagrass"):
        assert (tables.place_I462[ITEM_ID[name]] == -1).all()


def test_an_item_becomes_a_state_of_its_own_block_or_of_its_wall_form(tables):
    for index, kind in enumerate(ITEMS):
        for state_id in np.unique(tables.place_I462[index]):
            if state_id >= 0:
                assert STATES[state_id].kind.name in (kind.block, f"wall_{kind.block}")


def test_a_plain_cube_looks_the_same_wherever_it_is_placed(tables):
    assert (tables.place_I462[ITEM_ID["stone"]] == BLOCK_ID["stone"]).all()


@pytest.mark.parametrize(("quadrant", "facing"), [(SOUTH, "south"), (WEST, "west"), (NORTH, "north"), (EAST, "east")])
def test_stairs_ascend_away_from_the_player(tables, quadrant, facing):
    assert placed(tables, "oak_stairs", quadrant, "up") == f"oak_stairs[facing={facing},half=bottom]"


@pytest.mark.parametrize(("quadrant", "facing"), [(SOUTH, "north"), (WEST, "east"), (NORTH, "south"), (EAST, "west")])
def test_furnaces_chests_and_pumpkins_look_at_the_player(tables, quadrant, facing):
    for face in ("up", "north", "west"):
        assert placed(tables, "furnace", quadrant, face) == f"furnace[facing={facing},lit=false]"
        assert placed(tables, "chest", quadrant, face) == f"chest[facing={facing},open=false]"
        assert placed(tables, "carved_pumpkin", quadrant, face) == f"carved_pumpkin[facing={facing}]"


@pytest.mark.parametrize(("face", "axis"), [("up", "y"), ("down", "y"), ("west", "x"), ("east", "x"), ("north", "z")])
def test_logs_lie_along_the_axis_of_the_clicked_face(tables, face, axis):
    assert placed(tables, "oak_log", SOUTH, face) == f"oak_log[axis={axis}]"
    assert placed(tables, "hay_block", EAST, face) == f"hay_block[axis={axis}]"


@pytest.mark.parametrize(
    ("face", "half", "where"),
    [("up", LOWER, "bottom"), ("up", UPPER, "bottom"), ("down", LOWER, "top"), ("north", LOWER, "bottom"),
     ("north", UPPER, "top"), ("east", UPPER, "top")],
)  # fmt: skip
def test_slabs_stairs_and_trapdoors_take_the_clicked_half(tables, face, half, where):
    assert placed(tables, "stone_slab", WEST, face, half) == f"stone_slab[type={where}]"
    assert placed(tables, "stone_stairs", WEST, face, half) == f"stone_stairs[facing=west,half={where}]"
    assert f"half={where}" in placed(tables, "oak_trapdoor", WEST, face, half)


def test_trapdoors_hang_on_the_clicked_side_or_look_at_the_player(tables):
    assert "facing=north" in placed(tables, "oak_trapdoor", SOUTH, "up")
    assert "facing=east" in placed(tables, "oak_trapdoor", SOUTH, "east")


def test_torches_stand_on_floors_and_hang_on_walls_but_not_from_ceilings(tables):
    assert placed(tables, "torch", SOUTH, "up") == "torch"
    assert placed(tables, "torch", SOUTH, "west") == "wall_torch[facing=west]"
    assert placed(tables, "torch", SOUTH, "down") is None


def test_ladders_and_vines_hang_on_sides_only(tables):
    for name in ("ladder", "vine"):
        assert placed(tables, name, EAST, "north") == f"{name}[facing=north]"
        assert placed(tables, name, EAST, "up") is placed(tables, name, EAST, "down") is None


def test_levers_and_buttons_sit_on_floors_and_walls(tables):
    for name in ("lever", "stone_button"):
        assert placed(tables, name, EAST, "up") == f"{name}[facing=up,powered=false]"
        assert placed(tables, name, EAST, "south") == f"{name}[facing=south,powered=false]"
        assert placed(tables, name, EAST, "down") is None


def test_doors_beds_and_gates_face_as_the_player_does(tables):
    assert placed(tables, "oak_door", WEST, "up") == "oak_door[facing=west,half=lower,hinge=left,open=false]"
    assert placed(tables, "red_bed", WEST, "up") == "red_bed[facing=west,part=foot]"
    assert placed(tables, "oak_fence_gate", WEST, "up") == "oak_fence_gate[facing=west,open=false]"


def test_anvils_stand_across(tables):
    assert placed(tables, "anvil", NORTH, "up") == "anvil[facing=east]"


def test_barrels_look_out_of_the_clicked_floor_or_ceiling(tables):
    assert placed(tables, "barrel", SOUTH, "up") == "barrel[facing=up,open=false]"
    assert placed(tables, "barrel", SOUTH, "down") == "barrel[facing=down,open=false]"
    assert placed(tables, "barrel", SOUTH, "west") == "barrel[facing=north,open=false]"


def test_doors_beds_and_tall_plants_take_two_cells(tables):
    pairs = {kind.name for index, kind in enumerate(ITEMS) if tables.pair_place_I[index]}
    assert pairs == {
        "oak_door", "spruce_door", "birch_door", "iron_door", "white_bed", "red_bed", "tall_grass", "large_fern",
        "sunflower", "rose_bush", "lilac",
    }  # fmt: skip


def test_tall_plants_start_with_their_lower_half(tables):
    assert placed(tables, "rose_bush", NORTH, "up") == STATES[state_of("rose_bush[half=lower]")].name


def test_texture_names_are_sorted_and_hold_those_of_items():
    names = all_texture_names()
    assert list(names) == sorted(set(names))
    assert {"stone", "oak_door_top", "oak_door", "iron_pickaxe", "arrow", "water", "torch"} <= set(names)
    assert "" not in names
