"""Where a body can stand and an object be put: floors, surfaces, and distances on the torus."""

import functools

import numpy as np
from numba import njit

from worlds.blocks import BLOCK_ID, BLOCKS, NUM_STATES
from worlds.spec import BLOCK_MASK, WorldSpec
from worlds.voxel.engine_tables import engine_tables

_BEST_TOOL = {
    "pickaxe": "diamond_pickaxe",
    "axe": "diamond_axe",
    "plant": "diamond_axe",
    "shovel": "diamond_shovel",
    "hoe": "diamond_hoe",
    "leaves": "diamond_hoe",
}

# What a state is to a body, see footing_table.
OPEN, FULL, OBSTACLE = 0, 16, 255
# A circle so long that nothing ever goes round it.
_NO_CIRCLE_BLOCKS = 2**20
_STEPPED_OVER_SIXTEENTHS = 6  # so low that a body walks on as if on the floor below


def tool_for(kind: str) -> str:
    """Return the tool for the class that `kind` is of; "" where it has none (wool, which shears would cut faster)."""
    return _BEST_TOOL.get(BLOCKS[BLOCK_ID[kind]].tool, "")


@functools.cache
def footing_table() -> np.ndarray:
    """Return uint8 [S]: what each block state is to a body that walks. Read-only.

    OPEN: nothing, or something so low (carpet, snow, closed trapdoor) that it is walked over. 7 .. FULL: firm, with its
    top so many sixteenths above its floor: slabs 8, farmland and paths 15, cubes FULL. OBSTACLE: in the way, and not to
    stand on: fences, walls, doors, panes, and whatever hurts or holds a body.
    """
    blocks = engine_tables().blocks
    boxes = blocks.collision
    footing_S = np.zeros(NUM_STATES, np.uint8)
    for state in range(NUM_STATES):
        rows_B6 = boxes.box_B6[boxes.start_S[state] : boxes.start_S[state] + boxes.count_S[state]]
        if blocks.hurt_S[state] or blocks.is_web_S[state]:
            footing_S[state] = OBSTACLE
        elif len(rows_B6):
            top = round(float(rows_B6[:, 4].max()) * 16)
            # Wide enough for a floor: from side to side but for a sixteenth or two.
            is_wide = np.all(rows_B6[:, [0, 2]].min(0) <= 2 / 16) and np.all(rows_B6[:, [3, 5]].max(0) >= 14 / 16)
            is_floor = is_wide and bool(np.any(np.prod(rows_B6[:, [3, 5]] - rows_B6[:, [0, 2]], axis=1) > 0.7))
            if top <= _STEPPED_OVER_SIXTEENTHS:
                footing_S[state] = OPEN
            else:
                footing_S[state] = top if is_floor and top <= FULL else OBSTACLE
    footing_S.flags.writeable = False
    return footing_S


@njit(cache=True, nogil=True)
def is_standable(block_XZY, is_solid_K, is_fluid_K, x, y, z):
    """Tell whether a body can stand with its feet in cell (x, y, z): firm below, two dry free cells.

    `is_solid_K` is solid_table() or footing_table(). On a slab the feet are lower by up to half a block.
    """
    if y < 1 or y + 1 >= block_XZY.shape[2]:
        return False
    x &= block_XZY.shape[0] - 1
    z &= block_XZY.shape[1] - 1
    below = block_XZY[x, z, y - 1] & BLOCK_MASK
    feet = block_XZY[x, z, y] & BLOCK_MASK
    head = block_XZY[x, z, y + 1] & BLOCK_MASK
    return (
        is_solid_K[below]
        and is_solid_K[below] != OBSTACLE
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


def circle_of(world: WorldSpec) -> tuple[int, int]:
    """Return after how many blocks along x and z one is back: boxes of saves and of other engines do not wrap."""
    return (world.size_blocks[0], world.size_blocks[2]) if world.source == "generated" else (_NO_CIRCLE_BLOCKS,) * 2


def torus_delta(delta: np.ndarray | float, side: np.ndarray | int) -> np.ndarray:
    """Return the shortest signed difference on a circle of `side` blocks."""
    return np.asarray((delta + side / 2) % side - side / 2)
