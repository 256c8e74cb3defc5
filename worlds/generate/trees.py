"""Trees, cacti, huge mushrooms and spikes of ice. X Y Z blocks, K kinds of trees, S block states."""

import numba
import numpy as np

from worlds.blocks import BLOCK_ID, build_block_tables, state_of
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.crowns import (
    hang_vines,
    put_acacia,
    put_big_oak,
    put_blob,
    put_cone_crown,
    put_dark_oak,
    put_mushroom,
    put_round_crown,
    put_spike,
)
from worlds.generate.land import Land
from worlds.generate.noise import hash_unit
from worlds.generate.palette import kind_mask, state_ids

_CELL = 4
_WIDE = 3  # big oaks and acacias reach so much farther than the 4 blocks of slope around a structure
(
    _ROUND, _CONE, _CACTUS, _BIG_OAK, _PINE, _JUNGLE, _BUSH, _ACACIA, _DARK_OAK, _FLAT_MUSHROOM, _DOME_MUSHROOM,
    _SPIKE, _DEAD,
) = range(13)  # fmt: skip
_SOIL, _SAND, _SNOW = range(3)


def _row(
    shape: int, shortest: int, num_heights: int, trunk: str, leaves: str = "air", soil: int = _SOIL, vines: int = 0
) -> tuple[int, ...]:
    return (shape, shortest, num_heights, state_of(trunk), state_of(leaves), soil, vines)


# Rows (shape, shortest trunk, heights drawn, trunk, leaves, soil, vines in percent).
TREES: dict[str, tuple[int, ...]] = {
    "oak": _row(_ROUND, 5, 3, "oak_log", "oak_leaves"),
    "birch": _row(_ROUND, 5, 3, "birch_log", "birch_leaves"),
    "spruce": _row(_CONE, 7, 4, "spruce_log", "spruce_leaves"),
    "cactus": _row(_CACTUS, 1, 3, "cactus", soil=_SAND),
    "tall_birch": _row(_ROUND, 7, 5, "birch_log", "birch_leaves"),
    "big_oak": _row(_BIG_OAK, 8, 4, "oak_log", "oak_leaves"),
    "swamp_oak": _row(_ROUND, 5, 4, "oak_log", "oak_leaves", vines=30),
    "pine": _row(_PINE, 9, 4, "spruce_log", "spruce_leaves"),
    "jungle": _row(_JUNGLE, 8, 7, "jungle_log", "jungle_leaves", vines=35),
    "jungle_bush": _row(_BUSH, 1, 2, "jungle_log", "oak_leaves"),
    "acacia": _row(_ACACIA, 5, 3, "acacia_log", "acacia_leaves"),
    "dark_oak": _row(_DARK_OAK, 6, 3, "dark_oak_log", "dark_oak_leaves"),
    "huge_brown_mushroom": _row(_FLAT_MUSHROOM, 4, 4, "mushroom_stem", "brown_mushroom_block"),
    "huge_red_mushroom": _row(_DOME_MUSHROOM, 4, 4, "mushroom_stem", "red_mushroom_block"),
    "ice_spike": _row(_SPIKE, 5, 12, "packed_ice", soil=_SNOW),
    "dead_tree": _row(_DEAD, 3, 4, "oak_log"),
}
_SOILS_CS = np.stack(
    [
        kind_mask("grass_block", "dirt", "snowy_grass_block", "snow_block", "podzol", "mycelium", "coarse_dirt"),
        kind_mask("sand", "red_sand"),
        kind_mask("snow_block", "snowy_grass_block"),
    ]
)
# What clings to the block at +x, -x, +z, -z of it; a vine faces away from its hold.
_VINE_4 = state_ids("vine[facing=west]", "vine[facing=east]", "vine[facing=north]", "vine[facing=south]")


