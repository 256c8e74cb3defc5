"""The tasks of a run, synthesised: some in bare worlds, some in full ones, as its config shares them out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from mcrl.config import TrainConfig
from mcrl.seeding import derive_seed
from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from worlds.spec import Split

OnProgress = Callable[[int], None]


def synthesise_tasks(
    config: TrainConfig, split: Split, num_tasks: int, *, seed: int, num_threads: int, on_progress: OnProgress
) -> list[TaskSpec]:
    """Return tasks as `config.tasks` asks, those of full worlds and those with companions spread evenly among the rest.

    The bare ones do not depend on how many full ones there are beside them, nor either on how many have companions.
    """
    num_full = round(config.tasks.full_share * num_tasks)
    bare, full = _bare_and_full(config)
    num_done = 0

    def count(num_here: int) -> None:
        on_progress(num_done + num_here)

    parts: list[list[TaskSpec]] = []
    for synthesis, num_of_these, part_seed in (
        (bare, num_tasks - num_full, seed),
        (full, num_full, derive_seed(seed, "full")),
    ):
        num_accompanied = round(config.tasks.companion_share * num_of_these)
        for companions, num_wanted, its_seed in (
            (False, num_of_these - num_accompanied, part_seed),
            (True, num_accompanied, derive_seed(part_seed, "companions")),
        ):
            if num_wanted:
                changed = replace(synthesis, companions=companions)
                synthesizer = Synthesizer(changed, split=split, seed=its_seed, num_threads=num_threads)
                parts.append(synthesizer.run(num_wanted, on_progress=count))
                num_done += num_wanted
    return spread(parts)


def spread(parts: Iterable[Sequence[TaskSpec]]) -> list[TaskSpec]:
    """Return all tasks of all parts, each in its order, so that every stretch has each part's share of the whole."""
    placed = [((index + 0.5) / len(part), task) for part in parts for index, task in enumerate(part)]
    return [task for _, task in sorted(placed, key=lambda pair: pair[0])]


def _bare_and_full(config: TrainConfig) -> tuple[SynthesisConfig, SynthesisConfig]:
    tasks = config.tasks
    shared: dict[str, Any] = {
        "skills": tasks.skills,
        "bands": tasks.bands,
        "biomes": tasks.biomes,
        "num_same_kind": tasks.num_same_kind,
        "side_blocks": tasks.side_blocks,
        "image_px": config.env.image_px,
    }
    # Half of the large library's, which has ten times as many tasks: worlds are what there cannot be too many of.
    return SynthesisConfig(**shared), at_scale(**shared, tasks_per_world=32)
