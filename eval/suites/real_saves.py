"""Tasks in a real Minecraft world that the user has: the one suite whose worlds cannot come with the product."""

from collections import Counter
from collections.abc import Callable, Iterator

from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from worlds.anvil import Save, suggest_origins
from worlds.spec import WorldSpec, split_of

NAME, VERSION = "real_saves", 1
LABEL = f"{NAME}.v{VERSION}"
CLAIM = "it holds in worlds that Minecraft itself made and people built in; give one of yours with --save PATH"

# The larger the better; medium tasks need 64.
_SIDES_BLOCKS = (128, 64)
_MOST_PLACES = 8
# Without a new task: every place was tried some fifty times.
_PATIENCE_ROUNDS = 50


def make_tasks(
    save: Save,
    num_tasks: int,
    *,
    seed: int = 0,
    num_threads: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> list[TaskSpec]:
    """Return tasks in cut-outs of a save, all of split held_out; the same save and seed give the same tasks.

    All skills, and the bands near, easy and medium, drawn evenly; the order goes round the skills, so that every
    prefix holds about as many of each.

    Raises:
        ValueError: the save is too small, or no task can be found in it (an ocean, say).
    """
    side_blocks, origins = _places(save)
    config = _config(side_blocks, tasks_per_world=-(-num_tasks // len(origins)))
    synthesizer = Synthesizer(
        config,
        split="held_out",
        seed=seed,
        num_parallel=len(origins),
        num_threads=num_threads,
        worlds=_worlds(save, side_blocks, origins),
        saves=[save],
    )
    rounds_without, num_known = 0, 0

    def watch(num_done: int) -> None:
        nonlocal rounds_without, num_known
        rounds_without = 0 if num_done > num_known else rounds_without + 1
        num_known = num_done
        if rounds_without > _PATIENCE_ROUNDS:
            reason, count = synthesizer.rejections.most_common(1)[0]
            raise ValueError(
                f"{save.folder}: only {num_done} tasks found, {count} attempts failed as {reason}; choose a save with "
                "more dry land"
            )
        if on_progress:
            on_progress(num_done)

    return _interleaved(synthesizer.run(num_tasks, on_progress=watch))


def _places(save: Save) -> tuple[int, list[tuple[int, int, int]]]:
    """Return the side of the cut-outs and their origins, as large and as many as the save has."""
    for side_blocks in _SIDES_BLOCKS[:-1]:
        try:
            return side_blocks, suggest_origins(save, (side_blocks, 64, side_blocks), most=_MOST_PLACES)
        except ValueError:
            continue  # too small for that: the next side
    side_blocks = _SIDES_BLOCKS[-1]
    return side_blocks, suggest_origins(save, (side_blocks, 64, side_blocks), most=_MOST_PLACES)


def _config(side_blocks: int, *, tasks_per_world: int) -> SynthesisConfig:
    bands = dict.fromkeys(("near", "easy", "medium"), 1.0)
    # Not exact shares: a save without a pasture has no hunts, and the rest of it is still worth playing.
    return at_scale(bands=bands, side_blocks=side_blocks, tasks_per_world=tasks_per_world, exact_shares=False)


def _worlds(save: Save, side_blocks: int, origins: list[tuple[int, int, int]]) -> Iterator[WorldSpec]:
    """Yield the cut-outs one after the other, over and over, each time with another held-out seed."""
    num_yielded, seed = 0, 0
    while True:
        if split_of(save.source, seed) == "held_out":
            yield WorldSpec(
                seed=seed,
                source=save.source,
                origin_blocks=origins[num_yielded % len(origins)],
                size_blocks=(side_blocks, 64, side_blocks),
            )
            num_yielded += 1
        seed += 1


def _interleaved(tasks: list[TaskSpec]) -> list[TaskSpec]:
    """Return the tasks in rounds of one of each skill, as far as they last."""
    num_of_skill: Counter[str] = Counter()
    keyed = []
    for task in tasks:
        keyed.append(((num_of_skill[task.skill], task.skill), task))
        num_of_skill[task.skill] += 1
    return [task for _, task in sorted(keyed, key=lambda pair: pair[0])]
