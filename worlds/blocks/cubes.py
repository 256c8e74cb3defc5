"""Kinds that fill their cell. The first 48 rows keep their places: golden worlds and trained agents hold their ids."""

from worlds.blocks.kinds import BlockKind, cube
from worlds.voxel.tables import FLUID_LAVA, FLUID_WATER

COLORS: tuple[str, ...] = (
    "white", "orange", "magenta", "light_blue", "yellow", "lime", "pink", "gray", "light_gray", "cyan", "purple",
    "blue", "brown", "green", "red", "black",
)  # fmt: skip


def _log(name: str) -> BlockKind:
    return cube(name, 2.0, "axe", top=f"{name}_top", shape="column")


def _leaves(name: str) -> BlockKind:
    return cube(name, 0.2, "leaves", drop="", opacity=1)


FIRST_KINDS: tuple[BlockKind, ...] = (
    BlockKind(name="air", hardness=-1.0, shape="air", opacity=0, is_replaceable=True),
    cube("stone", 1.5, "pickaxe", 0, drop="cobblestone"),
    cube("grass_block", 0.6, "shovel", side="grass_block_side", top="grass_block_top", bottom="dirt", drop="dirt"),
    cube("dirt", 0.5, "shovel"),
    cube("sand", 0.5, "shovel"),
    cube("sandstone", 0.8, "pickaxe", 0, top="sandstone_top"),
    cube("gravel", 0.6, "shovel"),
    cube("snow_block", 0.2, "shovel", 0, drop="snowball", count=4),
    cube("snowy_grass_block", 0.6, "shovel", side="grass_block_snow", top="snow_block", bottom="dirt", drop="dirt"),
    cube("ice", 0.5, "pickaxe", drop="", slipperiness=0.98, opacity=1),
    cube("bedrock", -1.0, drop=""),
    cube("water", -1.0, drop="", shape="fluid", fluid=FLUID_WATER, opacity=1, is_replaceable=True),
    _log("oak_log"),
    _leaves("oak_leaves"),
    _log("birch_log"),
    _leaves("birch_leaves"),
    _log("spruce_log"),
    _leaves("spruce_leaves"),
    cube("cactus", 0.4, top="cactus_top", shape="cactus", opacity=0, hurt=1, needs_floor=True),
    cube("cobblestone", 2.0, "pickaxe", 0),
    cube("mossy_cobblestone", 2.0, "pickaxe", 0),
    cube("andesite", 1.5, "pickaxe", 0),
    cube("oak_planks", 2.0, "axe"),
    cube("coal_ore", 3.0, "pickaxe", 0, drop="coal"),
    cube("iron_ore", 3.0, "pickaxe", 1),
    cube("gold_ore", 3.0, "pickaxe", 2),
    cube("diamond_ore", 3.0, "pickaxe", 2, drop="diamond"),
    cube("redstone_ore", 3.0, "pickaxe", 2, drop="redstone", count=4),
    cube("lapis_ore", 3.0, "pickaxe", 1, drop="lapis_lazuli", count=6),
    cube("gold_block", 3.0, "pickaxe", 2),
    cube("diamond_block", 5.0, "pickaxe", 2),
    cube("redstone_block", 5.0, "pickaxe", 0),
    cube("emerald_block", 5.0, "pickaxe", 2),
    cube("lapis_block", 3.0, "pickaxe", 1),
    cube("iron_block", 5.0, "pickaxe", 1),
    cube("coal_block", 5.0, "pickaxe", 0),
    cube("pumpkin", 1.0, "plant", top="pumpkin_top"),
    cube("melon", 1.0, "plant", top="melon_top", drop="melon_slice", count=5),
    cube("hay_block", 0.5, "hoe", top="hay_block_top", shape="column"),
    cube("bookshelf", 1.5, "axe", top="oak_planks", drop="book", count=3),
    cube("crafting_table", 2.5, "axe", top="crafting_table_top", bottom="oak_planks", use="open"),
    cube(
        "furnace", 3.5, "pickaxe", 0, side="furnace_side", top="furnace_top", front="furnace",
        second="furnace_front_on", shape="furnace", emission=13, use="open",
    ),
    cube("tnt", 0.0, top="tnt_top"),
    cube("white_wool", 0.8, "wool"),
    cube("magenta_wool", 0.8, "wool"),
    cube("bricks", 2.0, "pickaxe", 0),
    cube("diorite", 1.5, "pickaxe", 0),
    cube("granite", 1.5, "pickaxe", 0),
)  # fmt: skip

