"""What a biome is made of, and how far it may vary from seed to seed.

A pair (low, high) is a range: every world draws its own value from it, so that two worlds of one biome differ as
much as two places in one biome do.
"""

from dataclasses import dataclass

SEA_LEVEL = 24
"""y of the highest water block of the lakes and the sea."""

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Growth:
    """One kind of plant in a biome."""

    plant: str
    """A name in worlds.generate.plants.PLANTS."""
    density: float
    """Expected count in 1000 columns, where the patches are."""
    patches_above: float = -9.0
    """Grows only where a noise of its own exceeds this: 0 is half of the land, 0.6 small patches."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Biome:
    """One kind of land. Heights and sizes in blocks, densities as expected counts in 1000 columns."""

    name: str
    surface: str
    """Block on top of dry land."""
    filler: str
    """Block of the 3 layers below it."""
    surface_patches: tuple[tuple[str, float], ...] = ()
    """(block, noise level): other blocks on top, where a noise of their own exceeds the level. Full detail only."""
    shore: str = "sand"
    """Block of the beaches and of the shallow beds."""
    bands: tuple[str, ...] = ()
    """Blocks that the rock is striped with, from below to above, again and again; () leaves it grey."""

    base_height: Range
    """Mean height of the land above the sea."""
    hill_height: Range
    """Amplitude of the broad hills."""
    hill_wavelength: Range
    """Distance between two broad hills."""
    rough_height: Range
    """Amplitude of the small bumps, kept below what would make most steps taller than one block."""
    ridge_height: Range = (0.0, 0.0)
    """Height of sharp crests on top of the hills: dunes, mountain ridges."""
    mesa_height: Range = (0.0, 0.0)
    """Height of the cliffs of bare rock that stand in a few places and show their ores."""
    mesa_rarity: Range = (0.3, 0.6)
    """A mesa stands where a noise exceeds this."""
    lake_depth: Range = (0.0, 0.0)
    """How far lakes are sunk into the land."""
    lake_rarity: Range = (0.15, 0.75)
    """A lake lies where a noise exceeds this."""
    highest_ground: int = 46
    """No land is higher: what stands on it must fit below y = 63."""

    is_frozen: bool = False
    """Lakes carry ice and snow lies on what is under the open sky."""
    snow_line: float = 0.0
    """Height above the sea from which on the land is snow; 0 is no snow."""

    tree_density: Range = (0.0, 0.0)
    trees: tuple[str, ...] = ()
    """Names in worlds.generate.trees.TREES, drawn with equal chance."""
    boulder_density: Range = (0.5, 2.0)
    boulders: tuple[str, ...] = ("stone", "cobblestone", "andesite")
    ore_share: Range = (0.02, 0.07)
    """Share of the rock that is ore."""
    plants: tuple[Growth, ...] = ()
    cave_density: Range = (0.06, 0.22)
    """Tunnels that begin at the surface, in 1000 columns."""
    ravine_density: float = 0.03
    """Ravines in 1000 columns."""
    pond_density: Range = (0.0, 0.4)

    structures: tuple[str, ...] = ()
    """Names in worlds.generate.buildings.BUILDINGS, drawn with equal chance."""
    wood: str = "oak"
    """What the houses are built of: a kind of wood, "sandstone" or "brick"."""
    path: str = "grass_path"
    """Block of the ways between structures."""

    mobs: tuple[tuple[str, float], ...] = ()
    """(name in worlds.mobs.kinds.MOBS, weight): the animals that live here."""
    monsters: tuple[tuple[str, float], ...] = (("zombie", 0.4), ("skeleton", 0.25), ("spider", 0.2), ("creeper", 0.15))
    """(name, weight): the hostile mobs that come at night."""


# What many biomes share.
VILLAGE = ("house", "house", "well", "lamp_post", "animal_pen", "farm")
RUINS = ("ruined_portal", "stone_circle", "watch_tower", "tent")
WATER_PLANTS = (Growth(plant="sugar_cane", density=350.0, patches_above=0.0), Growth(plant="seagrass", density=130.0))
