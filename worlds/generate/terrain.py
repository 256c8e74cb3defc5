"""From a WorldSpec to its blocks: heights, layers of soil and rock, water, then the features that stand on them.

X Y Z blocks. Every number is a pure function of the spec, so the order in which parts are made does not matter.
"""

import zlib
from dataclasses import dataclass

import numba
import numpy as np

from worlds.blocks import BLOCK_ID
from worlds.generate.biomes import BIOMES, SEA_LEVEL, Biome, Range
from worlds.generate.features import fill_ores, grow_trees, pile_boulders
from worlds.generate.noise import hash_bits, hash_unit, periodic_noise_XZ
from worlds.spec import World, WorldSpec

LOWEST_GROUND, HIGHEST_GROUND = 12, 46
_SOIL_LAYERS = 3


def generate(spec: WorldSpec) -> World:
    """Return the world that `spec` describes: always the same bytes, a torus in x and z, solid above the bedrock."""
    if spec.source != "generated":
        raise ValueError(f'world.source is {spec.source!r}, the generator makes only "generated" worlds')
    if spec.biome not in BIOMES:
        raise ValueError(f"world.biome {spec.biome!r} is unknown; choose one of {sorted(BIOMES)}")
    biome = BIOMES[spec.biome]
    land = _Land(spec, biome)
    height_XZ = _height_XZ(land, biome)
    ground_XZ = np.clip(np.floor(height_XZ), LOWEST_GROUND, HIGHEST_GROUND).astype(np.int16)
    surface_XZ, filler_XZ, rock_XZ = _materials(land, biome, ground_XZ)

    size_x, size_y, size_z = spec.size_blocks
    block_XZY = np.empty((size_x, size_z, size_y), np.uint16)
    top_water = BLOCK_ID["ice" if biome.is_frozen else "water"]
    _fill_columns(
        block_XZY, ground_XZ, surface_XZ, filler_XZ, rock_XZ,
        SEA_LEVEL, BLOCK_ID["bedrock"], BLOCK_ID["water"], top_water, _SOIL_LAYERS,
    )  # fmt: skip
    pile_boulders(
        block_XZY, ground_XZ, land.key("boulders"), land.draw("boulder_density", biome.boulder_density), biome.boulders
    )
    fill_ores(block_XZY, ground_XZ, land.key("ores"), land.draw("ore_share", biome.ore_share))
    tree_density_XZ = land.draw("tree_density", biome.tree_density) * _clearings_XZ(land)
    grow_trees(block_XZY, ground_XZ, land.key("trees"), tree_density_XZ, biome)
    return World(spec=spec, block_XZY=block_XZY, ground_XZ=ground_XZ)


@dataclass(frozen=True, slots=True)
class _Land:
    """The spec's own randomness: every name is an independent stream."""

    spec: WorldSpec
    biome: Biome

    def key(self, name: str) -> np.uint64:
        """Return the key of one part of the world."""
        return np.uint64(
            hash_bits(np.uint64(self.spec.seed), zlib.crc32(self.biome.name.encode()), zlib.crc32(name.encode()), 0)
        )

    def draw(self, name: str, bounds: Range) -> float:
        """Return this world's own value from a range."""
        return bounds[0] + (bounds[1] - bounds[0]) * hash_unit(self.key(name), 0, 0, 0)

    def noise_XZ(self, name: str, wavelength: float) -> np.ndarray:
        """Return a seamless noise layer, float64 [X, Z], roughly in [-1, 1]."""
        return periodic_noise_XZ(self.key(name), self.spec.size_blocks[0], self.spec.size_blocks[2], wavelength)


def _smooth_step(value: np.ndarray) -> np.ndarray:
    clipped = np.clip(value, 0.0, 1.0)
    return clipped * clipped * (3.0 - 2.0 * clipped)


def _height_XZ(land: _Land, biome: Biome) -> np.ndarray:
    """Return the height of the land, float64 [X, Z]: hills, bumps, crests, then mesas raised and lakes sunk."""
    wavelength = land.draw("hill_wavelength", biome.hill_wavelength)
    hills_XZ = land.noise_XZ("hills", wavelength) + 0.4 * land.noise_XZ("foothills", wavelength / 2.2)
    crest_XZ = 1.0 - np.minimum(1.0, np.abs(land.noise_XZ("ridges", 0.8 * wavelength)) / 0.6)
    height_XZ = SEA_LEVEL + land.draw("base_height", biome.base_height) + np.zeros_like(hills_XZ)
    height_XZ += land.draw("hill_height", biome.hill_height) * hills_XZ
    height_XZ += land.draw("rough_height", biome.rough_height) * land.noise_XZ("bumps", 9.0)
    height_XZ += land.draw("ridge_height", biome.ridge_height) * crest_XZ * crest_XZ

    # A mesa rises over a width that itself varies: a cliff on one side, a ramp one can walk up on another.
    rise_width_XZ = 0.04 + 0.9 * _smooth_step(0.5 + 0.9 * land.noise_XZ("ramps", 26.0))
    rise_XZ = (land.noise_XZ("mesas", 34.0) - land.draw("mesa_rarity", (0.3, 0.6))) / rise_width_XZ
    height_XZ += land.draw("mesa_height", biome.mesa_height) * _smooth_step(rise_XZ)

    # Lakes pull the land to a bed under the sea level; how much of the world they take is drawn too.
    shore_XZ = (land.noise_XZ("lakes", 40.0) - land.draw("lake_rarity", (0.15, 0.75))) / 0.35
    bed_XZ = SEA_LEVEL - land.draw("lake_depth", biome.lake_depth) * (0.6 + 0.4 * land.noise_XZ("lake_bed", 14.0))
    return height_XZ + (np.minimum(height_XZ, bed_XZ) - height_XZ) * _smooth_step(shore_XZ)


