"""Names of blocks, items and mobs before Minecraft 1.13 ("log", data 1), for engines of 1.11.2 and older.

Facing, halves and colours were numbers ("data") then. What came later than 1.11.2 has a stand-in, as near as there is.
"""

from __future__ import annotations

from typing import NamedTuple


class OldName(NamedTuple):
    """A block state or an item as it was called."""

    name: str
    data: int = 0


_COLOURS = (
    "white", "orange", "magenta", "light_blue", "yellow", "lime", "pink", "gray", "light_gray", "cyan", "purple",
    "blue", "brown", "green", "red", "black",
)  # fmt: skip
_WOODS = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak")

# A line is "new name = old name, data": without data it is 0, without "=" the name has stayed.
_LINES = """
grass_block = grass | snowy_grass_block = grass | granite = stone 1 | polished_granite = stone 2 | diorite = stone 3
polished_diorite = stone 4 | andesite = stone 5 | polished_andesite = stone 6 | coarse_dirt = dirt 1 | podzol = dirt 2
red_sand = sand 1 | snow_block = snow | bricks = brick_block | stone_bricks = stonebrick
mossy_stone_bricks = stonebrick 1 | cracked_stone_bricks = stonebrick 2 | chiseled_stone_bricks = stonebrick 3
nether_bricks = nether_brick | terracotta = hardened_clay | melon = melon_block | carved_pumpkin = pumpkin
jack_o_lantern = lit_pumpkin | spawner = mob_spawner | slime_block = slime | magma_block = magma
note_block = noteblock | mushroom_stem = brown_mushroom_block 10 | brown_mushroom_block = brown_mushroom_block 14
red_mushroom_block = red_mushroom_block 14 | blue_ice = packed_ice | smooth_stone = double_stone_slab 8
honey_block = slime | nether_brick_fence = nether_brick_fence | oak_fence = fence | oak_fence_gate = fence_gate
oak_trapdoor = trapdoor | spruce_trapdoor = trapdoor | oak_button = wooden_button | wall_torch = torch
lantern = glowstone | barrel = chest | smoker = furnace | blast_furnace = furnace | red_bed = bed | white_bed = bed
oak_pressure_plate = wooden_pressure_plate | rail = rail | snow = snow_layer | nether_portal = portal
grass = tallgrass 1 | fern = tallgrass 2 | dead_bush = deadbush | dandelion = yellow_flower | poppy = red_flower
blue_orchid = red_flower 1 | allium = red_flower 2 | azure_bluet = red_flower 3 | red_tulip = red_flower 4
oxeye_daisy = red_flower 8 | cornflower = red_flower 1 | lily_of_the_valley = red_flower 3 | sugar_cane = reeds
wheat = wheat 7 | sweet_berry_bush = deadbush | seagrass = water | sunflower = double_plant 0
lilac = double_plant 1 | tall_grass = double_plant 2 | large_fern = double_plant 3 | rose_bush = double_plant 4
lily_pad = waterlily | cobweb = web | cobblestone_stairs = stone_stairs | stone_stairs = stone_stairs
stone_slab = stone_slab 0 | sandstone_slab = stone_slab 1 | cobblestone_slab = stone_slab 3
brick_slab = stone_slab 4 | stone_brick_slab = stone_slab 5 | oak_door = wooden_door
"""
_ITEM_LINES = """
golden_shovel = golden_shovel | wooden_shovel = wooden_shovel | netherite_sword = diamond_sword
netherite_axe = diamond_axe | netherite_pickaxe = diamond_pickaxe | netherite_shovel = diamond_shovel
netherite_hoe = diamond_hoe | charcoal = coal 1 | lapis_lazuli = dye 4 | bone_meal = dye 15 | ink_sac = dye 0
netherite_ingot = diamond | iron_nugget = iron_nugget | melon_slice = melon | sweet_berries = apple
dried_kelp = bread | cod = fish | salmon = fish 1 | cooked_cod = cooked_fish | cooked_salmon = cooked_fish 1
slime_ball = slime_ball | snowball = snowball | oak_door = wooden_door | sugar_cane = reeds | cake = cake
white_bed = bed 0 | red_bed = bed 14
"""

