"""Break times of every block kind with every tool, against tests/golden/break_times.json (see make_break_times.mjs)."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.worlds.blocks.own_kinds import MINECRAFTS_KINDS, OWN_KINDS
from worlds.blocks import BLOCK_ID, BLOCKS, STATES, TOOLS, break_damage_per_tick, build_block_tables
from worlds.blocks.tools import BROKEN_SHARE, tool_class
from worlds.items import ITEM_ID, build_item_tables
from worlds.items import break_damage as break_damage_kernel
from worlds.items import can_harvest as can_harvest_kernel

PUBLISHED = json.loads((Path(__file__).parents[2] / "golden" / "break_times.json").read_text())
HAND = -1
TOOL_NAMES = [name for name in TOOLS if name]
# What cannot be broken by hand or tool. Air and fluids have hardness 0 and 100 in the game, but nobody can aim at them.
UNBREAKABLE = {"air", "bedrock", "water", "lava", "barrier", "nether_portal"}


def published_damage(kind_name: str, tool: str) -> Fraction:
    """Return speed / hardness / (30 if harvested else 100): https://minecraft.wiki/w/Breaking#Speed, no effects."""
    block = _published(kind_name)
    hardness = Fraction(str(block["hardness"]))
    if hardness < 0:
        return Fraction(0)
    if hardness == 0:
        return Fraction(1)
    speed = Fraction(str(PUBLISHED["materials"].get(block["material"], {}).get(tool, 1)))
    harvest = PUBLISHED["harvests"][block["harvest"]]
    return min(Fraction(1), speed / hardness / (30 if harvest is None or tool in harvest else 100))


def _published(kind_name: str) -> dict:
    assert kind_name in PUBLISHED["blocks"], (
        f"tests/golden/break_times.json lacks {kind_name}; tests/golden/make_break_times.mjs says how to renew it"
    )
    return PUBLISHED["blocks"][kind_name]


@pytest.mark.parametrize("tool", ["", *TOOL_NAMES, "stick"])
def test_break_damage_of_every_block_equals_the_published_formula(tool):
    blocks, items = build_block_tables(), build_item_tables()
    item = ITEM_ID[tool] if tool else HAND
    wrong = {}
    for kind in MINECRAFTS_KINDS:
        damage = min(1.0, break_damage_kernel(BLOCK_ID[kind.name], item, blocks, items))
        expected = published_damage(kind.name, tool)
        if not math.isclose(damage, expected, rel_tol=1e-12):
            wrong[kind.name] = (damage, float(expected))
    assert not wrong


@pytest.mark.parametrize("tool", ["", *TOOL_NAMES])
def test_number_of_ticks_of_every_block_equals_the_published_formula(tool):
    wrong = {}
    damage_S = break_damage_per_tick(tool)
    for kind in MINECRAFTS_KINDS:
        expected = published_damage(kind.name, tool)
        if expected == 0:
            continue
        share, num_ticks = 0.0, 0
        while share < BROKEN_SHARE:
            share += damage_S[BLOCK_ID[kind.name]]
            num_ticks += 1
        if num_ticks != math.ceil(1 / expected):
            wrong[kind.name] = (num_ticks, math.ceil(1 / expected))
    assert not wrong


@pytest.mark.parametrize("tool", ["", *TOOL_NAMES])
def test_every_block_drops_for_exactly_the_published_tools(tool):
    blocks, items = build_block_tables(), build_item_tables()
    item = ITEM_ID[tool] if tool else HAND
    for kind in MINECRAFTS_KINDS:
        harvest = PUBLISHED["harvests"][_published(kind.name)["harvest"]]
        is_able = harvest is None or tool in harvest
        assert can_harvest_kernel(BLOCK_ID[kind.name], item, blocks, items) == is_able, kind.name


def test_no_kind_is_called_our_own_that_minecraft_has():
    assert set(BLOCK_ID) >= OWN_KINDS
    assert not OWN_KINDS & set(PUBLISHED["blocks"])


def test_all_states_of_a_kind_break_alike():
    damage_S = break_damage_per_tick("iron_pickaxe")
    default_S = np.array([BLOCK_ID[state.kind.name] for state in STATES])
    assert np.array_equal(damage_S, damage_S[default_S])


def test_only_these_blocks_cannot_be_broken():
    damage_S = break_damage_per_tick("netherite_pickaxe")
    assert {kind.name for index, kind in enumerate(BLOCKS) if damage_S[index] == 0} == UNBREAKABLE


@pytest.mark.parametrize(
    ("kind", "tool", "seconds"),
    [  # read off the wiki's tables, rounded there to 0.05 s
        ("stone", "", 7.5),
        ("stone", "wooden_pickaxe", 1.15),
        ("stone", "golden_pickaxe", 0.2),
        ("obsidian", "diamond_pickaxe", 9.4),
        ("obsidian", "iron_pickaxe", 41.7),
        ("oak_log", "", 3.0),
        ("oak_log", "stone_axe", 0.75),
        ("oak_leaves", "shears", 0.05),
        ("oak_leaves", "diamond_sword", 0.2),
        ("white_wool", "shears", 0.25),
        ("cobweb", "iron_sword", 0.4),
        ("cobweb", "", 20.0),
        ("diamond_ore", "iron_pickaxe", 0.75),
        ("diamond_ore", "stone_pickaxe", 3.75),
        ("grass_block", "diamond_shovel", 0.15),
        ("torch", "", 0.05),
        ("vine", "shears", 0.3),
    ],
)
def test_some_times_of_the_wiki(kind, tool, seconds):
    damage = break_damage_per_tick(tool)[BLOCK_ID[kind]]
    assert math.ceil(1.0 / damage - 1e-9) * 0.05 == pytest.approx(seconds)


def test_unknown_tool_is_refused_with_the_names_of_the_known_ones():
    with pytest.raises(ValueError, match="iron_pickaxe"):
        break_damage_per_tick("iron_spoon")


# Kinds whose drop differs from the loot table, with the reason.
_LEAVES = ("oak_leaves", "birch_leaves", "spruce_leaves", "jungle_leaves", "acacia_leaves", "dark_oak_leaves")
DROP_EXCEPTIONS = {
    **dict.fromkeys(_LEAVES, "saplings, sticks and apples are rare: nothing"),
    **dict.fromkeys(("grass", "fern", "tall_grass", "large_fern"), "seeds are rare: nothing"),
    **dict.fromkeys(("brown_mushroom_block", "red_mushroom_block"), "0 - 2 mushrooms, mostly 0: nothing"),
    **dict.fromkeys(("vine", "seagrass"), "needs shears, which gather nothing here"),
}


def test_every_drop_is_one_of_the_loot_table():
    for kind in MINECRAFTS_KINDS:
        published = set(PUBLISHED["blocks"]["torch" if kind.name == "wall_torch" else kind.name]["drops"])
        if kind.name in DROP_EXCEPTIONS:
            assert kind.drop == ""
        elif published:
            assert kind.drop in published, kind.name
        else:
            assert kind.drop == "", kind.name


def test_a_class_of_tools_that_is_none_is_one_sentence():
    with pytest.raises(ValueError, match="stone has the class of tools 'pickaxxe', which there is not; .*pickaxe"):
        tool_class("pickaxxe", of="stone")
