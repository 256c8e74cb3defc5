"""Which worlds tasks are drawn in: an endless stream of the worlds of one split."""

from collections.abc import Iterator

import numpy as np

from task_synthesis.synthesis_config import SynthesisConfig
from worlds.spec import MAX_SEED, SPLITS, Split, WorldSpec, split_of


def world_seeds(split: Split, seed: int, *, source: str = "generated") -> Iterator[int]:
    """Yield distinct world seeds of one split of a source's worlds, in an order that depends on `seed` only."""
    if split not in SPLITS:
        raise ValueError(f"split {split!r} is unknown; choose one of {', '.join(SPLITS)}")
    rng = np.random.default_rng([seed, SPLITS.index(split)])
    seen = set()
    while True:
        candidate = int(rng.integers(0, MAX_SEED + 1))
        if candidate not in seen and split_of(source, candidate) == split:
            seen.add(candidate)
            yield candidate


def generated_worlds(config: SynthesisConfig, *, split: Split, seed: int) -> Iterator[WorldSpec]:
    """Yield generated worlds of one split as `config` asks for them, each of a biome drawn by its own seed."""
    side, biomes = config.side_blocks, config.biomes
    for world_seed in world_seeds(split, seed):
        biome = biomes[np.random.default_rng([seed, world_seed]).integers(len(biomes))]
        yield WorldSpec(seed=world_seed, biome=biome, size_blocks=(side, 64, side), detail=config.detail)
