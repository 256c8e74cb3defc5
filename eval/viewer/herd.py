"""Animals for a world that has none: placed ones, since a task holds no others."""

import numpy as np

from task_synthesis.placement.sites import Sites
from worlds.generate.biomes import BIOMES
from worlds.spec import MAX_OBJECTS, Placement, World
from worlds.types import Pose

MOST_ANIMALS = MAX_OBJECTS - 4
"""So that there is room for a target and a few things beside it."""
_RANGE_BLOCKS = (4, 20)  # from the agent, along x and z
_TRIES_PER_ANIMAL = 24


def herd(world: World, start: Pose, num_animals: int, *, seed: int) -> tuple[Placement, ...]:
    """Return up to `num_animals` of the biome's animals on level ground around the start; fewer where none is.

    Raises:
        ValueError: the number is out of range.
    """
    if not 0 <= num_animals <= MOST_ANIMALS:
        raise ValueError(f"world: 0 to {MOST_ANIMALS} animals can be put there, got {num_animals}")
    mix = BIOMES[world.spec.biome].mobs
    if not mix or not num_animals:
        return ()
    rng, sites = np.random.default_rng(seed), Sites()
    weight_N = np.array([weight for _, weight in mix])
    found: list[Placement] = []
    for _ in range(_TRIES_PER_ANIMAL * num_animals):
        kind = mix[rng.choice(len(mix), p=weight_N / weight_N.sum())][0]
        step_2 = rng.integers(_RANGE_BLOCKS[0], _RANGE_BLOCKS[1] + 1, 2) * rng.choice((-1, 1), 2)
        placed = sites.place(rng, world, kind, int(start.x) + int(step_2[0]), int(start.z) + int(step_2[1]))
        if placed is not None and all(placed.position != other.position for other in found):
            found.append(placed)
        if len(found) == num_animals:
            break
    return tuple(found)
