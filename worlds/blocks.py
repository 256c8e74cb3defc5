"""The block table: what every kind of block is, how hard it is and which textures it wears."""

from dataclasses import dataclass

import numpy as np

AIR = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockKind:
    """One row of the table. Hardness and tools are those of Java Edition 1.16.5."""

    name: str
    hardness: float  # -1 cannot be broken
    tool: str = ""  # tool class that breaks it faster: "pickaxe", "axe", "shovel", "hoe", "" none
    needs_tier: int = (
        -1
    )  # -1 harvestable by hand, else the lowest tier of that tool: 0 wood, 1 stone, 2 iron, 3 diamond
    is_solid: bool = True  # stops a body
    is_fluid: bool = False
    textures: tuple[str, str, str] = ("", "", "")  # side, top, bottom


def _cube(
    name: str, hardness: float, tool: str = "", tier: int = -1, side: str = "", top: str = "", bottom: str = ""
) -> BlockKind:
    side = side or name
    top = top or side
    return BlockKind(name=name, hardness=hardness, tool=tool, needs_tier=tier, textures=(side, top, bottom or top))


BLOCKS: tuple[BlockKind, ...] = (
    BlockKind(name="air", hardness=-1.0, is_solid=False),
    _cube("stone", 1.5, "pickaxe", 0),
    _cube("grass_block", 0.6, "shovel", side="grass_block_side", top="grass_block_top", bottom="dirt"),
    _cube("dirt", 0.5, "shovel"),
    _cube("sand", 0.5, "shovel"),
    _cube("sandstone", 0.8, "pickaxe", 0, top="sandstone_top"),
    _cube("gravel", 0.6, "shovel"),
    _cube("snow_block", 0.2, "shovel", 0),
    _cube("snowy_grass_block", 0.6, "shovel", side="grass_block_snow", top="snow_block", bottom="dirt"),
    _cube("ice", 0.5, "pickaxe"),
    _cube("bedrock", -1.0),
    BlockKind(name="water", hardness=-1.0, is_solid=False, is_fluid=True, textures=("water", "water", "water")),
    _cube("oak_log", 2.0, "axe", top="oak_log_top"),
    _cube("oak_leaves", 0.2, "hoe"),
    _cube("birch_log", 2.0, "axe", top="birch_log_top"),
    _cube("birch_leaves", 0.2, "hoe"),
    _cube("spruce_log", 2.0, "axe", top="spruce_log_top"),
    _cube("spruce_leaves", 0.2, "hoe"),
    _cube("cactus", 0.4, top="cactus_top"),
    _cube("cobblestone", 2.0, "pickaxe", 0),
    _cube("mossy_cobblestone", 2.0, "pickaxe", 0),
    _cube("andesite", 1.5, "pickaxe", 0),
    _cube("oak_planks", 2.0, "axe"),
    _cube("coal_ore", 3.0, "pickaxe", 0),
    _cube("iron_ore", 3.0, "pickaxe", 1),
    _cube("gold_ore", 3.0, "pickaxe", 2),
    _cube("diamond_ore", 3.0, "pickaxe", 2),
    _cube("redstone_ore", 3.0, "pickaxe", 2),
    _cube("lapis_ore", 3.0, "pickaxe", 1),
    _cube("gold_block", 3.0, "pickaxe", 2),
    _cube("diamond_block", 5.0, "pickaxe", 2),
    _cube("redstone_block", 5.0, "pickaxe", 0),
    _cube("emerald_block", 5.0, "pickaxe", 2),
    _cube("lapis_block", 3.0, "pickaxe", 1),
    _cube("iron_block", 5.0, "pickaxe", 1),
    _cube("coal_block", 5.0, "pickaxe", 0),
    _cube("pumpkin", 1.0, "axe", top="pumpkin_top"),
    _cube("melon", 1.0, "axe", top="melon_top"),
    _cube("hay_block", 0.5, "hoe", top="hay_block_top"),
    _cube("bookshelf", 1.5, "axe", top="oak_planks"),
    _cube("crafting_table", 2.5, "axe", top="crafting_table_top", bottom="oak_planks"),
    _cube("furnace", 3.5, "pickaxe", 0, top="furnace_top"),
    _cube("tnt", 0.0, top="tnt_top"),
    _cube("white_wool", 0.8),
    _cube("magenta_wool", 0.8),
    _cube("bricks", 2.0, "pickaxe", 0),
    _cube("diorite", 1.5, "pickaxe", 0),
    _cube("granite", 1.5, "pickaxe", 0),
)
BLOCK_ID: dict[str, int] = {kind.name: index for index, kind in enumerate(BLOCKS)}
NUM_BLOCKS = len(BLOCKS)

# Speed and tier of the tools of 1.16.5: class, speed on blocks of that class, tier for harvesting.
TOOLS: dict[str, tuple[str, float, int]] = {
    "": ("", 1.0, -1),
    "wooden_pickaxe": ("pickaxe", 2.0, 0),
    "stone_pickaxe": ("pickaxe", 4.0, 1),
    "iron_pickaxe": ("pickaxe", 6.0, 2),
    "diamond_pickaxe": ("pickaxe", 8.0, 3),
    "wooden_axe": ("axe", 2.0, 0),
    "stone_axe": ("axe", 4.0, 1),
    "iron_axe": ("axe", 6.0, 2),
    "diamond_axe": ("axe", 8.0, 3),
    "diamond_shovel": ("shovel", 8.0, 3),
    "diamond_hoe": ("hoe", 8.0, 3),
}


def solid_table() -> np.ndarray:
    """Return bool [K]: whether a body collides with block id k."""
    return np.array([kind.is_solid for kind in BLOCKS])


def fluid_table() -> np.ndarray:
    """Return bool [K]: whether block id k is a fluid."""
    return np.array([kind.is_fluid for kind in BLOCKS])


def break_damage_per_tick(tool: str) -> np.ndarray:
    """Return float64 [K]: share of block id k that one tick of mining with `tool` removes, on the ground, in air.

    Minecraft's formula: tool speed / hardness / (30 if harvestable else 100); 0 for what cannot be broken, 1 or more
    for what breaks at once.
    """
    if tool not in TOOLS:
        raise ValueError(f"held_item {tool!r} is no tool of this engine; choose one of {sorted(TOOLS)}")
    tool_class, speed, tier = TOOLS[tool]
    damage_K = np.zeros(NUM_BLOCKS)
    for index, kind in enumerate(BLOCKS):
        if kind.hardness < 0:
            continue
        can_harvest = kind.needs_tier < 0 or (tool_class == kind.tool and tier >= kind.needs_tier)
        factor = speed if tool_class and tool_class == kind.tool else 1.0
        damage_K[index] = 1.0 if kind.hardness == 0 else factor / kind.hardness / (30.0 if can_harvest else 100.0)
    return damage_K
