"""Luanti's names for blocks and items, and Minecraft's."""

from __future__ import annotations

# Node -> block of Minecraft that is nearest in shape first and in look second; what is turned by param2 comes below.
_BLOCKS: dict[str, str] = {
    "air": "air",
    "ignore": "air",
    "default:stone": "stone",
    "default:cobble": "cobblestone",
    "default:stonebrick": "stone_bricks",
    "default:stone_block": "smooth_stone",
    "default:mossycobble": "mossy_cobblestone",
    "default:desert_stone": "red_sandstone",
    "default:desert_cobble": "red_sandstone",
    "default:desert_stonebrick": "red_sandstone",
    "default:desert_stone_block": "red_sandstone",
    "default:sandstone": "sandstone",
    "default:sandstonebrick": "sandstone",
    "default:sandstone_block": "sandstone",
    "default:desert_sandstone": "sandstone",
    "default:desert_sandstone_brick": "sandstone",
    "default:desert_sandstone_block": "sandstone",
    "default:silver_sandstone": "andesite",
    "default:silver_sandstone_brick": "polished_andesite",
    "default:silver_sandstone_block": "polished_andesite",
    "default:obsidian": "obsidian",
    "default:obsidianbrick": "obsidian",
    "default:obsidian_block": "obsidian",
    "default:dirt": "dirt",
    "default:dirt_with_grass": "grass_block",
    "default:dirt_with_grass_footsteps": "grass_block",
    "default:dirt_with_dry_grass": "podzol",
    "default:dirt_with_rainforest_litter": "podzol",
    "default:dirt_with_coniferous_litter": "podzol",
    "default:dirt_with_snow": "snowy_grass_block",
    "default:dry_dirt": "coarse_dirt",
    "default:dry_dirt_with_dry_grass": "coarse_dirt",
    "default:permafrost": "coarse_dirt",
    "default:gravel": "gravel",
    "default:permafrost_with_stones": "gravel",
    "default:permafrost_with_moss": "mycelium",
    "default:sand": "sand",
    "default:desert_sand": "red_sand",
    "default:silver_sand": "sand",
    "default:sand_with_kelp": "sand",
    "default:clay": "clay",
    "default:snow": "snow[layers=2]",
    "default:snowblock": "snow_block",
    "default:ice": "ice",
    "default:cave_ice": "packed_ice",
    "default:wood": "oak_planks",
    "default:junglewood": "jungle_planks",
    "default:pine_wood": "spruce_planks",
    "default:acacia_wood": "acacia_planks",
    "default:aspen_wood": "birch_planks",
    "default:leaves": "oak_leaves",
    "default:bush_leaves": "oak_leaves",
    "default:jungleleaves": "jungle_leaves",
    "default:pine_needles": "spruce_leaves",
    "default:pine_bush_needles": "spruce_leaves",
    "default:acacia_leaves": "acacia_leaves",
    "default:acacia_bush_leaves": "acacia_leaves",
    "default:aspen_leaves": "birch_leaves",
    "default:blueberry_bush_leaves": "oak_leaves",
    "default:blueberry_bush_leaves_with_berries": "oak_leaves",
    "default:fence_wood": "oak_fence",
    "default:fence_pine_wood": "spruce_fence",
    "default:bush_stem": "oak_fence",
    "default:acacia_bush_stem": "oak_fence",
    "default:pine_bush_stem": "spruce_fence",
    "flowers:mushroom_red": "red_mushroom",
    "default:apple": "red_mushroom",
    "default:cactus": "cactus",
    "default:papyrus": "sugar_cane",
    "default:dry_shrub": "dead_bush",
    "default:junglegrass": "grass",
    "default:stone_with_coal": "coal_ore",
    "default:stone_with_iron": "iron_ore",
    "default:stone_with_copper": "iron_ore",
    "default:stone_with_tin": "iron_ore",
    "default:stone_with_mese": "redstone_ore",
    "default:stone_with_gold": "gold_ore",
    "default:stone_with_diamond": "diamond_ore",
    "default:coalblock": "coal_block",
    "default:steelblock": "iron_block",
    "default:tinblock": "iron_block",
    "default:copperblock": "terracotta",
    "default:bronzeblock": "terracotta",
    "default:goldblock": "gold_block",
    "default:diamondblock": "diamond_block",
    "default:mese": "yellow_concrete",
    "default:meselamp": "glowstone",
    "default:bookshelf": "bookshelf",
    "default:brick": "bricks",
    "default:glass": "glass",
    "default:obsidian_glass": "glass",
    "default:lava_source": "lava",
    "default:lava_flowing": "lava",
    "default:water_source": "water",
    "default:water_flowing": "water",
    "default:river_water_source": "water",
    "default:river_water_flowing": "water",
    "default:chest": "chest",
    "default:furnace": "furnace",
    "default:torch": "torch",
    "default:ladder_wood": "ladder",
    "default:sapling": "oak_sapling",
    "default:coral_brown": "brown_concrete",
    "default:coral_orange": "orange_concrete",
    "default:coral_skeleton": "bone_block",
    "farming:straw": "hay_block",
    "farming:soil": "farmland",
    "farming:soil_wet": "farmland",
    "farming:cotton_wild": "wheat",
    "flowers:rose": "poppy",
    "flowers:tulip": "red_tulip",
    "flowers:tulip_black": "cornflower",
    "flowers:dandelion_yellow": "dandelion",
    "flowers:dandelion_white": "oxeye_daisy",
    "flowers:geranium": "blue_orchid",
    "flowers:viola": "allium",
    "flowers:chrysanthemum_green": "azure_bluet",
    "flowers:mushroom_brown": "brown_mushroom",
    "flowers:waterlily": "lily_pad",
    "flowers:waterlily_waving": "lily_pad",
    "tnt:tnt": "tnt",
    "doors:trapdoor": "oak_trapdoor",
    "doors:trapdoor_open": "oak_trapdoor[open=true]",
    "doors:gate_wood_closed": "oak_fence_gate",
    "doors:gate_wood_open": "oak_fence_gate[open=true]",
    "carts:rail": "rail",
    "mcrl:redstone_block": "redstone_block",
    "mcrl:emerald_block": "emerald_block",
    "mcrl:lapis_block": "lapis_block",
    "mcrl:pumpkin": "pumpkin",
    "mcrl:crafting_table": "crafting_table",
}
_LOGS = {
    "default:tree": "oak_log",
    "default:jungletree": "jungle_log",
    "default:pine_tree": "spruce_log",
    "default:acacia_tree": "acacia_log",
    "default:aspen_tree": "birch_log",
}
_STAIRS = {
    "cobble": "cobblestone",
    "mossycobble": "cobblestone",
    "stone": "stone",
    "stonebrick": "stone_brick",
    "desert_stone": "sandstone",
    "desert_cobble": "sandstone",
    "desert_stonebrick": "sandstone",
    "sandstone": "sandstone",
    "sandstonebrick": "sandstone",
    "wood": "oak",
    "pine_wood": "spruce",
    "aspen_wood": "birch",
    "brick": "brick",
}
_WOOLS = {
    "white": "white",
    "grey": "light_gray",
    "dark_grey": "gray",
    "black": "black",
    "violet": "purple",
    "blue": "blue",
    "cyan": "cyan",
    "dark_green": "green",
    "green": "lime",
    "yellow": "yellow",
    "brown": "brown",
    "orange": "orange",
    "red": "red",
    "magenta": "magenta",
    "pink": "pink",
}
_PLANTS = ("grass_", "dry_grass_", "fern_", "marram_grass_")
_AHEAD = ("north", "east", "south", "west")  # where facedir 0 .. 3 looks; its front is behind
_WALL_BEHIND = {2: "west", 3: "east", 4: "south", 5: "north"}  # of a torch, by where the wall is: +x, -x, +z, -z
_WALL_OF, _FLOOR = {facing: number for number, facing in _WALL_BEHIND.items()}, 1
_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