_SOILS = (
    cube("coarse_dirt", 0.5, "shovel"),
    cube("podzol", 0.5, "shovel", side="podzol_side", top="podzol_top", bottom="dirt", drop="dirt"),
    cube("mycelium", 0.6, "shovel", side="mycelium_side", top="mycelium_top", bottom="dirt", drop="dirt"),
    cube("red_sand", 0.5, "shovel"),
    cube("red_sandstone", 0.8, "pickaxe", 0, top="red_sandstone_top"),
    cube("clay", 0.6, "shovel", drop="clay_ball", count=4),
    cube("packed_ice", 0.5, "pickaxe", drop="", slipperiness=0.98),
    cube("blue_ice", 2.8, "pickaxe", drop="", slipperiness=0.989),
    cube("obsidian", 50.0, "pickaxe", 3),
    cube("netherrack", 0.4, "pickaxe", 0),
    cube("glowstone", 0.3, drop="glowstone_dust", count=3, emission=15),
    cube("soul_sand", 0.5, "shovel", shape="soul_sand", speed_factor=0.4),
    cube("magma_block", 0.5, "pickaxe", 0, side="magma", emission=3, hurt=1),
    cube("end_stone", 3.0, "pickaxe", 0),
    cube("emerald_ore", 3.0, "pickaxe", 2, drop="emerald"),
    cube("lava", -1.0, drop="", shape="fluid", fluid=FLUID_LAVA, opacity=1, emission=15, hurt=4, is_replaceable=True),
)
_MASONRY = (
    *(
        cube(name, hardness, "pickaxe", 0)
        for name, hardness in (
            ("smooth_stone", 2.0), ("stone_bricks", 1.5), ("mossy_stone_bricks", 1.5), ("cracked_stone_bricks", 1.5),
            ("polished_andesite", 1.5), ("polished_diorite", 1.5), ("polished_granite", 1.5), ("prismarine", 1.5),
            ("nether_bricks", 2.0), ("terracotta", 1.25),
        )
    ),
    cube("quartz_block", 0.8, "pickaxe", 0, side="quartz_block_side", top="quartz_block_top"),
    cube("bone_block", 2.0, "pickaxe", 0, side="bone_block_side", top="bone_block_top", shape="column"),
    cube("sea_lantern", 0.3, drop="prismarine_crystals", count=2, emission=15),
    cube("redstone_lamp", 0.3),
)  # fmt: skip
_WOODS = (
    *(cube(f"{wood}_planks", 2.0, "axe") for wood in ("spruce", "birch", "jungle", "acacia", "dark_oak")),
    *(_log(f"{wood}_log") for wood in ("jungle", "acacia", "dark_oak")),
    *(_leaves(f"{wood}_leaves") for wood in ("jungle", "acacia", "dark_oak")),
    cube("note_block", 0.8, "axe"),
    cube("jukebox", 2.0, "axe", top="jukebox_top", bottom="jukebox"),
    *(
        cube(name, 0.2, "axe", drop="")
        for name in ("brown_mushroom_block", "red_mushroom_block", "mushroom_stem")
    ),
)  # fmt: skip
_FIRST_NAMES = {kind.name for kind in FIRST_KINDS}
_DYED = (
    *(cube(f"{color}_wool", 0.8, "wool") for color in COLORS if f"{color}_wool" not in _FIRST_NAMES),
    *(cube(f"{color}_concrete", 1.8, "pickaxe", 0) for color in COLORS),
    *(cube(f"{color}_terracotta", 1.25, "pickaxe", 0) for color in COLORS),
)
GLASS_COLORS: tuple[str, ...] = ("white", "red", "blue", "green", "yellow", "black")
_OTHERS = (
    cube("glass", 0.3, drop="", shape="glass", opacity=0),
    *(cube(f"{color}_stained_glass", 0.3, drop="", shape="glass", opacity=0) for color in GLASS_COLORS),
    cube("sponge", 0.6, "hoe"),
    cube("slime_block", 0.0, slipperiness=0.8, opacity=1),
    cube(
        "honey_block", 0.0, side="honey_block_side", top="honey_block_top", bottom="honey_block_bottom", shape="honey",
        speed_factor=0.4, jump_factor=0.5, opacity=0,
    ),
    cube("carved_pumpkin", 1.0, "plant", side="pumpkin", top="pumpkin_top", front="carved_pumpkin", shape="front"),
    cube(
        "jack_o_lantern", 1.0, "plant", side="pumpkin", top="pumpkin_top", front="jack_o_lantern", shape="front",
        emission=15,
    ),
    cube("spawner", 5.0, "pickaxe", 0, drop="", shape="glass", opacity=1),
    BlockKind(name="barrier", hardness=-1.0, shape="void", opacity=0),
)  # fmt: skip
MORE_CUBES: tuple[BlockKind, ...] = (*_SOILS, *_MASONRY, *_WOODS, *_DYED, *_OTHERS)