def _materials(land: _Land, biome: Biome, ground_XZ: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the block ids, uint16 [X, Z], of the surface, of the soil below it and of the rock below that."""
    shape = ground_XZ.shape
    surface_XZ = np.full(shape, BLOCK_ID[biome.surface], np.uint16)
    filler_XZ = np.full(shape, BLOCK_ID[biome.filler], np.uint16)
    rock_XZ = np.full(shape, BLOCK_ID["stone"], np.uint16)
    veins_XZ = land.noise_XZ("rock", 11.0)
    rock_XZ[veins_XZ > 0.45] = BLOCK_ID["andesite"]
    rock_XZ[veins_XZ < -0.55] = BLOCK_ID["diorite" if land.draw("rock_kind", (0.0, 1.0)) < 0.5 else "granite"]

    drop_XZ = np.zeros(shape, np.int16)
    for axis in (0, 1):
        for shift in (-1, 1):
            drop_XZ = np.maximum(drop_XZ, ground_XZ - np.roll(ground_XZ, shift, axis))
    outcrop_XZ = land.noise_XZ("outcrops", 12.0) > land.draw("outcrop_rarity", (0.6, 1.0))
    is_bare_XZ = (drop_XZ >= 3) | (outcrop_XZ & (ground_XZ > SEA_LEVEL))
    if biome.is_frozen:
        is_peak_XZ = ground_XZ > SEA_LEVEL + 12 + 3.0 * land.noise_XZ("snow_line", 12.0)
        surface_XZ[is_peak_XZ] = filler_XZ[is_peak_XZ] = BLOCK_ID["snow_block"]
    surface_XZ[is_bare_XZ] = filler_XZ[is_bare_XZ] = rock_XZ[is_bare_XZ]

    bed_XZ = land.noise_XZ("bed", 10.0)
    is_shore_XZ = (ground_XZ <= SEA_LEVEL + 1) & (
        land.noise_XZ("beaches", 24.0) > land.draw("beach_share", (-0.5, 0.3))
    )
    is_wet_XZ = ground_XZ < SEA_LEVEL
    soft = BLOCK_ID["gravel" if biome.is_frozen else "sand"]
    surface_XZ[is_wet_XZ] = filler_XZ[is_wet_XZ] = BLOCK_ID["dirt"]
    sandy_XZ = is_shore_XZ | (is_wet_XZ & (bed_XZ > -0.1))
    surface_XZ[sandy_XZ] = filler_XZ[sandy_XZ] = soft
    surface_XZ[is_wet_XZ & (bed_XZ < -0.4)] = BLOCK_ID["gravel"]
    return surface_XZ, filler_XZ, rock_XZ


def _clearings_XZ(land: _Land) -> np.ndarray:
    """Return what multiplies the density of trees, float64 [X, Z], 0 in a clearing, mean about 1."""
    contrast = land.draw("clearings", (0.5, 2.0))
    return np.clip(1.0 + contrast * land.noise_XZ("groves", 28.0), 0.0, 2.5)


@numba.njit(cache=True, nogil=True)
def _fill_columns(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    surface_XZ: np.ndarray,
    filler_XZ: np.ndarray,
    rock_XZ: np.ndarray,
    sea_level: int,
    bedrock: int,
    water: int,
    top_water: int,
    soil_layers: int,
) -> None:
    """Write every cell once: bedrock, rock, soil, surface, water up to the sea level, air."""
    size_x, size_z, size_y = block_XZY.shape
    for x in range(size_x):
        for z in range(size_z):
            ground = int(ground_XZ[x, z])
            column_Y = block_XZY[x, z]
            column_Y[0] = bedrock
            for y in range(1, ground - soil_layers):
                column_Y[y] = rock_XZ[x, z]
            for y in range(ground - soil_layers, ground):
                column_Y[y] = filler_XZ[x, z]
            column_Y[ground] = surface_XZ[x, z]
            air_from = ground + 1
            if ground < sea_level:
                for y in range(ground + 1, sea_level):
                    column_Y[y] = water
                column_Y[sea_level] = top_water
                air_from = sea_level + 1
            for y in range(air_from, size_y):
                column_Y[y] = 0
