"""Tasks in worlds of other engines: boxes of them are scanned, and our synthesizer works in what was found.

The tasks then play in the engine itself. A box does not wrap around, so that targets and starts lie well inside.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from task_synthesis.world_stream import world_seeds
from worlds.adapters.engine_choice import EngineChoice, Limits
from worlds.adapters.process import EngineProcess
from worlds.adapters.scanned_worlds import ScannedWorlds, scan_folder, scan_world
from worlds.spec import Split, WorldSpec

IMAGE_PX = 128  # in which goal views are measured
_SIDE_BLOCKS = 128
_SURFACE_LEVEL = 28  # of the box: where the middle of the ground should be, as of cut-outs of saves
_FARTHEST_OFF_BLOCKS = 12  # more, and the box is moved up or down
_MOST_MOVES = 3
_EDGE_BLOCKS = 8
_DRAWS_PER_TASK = 1.7  # some 60 % of the tasks in a box of 128 lie that far inside
# Tasks that a world is asked for before the next is scanned, which takes a minute in the slowest engines.
_TASKS_PER_WORLD = 16
# Rounds without a new task: every world in hand was tried some fifty times.
_PATIENCE_ROUNDS = 60


def make_tasks(
    choice: EngineChoice,
    source: str,
    num_tasks: int,
    *,
    split: Split,
    seed: int = 0,
    lowest_y: int = 0,
    limits: Limits | None = None,
    on_progress: Callable[[int], None] | None = None,
    **changes: Any,
) -> list[TaskSpec]:
    """Return tasks in worlds of one split, for the engine that `choice` starts to be scanned with.

    Args:
        choice: the engine; it is started, and ended afterwards.
        source: WorldSpec.source of its worlds; their seeds are the engine's.
        num_tasks: how many.
        split: of the worlds' seeds.
        seed: of every draw.
        lowest_y: of the engine's levels, where boxes begin unless the ground lies elsewhere.
        limits: of the engine's answers.
        on_progress: hears how many tasks there are so far.
        **changes: to the synthesis config of the large library, of which bands near, easy and medium are taken.

    Raises:
        ValueError: no task can be found (an ocean, say), or the config is impossible.
        EngineFaultError: the engine fails.
    """
    config = _config(num_tasks, changes)
    process = EngineProcess(choice, (config.image_px, config.image_px), limits)
    try:
        process.hello()
        if "scan" not in process.methods:
            raise ValueError(f"{choice.name}: it cannot be scanned, so that no tasks can be made in its worlds")
        worlds = ScannedWorlds(lambda spec: scan_world(process, spec), folder=scan_folder(choice))
        synthesizer = Synthesizer(
            config,
            split=split,
            seed=seed,
            num_parallel=max(1, -(-num_tasks // config.tasks_per_world)),
            worlds=_boxes(worlds, source, split, seed, lowest_y),
            world_cache=worlds,
        )
        tasks: list[TaskSpec] = []
        while len(tasks) < num_tasks:
            num_drawn = math.ceil(_DRAWS_PER_TASK * (num_tasks - len(tasks)))
            patience = _Patience(choice, synthesizer)
            tasks += [task for task in synthesizer.run(num_drawn, on_progress=patience) if _is_inside(task)]
            if on_progress:
                on_progress(min(len(tasks), num_tasks))
        return _interleaved(tasks[:num_tasks])
    finally:
        process.close()


def _config(num_tasks: int, changes: dict[str, Any]) -> SynthesisConfig:
    fields: dict[str, Any] = {
        "skills": dict.fromkeys(("approach", "break"), 1.0),
        "bands": dict.fromkeys(("near", "easy", "medium"), 1.0),
        "side_blocks": _SIDE_BLOCKS,
        "image_px": IMAGE_PX,
        # Not exact shares: a world without a pasture has no hunts, and the rest of it is still worth playing.
        "exact_shares": False,
        "tasks_per_world": min(num_tasks, _TASKS_PER_WORLD),
    }
    return at_scale(**(fields | changes))


def _boxes(worlds: ScannedWorlds, source: str, split: Split, seed: int, lowest_y: int) -> Iterator[WorldSpec]:
    """Yield one box a world seed, around x = z = 0, with the ground in its lower half."""
    for world_seed in world_seeds(split, seed, source=source):
        low_y = lowest_y
        for _ in range(_MOST_MOVES):
            spec = WorldSpec(
                seed=world_seed,
                source=source,
                origin_blocks=(-_SIDE_BLOCKS // 2, low_y, -_SIDE_BLOCKS // 2),
                size_blocks=(_SIDE_BLOCKS, 64, _SIDE_BLOCKS),
            )
            ground_XZ = worlds.get([spec])[0].world.ground_XZ[1:, 1:]
            off_blocks = int(np.median(ground_XZ)) - _SURFACE_LEVEL
            if abs(off_blocks) <= _FARTHEST_OFF_BLOCKS:
                break
            low_y += off_blocks
        yield spec


class _Patience:
    """Gives up where there is no progress."""

    def __init__(self, choice: EngineChoice, synthesizer: Synthesizer) -> None:
        self._choice, self._synthesizer = choice, synthesizer
        self._num_rounds, self._num_known = 0, 0

    def __call__(self, num_done: int) -> None:
        self._num_rounds = 0 if num_done > self._num_known else self._num_rounds + 1
        self._num_known = num_done
        if self._num_rounds > _PATIENCE_ROUNDS:
            reason, count = self._synthesizer.rejections.most_common(1)[0]
            raise ValueError(
                f"{self._choice.name}: only {num_done} tasks found in its worlds, {count} attempts failed as {reason}; "
                "ask for other skills or bands, or another --seed"
            )


def _is_inside(task: TaskSpec) -> bool:
    """Tell whether start and objects lie well inside the box, beyond whose edges the engine's world goes on."""
    size_x, _, size_z = task.world.size_blocks
    places = [(task.start.x, task.start.z), *((placed.position[0], placed.position[2]) for placed in task.placements)]
    edge = _EDGE_BLOCKS
    return all(edge <= x < size_x - edge and edge <= z < size_z - edge for x, z in places)


def _interleaved(tasks: list[TaskSpec]) -> list[TaskSpec]:
    """Return the tasks in rounds of one of each skill, so that every prefix holds about as many of each."""
    num_of_skill: Counter[str] = Counter()
    keyed = []
    for task in tasks:
        keyed.append(((num_of_skill[task.skill], task.skill), task))
        num_of_skill[task.skill] += 1
    return [task for _, task in sorted(keyed, key=lambda pair: pair[0])]
