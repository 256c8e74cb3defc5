"""Ways between the structures of a world, with bridges over water. X Z columns."""

import numpy as np

from worlds.blocks import BLOCK_ID, state_of
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.land import Land
from worlds.generate.noise import hash_unit
from worlds.generate.palette import kind_mask
from worlds.generate.sites import BUILT, WAY, Site
from worlds.generate.style import STYLES

_LONGEST_BLOCKS = 80.0
_MAX_WET_SHARE = 0.35
_IS_SOIL = kind_mask(
    "grass_block", "snowy_grass_block", "dirt", "podzol", "coarse_dirt", "mycelium", "sand", "red_sand", "snow_block",
    "gravel", "stone",
)  # fmt: skip


def mark_ways(land: Land, sites: list[Site], ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Reserve a bowed way, 2 wide, from every structure to the one before it."""
    sizes = np.array(ground_XZ.shape)
    key = land.key("ways")
    for number, (site, before) in enumerate(zip(sites[1:], sites[:-1], strict=True)):
        start = np.array(before.front_xz)
        # The shorter way around the torus.
        across = (np.array(site.front_xz) - start + sizes // 2) % sizes - sizes // 2
        length = float(np.hypot(*across))
        if not 4.0 < length <= _LONGEST_BLOCKS:
            continue
        along_N = np.linspace(0.0, 1.0, int(1.5 * length))
        bow = 0.5 * (hash_unit(key, number, 0, 0) - 0.5)
        aside = np.array([-across[1], across[0]])
        at_N2 = start + along_N[:, None] * across + (4.0 * bow * along_N * (1.0 - along_N))[:, None] * aside
        wide = np.array([0, 1]) if abs(across[0]) > abs(across[1]) else np.array([1, 0])
        cell_N2 = np.concatenate([np.floor(at_N2), np.floor(at_N2) + wide]).astype(np.int64) & (sizes - 1)
        x_N, z_N = cell_N2.T
        if (ground_XZ[x_N, z_N] < SEA_LEVEL).mean() > _MAX_WET_SHARE:
            continue
        is_free_N = reserved_XZ[x_N, z_N] < BUILT
        reserved_XZ[x_N[is_free_N], z_N[is_free_N]] = WAY


def pave_ways(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Lay the biome's path on reserved ways, and planks where they cross water."""
    x_N, z_N = np.nonzero(reserved_XZ == WAY)
    y_N = ground_XZ[x_N, z_N]
    is_paved_N = _IS_SOIL[block_XZY[x_N, z_N, y_N]] & (block_XZY[x_N, z_N, y_N + 1] == 0)
    block_XZY[x_N[is_paved_N], z_N[is_paved_N], y_N[is_paved_N]] = BLOCK_ID[land.biome.path]
    is_bridged_N = block_XZY[x_N, z_N, SEA_LEVEL] == BLOCK_ID["water"]
    block_XZY[x_N[is_bridged_N], z_N[is_bridged_N], SEA_LEVEL] = state_of(STYLES[land.biome.wood].wall)
