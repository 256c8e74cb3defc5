"""What a world is made from, what an episode puts into it, and which split a world belongs to."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from worlds.types import Pose

Split = Literal["train", "val", "held_out"]
SPLITS: tuple[Split, ...] = ("train", "val", "held_out")
Detail = Literal["plain", "full"]
Weather = Literal["clear", "rain"]

MAX_SEED = 2**31 - 1
GENERATOR_VERSION = 2
ITEM_PREFIX = "item:"  # of a placement that lies on the ground
MAX_OBJECTS = 14  # an object slot is 4 bits of a cell, 0 is "no object", 15 is kept free

# How sources begin whose worlds our generator makes for an engine in a process of its own, see
# worlds.adapters.engines.voxel.
_SERVED_OF_OURS = "voxel"

# A cell of the world is one uint16: the block id in the low 12 bits, the object slot + 1 in the high 4.
BLOCK_BITS = 12
BLOCK_MASK = (1 << BLOCK_BITS) - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldSpec:
    """Everything that decides the terrain, and nothing else."""

    seed: int
    """0 .. 2**31 - 1; its split is `split_of(source, seed)`."""
    biome: str = "plains"
    """A name in worlds.generate.biomes.BIOMES."""
    size_blocks: tuple[int, int, int] = (128, 64, 128)
    """Sides along x, y, z. x and z are powers of two (the world is a torus there), y is 64."""
    detail: Detail = "full"
    """"plain" is terrain, trees and boulders alone; "full" adds plants, caves, structures and more blocks."""
    source: str = "generated"
    """"generated", or "anvil:<sha256>" for a real save, see worlds.anvil."""
    origin_blocks: tuple[int, int, int] = (0, 0, 0)
    """Cell of a real save that becomes (0, 0, 0); zeros for generated worlds."""
    generator_version: int = GENERATOR_VERSION
    """Grows whenever the same seed would give other blocks."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError(f"world.seed must be in [0, {MAX_SEED}], got {self.seed}; choose a seed inside that range")
        x, y, z = self.size_blocks
        if x not in (32, 64, 128, 256) or z not in (32, 64, 128, 256) or y != 64:
            raise ValueError(f"world.size_blocks must be (32|64|128|256, 64, 32|64|128|256), got {self.size_blocks}")
        if not self.source.isascii():
            raise ValueError(f"world.source must be ASCII, got {self.source!r}; it is a word like generated")
        if self.source == "generated" and any(self.origin_blocks):
            raise ValueError(
                f"world.origin_blocks {list(self.origin_blocks)} is for real saves; set it to zeros, or name a save"
            )
        if self.generator_version != GENERATOR_VERSION:
            raise ValueError(
                f"world.generator_version is {self.generator_version}, this build makes {GENERATOR_VERSION}; "
                "regenerate the tasks with `mcrl synth`"
            )


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A generated world, before anything was placed in it. Treat the arrays as read-only: worlds are cached."""

    spec: WorldSpec
    block_XZY: np.ndarray  # uint16 [X, Z, Y], cell = block id (object slots are 0 here), y grows fastest
    ground_XZ: np.ndarray  # int16 [X, Z], y of the highest terrain block (no trees, no water)


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """One object put into the world for an episode; its index is its instance id minus INSTANCE_FIRST_OBJECT."""

    kind: str
    """A block ("gold_block", "oak_door[half=lower,open=true]"; other properties as by default), a mob ("cow") or an
    item on the ground ("item:apple"), without the "minecraft:" prefix."""
    position: tuple[int, int, int]
    """Cell x, y, z in blocks; a mob or an item stands at the centre of its floor."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How the world is drawn; never what happens in it."""

    fov_deg: float = 70.0
    """Vertical field of view."""
    brightness: float = 1.0
    """Multiplies every colour; 1 is noon."""
    time_ticks: int = 6000
    """Time of day as in Minecraft: 0 sunrise, 6000 noon, 12000 sunset, 18000 midnight, below 24000."""
    weather: Weather = "clear"
    fog: float = 1.0
    """Density: 2 brings the fog to half the distance."""
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Palette: multiplies red, green and blue of the terrain, each in [0.5, 1.5]."""
    textures: str = "own"
    """Texture set: "own", "own:<n>" for a recoloured variant n of it, or "pack:<sha256>" of a loaded resource pack."""

    def __post_init__(self) -> None:
        if not 20.0 <= self.fov_deg <= 120.0:
            raise ValueError(f"look.fov_deg must be in [20, 120], got {self.fov_deg}")
        if not 0.1 <= self.brightness <= 1.5:
            raise ValueError(f"look.brightness must be in [0.1, 1.5], got {self.brightness}")
        if not 0 <= self.time_ticks < 24000:
            raise ValueError(f"look.time_ticks must be in [0, 24000), got {self.time_ticks}")
        if self.weather not in ("clear", "rain"):
            raise ValueError(f'look.weather must be "clear" or "rain", got {self.weather!r}')
        if not 0.25 <= self.fog <= 8.0:
            raise ValueError(f"look.fog must be in [0.25, 8], got {self.fog}")
        if len(self.tint) != 3 or not all(0.5 <= part <= 1.5 for part in self.tint):
            raise ValueError(f"look.tint must be three numbers in [0.5, 1.5], got {self.tint}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """All that a backend needs to start one episode."""

    world: WorldSpec
    placements: tuple[Placement, ...] = ()
    start: Pose
    """Feet of the agent."""
    target_index: int = -1
    """Index into `placements` of the object whose target labels the renderer reports; -1 reports none."""
    inventory: tuple[tuple[str, int], ...] = ()
    """(item, count) by slot; slot 0 is in hand at the start, slots 0 .. 8 are the hotbar. ("", 0) leaves a slot
    empty."""
    look: Look = field(default_factory=Look)
    seed: int = 0
    """Of everything random in the episode: mobs, drops."""
    num_ambient_mobs: int = 0
    """Mobs that live around the start, besides the placed ones."""
    mob_mix: tuple[tuple[str, float], ...] = ()
    """(kind, weight) of the ambient mobs; empty takes the biome's own: animals, and monsters as well at night."""

    def __post_init__(self) -> None:
        if len(self.placements) > MAX_OBJECTS:
            raise ValueError(f"episode.placements holds {len(self.placements)} objects, at most {MAX_OBJECTS} fit")
        if not -1 <= self.target_index < len(self.placements):
            raise ValueError(
                f"episode.target_index {self.target_index} names none of {len(self.placements)} placements"
            )
        if len(self.inventory) > 36:
            raise ValueError(f"episode.inventory holds {len(self.inventory)} slots, there are 36")
        if self.num_ambient_mobs < 0:
            raise ValueError(f"episode.num_ambient_mobs must be at least 0, got {self.num_ambient_mobs}")
        for kind, weight in self.mob_mix:
            if not 0 < weight < math.inf:
                raise ValueError(f"episode.mob_mix: the weight of {kind} must be positive and finite, got {weight}")