def grow_trees(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Plant the biome's trees on their soils, in groves."""
    if not land.biome.trees:
        return
    contrast = land.draw("clearings", (0.5, 2.0))
    groves_XZ = np.clip(1.0 + contrast * land.noise_XZ("groves", 28.0), 0.0, 2.5)
    # Two products, as ever: one would round otherwise and move trees of old worlds.
    density_XZ = land.draw("tree_density", land.biome.tree_density) * groves_XZ
    tree_K7 = np.array([TREES[name] for name in land.biome.trees], np.int64)
    _grow_trees(
        block_XZY, ground_XZ, reserved_XZ, land.key("trees"), density_XZ * (_CELL**2 / 1000.0), tree_K7, _SOILS_CS,
        _VINE_4, SEA_LEVEL, BLOCK_ID["dirt"],
    )  # fmt: skip


def trim_vines(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray) -> None:
    """Take away the vines whose hold a bough, a structure or a way has taken."""
    if any(TREES[name][6] for name in land.biome.trees):
        _trim_vines(block_XZY, ground_XZ, _VINE_4, build_block_tables().collision.is_cube_S)


@numba.njit(cache=True, nogil=True)
def _trim_vines(block_XZY: np.ndarray, ground_XZ: np.ndarray, vine_4: np.ndarray, is_cube_S: np.ndarray) -> None:
    size_x, size_z, size_y = block_XZY.shape
    for x in range(size_x):
        for z in range(size_z):
            # From the top down: what hung on a vine that went goes too.
            for y in range(size_y - 2, int(ground_XZ[x, z]), -1):
                block = block_XZY[x, z, y]
                for side in range(4):
                    if block == vine_4[side] and block_XZY[x, z, y + 1] != block:
                        x_held = (x + (1, -1, 0, 0)[side]) & (size_x - 1)
                        z_held = (z + (0, 0, 1, -1)[side]) & (size_z - 1)
                        if not is_cube_S[block_XZY[x_held, z_held, y]]:
                            block_XZY[x, z, y] = 0


@numba.njit(cache=True, nogil=True)
def _grow_trees(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    reserved_XZ: np.ndarray,
    key: np.uint64,
    chance_XZ: np.ndarray,
    tree_K7: np.ndarray,
    is_soil_CS: np.ndarray,
    vine_4: np.ndarray,
    sea_level: int,
    dirt: int,
) -> None:
    size_x, size_z, size_y = block_XZY.shape
    for i in range(size_x // _CELL):
        for k in range(size_z // _CELL):
            # Jittered over all but the last column of the cell: two trunks of one column never touch.
            x = i * _CELL + int((_CELL - 1) * hash_unit(key, i, k, 1))
            z = k * _CELL + int((_CELL - 1) * hash_unit(key, i, k, 2))
            if hash_unit(key, i, k, 0) >= chance_XZ[x, z] or reserved_XZ[x, z] != 0:
                continue
            ground = int(ground_XZ[x, z])
            tree_7 = tree_K7[int(len(tree_K7) * hash_unit(key, i, k, 3))]
            foot = block_XZY[x, z, ground]
            if ground < sea_level or not is_soil_CS[tree_7[5], foot] or block_XZY[x, z, ground + 1] != 0:
                continue
            shape, trunk, leaves = tree_7[0], tree_7[3], tree_7[4]
            height = min(tree_7[1] + int(tree_7[2] * hash_unit(key, i, k, 4)), size_y - 5 - ground)
            top = ground + height
            if shape == _DARK_OAK and _has_step(ground_XZ, reserved_XZ, x, z):
                shape, height, top = _ROUND, height - 1, top - 1
            if (shape == _BIG_OAK or shape == _ACACIA) and _is_near_site(reserved_XZ, x, z):
                continue
            if shape == _CACTUS and not _is_free_around(block_XZY, x, ground, height, z):
                continue

            if shape == _ROUND:
                put_round_crown(block_XZY, x, top, z, leaves, key)
            elif shape == _CONE:
                put_cone_crown(block_XZY, x, ground, height, z, 3, leaves)
            elif shape == _PINE:
                put_cone_crown(block_XZY, x, ground, height, z, height - 4, leaves)
            elif shape == _BIG_OAK:
                put_big_oak(block_XZY, x, ground, height, z, trunk, leaves, key)
            elif shape == _JUNGLE:
                put_blob(block_XZY, x, top, z, 3.3, 1.9, leaves)
            elif shape == _BUSH:
                put_blob(block_XZY, x, ground + height, z, 2.4, 1.9, leaves)
            elif shape == _ACACIA:
                put_acacia(block_XZY, x, ground, height, z, trunk, leaves, key)
                top = ground + height - 2
            elif shape == _DARK_OAK:
                put_dark_oak(block_XZY, ground_XZ, x, ground, height, z, trunk, leaves)
            elif shape == _FLAT_MUSHROOM or shape == _DOME_MUSHROOM:
                put_mushroom(block_XZY, x, ground, height, z, shape == _FLAT_MUSHROOM, leaves)
            elif shape == _SPIKE:
                put_spike(block_XZY, ground_XZ, x, top, z, 0.8 + 2.2 * hash_unit(key, i, k, 5), trunk)
            for y in range(ground + 1, top + 1):
                block_XZY[x, z, y] = trunk
            if leaves != 0 and shape < _FLAT_MUSHROOM:
                block_XZY[x, z, ground] = dirt
            if tree_7[6] > 0:
                reach = 0 if shape == _JUNGLE else 2
                hang_vines(block_XZY, x, ground + 2, top, z, reach, 0.01 * tree_7[6], vine_4, key)


@numba.njit(cache=True, nogil=True)
def _has_step(ground_XZ: np.ndarray, reserved_XZ: np.ndarray, x: int, z: int) -> bool:
    """Tell whether the 2 x 2 columns of a broad trunk differ by more than a block, or are taken."""
    lowest, highest = 64, 0
    for dx in range(2):
        for dz in range(2):
            x_in, z_in = (x + dx) & (ground_XZ.shape[0] - 1), (z + dz) & (ground_XZ.shape[1] - 1)
            lowest, highest = min(lowest, ground_XZ[x_in, z_in]), max(highest, ground_XZ[x_in, z_in])
            if reserved_XZ[x_in, z_in] != 0:
                return True
    return highest > lowest + 1


@numba.njit(cache=True, nogil=True)
def _is_near_site(reserved_XZ: np.ndarray, x: int, z: int) -> bool:
    """Tell whether a crown wider than a structure's slope might reach the structure, which would cut it in half."""
    mask_x, mask_z = reserved_XZ.shape[0] - 1, reserved_XZ.shape[1] - 1
    for dx in range(-_WIDE, _WIDE + 1, _WIDE):
        for dz in range(-_WIDE, _WIDE + 1, _WIDE):
            if reserved_XZ[(x + dx) & mask_x, (z + dz) & mask_z] != 0:
                return True
    return False


@numba.njit(cache=True, nogil=True)
def _is_free_around(block_XZY: np.ndarray, x: int, ground: int, height: int, z: int) -> bool:
    """Tell whether a cactus may stand here: nothing may touch its sides."""
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    for y in range(ground + 1, ground + height + 1):
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if block_XZY[(x + dx) & mask_x, (z + dz) & mask_z, y] != 0:
                return False
    return True
