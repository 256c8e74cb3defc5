"""Claims about the search for one walk: it agrees with the search for all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_synthesis.placement.reachability import UNREACHED, walk_costs
from task_synthesis.placement.targets import footing_table
from task_synthesis.placement.walk_search import NO_WALK, TOO_FAR, WalkSearch
from tests.task_synthesis.placement.test_reachability import FLUID, OUTLINE, SIDE, TARGET, bumpy_world
from worlds.blocks import BLOCK_ID, state_of

SHAPE = (SIDE, SIDE, 64)


def stepped_world(seed: int) -> np.ndarray:
    """A bumpy world with slabs to jump from, ledges to drop from and a river to walk around."""
    block_XZY = bumpy_world(seed)
    rng = np.random.default_rng([seed, 1])
    for _ in range(60):
        x, z = rng.integers(0, SIDE, 2)
        if max(abs(x - TARGET[0]), abs(z - TARGET[2])) > 2:
            block_XZY[x, z, 21] = state_of("oak_slab") if rng.random() < 0.5 else BLOCK_ID["oak_planks"]
            block_XZY[x, z, 24] = BLOCK_ID["oak_planks"]  # a ceiling, and a place to stand out of reach
    x = int(rng.integers(3, 12))
    block_XZY[x : x + 2, : int(rng.integers(10, SIDE)), 18:23] = BLOCK_ID["water"]
    return block_XZY


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**31), max_cost=st.sampled_from([40, 150, 260, 5000]))
def test_every_walk_costs_what_the_search_for_all_walks_says(seed, max_cost):
    block_XZY, cost_XZY = stepped_world(seed), np.empty(SHAPE, np.uint16)
    walk_costs(block_XZY, OUTLINE, footing_table(), FLUID, *TARGET, max_cost, cost_XZY)
    search = WalkSearch(SHAPE, outline=OUTLINE, footing_S=footing_table(), is_fluid_S=FLUID)
    rng = np.random.default_rng(seed)
    reached = np.argwhere(cost_XZY != UNREACHED)
    for x, z, y in rng.permutation(reached)[:60].tolist():
        assert search.cost(block_XZY, TARGET, (x, y, z), max_cost=max_cost) == cost_XZY[x, z, y]
    for x, z in rng.integers(0, SIDE, (30, 2)).tolist():
        if (cost_XZY[x, z] == UNREACHED).all():
            assert search.cost(block_XZY, TARGET, (x, 21, z), max_cost=max_cost) in (TOO_FAR, NO_WALK)


@pytest.mark.parametrize(("max_cost", "found"), [(5000, NO_WALK), (30, TOO_FAR)])
def test_a_walk_that_cannot_be_is_told_from_one_that_is_too_long(max_cost, found):
    block_XZY = bumpy_world(0)
    x, y, z = TARGET
    for dx, dz in np.ndindex(9, 9):
        if max(abs(dx - 4), abs(dz - 4)) == 4:
            block_XZY[x + dx - 4, z + dz - 4, y : y + 5] = BLOCK_ID["stone"]
    search = WalkSearch(SHAPE, outline=OUTLINE, footing_S=footing_table(), is_fluid_S=FLUID)
    assert search.cost(block_XZY, TARGET, (1, 21, 1), max_cost=max_cost) == found
