"""Engines whose worlds hold things instead of blocks: which worlds they have, and which things can be put there.

A thing's kind carries the engine's name, "vizdoom:green_armor", since it is none of our blocks.
"""

from dataclasses import dataclass

from worlds.adapters.engines.doom_wad import THINGS
from worlds.adapters.engines.miniworld_things import KINDS
from worlds.spec import MAX_SEED, WorldSpec

# Of all their boxes, so that one backend plays tasks of every source.
SIZE_BLOCKS = (128, 64, 128)


@dataclass(frozen=True, kw_only=True, slots=True)
class ThingWorlds:
    """Worlds of one source."""

    source: str
    """As in WorldSpec.source; the part before the colon is the engine's name."""
    weight: float
    """Share of an engine's tasks that are made in these worlds, before splits."""
    num_seeds: int
    """Seeds from 0 that give different worlds; more would be other names of these, which may be of other splits."""
    origin_blocks: tuple[int, int, int]
    """Lowest cell of the box of their worlds that tasks are made in."""
    kinds: tuple[str, ...]
    """Of the things that can be placed, as in Placement.kind."""

    def spec(self, seed: int) -> WorldSpec:
        """Return the world of a seed."""
        return WorldSpec(seed=seed, source=self.source, origin_blocks=self.origin_blocks, size_blocks=SIZE_BLOCKS)


_DOOM_KINDS = tuple(f"vizdoom:{name}" for name in THINGS)
# Rooms begin at the engine's (0, 0, 0) with their floor at y = 0; a margin shows that nothing is beyond.
_ROOMS_ORIGIN = (-8, -8, -8)
_CENTRED = (-64, -32, -64)

THING_WORLDS: dict[str, tuple[ThingWorlds, ...]] = {
    "vizdoom": (
        ThingWorlds(
            source="vizdoom:rooms",
            weight=0.6,
            num_seeds=MAX_SEED + 1,
            origin_blocks=_ROOMS_ORIGIN,
            kinds=_DOOM_KINDS,
        ),
        ThingWorlds(source="vizdoom:freedoom2", weight=0.3, num_seeds=32, origin_blocks=_CENTRED, kinds=_DOOM_KINDS),
        ThingWorlds(source="vizdoom:my_way_home", weight=0.1, num_seeds=1, origin_blocks=_CENTRED, kinds=_DOOM_KINDS),
    ),
    "miniworld": (
        ThingWorlds(
            source="miniworld:rooms",
            weight=1.0,
            num_seeds=MAX_SEED + 1,
            origin_blocks=_ROOMS_ORIGIN,
            kinds=tuple(f"miniworld:{name}" for name in KINDS),
        ),
    ),
}

NUM_SEEDS = {each.source: each.num_seeds for worlds in THING_WORLDS.values() for each in worlds}
# All of them, which a task may name beside our own blocks.
THING_KINDS = frozenset(kind for worlds in THING_WORLDS.values() for each in worlds for kind in each.kinds)