# Came after 1.11.2, or cannot be told from another: never what an old name stands for.
_LATER = frozenset(
    """
    netherite_sword netherite_axe netherite_pickaxe netherite_shovel netherite_hoe netherite_ingot smoker blast_furnace
    barrel blue_ice lantern honey_block spruce_trapdoor cornflower lily_of_the_valley sweet_berries sweet_berry_bush
    dried_kelp carved_pumpkin snowy_grass_block wall_torch stone_stairs seagrass smooth_stone
    """.split()
).union(f"{colour}_concrete" for colour in _COLOURS)

_WALL = {"north": 2, "south": 3, "west": 4, "east": 5}  # chests, furnaces, ladders
_TORCH = {"east": 1, "west": 2, "south": 3, "north": 4, "up": 5}  # also levers and buttons
_QUARTER = {"south": 0, "west": 1, "north": 2, "east": 3}  # gates, beds, pumpkins
_STAIRS = {"east": 0, "west": 1, "south": 2, "north": 3}
_DOOR = {"east": 0, "south": 1, "west": 2, "north": 3}
_TRAPDOOR = {"north": 0, "south": 1, "west": 2, "east": 3}
_VINE = {"south": 1, "west": 2, "north": 4, "east": 8}
_AXIS = {"y": 0, "x": 4, "z": 8}


def _read(lines: str) -> dict[str, OldName]:
    table = {}
    for entry in lines.replace("\n", "|").split("|"):
        new, _, old = entry.strip().partition(" = ")
        if new:
            name, _, data = old.partition(" ")
            table[new] = OldName(name, int(data or 0))
    return table


def _with_woods_and_colours(table: dict[str, OldName]) -> dict[str, OldName]:
    for data, wood in enumerate(_WOODS):
        second = "2" if data > 3 else ""
        table[f"{wood}_planks"] = OldName("planks", data)
        table[f"{wood}_slab"] = OldName("wooden_slab", data)
        table[f"{wood}_sapling"] = OldName("sapling", data)
        table[f"{wood}_log"] = OldName("log" + second, data % 4)
        table[f"{wood}_leaves"] = OldName("leaves" + second, data % 4 + 4)  # 4: it does not decay
    for data, colour in enumerate(_COLOURS):
        table[f"{colour}_wool"] = OldName("wool", data)
        table[f"{colour}_carpet"] = OldName("carpet", data)
        table[f"{colour}_stained_glass"] = OldName("stained_glass", data)
        table[f"{colour}_terracotta"] = OldName("stained_hardened_clay", data)
        table[f"{colour}_concrete"] = OldName("stained_hardened_clay", data)  # concrete came with 1.12
    return table


_BLOCKS = _with_woods_and_colours(_read(_LINES))
_ITEMS = {**_BLOCKS, **_read(_ITEM_LINES)}


def split_state(state: str) -> tuple[str, dict[str, str]]:
    """Return the kind and the properties of "oak_door[half=lower,open=true]"."""
    kind, _, listed = state.partition("[")
    return kind, dict(item.split("=", 1) for item in listed[:-1].split(",")) if listed else {}


