"""Full worlds: nothing floats and nothing is cut in half."""

import sys
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tests.worlds.generate.full_worlds import (
    IS_CUBE,
    IS_FLUID,
    MORE_SEEDS,
    SEEDS,
    TABLES,
    below,
    names,
    sites,
    unheld,
    world,
)
from worlds.blocks import BLOCK_ID, STATES
from worlds.generate.biomes import BIOMES
from worlds.generate.palette import kind_mask
from worlds.generate.sites import BUILT


@pytest.mark.parametrize("biome", BIOMES)
def test_what_needs_a_floor_has_one(biome: str) -> None:
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        floor_XZY = below(block_XZY)
        is_stacked = TABLES.kind_S[floor_XZY] == TABLES.kind_S[block_XZY]
        is_bad = TABLES.needs_floor_S[block_XZY] & ~TABLES.is_solid_S[floor_XZY] & ~is_stacked
        assert not is_bad.any(), (seed, names(block_XZY, is_bad))


@pytest.mark.parametrize("biome", BIOMES)
def test_every_half_has_its_other_half(biome: str) -> None:
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        size_x, size_z, _ = block_XZY.shape
        x, z, y = np.nonzero(TABLES.pair_S3.any(axis=1)[block_XZY])
        state = block_XZY[x, z, y]
        step = TABLES.pair_S3[state]
        other = block_XZY[(x + step[:, 0]) % size_x, (z + step[:, 2]) % size_z, y + step[:, 1]]
        assert (other == TABLES.pair_state_S[state]).all(), seed


@pytest.mark.parametrize("biome", BIOMES)
def test_plants_stand_on_their_soil(biome: str) -> None:
    dirt = kind_mask("grass_block", "dirt", "podzol", "coarse_dirt", "mycelium", "farmland", "snowy_grass_block")
    sand = kind_mask("sand", "red_sand", "terracotta", "coarse_dirt")
    soil_of = {
        ("dandelion", "poppy", "allium", "tall_grass", "rose_bush", "lilac", "fern", "grass", "oak_sapling"): dirt,
        ("wheat",): kind_mask("farmland"),
        ("dead_bush",): sand,
        ("cactus",): kind_mask("sand", "red_sand", "cactus"),
        ("sugar_cane",): dirt | sand | kind_mask("sugar_cane"),
        ("lily_pad",): kind_mask("water", "seagrass"),
    }
    is_upper = np.array([dict(state.properties).get("half") == "upper" for state in STATES])
    soil_rows = [(kind_mask(*plants) & ~is_upper, soil) for plants, soil in soil_of.items()]
    is_plant = np.any([mask for mask, _ in soil_rows], axis=0)
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        x, z, y = np.nonzero(is_plant[block_XZY])
        plant, floor = block_XZY[x, z, y], block_XZY[x, z, y - 1]
        for mask, soil in soil_rows:
            assert soil[floor[mask[plant]]].all(), (seed, STATES[int(np.argmax(mask))].name)


@pytest.mark.parametrize("biome", BIOMES)
def test_what_hangs_on_a_wall_has_a_wall(biome: str) -> None:
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        assert not unheld(block_XZY).any(), (seed, names(block_XZY, unheld(block_XZY)))


@pytest.mark.parametrize("biome", BIOMES)
def test_snow_lies_only_on_top(biome: str) -> None:
    is_snow = kind_mask("snow")
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        is_anything_above = np.cumsum((block_XZY != 0)[..., ::-1], axis=2)[..., ::-1] > 1
        assert not (is_snow[block_XZY] & is_anything_above).any()


@pytest.mark.parametrize("biome", BIOMES)
def test_fluids_stand_still(biome: str) -> None:
    # Fluids of this engine do not flow: none may border on air at its side or below.
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        is_fluid_XZY, is_air_XZY = IS_FLUID[block_XZY], block_XZY == 0
        is_open = below(block_XZY) == 0
        for axis in (0, 1):
            for shift in (-1, 1):
                is_open |= np.roll(is_air_XZY, shift, axis)
        assert not (is_fluid_XZY & is_open).any(), (seed, names(block_XZY, is_fluid_XZY & is_open))


@pytest.mark.parametrize("biome", BIOMES)
def test_ground_is_the_highest_terrain_block(biome: str) -> None:
    soils = kind_mask(
        "grass_block", "snowy_grass_block", "mycelium", "podzol", "sand", "red_sand", "sandstone", "bedrock"
    )  # fmt: skip
    walkable = IS_CUBE | kind_mask("farmland", "grass_path")
    for seed in SEEDS:
        made = world(biome, seed)
        ground_block_XZ = np.take_along_axis(made.block_XZY, made.ground_XZ[..., None].astype(int), 2)[..., 0]
        assert walkable[ground_block_XZ].all()
        y_Y = np.arange(made.block_XZY.shape[2])
        is_above_XZY = (y_Y > made.ground_XZ[..., None]) & ~_built_XZ(biome, seed)[..., None]
        is_bad = soils[made.block_XZY] & is_above_XZY & ~kind_mask(*BIOMES[biome].boulders)[made.block_XZY]
        assert not is_bad.any(), (seed, names(made.block_XZY, is_bad))
        assert (made.block_XZY[..., 0] == BLOCK_ID["bedrock"]).all()
        assert (made.block_XZY[..., -1] == 0).all()


@cache
def _built_XZ(biome: str, seed: int) -> np.ndarray:
    return sites(biome, seed)[1] == BUILT


@pytest.mark.slow
@pytest.mark.parametrize("biome", BIOMES)
@pytest.mark.parametrize(
    "claim",
    [
        test_what_needs_a_floor_has_one,
        test_every_half_has_its_other_half,
        test_plants_stand_on_their_soil,
        test_what_hangs_on_a_wall_has_a_wall,
        test_snow_lies_only_on_top,
        test_fluids_stand_still,
        test_ground_is_the_highest_terrain_block,
    ],
)
def test_the_same_holds_for_many_more_seeds(
    claim: Callable[[str], None], biome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SEEDS", MORE_SEEDS)
    claim(biome)
