"""What the land is made of, column by column, and the first blocks of a world. X Z columns, Y height."""

import numba
import numpy as np

from worlds.blocks import BLOCK_ID
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.land import Land
from worlds.generate.palette import kind_mask

_SOIL_LAYERS = 3
_IS_ROCK = kind_mask("stone", "andesite", "diorite", "granite", "terracotta")
# Stripes of the badlands reach down to here; below them the rock is grey and bears its ores as elsewhere.
_LOWEST_BAND = 16


def materials(land: Land, ground_XZ: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the block ids, uint16 [X, Z], of the surface, of the soil below it and of the rock below that."""
    biome = land.biome
    shape = ground_XZ.shape
    surface_XZ = np.full(shape, BLOCK_ID[biome.surface], np.uint16)
    filler_XZ = np.full(shape, BLOCK_ID[biome.filler], np.uint16)
    rock_XZ = np.full(shape, BLOCK_ID["stone"], np.uint16)
    veins_XZ = land.noise_XZ("rock", 11.0)
    rock_XZ[veins_XZ > 0.45] = BLOCK_ID["andesite"]
    rock_XZ[veins_XZ < -0.55] = BLOCK_ID["diorite" if land.draw("rock_kind", (0.0, 1.0)) < 0.5 else "granite"]
    if land.is_full:
        for number, (block, level) in enumerate(biome.surface_patches):
            surface_XZ[land.noise_XZ(f"surface {number}", 14.0) > level] = BLOCK_ID[block]

    drop_XZ = np.zeros(shape, np.int16)
    for axis in (0, 1):
        for shift in (-1, 1):
            drop_XZ = np.maximum(drop_XZ, ground_XZ - np.roll(ground_XZ, shift, axis))
    outcrop_XZ = land.noise_XZ("outcrops", 12.0) > land.draw("outcrop_rarity", (0.6, 1.0))
    is_bare_XZ = (drop_XZ >= 3) | (outcrop_XZ & (ground_XZ > SEA_LEVEL))
    if biome.is_frozen or biome.snow_line:
        snow_line = biome.snow_line or 12.0
        is_peak_XZ = ground_XZ > SEA_LEVEL + snow_line + 3.0 * land.noise_XZ("snow_line", 12.0)
        surface_XZ[is_peak_XZ] = filler_XZ[is_peak_XZ] = BLOCK_ID["snow_block"]
    surface_XZ[is_bare_XZ] = filler_XZ[is_bare_XZ] = rock_XZ[is_bare_XZ]

    bed_XZ = land.noise_XZ("bed", 10.0)
    is_shore_XZ = (ground_XZ <= SEA_LEVEL + 1) & (
        land.noise_XZ("beaches", 24.0) > land.draw("beach_share", (-0.5, 0.3))
    )
    is_wet_XZ = ground_XZ < SEA_LEVEL
    soft = BLOCK_ID[biome.shore]
    surface_XZ[is_wet_XZ] = filler_XZ[is_wet_XZ] = BLOCK_ID["dirt"]
    sandy_XZ = is_shore_XZ | (is_wet_XZ & (bed_XZ > -0.1))
    surface_XZ[sandy_XZ] = filler_XZ[sandy_XZ] = soft
    surface_XZ[is_wet_XZ & (bed_XZ < -0.4)] = BLOCK_ID["gravel"]
    if land.is_full:
        is_clay_XZ = is_wet_XZ & (bed_XZ < -0.25) & (bed_XZ > -0.4)
        surface_XZ[is_clay_XZ] = filler_XZ[is_clay_XZ] = BLOCK_ID["clay"]
    return surface_XZ, filler_XZ, rock_XZ


def lay_columns(land: Land, ground_XZ: np.ndarray) -> np.ndarray:
    """Return the bare land, uint16 [X, Z, Y]: bedrock, rock, soil, surface, water up to the sea level, air."""
    size_x, size_y, size_z = land.spec.size_blocks
    surface_XZ, filler_XZ, rock_XZ = materials(land, ground_XZ)
    block_XZY = np.empty((size_x, size_z, size_y), np.uint16)
    top_water = BLOCK_ID["ice" if land.biome.is_frozen else "water"]
    _fill_columns(
        block_XZY, ground_XZ, surface_XZ, filler_XZ, rock_XZ,
        SEA_LEVEL, BLOCK_ID["bedrock"], BLOCK_ID["water"], top_water, _SOIL_LAYERS,
    )  # fmt: skip
    if land.biome.bands:
        bands = land.biome.bands
        shift = int(len(bands) * land.unit("bands"))
        band_Y = np.array([BLOCK_ID[bands[(y + shift) % len(bands)]] for y in range(size_y)], np.uint16)
        _stripe(block_XZY, ground_XZ, band_Y, _IS_ROCK, _LOWEST_BAND)
    return block_XZY


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


@numba.njit(cache=True, nogil=True)
def _stripe(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, band_Y: np.ndarray, is_rock_S: np.ndarray, lowest: int
) -> None:
    """Turn the rock above `lowest` into horizontal bands."""
    size_x, size_z, _ = block_XZY.shape
    for x in range(size_x):
        for z in range(size_z):
            for y in range(lowest, int(ground_XZ[x, z]) + 1):
                if is_rock_S[block_XZY[x, z, y]]:
                    block_XZY[x, z, y] = band_Y[y]
