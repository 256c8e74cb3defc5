"""World generation: same spec same bytes, no seam, layers as promised in plain worlds.

After a wanted change: raise worlds.spec.GENERATOR_VERSION, then run `python -m tests.worlds.generate.test_generate`.
"""

import hashlib
import json
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from worlds.blocks import BLOCK_ID, BLOCKS, NUM_STATES, STATES
from worlds.generate.biomes import BIOMES, SEA_LEVEL
from worlds.generate.noise import hash_unit, periodic_noise_XZ
from worlds.generate.palette import kind_mask
from worlds.generate.terrain import generate
from worlds.spec import Detail, World, WorldSpec

GOLDEN = Path(__file__).parents[2] / "golden" / "worlds.json"
SEEDS = range(8)
SMALL = (64, 64, 64)
FIRST_BIOMES = ("plains", "forest", "desert", "snowy_hills")


@cache
def world(biome: str, seed: int, size_blocks: tuple[int, int, int] = SMALL, detail: Detail = "plain") -> World:
    return generate(WorldSpec(seed=seed, biome=biome, size_blocks=size_blocks, detail=detail))


def sha256(made: World) -> str:
    return hashlib.sha256(made.block_XZY.tobytes() + made.ground_XZ.tobytes()).hexdigest()


# Full worlds hold states whose ids move when a kind is added: their hash is one of the names.
NAME_HASH = np.array([zlib.crc32(state.name.encode()) for state in STATES], np.uint32)


def sha256_of_names(made: World) -> str:
    return hashlib.sha256(NAME_HASH[made.block_XZY].tobytes() + made.ground_XZ.tobytes()).hexdigest()


def golden_hashes() -> dict[str, str]:
    plain = {biome: sha256(world(biome, 12)) for biome in FIRST_BIOMES}
    return plain | {f"{biome} full": sha256_of_names(world(biome, 12, SMALL, "full")) for biome in BIOMES}


def ids(*names: str) -> list[int]:
    return [BLOCK_ID[name] for name in names]


# What may stand on or over the terrain of the first biomes without being part of it.
PLANTS = ids(*(kind.name for kind in BLOCKS if kind.name.endswith(("_log", "_leaves"))), "cactus")
ORES = ids(*(kind.name for kind in BLOCKS if kind.name.endswith("_ore")))
BOULDERS = ids("stone", "cobblestone", "mossy_cobblestone", "andesite", "sandstone") + ORES


@pytest.mark.parametrize("detail", ["plain", "full"])
@pytest.mark.parametrize("biome", BIOMES)
def test_same_spec_gives_the_same_bytes(biome: str, detail: Detail) -> None:
    again = generate(WorldSpec(seed=3, biome=biome, size_blocks=SMALL, detail=detail))
    assert sha256(again) == sha256(world(biome, 3, SMALL, detail))


@pytest.mark.parametrize("biome", BIOMES)
def test_different_seeds_give_different_land(biome: str) -> None:
    lands = [world(biome, seed).ground_XZ for seed in SEEDS]
    assert all((a != b).mean() > 0.4 for i, a in enumerate(lands) for b in lands[:i])


def test_biomes_of_one_seed_do_not_share_their_hills() -> None:
    plains, forest = (world(biome, 3).ground_XZ.astype(float).ravel() for biome in ("plains", "forest"))
    assert abs(np.corrcoef(plains, forest)[0, 1]) < 0.6


@pytest.mark.parametrize("biome", FIRST_BIOMES)
def test_plain_worlds_are_those_that_agents_were_trained_on(biome: str) -> None:
    assert sha256(world(biome, 12)) == json.loads(GOLDEN.read_text())[biome]


@pytest.mark.parametrize("biome", BIOMES)
def test_full_worlds_match_their_golden_hashes(biome: str) -> None:
    assert sha256_of_names(world(biome, 12, SMALL, "full")) == json.loads(GOLDEN.read_text())[f"{biome} full"]


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


@pytest.mark.parametrize("biome", BIOMES)
def test_every_size_can_be_made(biome: str) -> None:
    for size_blocks in ((32, 64, 32), (32, 64, 256)):
        made = world(biome, 1, size_blocks, "full")
        assert made.block_XZY.shape == (size_blocks[0], size_blocks[2], 64)


def test_trees_grow_across_the_border() -> None:
    border_has_leaves = [
        np.isin(world("forest", seed).block_XZY[0], PLANTS).any()
        and np.isin(world("forest", seed).block_XZY[-1], PLANTS).any()
        for seed in SEEDS
    ]
    assert sum(border_has_leaves) >= len(SEEDS) - 2


@pytest.mark.parametrize("biome", FIRST_BIOMES)
def test_ground_is_the_highest_block_of_plain_terrain(biome: str) -> None:
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


