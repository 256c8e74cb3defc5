"""Kinds that people build with and that do not fill their cell: slabs, stairs, doors, furniture, lamps."""

from worlds.blocks.cubes import GLASS_COLORS
from worlds.blocks.kinds import BlockKind, cube

_LINK_WOOD, _LINK_NETHER_BRICK, _LINK_PANE = 1, 2, 3

# Material of slabs and stairs: tool, tier, hardness of the slab, hardness of the stairs, side, top.
_MATERIALS: dict[str, tuple[str, int, float, float, str, str]] = {
    "oak": ("axe", -1, 2.0, 2.0, "oak_planks", "oak_planks"),
    "spruce": ("axe", -1, 2.0, 2.0, "spruce_planks", "spruce_planks"),
    "birch": ("axe", -1, 2.0, 2.0, "birch_planks", "birch_planks"),
    "cobblestone": ("pickaxe", 0, 2.0, 2.0, "cobblestone", "cobblestone"),
    "stone": ("pickaxe", 0, 2.0, 1.5, "stone", "stone"),
    "stone_brick": ("pickaxe", 0, 2.0, 1.5, "stone_bricks", "stone_bricks"),
    "sandstone": ("pickaxe", 0, 2.0, 0.8, "sandstone", "sandstone_top"),
    "brick": ("pickaxe", 0, 2.0, 2.0, "bricks", "bricks"),
}
_SLABS = tuple(
    cube(f"{name}_slab", slab, tool, tier, side=side, top=top, shape="slab", opacity=0)
    for name, (tool, tier, slab, _, side, top) in _MATERIALS.items()
)
_STAIRS = tuple(
    cube(f"{name}_stairs", stairs, tool, tier, side=side, top=top, shape="stairs", opacity=0)
    for name, (tool, tier, _, stairs, side, top) in _MATERIALS.items()
)
_BARRIERS = (
    *(
        cube(f"{wood}_fence", 2.0, "axe", side=f"{wood}_planks", shape="fence", opacity=0, link_class=_LINK_WOOD)
        for wood in ("oak", "spruce", "birch")
    ),
    cube(
        "nether_brick_fence", 2.0, "pickaxe", 0, side="nether_bricks", shape="fence", opacity=0,
        link_class=_LINK_NETHER_BRICK,
    ),
    *(
        cube(
            f"{wood}_fence_gate", 2.0, "axe", side=f"{wood}_planks", shape="gate", opacity=0, use="toggle",
            link_class=_LINK_WOOD,
        )
        for wood in ("oak", "spruce")
    ),
    cube(
        "glass_pane", 0.3, side="glass", top="glass_pane_top", drop="", shape="pane", opacity=0, link_class=_LINK_PANE,
    ),
    cube("iron_bars", 5.0, "pickaxe", 0, shape="pane", opacity=0, link_class=_LINK_PANE),
)  # fmt: skip
_DOORS = (
    *(
        cube(
            f"{wood}_door", 3.0, "axe", side=f"{wood}_door_bottom", second=f"{wood}_door_top", shape="door", opacity=0,
            use="toggle", needs_floor=True,
        )
        for wood in ("oak", "spruce", "birch")
    ),
    cube(
        "iron_door", 5.0, "pickaxe", 0, side="iron_door_bottom", second="iron_door_top", shape="door", opacity=0,
        needs_floor=True,
    ),
    *(
        cube(f"{wood}_trapdoor", 3.0, "axe", shape="trapdoor", opacity=0, use="toggle")
        for wood in ("oak", "spruce")
    ),
)  # fmt: skip
_CLIMBED = (
    cube("ladder", 0.4, "axe", shape="ladder", opacity=0, is_climbable=True),
    cube("vine", 0.2, "plant", drop="", shape="vine", opacity=0, is_climbable=True, is_replaceable=True),
)
_LAMPS = (
    cube("torch", 0.0, shape="torch", opacity=0, emission=14, needs_floor=True),
    cube("wall_torch", 0.0, side="torch", drop="torch", shape="wall_torch", opacity=0, emission=14),
    cube("lantern", 3.5, "pickaxe", 0, side="glowstone", top="anvil", shape="lantern", opacity=0, emission=15,
         needs_floor=True),
)  # fmt: skip
_FURNITURE = (
    cube(
        "chest", 2.5, "axe", side="chest_side", top="chest_top", bottom="chest_bottom", front="chest_front",
        second="chest_inside", shape="chest", opacity=0,
        use="open",
    ),
    cube(
        "barrel", 2.5, "axe", side="barrel_side", top="barrel_top", bottom="barrel_bottom", second="barrel_top_open",
        shape="barrel", use="open",
    ),
    cube(
        "smoker", 3.5, "pickaxe", 0, side="smoker_side", top="smoker_top", bottom="smoker_bottom", front="smoker_front",
        second="smoker_front_on", shape="furnace", emission=13, use="open",
    ),
    cube(
        "blast_furnace", 3.5, "pickaxe", 0, side="blast_furnace_side", top="blast_furnace_top",
        front="blast_furnace_front", second="blast_furnace_front_on", shape="furnace", emission=13, use="open",
    ),
    cube(
        "enchanting_table", 5.0, "pickaxe", 0, side="enchanting_table_side", top="enchanting_table_top",
        bottom="enchanting_table_bottom", shape="table", opacity=0, use="open",
    ),
    cube("anvil", 5.0, "pickaxe", 0, top="anvil_top", bottom="anvil", shape="anvil", opacity=0, use="open"),
    cube(
        "cauldron", 2.0, "pickaxe", 0, side="cauldron_side", top="cauldron_top", bottom="cauldron_bottom",
        shape="cauldron", opacity=0,
    ),
    cube(
        "cake", 0.5, side="cake_side", top="cake_top", bottom="cake_bottom", drop="", shape="cake", opacity=0,
        needs_floor=True,
    ),
    *(
        cube(f"{color}_bed", 0.2, side=f"{color}_wool", bottom="oak_planks", shape="bed", opacity=0)
        for color in ("white", "red")
    ),
)  # fmt: skip
_SWITCHES = (
    cube(
        "lever", 0.5, side="cobblestone", front="oak_planks", shape="lever", opacity=0, use="toggle", needs_floor=True,
    ),
    cube(
        "stone_button", 0.5, "pickaxe", side="stone", shape="button", opacity=0, use="press", press_ticks=20,
        needs_floor=True,
    ),
    cube(
        "oak_button", 0.5, "axe", side="oak_planks", shape="button", opacity=0, use="press", press_ticks=30,
        needs_floor=True,
    ),
    cube("stone_pressure_plate", 0.5, "pickaxe", 0, side="stone", shape="plate", opacity=0, needs_floor=True),
    cube("oak_pressure_plate", 0.5, "axe", side="oak_planks", shape="plate", opacity=0, needs_floor=True),
    cube("rail", 0.7, "pickaxe", shape="rail", opacity=0, needs_floor=True),
)  # fmt: skip
_COVERS = (
    cube(
        "snow", 0.1, "shovel", 0, side="snow_block", drop="snowball", shape="snow", opacity=0, is_replaceable=True,
        needs_floor=True,
    ),
    *(
        cube(f"{color}_carpet", 0.1, side=f"{color}_wool", shape="carpet", opacity=0, needs_floor=True)
        for color in GLASS_COLORS
    ),
    cube("farmland", 0.6, "shovel", side="dirt", top="farmland", bottom="dirt", drop="dirt", shape="low", opacity=0),
    cube(
        "grass_path", 0.65, "shovel", side="grass_path_side", top="grass_path_top", bottom="dirt", drop="dirt",
        shape="low", opacity=0,
    ),
    cube("nether_portal", -1.0, drop="", shape="portal", opacity=0, emission=11),
)  # fmt: skip
FITTINGS: tuple[BlockKind, ...] = (
    *_SLABS, *_STAIRS, *_BARRIERS, *_DOORS, *_CLIMBED, *_LAMPS, *_FURNITURE, *_SWITCHES, *_COVERS,
)  # fmt: skip
