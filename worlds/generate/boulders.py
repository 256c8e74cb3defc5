"""Boulders that lie on the land. X Y Z blocks.

Here as for all features: candidates sit on a grid of cells that divides the world, one a cell at most, jittered inside
it. A feature depends only on its key and its cell, and the grid meets itself across the border.
"""

import numba
import numpy as np

from worlds.blocks import BLOCK_ID
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.land import Land
from worlds.generate.noise import hash_unit

_CELL = 8
# A boulder beside a cave mouth does not reach down into it: columns that lie deeper than this stay as they are.
_MAX_DROP_BLOCKS = 4


def pile_boulders(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Set the biome's boulders on the land that is not reserved."""
    density = land.draw("boulder_density", land.biome.boulder_density)
    kind_K = np.array([BLOCK_ID[name] for name in land.biome.boulders], np.uint16)
    max_drop = _MAX_DROP_BLOCKS if land.is_full else block_XZY.shape[2]
    _pile_boulders(
        block_XZY,
        ground_XZ,
        reserved_XZ,
        land.key("boulders"),
        density * _CELL**2 / 1000.0,
        kind_K,
        SEA_LEVEL,
        max_drop,
    )


@numba.njit(cache=True, nogil=True)
def _pile_boulders(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    reserved_XZ: np.ndarray,
    key: np.uint64,
    chance: float,
    kind_K: np.ndarray,
    sea_level: int,
    max_drop: int,
) -> None:
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _CELL):
        for k in range(size_z // _CELL):
            if hash_unit(key, i, k, 0) >= chance:
                continue
            x = i * _CELL + int(_CELL * hash_unit(key, i, k, 1))
            z = k * _CELL + int(_CELL * hash_unit(key, i, k, 2))
            ground = int(ground_XZ[x, z])
            if ground < sea_level - 1:
                continue
            kind = kind_K[int(len(kind_K) * hash_unit(key, i, k, 3))]
            radius = 1.0 + 1.6 * hash_unit(key, i, k, 4)
            height = 0.7 + 0.7 * hash_unit(key, i, k, 5)
            for dx in range(-3, 4):
                for dz in range(-3, 4):
                    # A rugged rim: each column has a radius of its own.
                    rim = radius + 0.5 * hash_unit(key, i * 49 + dx, k * 49 + dz, 6) - 0.25
                    flat = dx * dx + dz * dz
                    if flat > rim * rim:
                        continue
                    x_in, z_in = (x + dx) & (size_x - 1), (z + dz) & (size_z - 1)
                    if reserved_XZ[x_in, z_in] != 0 or ground_XZ[x_in, z_in] < ground - max_drop:
                        continue
                    top = ground + int(height * np.sqrt(rim * rim - flat) + 0.9)
                    # Filled from each column's own ground up, so that nothing hangs over a slope.
                    for y in range(ground_XZ[x_in, z_in] + 1, top + 1):
                        block_XZY[x_in, z_in, y] = kind
