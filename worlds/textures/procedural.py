"""Our own 16 x 16 textures, drawn by code: what everything looks like when no resource pack is given.

Names are those of Minecraft's own picture files without folder and suffix; where one file of ours stands for a
kind's side, it bears the kind's name ("furnace", "water"). Pictures are RGBA. Alpha is 0 or 255, for the renderer
knows cutouts alone; leaves and water are opaque.
"""

import numpy as np

from worlds.mobs.skins import mob_textures
from worlds.textures import (
    crafted,
    dyed,
    fittings,
    flowers,
    food_icons,
    goods_icons,
    masonry,
    natural,
    ovens,
    plants,
    tool_icons,
    wood,
    workshop,
)
from worlds.textures.patterns import Drawing
from worlds.textures.sprites import with_alpha
from worlds.textures.variants import recoloured


def texture_names() -> list[str]:
    """Return the names of all our textures, sorted: those of blocks, items and mobs ("mob/...")."""
    return sorted([*_all_drawings(), *mob_textures()])


def build_textures(variant: int = 0) -> dict[str, np.ndarray]:
    """Return uint8 [16, 16, 4] RGBA, row 0 at the top, by texture name, sorted, mob skins included.

    Variant 0 is the set as designed; any other number is that set in other colours with other grain: plausible, and
    every kind still recognisable. The same number gives the same bytes on every machine.
    """
    if variant < 0:
        raise ValueError(f"textures: variant must be 0 or more, got {variant}")
    drawings = _all_drawings()
    seed = f"~{variant}" if variant else ""
    textures = {name: with_alpha(draw(name + seed)) for name, draw in drawings.items()} | mob_textures()
    textures = {name: textures[name] for name in sorted(textures)}
    return recoloured(textures, variant) if variant else textures


def _all_drawings() -> dict[str, Drawing]:
    drawings = dict(_DRAWINGS)
    for module in _MODULES:
        drawings |= module.DRAWINGS
    return drawings


_MODULES = (wood, masonry, dyed, flowers, plants, fittings, ovens, workshop, food_icons, goods_icons, tool_icons)
_DRAWINGS: dict[str, Drawing] = {
    "andesite": natural.speckled((134, 135, 135), [0.86, 0.95, 1.0, 1.08], (160, 161, 160), 0.16),
    "bedrock": natural.lumpy(
        [(34, 34, 34), (62, 62, 62), (90, 90, 90), (118, 118, 118), (158, 158, 158)], wide=3, tall=2, roughness=0.3
    ),
    "birch_leaves": natural.leaves((112, 148, 74)),
    "birch_log": natural.birch_log,
    "birch_log_top": natural.log_top((196, 178, 126), (214, 213, 208)),
    "bookshelf": crafted.bookshelf,
    "bricks": crafted.bricks,
    "cactus": natural.cactus,
    "cactus_top": natural.cactus_top,
    "coal_block": crafted.pressed((22, 22, 23), [0.55, 0.85, 1.1, 1.6]),
    "coal_ore": natural.ore((72, 72, 72), (44, 44, 44), (28, 28, 28)),
    "cobblestone": natural.pebbles(natural.COBBLE, count=12),
    "crafting_table": crafted.crafting_table,
    "crafting_table_top": crafted.crafting_table_top,
    "diamond_block": crafted.facets((98, 228, 219), inset=3),
    "diamond_ore": natural.ore((196, 255, 250), (78, 222, 214), (30, 150, 160)),
    "diorite": natural.speckled((196, 196, 197), [0.82, 0.95, 1.04, 1.14], (134, 134, 136), 0.2),
    "dirt": natural.dirt,
    "emerald_block": crafted.facets((44, 196, 84), inset=4),
    "emerald_ore": natural.ore((150, 255, 190), (36, 204, 94), (16, 120, 52)),
    "furnace": crafted.furnace,
    "furnace_top": crafted.furnace_top,
    "gold_block": crafted.bars((247, 208, 60), 0.08),
    "gold_ore": natural.ore((255, 250, 160), (250, 212, 52), (190, 130, 26)),
    "granite": natural.speckled((150, 104, 86), [0.84, 0.95, 1.04, 1.14], (190, 150, 134), 0.16),
    "grass_block_side": natural.overgrown(natural.GRASS),
    "grass_block_snow": natural.overgrown(natural.SNOW),
    "grass_block_top": natural.lumpy(natural.GRASS, wide=2, roughness=1.0),
    "gravel": natural.pebbles(
        [(96, 84, 76), (124, 110, 100), (142, 128, 118), (160, 146, 136), (182, 170, 160)], count=30
    ),
    "hay_block": crafted.hay,
    "hay_block_top": crafted.hay_top,
    "ice": natural.ice,
    "iron_block": crafted.bars((220, 220, 220), 0.06),
    "iron_ore": natural.ore((246, 214, 188), (226, 172, 134), (158, 104, 76)),
    "lapis_block": crafted.pressed((32, 68, 144), [0.72, 0.92, 1.08, 1.3]),
    "lapis_ore": natural.ore((92, 134, 224), (34, 78, 184), (18, 44, 112)),
    "magenta_wool": crafted.wool((190, 70, 180)),
    "melon": natural.ribbed((134, 166, 42), (54, 90, 22), 4),
    "melon_top": natural.fruit_top((118, 150, 36), (78, 112, 28), (158, 168, 62)),
    "mossy_cobblestone": natural.mossy_cobblestone,
    "oak_leaves": natural.leaves((66, 132, 36)),
    "oak_log": natural.bark((106, 83, 50)),
    "oak_log_top": natural.log_top((182, 146, 90), (106, 83, 50)),
    "oak_planks": crafted.planks,
    "pumpkin": natural.ribbed((230, 142, 38), (146, 72, 10), 4),
    "pumpkin_top": natural.fruit_top((214, 128, 30), (170, 92, 16), (92, 116, 48)),
    "redstone_block": crafted.pressed((176, 26, 8), [0.74, 0.92, 1.06, 1.36]),
    "redstone_ore": natural.ore((255, 110, 100), (226, 20, 16), (138, 8, 8)),
    "sand": natural.lumpy(natural.SAND, wide=2, roughness=0.9),
    "sandstone": natural.sandstone,
    "sandstone_top": natural.lumpy(natural.SAND, wide=4, tall=2, roughness=0.3),
    "snow_block": natural.lumpy(natural.SNOW, wide=3, tall=2, roughness=0.5),
    "spruce_leaves": natural.leaves((60, 94, 60)),
    "spruce_log": natural.bark((66, 44, 24)),
    "spruce_log_top": natural.log_top((122, 92, 54), (66, 44, 24)),
    "stone": natural.stone,
    "tnt": crafted.tnt,
    "tnt_top": crafted.tnt_top,
    "water": natural.lumpy(
        [(42, 76, 196), (47, 84, 206), (52, 91, 213), (58, 99, 220), (72, 114, 228)], wide=6, tall=2, roughness=0.15
    ),
    "white_wool": crafted.wool((232, 236, 236)),
}
