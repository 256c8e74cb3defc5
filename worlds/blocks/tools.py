"""Tools against blocks: how fast, and whether the block drops. Java Edition 1.16.5."""

import math

from worlds.voxel.link import Kernel

# Classes of tools, then classes of blocks that several tools break faster.
TOOL_CLASSES: tuple[str, ...] = (
    "", "pickaxe", "axe", "shovel", "hoe", "sword", "shears",
    "plant",  # axe; sword 1.5: plants, vines, pumpkins, melons
    "leaves",  # hoe; sword 1.5; shears 15
    "cobweb",  # sword and shears 15, and nothing else harvests it
    "wool",  # shears 5
)  # fmt: skip
CLASS_NONE, CLASS_PICKAXE, CLASS_AXE, CLASS_SHOVEL, CLASS_HOE, CLASS_SWORD, CLASS_SHEARS = range(7)
CLASS_PLANT, CLASS_LEAVES, CLASS_COBWEB, CLASS_WOOL = range(7, 11)
SWORD_SPEED, SWORD_COBWEB_SPEED, SHEARS_SPEED, SHEARS_WOOL_SPEED = 1.5, 15.0, 15.0, 5.0

# A block is broken when the shares of all ticks reach this: a sum of n times 1 / n must not need another tick for its
# rounding. With 1.0, 2,534 of 6,503 pairs of block and tool took one tick more than Minecraft's formula says.
BROKEN_SHARE = 1.0 - 1e-9

# Material: speed on blocks of the tool's class, tier for harvesting.
MATERIALS: dict[str, tuple[float, int]] = {
    "wooden": (2.0, 0),
    "stone": (4.0, 1),
    "iron": (6.0, 2),
    "golden": (12.0, 0),
    "diamond": (8.0, 3),
    "netherite": (9.0, 3),  # tier 4 in the game: no block here asks for it
}
# Name: class, speed on blocks of that class, tier.
TOOLS: dict[str, tuple[str, float, int]] = {
    "": ("", 1.0, -1),
    **{
        f"{material}_{tool}": (tool, SWORD_SPEED if tool == "sword" else speed, tier)
        for material, (speed, tier) in MATERIALS.items()
        for tool in ("pickaxe", "axe", "shovel", "hoe", "sword")
    },
    "shears": ("shears", SHEARS_SPEED, 0),
}


def tool_class(name: str, *, of: str) -> int:
    """Return the index of a class of tools, which the block or item `of` names; ValueError where there is none."""
    if name not in TOOL_CLASSES:
        raise ValueError(
            f"worlds: {of} has the class of tools {name!r}, which there is not; choose from "
            f"{', '.join(known for known in TOOL_CLASSES if known)}, or leave it out"
        )
    return TOOL_CLASSES.index(name)


def mining_speed(block_class, item_class, item_speed):  # type: ignore[no-untyped-def]
    """Return how many times faster than the bare hand an item breaks a block; classes index TOOL_CLASSES."""
    if block_class == CLASS_NONE or item_class == CLASS_NONE:
        return 1.0
    if block_class == item_class:
        return item_speed
    if block_class == CLASS_COBWEB:
        return SWORD_COBWEB_SPEED if item_class == CLASS_SWORD or item_class == CLASS_SHEARS else 1.0
    if block_class == CLASS_LEAVES and item_class == CLASS_SHEARS:
        return SHEARS_SPEED
    if block_class == CLASS_WOOL and item_class == CLASS_SHEARS:
        return SHEARS_WOOL_SPEED
    if block_class == CLASS_PLANT or block_class == CLASS_LEAVES:
        if item_class == CLASS_SWORD:
            return SWORD_SPEED
        if item_class == (CLASS_AXE if block_class == CLASS_PLANT else CLASS_HOE):
            return item_speed
    return 1.0


def is_harvested(block_class, needs_tier, item_class, item_tier):  # type: ignore[no-untyped-def]
    """Tell whether a block broken with an item drops what it has."""
    if needs_tier < 0:
        return True
    if block_class == CLASS_COBWEB:
        return item_class == CLASS_SWORD or item_class == CLASS_SHEARS
    return block_class == item_class and item_tier >= needs_tier


def share_per_tick(hardness, speed, drops):  # type: ignore[no-untyped-def]
    """Return the share of a block that one tick removes; from 1 on it breaks at once, 0 never breaks.

    Minecraft's formula: speed / hardness / (30 if the block is harvested else 100).
    """
    if hardness < 0.0:
        return 0.0
    if hardness == 0.0:
        return math.inf
    return speed / hardness / (30.0 if drops else 100.0)


def can_harvest(state, item, blocks, items):  # type: ignore[no-untyped-def]
    """Tell whether block `state` broken with `item` (-1: the bare hand) drops its item."""
    item_class, item_tier = CLASS_NONE, -1
    if item >= 0:
        item_class, item_tier = items.tool_I[item], items.tier_I[item]
    return is_harvested(blocks.tool_S[state], blocks.needs_tier_S[state], item_class, item_tier)


def break_damage(state, item, blocks, items):  # type: ignore[no-untyped-def]
    """Return the share of block `state` that one tick of mining with `item` (-1: the bare hand) removes.

    On the ground and in air; under water and off the ground it is a fifth of that each. From 1 on it breaks at once.
    """
    speed = 1.0
    if item >= 0:
        speed = mining_speed(blocks.tool_S[state], items.tool_I[item], items.tool_speed_I[item])
    return share_per_tick(blocks.hardness_S[state], speed, can_harvest(state, item, blocks, items))


SOURCES: tuple[Kernel, ...] = (mining_speed, is_harvested, share_per_tick, can_harvest, break_damage)