@pytest.mark.parametrize("detail", ["plain", "full"])
@pytest.mark.parametrize("biome", BIOMES)
def test_most_steps_can_be_walked(biome: str, detail: Detail) -> None:
    # Mountains are meant to be steep.
    least = 0.7 if biome == "mountains" else 0.9
    for seed in SEEDS[:3]:
        ground_XZ = world(biome, seed, (128, 64, 128), detail).ground_XZ.astype(int)
        for axis in (0, 1):
            assert (np.abs(np.roll(ground_XZ, 1, axis) - ground_XZ) <= 1).mean() > least


@pytest.mark.parametrize(
    ("biome", "parts"),
    [
        ("plains", ("oak_log", "oak_leaves", "grass", "poppy", "dandelion")),
        ("forest", ("oak_log", "oak_leaves", "birch_log", "birch_leaves", "lilac", "rose_bush")),
        ("birch_forest", ("birch_log", "birch_leaves", "lily_of_the_valley")),
        ("dark_forest", ("dark_oak_log", "dark_oak_leaves", "red_mushroom_block", "brown_mushroom_block", "podzol")),
        ("flower_forest", ("allium", "red_tulip", "cornflower", "azure_bluet", "oxeye_daisy")),
        ("swamp", ("lily_pad", "vine", "blue_orchid", "seagrass")),
        ("beach", ("sand", "sugar_cane", "seagrass")),
        ("mushroom_fields", ("mycelium", "mushroom_stem", "red_mushroom", "brown_mushroom")),
        ("desert", ("cactus", "sand", "sandstone", "dead_bush")),
        ("savanna", ("acacia_log", "acacia_leaves", "tall_grass", "coarse_dirt")),
        ("jungle", ("jungle_log", "jungle_leaves", "vine", "melon", "large_fern")),
        ("badlands", ("red_sand", "terracotta", "white_terracotta", "red_terracotta", "dead_bush")),
        ("snowy_hills", ("spruce_log", "spruce_leaves", "snow_block", "ice", "snow")),
        ("taiga", ("spruce_log", "podzol", "fern", "sweet_berry_bush", "large_fern")),
        ("mountains", ("snow_block", "stone", "grass_block", "gravel")),
        ("ice_spikes", ("packed_ice", "snow_block", "ice", "snow")),
    ],
)
def test_each_biome_holds_its_own_blocks_and_water_and_ores(biome: str, parts: tuple[str, ...]) -> None:
    worlds = [world(biome, seed, (128, 64, 128), "full") for seed in SEEDS[:3]]
    count_S = sum(np.bincount(made.block_XZY.ravel(), minlength=NUM_STATES) for made in worlds)
    missing = [name for name in (*parts, "water", "coal_ore", "iron_ore") if count_S[kind_mask(name)].sum() == 0]
    assert not missing


def test_every_biome_has_an_example_above() -> None:
    mark = test_each_biome_holds_its_own_blocks_and_water_and_ores.pytestmark[0]  # type: ignore[attr-defined]
    assert {row[0] for row in mark.args[1]} == set(BIOMES)


@pytest.mark.parametrize("detail", ["plain", "full"])
@pytest.mark.parametrize("biome", BIOMES)
def test_ores_are_in_view(biome: str, detail: Detail) -> None:
    num_seen = 0
    for seed in SEEDS[:3]:
        block_XZY = world(biome, seed, (128, 64, 128), detail).block_XZY
        is_air = block_XZY == 0
        touches_air = sum(np.roll(is_air, shift, axis) for axis in (0, 1) for shift in (-1, 1)).astype(bool)
        touches_air[..., :-1] |= is_air[..., 1:]
        num_seen += (np.isin(block_XZY, ORES) & touches_air).sum()
    # Swamps are flat, and the rock of plain badlands is striped down to its caves.
    assert num_seen >= (1 if biome in ("swamp", "badlands") else 15) * 3


def test_coal_lies_high_and_diamonds_lie_deep() -> None:
    height_of = {}
    for name in ("coal_ore", "diamond_ore"):
        rows = [np.nonzero(world("mountains", seed, SMALL, "full").block_XZY == BLOCK_ID[name])[2] for seed in SEEDS]
        height_of[name] = np.concatenate(rows).mean()
    assert height_of["coal_ore"] > height_of["diamond_ore"] + 8


def test_every_trunk_stands_on_the_ground() -> None:
    for biome in FIRST_BIOMES:
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


def test_mobs_of_every_biome_exist() -> None:
    from worlds.mobs.kinds import MOB_ID

    for biome in BIOMES.values():
        assert {name for name, _ in (*biome.mobs, *biome.monsters)} <= set(MOB_ID), biome.name
        assert biome.mobs
        assert biome.monsters


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
