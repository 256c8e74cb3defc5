"""What stands on the land or lies in it: boulders, ores and trees. X Y Z blocks.

Candidates sit on a grid of cells that divides the world, one a cell at most, jittered inside it: a feature depends only
on its key and its cell, and the grid meets itself across the border.
"""

import numba
import numpy as np

from worlds.blocks import AIR, BLOCK_ID, BLOCKS
from worlds.generate.biomes import SEA_LEVEL, Biome
from worlds.generate.noise import hash_bits, hash_unit

_BOULDER_CELL, _TREE_CELL = 8, 4

# Ores by how often they are seen; the rarest keep their place so that every kind turns up in training.
_ORES: tuple[tuple[str, float], ...] = (
    ("coal_ore", 0.42),
    ("iron_ore", 0.28),
    ("redstone_ore", 0.09),
    ("lapis_ore", 0.08),
    ("gold_ore", 0.08),
    ("diamond_ore", 0.05),
)
_ORE_CHANCE_K = np.cumsum([chance for _, chance in _ORES])
_ORE_ID_K = np.array([BLOCK_ID[name] for name, _ in _ORES], np.uint16)
_ORE_BEARING = np.isin([kind.name for kind in BLOCKS], ["stone", "andesite", "diorite", "granite"])

# Rows (shape, shortest trunk, heights drawn, trunk block, leaf block); a cactus has no leaves.
_SHAPE_ROUND, _SHAPE_CONE, _SHAPE_CACTUS = 0, 1, 2
_TREES: dict[str, tuple[int, int, int, int, int]] = {
    "oak": (_SHAPE_ROUND, 5, 3, BLOCK_ID["oak_log"], BLOCK_ID["oak_leaves"]),
    "birch": (_SHAPE_ROUND, 5, 3, BLOCK_ID["birch_log"], BLOCK_ID["birch_leaves"]),
    "spruce": (_SHAPE_CONE, 7, 4, BLOCK_ID["spruce_log"], BLOCK_ID["spruce_leaves"]),
    "cactus": (_SHAPE_CACTUS, 1, 3, BLOCK_ID["cactus"], AIR),
}
_IS_SOIL = np.isin([kind.name for kind in BLOCKS], ["grass_block", "dirt", "snowy_grass_block", "snow_block"])
_IS_SAND = np.isin([kind.name for kind in BLOCKS], ["sand"])


def pile_boulders(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, key: np.uint64, density: float, kinds: tuple[str, ...]
) -> None:
    """Set boulders on the land, `density` in 1000 columns, of any of `kinds`."""
    kind_K = np.array([BLOCK_ID[name] for name in kinds], np.uint16)
    _pile_boulders(block_XZY, ground_XZ, key, density * _BOULDER_CELL**2 / 1000.0, kind_K, SEA_LEVEL)


def fill_ores(block_XZY: np.ndarray, ground_XZ: np.ndarray, key: np.uint64, share: float) -> None:
    """Turn about `share` of the rock into ore, in blobs of a few blocks."""
    _fill_ores(block_XZY, ground_XZ, key, share, _ORE_CHANCE_K, _ORE_ID_K, _ORE_BEARING)


def grow_trees(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, key: np.uint64, density_XZ: np.ndarray, biome: Biome
) -> None:
    """Plant the biome's trees on soil, or its cacti on sand, `density_XZ` in 1000 columns."""
    tree_K5 = np.array([_TREES[name] for name in biome.trees], np.int64)
    is_soil = _IS_SAND if "cactus" in biome.trees else _IS_SOIL
    _grow_trees(
        block_XZY, ground_XZ, key, density_XZ * (_TREE_CELL**2 / 1000.0), tree_K5, is_soil, SEA_LEVEL, BLOCK_ID["dirt"]
    )


