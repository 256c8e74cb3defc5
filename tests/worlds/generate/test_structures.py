"""Structures and caves of full worlds: sound, on level land, and to be walked to."""

import numpy as np
import pytest
from scipy import ndimage

from tests.worlds.generate.full_worlds import (
    IS_CUBE,
    IS_FLUID,
    SIZE,
    STEPS,
    TABLES,
    above,
    below,
    names,
    sites,
    unheld,
    world,
)
from worlds.blocks import BLOCK_ID, BLOCKS, NUM_STATES
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.biomes import BIOMES
from worlds.generate.buildings import BUILDINGS, NUM_VARIANTS, blueprint
from worlds.generate.palette import kind_mask, turned_states
from worlds.generate.sites import BUILT
from worlds.generate.style import STYLES
from worlds.spec import World


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
