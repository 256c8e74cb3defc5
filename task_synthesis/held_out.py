"""What training never sees, so that it can be measured on later: the one place that says so.

Seeds of worlds are held out by `worlds.spec.split_of`. Beyond that the kinds of things below are kept out of every task
of the splits train and val, wherever it comes from: `check_trainable` is asked where tasks are drawn, made and read.
"""

from typing import TYPE_CHECKING, Literal

from worlds.generate.biomes import BIOMES
from worlds.spec import ITEM_PREFIX, Look, Split, generated_biome, seed_after

if TYPE_CHECKING:
    from task_synthesis.task import TaskSpec

Kinds = Literal["train", "held_out", "any"]
KINDS: tuple[Kinds, ...] = ("train", "held_out", "any")

# One of each climate, and each of another colour than the rest of its climate.
HELD_OUT_BIOMES = ("swamp", "badlands", "ice_spikes")
TRAIN_BIOMES: tuple[str, ...] = tuple(name for name in BIOMES if name not in HELD_OUT_BIOMES)
# At least two of the kinds of each skill. Terrain holds none of these blocks by itself, and a task's mobs and items are
# all placed.
HELD_OUT_BLOCKS = ("diamond_block", "lapis_block", "magenta_wool", "oak_trapdoor", "lever")
HELD_OUT_MOBS = ("llama", "mooshroom", "fox")
HELD_OUT_ITEMS = ("item:bread", "item:bone")
HELD_OUT_KINDS: frozenset[str] = frozenset((*HELD_OUT_BLOCKS, *HELD_OUT_MOBS, *HELD_OUT_ITEMS))

# Training looks: our own textures as they are or in one of the first variants, by day, with no more than this fog.
FIRST_HELD_OUT_VARIANT = 1000
TRAIN_TIME_TICKS = (1000, 11000)
MOST_TRAIN_FOG = 1.5


def held_out_reason(task: "TaskSpec") -> str | None:
    """Return why a task may not be trained on, in words that follow its id; None where it may."""
    if task.split == "held_out":
        return f"world seed {task.world.seed} is of split 'held_out'"
    return unseen_reason(task)


def unseen_reason(task: "TaskSpec") -> str | None:
    """Return what a task has, besides its seed, that training never shows: biome, object or look; None for nothing."""
    biome = generated_biome(task.world)
    if biome in HELD_OUT_BIOMES:
        return f"biome {biome!r} is held out"
    for placement in task.placements:
        kind = placement.kind.partition("[")[0]
        if kind in HELD_OUT_KINDS or kind.removeprefix(ITEM_PREFIX) in HELD_OUT_BLOCKS:
            return f"kind {kind!r} is held out"
    for kind, _ in task.inventory:
        if kind in HELD_OUT_BLOCKS or ITEM_PREFIX + kind in HELD_OUT_ITEMS:
            return f"kind {kind!r} is held out, in the inventory too"
    return look_reason(task.look)


def look_reason(look: Look) -> str | None:
    """Return what of a look training never shows; None for nothing."""
    source, _, variant = look.textures.partition(":")
    if source == "pack":
        return "resource packs are held out"
    if variant.isdecimal() and int(variant) >= FIRST_HELD_OUT_VARIANT:
        return f"texture variants from {FIRST_HELD_OUT_VARIANT} on are held out, look.textures is {look.textures!r}"
    first, last = TRAIN_TIME_TICKS
    if not first <= look.time_ticks <= last:
        return f"time of day outside {first} .. {last} is held out, look.time_ticks is {look.time_ticks}"
    if look.fog > MOST_TRAIN_FOG:
        return f"fog above {MOST_TRAIN_FOG:g} is held out, look.fog is {look.fog:g}"
    return None


def kinds_allowed(kinds: tuple[str, ...], policy: Kinds) -> tuple[str, ...]:
    """Return those of `kinds` that a policy draws from, in their order."""
    if policy == "any":
        return kinds
    return tuple(kind for kind in kinds if (kind in HELD_OUT_KINDS) == (policy == "held_out"))


def check_trainable(task: "TaskSpec", split: Split, *, where: str) -> None:
    """Raise ValueError, naming `where`, for a task of a train or val set that holds what is held out."""
    reason = unseen_reason(task) if split != "held_out" else None
    if reason is not None:
        seed = seed_after(task.world.source, task.world.seed, "held_out")
        raise ValueError(
            f"{where}: task {task.task_id} may not be in a {split!r} set: {reason}; leave it out, or keep it for "
            f"evaluation in a world of split 'held_out', which a world's seed decides: {seed} is of it"
        )


def check_trainable_biomes(biomes: tuple[str, ...], *, where: str) -> None:
    """Raise ValueError, naming `where`, for a biome that training may not use or that does not exist."""
    for name in biomes:
        if name not in TRAIN_BIOMES:
            fault = "is held out of training" if name in HELD_OUT_BIOMES else "is unknown"
            raise ValueError(f"{where}: biome {name!r} {fault}; choose from {', '.join(TRAIN_BIOMES)}")