def _mix64(value: int) -> int:
    """Return splitmix64's finaliser: every input bit reaches every output bit."""
    value = (value + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return value ^ (value >> 31)


def split_of(source: str, seed: int) -> Split:
    """Return the split of a world: 80 % train, 10 % val, 10 % held_out, by a fixed hash of source and seed.

    Splits are disjoint by construction: a (source, seed) pair has exactly one, whatever the biome or the size. Worlds
    of our generator that an engine serves have that of their seed among ours, for they are the same worlds.
    """
    if source.partition(":")[0] == _SERVED_OF_OURS:
        source = "generated"
    value = _mix64(seed)
    for byte in source.encode("ascii"):
        value = _mix64(value ^ byte)
    bucket = value % 100
    if bucket < 80:
        return "train"
    return "val" if bucket < 90 else "held_out"


def generated_biome(world: WorldSpec) -> str | None:
    """Return the biome of a world of our generator, also where an engine serves it; None for other worlds."""
    engine, _, rest = world.source.partition(":")
    if engine == _SERVED_OF_OURS:
        return rest.partition(":")[0]
    return world.biome if world.source == "generated" else None


def seed_after(source: str, seed: int, split: Split) -> int:
    """Return the first seed above `seed` whose world is of `split`."""
    seed += 1
    while split_of(source, seed) != split:
        seed += 1
    return seed
