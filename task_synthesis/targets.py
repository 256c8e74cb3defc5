"""What can be a target, which tool goes with it, and where objects may stand."""

import numpy as np
from numba import njit

from worlds.blocks import BLOCK_ID, BLOCKS
from worlds.spec import BLOCK_MASK

# Kinds that stand out from every biome and from each other, so that a person can name them from the picture.
TARGET_KINDS: tuple[str, ...] = (
    "gold_block",
    "diamond_block",
    "redstone_block",
    "emerald_block",
    "lapis_block",
    "pumpkin",
    "bookshelf",
    "crafting_table",
    "magenta_wool",
    "white_wool",
)

_BEST_TOOL = {
    "pickaxe": "diamond_pickaxe",
    "axe": "diamond_axe",
    "plant": "diamond_axe",
    "shovel": "diamond_shovel",
    "hoe": "diamond_hoe",
    "leaves": "diamond_hoe",
}


def tool_for(kind: str) -> str:
    """Return the tool that breaks `kind` fastest; "" when the bare hand does."""
    return _BEST_TOOL.get(BLOCKS[BLOCK_ID[kind]].tool, "")


@njit(cache=True, nogil=True)
def is_standable(block_XZY, is_solid_K, is_fluid_K, x, y, z):
    """Tell whether a body can stand with its feet in cell (x, y, z): firm below, two dry free cells."""
    if y < 1 or y + 1 >= block_XZY.shape[2]:
        return False
    x &= block_XZY.shape[0] - 1
    z &= block_XZY.shape[1] - 1
    below = block_XZY[x, z, y - 1] & BLOCK_MASK
    feet = block_XZY[x, z, y] & BLOCK_MASK
    head = block_XZY[x, z, y + 1] & BLOCK_MASK
    return (
        is_solid_K[below]
        and not is_solid_K[feet]
        and not is_solid_K[head]
        and not is_fluid_K[feet]
        and not is_fluid_K[head]
    )


@njit(cache=True, nogil=True)
def surface_y(block_XZY, is_solid_K, is_fluid_K, ground_y, x, z):
    """Return the y of the feet of a body standing on the terrain of column (x, z), or -1 where none can.

    Searches a few cells up from the highest terrain block `ground_y`, so it stands on boulders but not in tree tops.
    """
    for y in range(ground_y + 1, min(ground_y + 4, block_XZY.shape[2] - 1)):
        if is_standable(block_XZY, is_solid_K, is_fluid_K, x, y, z):
            return y
    return -1


def torus_delta(delta: np.ndarray | float, side: np.ndarray | int) -> np.ndarray:
    """Return the shortest signed difference on a circle of `side` blocks."""
    return np.asarray((delta + side / 2) % side - side / 2)