_ITEMS: dict[str, str] = {
    "apple": "default:apple",
    "bread": "farming:bread",
    "stick": "default:stick",
    "diamond": "default:diamond",
    "coal": "default:coal_lump",
    "iron_ingot": "default:steel_ingot",
    "gold_ingot": "default:gold_ingot",
}
_METALS = {
    "wooden": "wood",
    "stone": "stone",
    "iron": "steel",
    "golden": "bronze",
    "diamond": "diamond",
    "netherite": "mese",
}
_TOOLS = {"pickaxe": "pick", "axe": "axe", "shovel": "shovel", "sword": "sword"}
for _ours, _theirs in _METALS.items():
    for _tool, _name in _TOOLS.items():
        _ITEMS[f"{_ours}_{_tool}"] = f"default:{_name}_{_theirs}"
    _ITEMS[f"{_ours}_hoe"] = f"farming:hoe_{_theirs}"

# Where several nodes mean one block, the first is what is set: so the block itself comes before what looks like it.
_NODES: dict[str, str] = {}
for _node, _block in list(_BLOCKS.items()) + list(_LOGS.items()):
    _NODES.setdefault(_block.partition("[")[0], _node)
_NODES["snow"] = "default:snow"
for _color, _block in _WOOLS.items():
    _NODES[_block + "_wool"] = "wool:" + _color