def old_block(state: str) -> OldName:
    """Return what a block state was called; a name that is not in the tables is taken to have stayed."""
    kind, properties = split_state(state)
    name, data = _BLOCKS.get(kind, OldName(kind))
    facing, half = properties.get("facing", ""), properties.get("half", "")
    is_open, is_on = properties.get("open") == "true", properties.get("powered") == "true"
    if "axis" in properties:
        return OldName(name, data + _AXIS[properties["axis"]] if name != "portal" else data)
    if kind.endswith("_slab"):
        if properties.get("type") == "double":
            return OldName("double_" + name, data)
        return OldName(name, data + 8 * (properties.get("type") == "top"))
    if kind.endswith("_stairs"):
        return OldName(name, _STAIRS[facing or "north"] + 4 * (half == "top"))
    if kind.endswith("_trapdoor"):
        return OldName(name, _TRAPDOOR[facing or "north"] + 4 * is_open + 8 * (half == "top"))
    if kind.endswith("_door"):
        if half == "upper":
            return OldName(name, 8 + (properties.get("hinge") == "right"))
        return OldName(name, _DOOR[facing or "north"] + 4 * is_open)
    if kind.endswith("_fence_gate"):
        return OldName(name, _QUARTER[facing or "north"] + 4 * is_open)
    if kind.endswith("_bed"):
        return OldName(name, _QUARTER[facing or "north"] + 8 * (properties.get("part") == "head"))
    if kind in ("carved_pumpkin", "jack_o_lantern", "anvil"):
        return OldName(name, _QUARTER[facing or "north"])
    if kind in ("lever", "oak_button", "stone_button"):
        return OldName(name, _TORCH[facing or "north"] + 8 * is_on)
    if name == "torch":
        return OldName(name, _TORCH[facing or "up"])
    if name in ("chest", "furnace", "ladder"):
        lit = "lit_" if name == "furnace" and properties.get("lit") == "true" else ""
        return OldName(lit + name, _WALL.get(facing or "north", 2))
    if kind == "vine":
        return OldName(name, _VINE[facing or "north"])
    if kind == "snow":
        return OldName(name, int(properties.get("layers", "1")) - 1)
    if name == "double_plant" and half == "upper":
        return OldName(name, 8)
    return OldName(name, data)


def old_item(item: str) -> OldName:
    """Return what an item was called; leaves and the like carry the number of the block."""
    name, data = _ITEMS.get(item, OldName(item))
    return OldName(name, data - 4 if name.startswith("leaves") else data)


def new_block(name: str) -> str:
    """Return the state that a bare old name most likely stands for: its data, and so its variant, is not known."""
    return _FIRST_BLOCKS.get(name, name)


def new_item(name: str, data: int) -> str:
    """Return the name today of an item of old name and data."""
    return _NEW_ITEMS.get((name, data)) or _NEW_ITEMS.get((name, 0)) or name


def _first_blocks() -> dict[str, str]:
    """Return the new name of every old one: what has the smallest data, and of those the first in the tables."""
    first: dict[str, tuple[int, str]] = {}
    for new, old in _BLOCKS.items():
        if new not in _LATER and (old.name not in first or old.data < first[old.name][0]):
            first[old.name] = (old.data, new)
    names = {old: new for old, (_, new) in first.items()}
    names.update({
        "stone": "stone", "dirt": "dirt", "sand": "sand", "flowing_water": "water", "flowing_lava": "lava",
        "lit_furnace": "furnace[lit=true]", "double_stone_slab": "stone_slab[type=double]",
        "double_wooden_slab": "oak_slab[type=double]", "double_plant": "tall_grass", "trapdoor": "oak_trapdoor",
        "brown_mushroom_block": "brown_mushroom_block", "stone_stairs": "cobblestone_stairs",
        "lit_redstone_lamp": "redstone_lamp", "lit_redstone_ore": "redstone_ore", "water": "water",
    })  # fmt: skip
    return names


_FIRST_BLOCKS = _first_blocks()
_NEW_ITEMS = {tuple(old_item(new)): new for new in reversed(tuple(_ITEMS)) if new not in _LATER}

# Entities: the id that /summon takes, and the name that an observation shows.
_MOBS = {
    "mooshroom": ("mooshroom", "MushroomCow"), "ocelot": ("ocelot", "Ozelot"), "cat": ("ocelot", "Ozelot"),
    "iron_golem": ("villager_golem", "VillagerGolem"), "polar_bear": ("polar_bear", "PolarBear"),
    "cave_spider": ("cave_spider", "CaveSpider"), "fox": ("", ""),
}  # fmt: skip


def old_mob(kind: str) -> tuple[str, str]:
    """Return a mob's id and the name it is seen by; two empty ones for what came later."""
    return _MOBS.get(kind, (kind, kind.capitalize()))


def new_mob(name: str) -> str:
    """Return the name today of a mob that is seen as "MushroomCow", or counted as "mushroom_cow"."""
    bare = name.replace("_", "").lower()
    for kind, (_, seen) in _MOBS.items():
        if seen.lower() == bare:
            return kind
    return name.lower()
