"""From a WorldSpec to its blocks. X Y Z blocks.

Heights first; then, with full detail, the places of structures, which flatten the land; the layers of soil, rock and
water; caves, ponds, boulders and ores; trees, structures, ways, plants and snow. Every number is a pure function of the
spec.
"""

import numpy as np

from worlds.generate.biomes import BIOMES
from worlds.generate.boulders import pile_boulders
from worlds.generate.caves import dig_caves
from worlds.generate.land import Land
from worlds.generate.ores import fill_ores
from worlds.generate.plants import cover_with_snow, grow_plants
from worlds.generate.ponds import sink_ponds
from worlds.generate.relief import ground_XZ as raise_land
from worlds.generate.sites import build, choose_sites
from worlds.generate.soil import lay_columns
from worlds.generate.trees import grow_trees, trim_vines
from worlds.generate.ways import mark_ways, pave_ways
from worlds.spec import World, WorldSpec


def generate(spec: WorldSpec) -> World:
    """Return the world that `spec` describes: always the same bytes, a torus in x and z."""
    if spec.source != "generated":
        raise ValueError(f'world.source is {spec.source!r}, the generator makes only "generated" worlds')
    if spec.biome not in BIOMES:
        raise ValueError(f"world.biome {spec.biome!r} is unknown; choose one of {sorted(BIOMES)}")
    land = Land(spec, BIOMES[spec.biome])
    ground_XZ = raise_land(land)
    reserved_XZ = np.zeros(ground_XZ.shape, np.uint8)
    sites = choose_sites(land, ground_XZ, reserved_XZ) if land.is_full else []
    mark_ways(land, sites, ground_XZ, reserved_XZ)
    block_XZY = lay_columns(land, ground_XZ)
    if land.is_full:
        dig_caves(land, block_XZY, ground_XZ, reserved_XZ)
        sink_ponds(land, block_XZY, ground_XZ, reserved_XZ)
    pile_boulders(land, block_XZY, ground_XZ, reserved_XZ)
    fill_ores(land, block_XZY, ground_XZ)
    grow_trees(land, block_XZY, ground_XZ, reserved_XZ)
    if land.is_full:
        build(sites, block_XZY, ground_XZ)
        pave_ways(land, block_XZY, ground_XZ, reserved_XZ)
        trim_vines(land, block_XZY, ground_XZ)
        grow_plants(land, block_XZY, ground_XZ, reserved_XZ)
        if land.biome.is_frozen:
            cover_with_snow(land, block_XZY)
    return World(spec=spec, block_XZY=block_XZY, ground_XZ=ground_XZ)