# In minetest_game a hoe digs nothing: leaves, which it would cut in Minecraft, fall to a sword.
_NAMES_OF_ITEMS = {theirs: ours for ours, theirs in _ITEMS.items()}


def block_of(node: str, param2: int) -> str:
    """Return the block state of Minecraft that a node is nearest to; "stone" where nothing is near."""
    if node in _LOGS:
        axis = ("y", "z", "z", "x", "x", "y")[min(param2 // 4, 5)]
        return f"{_LOGS[node]}[axis={axis}]"
    facing = _AHEAD[param2 % 4]
    if node in ("default:chest", "default:furnace"):
        return f"{_BLOCKS[node]}[facing={_OPPOSITE[facing]}]"
    if node in _BLOCKS:
        return _BLOCKS[node]
    mod, _, name = node.partition(":")
    if mod == "stairs":
        shape, _, material = name.partition("_")
        for turned in ("inner_", "outer_"):
            material = material[len(turned) :] if material.startswith(turned) else material
        half = "top" if param2 >= 20 else "bottom"
        if half == "top":
            facing = _AHEAD[-param2 % 4]  # upside down, east and west change places
        ours = _STAIRS.get(material, "stone")
        if shape == "slab":
            return f"{ours}_slab[type={half}]"
        return f"{ours}_stairs[facing={facing},half={half}]"
    if mod == "wool":
        return _WOOLS.get(name, "white") + "_wool"
    if node == "default:torch_wall":
        return "wall_torch[facing={}]".format(_WALL_BEHIND.get(param2, "north"))
    if name.startswith(_PLANTS):
        return "fern" if name.startswith("fern_") else "grass"
    if "fence" in name:
        return "spruce_fence" if "pine" in name else "oak_fence"
    if mod == "walls":
        return "oak_fence"
    if mod in ("flowers", "farming", "vessels", "butterflies", "fireflies", "fire"):
        return "air"
    if mod == "xpanes":
        return "iron_bars" if "bar" in name else "glass_pane"
    if "sapling" in name:
        return "oak_sapling"
    return "stone"


def node_of(block: str) -> tuple[str, int]:
    """Return (node, param2) that stands for a block state; raise ValueError where Luanti has nothing like it."""
    kind, _, properties = block.partition("[")
    if kind not in _NODES:
        raise ValueError(
            "luanti: there is no block like {!r} in minetest_game; choose targets among {}".format(
                kind, ", ".join(sorted(_NODES))
            )
        )
    facing = next((part[7:] for part in properties.rstrip("]").split(",") if part.startswith("facing=")), "")
    if kind in ("torch", "ladder"):
        return _NODES[kind], _WALL_OF.get(facing, _FLOOR)
    return _NODES[kind], _AHEAD.index(_OPPOSITE[facing]) if facing in _OPPOSITE else 0


def item_of(name: str) -> str:
    """Return Luanti's name of an item of Minecraft; raise ValueError where it has nothing like it."""
    found = _ITEMS.get(name) or _NODES.get(name)
    if not found:
        raise ValueError(
            "luanti: there is no item like {!r} in minetest_game; give {} or a block".format(
                name, ", ".join(sorted(_ITEMS))
            )
        )
    return found


def name_of_item(item: str) -> str:
    """Return Minecraft's name of an item of Luanti, or Luanti's own where there is none."""
    if not item:
        return ""
    is_block = item in _BLOCKS or item in _LOGS or item.startswith("wool:")
    return _NAMES_OF_ITEMS.get(item) or (block_of(item, 0).partition("[")[0] if is_block else item)
