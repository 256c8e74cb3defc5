"""Full worlds: nothing floats, nothing is cut in half, caves and structures can be walked to."""

import sys
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import pytest
from scipy import ndimage

from worlds.blocks import BLOCK_ID, BLOCKS, NUM_STATES, STATES, build_block_tables
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.biomes import BIOMES
from worlds.generate.buildings import BUILDINGS, NUM_VARIANTS, blueprint
from worlds.generate.land import Land
from worlds.generate.palette import kind_mask, turned_states
from worlds.generate.relief import ground_XZ as raise_land
from worlds.generate.sites import BUILT, Site, choose_sites
from worlds.generate.style import STYLES
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


@pytest.mark.parametrize("biome", BIOMES)
def test_structures_are_in_some_worlds_and_on_dry_level_land(biome: str) -> None:
    counts = []
    for seed in range(12):
        found, reserved_XZ = sites(biome, seed)
        counts.append(len(found))
        assert all(site.level >= SEA_LEVEL for site in found)
        assert (reserved_XZ == BUILT).sum() == sum(site.plan.block_XZY[..., 0].size for site in found)
    assert max(counts) <= 4
    assert len(set(counts)) >= 3


def _walked(made: World, start_xzy: tuple[int, int, int]) -> np.ndarray:
    """Return bool [X, Z, Y]: where a body's feet can get from a cell by steps of one up and three down."""
    # Doors and gates can be opened.
    is_free = ~TABLES.is_solid_S | kind_mask(*(kind.name for kind in BLOCKS if kind.shape in ("door", "gate")))
    free_XZY = is_free[made.block_XZY] & (TABLES.fluid_S[made.block_XZY] != 2)
    stands_XZY = free_XZY & above(free_XZY.astype(np.uint8)).astype(bool) & ~free_XZY[..., :1]
    stands_XZY[..., 1:] = free_XZY[..., 1:] & above(free_XZY.astype(np.uint8)).astype(bool)[..., 1:]
    firm_XZY = np.roll(~free_XZY | IS_FLUID[made.block_XZY], 1, axis=2)
    stands_XZY &= firm_XZY | IS_FLUID[made.block_XZY]
    reached = np.zeros_like(stands_XZY)
    reached[start_xzy] = True
    size_x, size_z, size_y = reached.shape
    front = [start_xzy]
    while front:
        x, z, y = front.pop()
        for step_x, step_z in STEPS.values():
            x_in, z_in = (x + step_x) % size_x, (z + step_z) % size_z
            for rise in (1, 0, -1, -2, -3):
                y_in = y + rise
                if 0 < y_in < size_y - 2 and stands_XZY[x_in, z_in, y_in] and not reached[x_in, z_in, y_in]:
                    reached[x_in, z_in, y_in] = True
                    front.append((x_in, z_in, y_in))
    return reached


def _surface(made: World) -> tuple[int, int, int]:
    """Return a dry cell on the land, away from structures."""
    is_dry_XZ = (made.ground_XZ >= SEA_LEVEL) & (
        np.take_along_axis(made.block_XZY, made.ground_XZ[..., None].astype(int) + 1, 2)[..., 0] == 0
    )
    level = np.median(made.ground_XZ[is_dry_XZ])
    x, z = np.argwhere(is_dry_XZ & (made.ground_XZ == level))[0]
    return int(x), int(z), int(made.ground_XZ[x, z]) + 1


@pytest.mark.parametrize("biome", ["plains", "desert", "mountains", "badlands"])
def test_most_of_every_cave_can_be_walked_to_from_the_surface(biome: str) -> None:
    num_reached = num_standing = 0
    for seed in range(2):
        made = world(biome, seed)
        reached = _walked(made, _surface(made))
        floor = IS_CUBE[below(made.block_XZY)]
        y_Y = np.arange(made.block_XZY.shape[2])
        standing = (made.block_XZY == 0) & (above(made.block_XZY) == 0) & floor & (y_Y < made.ground_XZ[..., None])
        num_standing += standing.sum()
        num_reached += (standing & reached).sum()
    assert num_standing > 200
    assert num_reached > 0.7 * num_standing


@pytest.mark.parametrize("biome", ["plains", "taiga", "desert"])
def test_structures_can_be_walked_to(biome: str) -> None:
    num_reached = num_sites = 0
    for seed in range(5):
        made = world(biome, seed)
        found, _ = sites(biome, seed)
        if not found:
            continue
        reached = _walked(made, _surface(made))
        for site in found:
            x, z = site.front_xz[0] % SIZE[0], site.front_xz[1] % SIZE[2]
            num_reached += reached[x, z, int(made.ground_XZ[x, z]) : int(made.ground_XZ[x, z]) + 4].any()
            num_sites += 1
    assert num_sites >= 4
    assert num_reached >= 0.85 * num_sites


@pytest.mark.parametrize("name", BUILDINGS)
def test_every_structure_is_sound_in_every_style(name: str) -> None:
    for wood in STYLES:
        for variant in range(NUM_VARIANTS):
            for quarters in range(4):
                plan = blueprint(name, wood, variant, quarters)
                # On level ground of dirt.
                drawn = np.full(plan.block_XZY.shape, BLOCK_ID["dirt"])
                drawn[..., plan.depth + 1 :] = 0
                drawn = np.where(plan.block_XZY >= 0, plan.block_XZY, drawn)
                floor = below(drawn)
                is_bad = TABLES.needs_floor_S[drawn] & ~TABLES.is_solid_S[floor]
                is_bad |= unheld(drawn)
                assert not is_bad.any(), (wood, variant, names(drawn, is_bad))
                for x, z, y in np.argwhere(TABLES.pair_S3.any(axis=1)[drawn]):
                    step = TABLES.pair_S3[drawn[x, z, y]]
                    other = drawn[x + step[0], z + step[2], y + step[1]]
                    assert other == TABLES.pair_state_S[drawn[x, z, y]]


@pytest.mark.parametrize("name", BUILDINGS)
def test_no_part_of_a_structure_floats(name: str) -> None:
    for variant in range(NUM_VARIANTS):
        plan = blueprint(name, "oak", variant, 0)
        drawn = np.full(plan.block_XZY.shape, BLOCK_ID["dirt"])
        drawn[..., plan.depth + 1 :] = 0
        drawn = np.where(plan.block_XZY >= 0, plan.block_XZY, drawn)
        # Slabs and stairs of a roof touch at edges: 18 neighbours.
        label, _ = ndimage.label(drawn != 0, ndimage.generate_binary_structure(3, 2))
        assert (label[drawn != 0] == label[0, 0, 0]).all(), variant


def test_four_turns_of_a_state_are_none() -> None:
    turned = np.arange(NUM_STATES)
    for _ in range(4):
        turned = turned_states()[turned]
    assert (turned == np.arange(NUM_STATES)).all()


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