@numba.njit(cache=True, nogil=True)
def _pile_boulders(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, key: np.uint64, chance: float, kind_K: np.ndarray, sea_level: int
) -> None:
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _BOULDER_CELL):
        for k in range(size_z // _BOULDER_CELL):
            if hash_unit(key, i, k, 0) >= chance:
                continue
            x = i * _BOULDER_CELL + int(_BOULDER_CELL * hash_unit(key, i, k, 1))
            z = k * _BOULDER_CELL + int(_BOULDER_CELL * hash_unit(key, i, k, 2))
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
                    top = ground + int(height * np.sqrt(rim * rim - flat) + 0.9)
                    # Filled from each column's own ground up, so that nothing hangs over a slope.
                    for y in range(ground_XZ[x_in, z_in] + 1, top + 1):
                        block_XZY[x_in, z_in, y] = kind


@numba.njit(cache=True, nogil=True)
def _fill_ores(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    key: np.uint64,
    share: float,
    chance_K: np.ndarray,
    ore_K: np.ndarray,
    is_bearing_K: np.ndarray,
) -> None:
    """Visit cubes of 2 x 2 x 2 cells: one in a few holds an ore, which takes two thirds of its cells."""
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // 2):
        for k in range(size_z // 2):
            # Boulders rise up to 4 blocks above the ground of their cell.
            top = int(ground_XZ[2 * i, 2 * k]) + 5
            for j in range(top // 2 + 1):
                if hash_unit(key, i, k, j) >= 1.5 * share:
                    continue
                draw = hash_unit(key, i, k, j + 64)
                ore = ore_K[len(ore_K) - 1]
                for n in range(len(ore_K) - 1, -1, -1):
                    if draw < chance_K[n]:
                        ore = ore_K[n]
                shape = int(hash_bits(key, i, k, j + 128) & np.uint64(0xFFFFFF))
                for corner in range(8):
                    x, z, y = 2 * i + (corner & 1), 2 * k + (corner >> 1 & 1), 2 * j + (corner >> 2)
                    if (shape >> (3 * corner)) % 8 < 5 and is_bearing_K[block_XZY[x, z, y]]:
                        block_XZY[x, z, y] = ore


@numba.njit(cache=True, nogil=True)
def _grow_trees(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    key: np.uint64,
    chance_XZ: np.ndarray,
    tree_K5: np.ndarray,
    is_soil_K: np.ndarray,
    sea_level: int,
    dirt: int,
) -> None:
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _TREE_CELL):
        for k in range(size_z // _TREE_CELL):
            # Jittered over all but the last column of the cell: two trunks never touch.
            x = i * _TREE_CELL + int((_TREE_CELL - 1) * hash_unit(key, i, k, 1))
            z = k * _TREE_CELL + int((_TREE_CELL - 1) * hash_unit(key, i, k, 2))
            if hash_unit(key, i, k, 0) >= chance_XZ[x, z]:
                continue
            ground = int(ground_XZ[x, z])
            foot = block_XZY[x, z, ground]
            if ground < sea_level or not is_soil_K[foot] or block_XZY[x, z, ground + 1] != 0:
                continue
            tree = int(len(tree_K5) * hash_unit(key, i, k, 3))
            height = tree_K5[tree, 1] + int(tree_K5[tree, 2] * hash_unit(key, i, k, 4))
            trunk, leaves = tree_K5[tree, 3], tree_K5[tree, 4]
            if tree_K5[tree, 0] == _SHAPE_ROUND:
                _put_round_crown(block_XZY, x, ground + height, z, leaves, key)
            elif tree_K5[tree, 0] == _SHAPE_CONE:
                _put_cone_crown(block_XZY, x, ground, height, z, leaves)
            elif not _is_free_around(block_XZY, x, ground, height, z):
                continue
            for y in range(ground + 1, ground + height + 1):
                block_XZY[x, z, y] = trunk
            if leaves != 0:
                block_XZY[x, z, ground] = dirt


@numba.njit(cache=True, nogil=True)
def _put_leaf(block_XZY: np.ndarray, x: int, y: int, z: int, leaves: int) -> None:
    x_in, z_in = x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1)
    if block_XZY[x_in, z_in, y] == 0:
        block_XZY[x_in, z_in, y] = leaves


@numba.njit(cache=True, nogil=True)
def _put_round_crown(block_XZY: np.ndarray, x: int, top: int, z: int, leaves: int, key: np.uint64) -> None:
    """Minecraft's oak: two layers 5 wide without some corners, one 3 wide, and a cross on top of the trunk."""
    for dy in range(-2, 2):
        radius = 2 if dy < 0 else 1
        for dx in range(-radius, radius + 1):
            for dz in range(-radius, radius + 1):
                is_corner = abs(dx) == radius and abs(dz) == radius
                if is_corner and (dy == 1 or hash_unit(key, x * 8 + dx, z * 8 + dz, 16 + dy) < 0.5):
                    continue
                _put_leaf(block_XZY, x + dx, top + dy, z + dz, leaves)


@numba.njit(cache=True, nogil=True)
def _put_cone_crown(block_XZY: np.ndarray, x: int, ground: int, height: int, z: int, leaves: int) -> None:
    """Minecraft's spruce: rings that widen downwards in two steps, and start again, above 2 free blocks of trunk."""
    _put_leaf(block_XZY, x, ground + height + 1, z, leaves)
    radius, widest = 0, 1
    for y in range(ground + height, ground + 2, -1):
        for dx in range(-radius, radius + 1):
            for dz in range(-radius, radius + 1):
                if radius > 0 and abs(dx) == radius and abs(dz) == radius:
                    continue
                _put_leaf(block_XZY, x + dx, y, z + dz, leaves)
        if radius >= widest:
            radius, widest = widest - 1 if widest < 3 else 1, min(widest + 1, 3)
        else:
            radius += 1


@numba.njit(cache=True, nogil=True)
def _is_free_around(block_XZY: np.ndarray, x: int, ground: int, height: int, z: int) -> bool:
    """Tell whether a cactus may stand here: nothing may touch its sides."""
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    for y in range(ground + 1, ground + height + 1):
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if block_XZY[(x + dx) & mask_x, (z + dz) & mask_z, y] != 0:
                return False
    return True
