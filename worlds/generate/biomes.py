"""What the terrain of each biome is made of, and how far it may vary from seed to seed.

A pair (low, high) is a range: every world draws its own value from it, so that two worlds of one biome differ as
much as two places in one biome do.
"""

from dataclasses import dataclass

SEA_LEVEL = 24
"""y of the highest water block."""

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Biome:
    """Terrain parameters. Heights and sizes in blocks, densities as expected counts in 1000 columns."""

    name: str
    surface: str
    """Block on top of dry land."""
    filler: str
    """Block of the 3 layers below it."""
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
    lake_depth: Range = (0.0, 0.0)
    """How far lakes are sunk into the land."""
    is_frozen: bool = False
    """Lakes carry ice and beaches are gravel."""
    tree_density: Range = (0.0, 0.0)
    trees: tuple[str, ...] = ()
    """Kinds of trees, drawn with equal chance: "oak", "birch", "spruce", "cactus"."""
    boulder_density: Range = (0.5, 2.0)
    boulders: tuple[str, ...] = ("stone", "cobblestone", "andesite")
    ore_share: Range = (0.02, 0.07)
    """Share of exposed rock that is ore."""


_BIOMES = (
    Biome(
        name="plains",
        surface="grass_block",
        filler="dirt",
        base_height=(3.0, 7.0),
        hill_height=(1.5, 6.0),
        hill_wavelength=(36.0, 64.0),
        rough_height=(0.2, 0.9),
        mesa_height=(4.0, 8.0),
        lake_depth=(3.0, 10.0),
        tree_density=(0.5, 5.0),
        trees=("oak", "oak", "oak", "birch"),
        boulder_density=(0.5, 2.5),
        boulders=("stone", "cobblestone", "mossy_cobblestone", "andesite"),
    ),
    Biome(
        name="forest",
        surface="grass_block",
        filler="dirt",
        base_height=(3.0, 8.0),
        hill_height=(2.0, 7.5),
        hill_wavelength=(32.0, 56.0),
        rough_height=(0.3, 1.1),
        mesa_height=(4.0, 9.0),
        lake_depth=(2.0, 9.0),
        tree_density=(9.0, 30.0),
        trees=("oak", "birch"),
        boulder_density=(0.5, 2.5),
        boulders=("stone", "mossy_cobblestone", "mossy_cobblestone", "andesite"),
    ),
    Biome(
        name="desert",
        surface="sand",
        filler="sandstone",
        base_height=(4.0, 8.0),
        hill_height=(1.5, 5.0),
        hill_wavelength=(36.0, 64.0),
        rough_height=(0.1, 0.5),
        ridge_height=(2.0, 6.0),
        mesa_height=(5.0, 10.0),
        lake_depth=(2.0, 8.0),
        tree_density=(2.0, 9.0),
        trees=("cactus",),
        boulder_density=(0.5, 2.0),
        boulders=("sandstone", "stone", "cobblestone"),
    ),
    Biome(
        name="snowy_hills",
        surface="snowy_grass_block",
        filler="dirt",
        base_height=(5.0, 9.0),
        hill_height=(4.0, 10.0),
        hill_wavelength=(36.0, 64.0),
        rough_height=(0.3, 1.2),
        ridge_height=(1.0, 5.0),
        mesa_height=(4.0, 9.0),
        lake_depth=(4.0, 12.0),
        is_frozen=True,
        tree_density=(3.0, 18.0),
        trees=("spruce",),
        boulder_density=(0.5, 3.0),
        boulders=("stone", "andesite", "cobblestone"),
    ),
)

BIOMES: dict[str, Biome] = {biome.name: biome for biome in _BIOMES}
