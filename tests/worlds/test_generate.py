"""World generation: same spec same bytes, no seam, layers as promised.

After a wanted change: raise worlds.spec.GENERATOR_VERSION, then run `python tests/worlds/test_generate.py`.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from worlds.blocks import BLOCK_ID, BLOCKS
from worlds.generate.biomes import BIOMES, SEA_LEVEL
from worlds.generate.noise import hash_unit, periodic_noise_XZ
from worlds.generate.terrain import generate
from worlds.spec import World, WorldSpec

GOLDEN = Path(__file__).parents[1] / "golden" / "worlds.json"
SEEDS = range(8)
SMALL = (64, 64, 64)


@cache
def world(biome: str, seed: int, size_blocks: tuple[int, int, int] = SMALL) -> World:
    return generate(WorldSpec(seed=seed, biome=biome, size_blocks=size_blocks))


def sha256(made: World) -> str:
    return hashlib.sha256(made.block_XZY.tobytes() + made.ground_XZ.tobytes()).hexdigest()


def golden_hashes() -> dict[str, str]:
    return {biome: sha256(world(biome, 12)) for biome in BIOMES}


def ids(*names: str) -> list[int]:
    return [BLOCK_ID[name] for name in names]


# What may stand on or over the terrain without being part of it.
PLANTS = ids(*(kind.name for kind in BLOCKS if kind.name.endswith(("_log", "_leaves"))), "cactus")
ORES = ids(*(kind.name for kind in BLOCKS if kind.name.endswith("_ore")))
BOULDERS = ids("stone", "cobblestone", "mossy_cobblestone", "andesite", "sandstone") + ORES


@pytest.mark.parametrize("biome", BIOMES)
def test_same_spec_gives_the_same_bytes(biome: str) -> None:
    again = generate(WorldSpec(seed=3, biome=biome, size_blocks=SMALL))
    assert sha256(again) == sha256(world(biome, 3))


@pytest.mark.parametrize("biome", BIOMES)
def test_different_seeds_give_different_land(biome: str) -> None:
    lands = [world(biome, seed).ground_XZ for seed in SEEDS]
    assert all((a != b).mean() > 0.5 for i, a in enumerate(lands) for b in lands[:i])


def test_biomes_of_one_seed_do_not_share_their_hills() -> None:
    plains, forest = (world(biome, 3).ground_XZ.astype(float).ravel() for biome in ("plains", "forest"))
    assert abs(np.corrcoef(plains, forest)[0, 1]) < 0.6


@pytest.mark.parametrize("biome", BIOMES)
def test_worlds_match_their_golden_hashes(biome: str) -> None:
    assert sha256(world(biome, 12)) == json.loads(GOLDEN.read_text())[biome]


@pytest.mark.parametrize("size_blocks", [(64, 64, 64), (128, 64, 32)])
@pytest.mark.parametrize("biome", BIOMES)
def test_the_torus_has_no_seam(biome: str, size_blocks: tuple[int, int, int]) -> None:
    for axis in (0, 1):
        # Mean step over all seeds between each row and the next; the last entry is the step across the border.
        step_N = np.zeros(size_blocks[2 * axis])
        for seed in SEEDS:
            ground_XZ = world(biome, seed, size_blocks).ground_XZ.astype(int)
            step_N += np.abs(np.roll(ground_XZ, -1, axis) - ground_XZ).mean(axis=1 - axis) / len(SEEDS)
        assert step_N[-1] <= 1.2 * step_N[:-1].max()


def test_trees_grow_across_the_border() -> None:
    border_has_leaves = [
        np.isin(world("forest", seed).block_XZY[0], PLANTS).any()
        and np.isin(world("forest", seed).block_XZY[-1], PLANTS).any()
        for seed in SEEDS
    ]
    assert sum(border_has_leaves) >= len(SEEDS) - 2


@pytest.mark.parametrize("biome", BIOMES)
def test_ground_is_the_highest_terrain_block(biome: str) -> None:
    for seed in SEEDS:
        made = world(biome, seed)
        y_Y = np.arange(made.block_XZY.shape[2])
        is_above_XZY = y_Y > made.ground_XZ[..., None]
        ground_block_XZ = np.take_along_axis(made.block_XZY, made.ground_XZ[..., None].astype(int), 2)[..., 0]
        assert not np.isin(ground_block_XZ, [0, *PLANTS, *ids("water", "ice")]).any()
        assert np.isin(made.block_XZY[is_above_XZY], [0, *PLANTS, *BOULDERS, *ids("water", "ice")]).all()
        assert (made.block_XZY[~is_above_XZY] != 0).all()
        assert (made.block_XZY[..., 0] == BLOCK_ID["bedrock"]).all()


@pytest.mark.parametrize("biome", BIOMES)
def test_water_fills_every_hollow_below_the_sea_and_nothing_else(biome: str) -> None:
    for seed in SEEDS:
        made = world(biome, seed)
        is_wet_XZ = np.isin(made.block_XZY[..., SEA_LEVEL], ids("water", "ice"))
        assert not is_wet_XZ[made.ground_XZ >= SEA_LEVEL].any()
        assert (is_wet_XZ | (made.block_XZY[..., SEA_LEVEL] != 0))[made.ground_XZ < SEA_LEVEL].all()
        assert not np.isin(made.block_XZY[..., SEA_LEVEL + 1 :], ids("water", "ice")).any()


@pytest.mark.parametrize("biome", BIOMES)
def test_most_steps_can_be_walked(biome: str) -> None:
    for seed in SEEDS:
        ground_XZ = world(biome, seed, (128, 64, 128)).ground_XZ.astype(int)
        for axis in (0, 1):
            assert (np.abs(np.roll(ground_XZ, 1, axis) - ground_XZ) <= 1).mean() > 0.9


@pytest.mark.parametrize(
    ("biome", "plants"),
    [
        ("plains", ("oak_log", "oak_leaves")),
        ("forest", ("oak_log", "oak_leaves", "birch_log", "birch_leaves")),
        ("desert", ("cactus", "sand", "sandstone")),
        ("snowy_hills", ("spruce_log", "spruce_leaves", "snow_block", "ice")),
    ],
)
def test_each_biome_holds_its_plants_water_and_ores(biome: str, plants: tuple[str, ...]) -> None:
    count_K = sum(np.bincount(world(biome, seed).block_XZY.ravel(), minlength=len(BLOCKS)) for seed in SEEDS)
    missing = [name for name in (*plants, "water", "coal_ore", "iron_ore") if count_K[BLOCK_ID[name]] == 0]
    assert not missing


@pytest.mark.parametrize("biome", BIOMES)
def test_ores_are_in_view(biome: str) -> None:
    num_seen = 0
    for seed in SEEDS:
        block_XZY = world(biome, seed).block_XZY
        is_air = block_XZY == 0
        touches_air = sum(np.roll(is_air, shift, axis) for axis in (0, 1) for shift in (-1, 1)).astype(bool)
        touches_air[..., :-1] |= is_air[..., 1:]
        num_seen += (np.isin(block_XZY, ORES) & touches_air).sum()
    assert num_seen >= 5 * len(SEEDS)


def test_every_trunk_stands_on_the_ground() -> None:
    for biome in BIOMES:
        made = world(biome, 5)
        is_trunk = np.isin(made.block_XZY, ids("oak_log", "birch_log", "spruce_log", "cactus"))
        below = np.roll(made.block_XZY, 1, axis=2)
        x, z, y = np.nonzero(is_trunk & ~np.roll(is_trunk, 1, axis=2))
        assert (y == made.ground_XZ[x, z] + 1).all()
        assert np.isin(below[x, z, y], ids("dirt", "sand")).all()


def test_tree_density_and_hilliness_vary_with_the_seed() -> None:
    trunks = [np.isin(world("forest", seed).block_XZY, ids("oak_log", "birch_log")).sum() for seed in SEEDS]
    relief = [world("plains", seed).ground_XZ.std() for seed in SEEDS]
    assert max(trunks) > 1.5 * min(trunks)
    assert max(relief) > 1.5 * min(relief)


def test_unknown_biome_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(ValueError, match="'moon' is unknown; choose one of .*'plains'"):
        generate(WorldSpec(seed=0, biome="moon"))


def test_noise_goes_on_smoothly_across_the_border() -> None:
    noise_XZ = periodic_noise_XZ(np.uint64(5), 64, 128, 16.0)
    for axis in (0, 1):
        step_XZ = np.abs(np.roll(noise_XZ, -1, axis) - noise_XZ)
        assert step_XZ.take(-1, axis).max() <= step_XZ.max() < 0.3


def test_hash_numbers_are_uniform() -> None:
    drawn = np.array([hash_unit(np.uint64(9), a, b, 0) for a in range(50) for b in range(50)])
    counts = np.histogram(drawn, bins=10, range=(0, 1))[0]
    assert counts.min() > 200
    assert counts.max() < 300


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden_hashes(), indent=1) + "\n")
