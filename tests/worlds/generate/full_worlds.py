"""Full worlds for tests, made once each, and what lies below and above a cell of them."""

from functools import lru_cache

import numpy as np

from worlds.blocks import BLOCK_ID, STATES, build_block_tables
from worlds.generate.biomes import BIOMES
from worlds.generate.land import Land
from worlds.generate.relief import ground_XZ as raise_land
from worlds.generate.sites import Site, choose_sites
from worlds.generate.terrain import generate
from worlds.spec import World, WorldSpec

SEEDS = range(3)
MORE_SEEDS = range(3, 40)
SIZE = (128, 64, 128)
TABLES = build_block_tables()
IS_CUBE = TABLES.collision.is_cube_S
IS_FLUID = TABLES.fluid_S > 0
STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}


@lru_cache(maxsize=64)
def world(biome: str, seed: int) -> World:
    return generate(WorldSpec(seed=seed, biome=biome, size_blocks=SIZE))


def sites(biome: str, seed: int) -> tuple[list[Site], np.ndarray]:
    """Return the structures of a world and which columns are reserved for what."""
    land = Land(WorldSpec(seed=seed, biome=biome, size_blocks=SIZE), BIOMES[biome])
    height_XZ = raise_land(land)
    reserved_XZ = np.zeros(height_XZ.shape, np.uint8)
    return choose_sites(land, height_XZ, reserved_XZ), reserved_XZ


def below(block_XZY: np.ndarray) -> np.ndarray:
    under = np.roll(block_XZY, 1, axis=2)
    under[..., 0] = BLOCK_ID["bedrock"]
    return under


def above(block_XZY: np.ndarray) -> np.ndarray:
    over = np.roll(block_XZY, -1, axis=2)
    over[..., -1] = 0
    return over


def names(block_XZY: np.ndarray, is_bad_XZY: np.ndarray) -> dict[str, list[int]]:
    """Return the first place of every kind of offender, for the message of a failed test."""
    return {STATES[block_XZY[x, z, y]].name: [int(x), int(y), int(z)] for x, z, y in np.argwhere(is_bad_XZY)}


def unheld(block_XZY: np.ndarray) -> np.ndarray:
    """Return bool [X, Z, Y]: torches, ladders and vines without a wall behind them."""
    is_bad = np.zeros(block_XZY.shape, bool)
    for index, state in enumerate(STATES):
        if state.kind.name not in ("wall_torch", "ladder", "vine") or not (block_XZY == index).any():
            continue
        # It faces away from its wall.
        wall_XZY = np.roll(block_XZY, STEPS[dict(state.properties)["facing"]], axis=(0, 1))
        is_held = IS_CUBE[wall_XZY]
        if state.kind.name == "vine":
            is_held |= above(block_XZY) == index
        is_bad |= (block_XZY == index) & ~is_held
    return is_bad
