"""What lies in the rock: ores at their depths, and pockets of dirt, gravel and other rock. X Y Z blocks, K kinds."""

import numba
import numpy as np

from worlds.generate.land import Land
from worlds.generate.noise import hash_bits, hash_unit
from worlds.generate.palette import kind_mask, state_ids

# Ores by how often they are seen; the rarest keep their place so that every kind turns up in training.
_ORE_NAMES = ("coal_ore", "iron_ore", "redstone_ore", "lapis_ore", "gold_ore", "diamond_ore")
_PLAIN_WEIGHTS = (0.42, 0.28, 0.09, 0.08, 0.08, 0.05)
# With full detail the mix changes with height, as in the game: coal high, iron all over, diamonds at the bottom. Rows
# (y, weights): a row holds up to the y of the next one. The hills are lower than the game's, and so are the borders.
_WEIGHTS_BY_HEIGHT: tuple[tuple[int, tuple[float, ...]], ...] = (
    (0, (0.16, 0.24, 0.21, 0.07, 0.13, 0.19)),
    (12, (0.24, 0.34, 0.15, 0.10, 0.13, 0.04)),
    (20, (0.40, 0.36, 0.06, 0.09, 0.07, 0.02)),
    (30, (0.58, 0.32, 0.02, 0.05, 0.02, 0.01)),
)
_ORE_ID_K = state_ids(*_ORE_NAMES)
_IS_ORE_BEARING = kind_mask("stone", "andesite", "diorite", "granite")

_POCKET_CELL = 16
_POCKETS = state_ids("dirt", "gravel", "gravel", "andesite", "granite", "diorite", "coarse_dirt", "clay")
_IS_STONE = kind_mask("stone")


def _chances_JK(is_full: bool) -> np.ndarray:
    """Return how often a draw in [0, 1) stays below each ore, cumulated, float64 [32 layers of 2 blocks, K]."""
    weights_JK = np.tile(np.array(_PLAIN_WEIGHTS), (32, 1))
    if is_full:
        for lowest, weights in _WEIGHTS_BY_HEIGHT:
            weights_JK[lowest // 2 :] = weights
    return np.cumsum(weights_JK, axis=1)


_CHANCES_JK = {is_full: _chances_JK(is_full) for is_full in (False, True)}


def fill_ores(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray) -> None:
    """Turn some of the rock into ore, in blobs of a few blocks; with full detail into pockets too."""
    if land.is_full:
        _fill_pockets(block_XZY, ground_XZ, land.key("pockets"), _POCKETS, _IS_STONE)
    share = land.draw("ore_share", land.biome.ore_share)
    _fill_ores(block_XZY, ground_XZ, land.key("ores"), share, _CHANCES_JK[land.is_full], _ORE_ID_K, _IS_ORE_BEARING)


@numba.njit(cache=True, nogil=True)
def _fill_ores(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    key: np.uint64,
    share: float,
    chance_JK: np.ndarray,
    ore_K: np.ndarray,
    is_bearing_S: np.ndarray,
) -> None:
    """Visit cubes of 2 x 2 x 2 cells: one in a few holds an ore, which takes two thirds of its cells."""
    size_x, size_z, size_y = block_XZY.shape
    for i in range(size_x // 2):
        for k in range(size_z // 2):
            # Boulders rise up to 4 blocks above the ground of their cell.
            top = min(int(ground_XZ[2 * i, 2 * k]) + 5, size_y - 1)
            for j in range(top // 2 + 1):
                if hash_unit(key, i, k, j) >= 1.5 * share:
                    continue
                draw = hash_unit(key, i, k, j + 64)
                ore = ore_K[len(ore_K) - 1]
                for n in range(len(ore_K) - 1, -1, -1):
                    if draw < chance_JK[j, n]:
                        ore = ore_K[n]
                shape = int(hash_bits(key, i, k, j + 128) & np.uint64(0xFFFFFF))
                for corner in range(8):
                    x, z, y = 2 * i + (corner & 1), 2 * k + (corner >> 1 & 1), 2 * j + (corner >> 2)
                    if (shape >> (3 * corner)) % 8 < 5 and is_bearing_S[block_XZY[x, z, y]]:
                        block_XZY[x, z, y] = ore


@numba.njit(cache=True, nogil=True)
def _fill_pockets(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, key: np.uint64, pocket_K: np.ndarray, is_stone_S: np.ndarray
) -> None:
    """Put up to three round pockets under every cell of 16 x 16 columns."""
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _POCKET_CELL):
        for k in range(size_z // _POCKET_CELL):
            for n in range(3):
                x = i * _POCKET_CELL + int(_POCKET_CELL * hash_unit(key, i, k, 4 * n))
                z = k * _POCKET_CELL + int(_POCKET_CELL * hash_unit(key, i, k, 4 * n + 1))
                y = 3 + int((ground_XZ[x, z] - 3) * hash_unit(key, i, k, 4 * n + 2))
                bits = hash_bits(key, i, k, 4 * n + 3)
                pocket = pocket_K[int(bits & np.uint64(0xFF)) % len(pocket_K)]
                radius = 1.5 + 2.0 * float(np.int64(bits >> np.uint64(56))) / 256.0
                reach = int(radius) + 1
                for dx in range(-reach, reach + 1):
                    for dz in range(-reach, reach + 1):
                        for y_in in range(max(1, y - reach), y + reach + 1):
                            # A little flatter than a ball.
                            if dx * dx + dz * dz + 1.7 * (y_in - y) * (y_in - y) > radius * radius:
                                continue
                            x_in, z_in = (x + dx) & (size_x - 1), (z + dz) & (size_z - 1)
                            if is_stone_S[block_XZY[x_in, z_in, y_in]]:
                                block_XZY[x_in, z_in, y_in] = pocket
