"""How high the land is. X Z columns."""

import numpy as np

from worlds.generate.biome import SEA_LEVEL
from worlds.generate.land import Land

LOWEST_GROUND = 12


def _smooth_step(value: np.ndarray) -> np.ndarray:
    clipped = np.clip(value, 0.0, 1.0)
    return clipped * clipped * (3.0 - 2.0 * clipped)


def ground_XZ(land: Land) -> np.ndarray:
    """Return y of the highest block, int16 [X, Z]: hills, bumps, crests, then mesas raised and lakes sunk."""
    biome = land.biome
    wavelength = land.draw("hill_wavelength", biome.hill_wavelength)
    hills_XZ = land.noise_XZ("hills", wavelength) + 0.4 * land.noise_XZ("foothills", wavelength / 2.2)
    crest_XZ = 1.0 - np.minimum(1.0, np.abs(land.noise_XZ("ridges", 0.8 * wavelength)) / 0.6)
    height_XZ = SEA_LEVEL + land.draw("base_height", biome.base_height) + np.zeros_like(hills_XZ)
    height_XZ += land.draw("hill_height", biome.hill_height) * hills_XZ
    height_XZ += land.draw("rough_height", biome.rough_height) * land.noise_XZ("bumps", 9.0)
    height_XZ += land.draw("ridge_height", biome.ridge_height) * crest_XZ * crest_XZ

    # A mesa rises over a width that itself varies: a cliff on one side, a ramp one can walk up on another.
    rise_width_XZ = 0.04 + 0.9 * _smooth_step(0.5 + 0.9 * land.noise_XZ("ramps", 26.0))
    rise_XZ = (land.noise_XZ("mesas", 34.0) - land.draw("mesa_rarity", biome.mesa_rarity)) / rise_width_XZ
    height_XZ += land.draw("mesa_height", biome.mesa_height) * _smooth_step(rise_XZ)

    # Lakes pull the land to a bed under the sea level; how much of the world they take is drawn too.
    shore_XZ = (land.noise_XZ("lakes", 40.0) - land.draw("lake_rarity", biome.lake_rarity)) / 0.35
    bed_XZ = SEA_LEVEL - land.draw("lake_depth", biome.lake_depth) * (0.6 + 0.4 * land.noise_XZ("lake_bed", 14.0))
    height_XZ = height_XZ + (np.minimum(height_XZ, bed_XZ) - height_XZ) * _smooth_step(shore_XZ)
    return np.clip(np.floor(height_XZ), LOWEST_GROUND, biome.highest_ground).astype(np.int16)
