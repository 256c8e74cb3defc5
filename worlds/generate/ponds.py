"""Small waters on dry land, at any height. X Y Z blocks."""

import numba
import numpy as np

from worlds.blocks import state_of
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.land import Land
from worlds.generate.noise import hash_unit
from worlds.generate.palette import state_ids

_CELL = 16
_BEDS = state_ids("dirt", "dirt", "sand", "gravel", "clay")


def sink_ponds(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Sink the biome's ponds; ground_XZ becomes their bed."""
    chance = land.draw("pond_density", land.biome.pond_density) * _CELL**2 / 1000.0
    top_water = state_of("ice" if land.biome.is_frozen else "water")
    _sink_ponds(
        block_XZY, ground_XZ, reserved_XZ, land.key("ponds"), chance, state_of("water"), top_water, _BEDS, SEA_LEVEL
    )


@numba.njit(cache=True, nogil=True)
def _sink_ponds(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    reserved_XZ: np.ndarray,
    key: np.uint64,
    chance: float,
    water: int,
    top_water: int,
    bed_K: np.ndarray,
    sea_level: int,
) -> None:
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _CELL):
        for k in range(size_z // _CELL):
            if hash_unit(key, i, k, 0) >= chance:
                continue
            x = i * _CELL + int(_CELL * hash_unit(key, i, k, 1))
            z = k * _CELL + int(_CELL * hash_unit(key, i, k, 2))
            radius_x = 2.5 + 2.5 * hash_unit(key, i, k, 3)
            radius_z = 2.5 + 2.5 * hash_unit(key, i, k, 4)
            depth = 1.5 + 2.0 * hash_unit(key, i, k, 5)
            bed_block = bed_K[int(len(bed_K) * hash_unit(key, i, k, 6))]
            reach_x, reach_z = int(radius_x) + 2, int(radius_z) + 2

            # The level is the lowest ground of the pond and its rim. All of it must be dry, firm and nearly flat.
            lowest, highest = 63, 0
            is_fit = True
            for dx in range(-reach_x, reach_x + 1):
                for dz in range(-reach_z, reach_z + 1):
                    x_in, z_in = (x + dx) & (size_x - 1), (z + dz) & (size_z - 1)
                    ground = int(ground_XZ[x_in, z_in])
                    lowest, highest = min(lowest, ground), max(highest, ground)
                    is_fit = is_fit and reserved_XZ[x_in, z_in] == 0
            if not is_fit or lowest <= sea_level or highest > lowest + 2:
                continue
            for dx in range(-reach_x, reach_x + 1):
                for dz in range(-reach_z, reach_z + 1):
                    x_in, z_in = (x + dx) & (size_x - 1), (z + dz) & (size_z - 1)
                    for y in range(lowest - 5, lowest + 1):
                        is_fit = is_fit and block_XZY[x_in, z_in, y] != 0
            if not is_fit:
                continue
            for dx in range(-reach_x + 1, reach_x):
                for dz in range(-reach_z + 1, reach_z):
                    flat = dx * dx / (radius_x * radius_x) + dz * dz / (radius_z * radius_z)
                    if flat >= 1.0:
                        continue
                    x_in, z_in = (x + dx) & (size_x - 1), (z + dz) & (size_z - 1)
                    bed = lowest - 1 - int(depth * (1.0 - flat))
                    for y in range(bed + 1, int(ground_XZ[x_in, z_in]) + 1):
                        block_XZY[x_in, z_in, y] = 0 if y > lowest else water
                    block_XZY[x_in, z_in, lowest] = top_water
                    block_XZY[x_in, z_in, bed] = bed_block
                    ground_XZ[x_in, z_in] = bed
