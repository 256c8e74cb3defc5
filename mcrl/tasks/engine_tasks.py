"""Runs on other engines than the built-in one: what they can do there, and tasks in those engines' worlds."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from mcrl.config import TrainConfig
from mcrl.settings.config_checks import require
from mcrl.tasks.library_tasks import library_of
from task_synthesis.foreign import foreign_tasks
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import TaskSpec
from worlds.adapters.catalogue import BUILT_IN, EngineEntry, entry_of, is_path
from worlds.adapters.engine_choice import EngineChoice
from worlds.spec import Split, WorldSpec

OWN_PREFIX = "own:"  # of the source of worlds of an engine that a user named by its file
_SCANNED_SIDE_BLOCKS = 128


def engine_entry(backend: str) -> EngineEntry:
    """Return the engine's entry in the catalogue; one of the user's own has tasks if it can be scanned."""
    if not is_path(backend):
        return entry_of(backend)
    # The source decides the split of a seed, so that it must not change with the folder that the engine lies in.
    name = Path(backend).stem.encode("ascii", "replace").decode()
    return EngineEntry(about="an engine of your own", source=f"{OWN_PREFIX}{name}")


def free_world(backend: str, seed: int) -> WorldSpec:
    """Return the box around the middle of an engine's world where one may look round without a task.

    Raises:
        ValueError: its worlds are rooms, of things and not of blocks.
    """
    entry = engine_entry(backend)
    if entry.task_maker:
        raise ValueError(
            f"backend {backend}: its rooms have no open ground to begin on; make tasks there with "
            f"`mcrl synth --backend {backend} -n 8 --out DIR`, and name one with --task DIR:1"
        )
    return WorldSpec(seed=seed, source=entry.source or backend, origin_blocks=(-64, entry.lowest_y, -64))


def check_engine(config: TrainConfig) -> None:
    """Raise ValueError where a run asks something of another engine that it cannot do."""
    env = config.env
    if env.backend == BUILT_IN:
        return
    entry = engine_entry(env.backend)
    imitation = config.imitation
    clones_now = imitation.num_updates > 0 and config.initial_policy is None
    require(
        not (clones_now or imitation.dagger_rounds or imitation.control_updates),
        f"env.backend {env.backend}: the expert that imitation learns from plays in the built-in engine alone; name an "
        "initial_policy, and set imitation.control_updates and imitation.dagger_rounds to 0 "
        "(--initial-policy CHECKPOINT --imitation.control-updates 0 --imitation.dagger-rounds 0)",
    )
    for split in ("train", "val"):
        if library_of(config.tasks, split) is None:
            require(
                bool(entry.source),
                f"env.backend {env.backend}: no tasks can be made in its worlds; give some with --tasks.library and "
                "--tasks.val-library",
            )
            require(
                config.tasks.side_blocks == _SCANNED_SIDE_BLOCKS,
                f"env.backend {env.backend}: tasks are made in boxes of {_SCANNED_SIDE_BLOCKS} blocks, "
                f"tasks.side_blocks is {config.tasks.side_blocks}; set it to {_SCANNED_SIDE_BLOCKS}",
            )


def check_makeable(backend: str, skills: Mapping[str, float] | Sequence[str] | None) -> None:
    """Raise ValueError where no tasks, or none of these skills, can be made in an engine's worlds."""
    entry = engine_entry(backend)
    if not entry.source:
        raise ValueError(f"backend {backend}: no tasks can be made in its worlds; give tasks that you have")
    for skill, weight in _shares(skills or ()).items():
        if weight and skill not in entry.skills:
            raise ValueError(f"skills: tasks of {backend} are {', '.join(entry.skills)}, not {skill}")


def goal_view_px(backend: str) -> int:
    """Return the side of the square picture in which goal views are measured when tasks of an engine are made."""
    return int(_maker(engine_entry(backend)).IMAGE_PX)


def _maker(entry: EngineEntry) -> ModuleType:
    return importlib.import_module(entry.task_maker) if entry.task_maker else foreign_tasks


def engine_tasks(
    backend: str,
    choice: EngineChoice,
    num_tasks: int,
    *,
    split: Split,
    seed: int,
    skills: Mapping[str, float] | Sequence[str] | None = None,
    bands: Mapping[str, float] | Sequence[str] | None = None,
    num_same_kind: tuple[int, int] = SynthesisConfig().num_same_kind,
    on_progress: Callable[[int], None] | None = None,
) -> list[TaskSpec]:
    """Return fresh tasks in worlds of another engine, those of a world side by side.

    Args:
        backend: name of the engine in the catalogue.
        choice: how it starts.
        num_tasks: how many.
        split: of the worlds.
        seed: of every draw.
        skills: names or shares; None takes approach and break, as far as the engine has them.
        bands: names or shares; None takes near, easy and medium.
        num_same_kind: fewest and most others of the target's kind.
        on_progress: hears how many there are.

    Raises:
        ValueError: no tasks can be made in its worlds, or not of these skills.
        EngineFaultError: the engine fails.
    """
    check_makeable(backend, skills)
    entry = engine_entry(backend)
    changes = {name: _shares(given) for name, given in (("skills", skills), ("bands", bands)) if given is not None}
    tasks: list[TaskSpec] = _maker(entry).make_tasks(
        choice,
        entry.source,
        num_tasks,
        split=split,
        seed=seed,
        lowest_y=entry.lowest_y,
        on_progress=on_progress,
        num_same_kind=num_same_kind,
        **changes,
    )
    first: dict[WorldSpec, int] = {}
    for index, task in enumerate(tasks):
        first.setdefault(task.world, index)
    # Side by side, since an engine may take seconds to change its world.
    return sorted(tasks, key=lambda task: first[task.world])


def _shares(given: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    return dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, 1.0)
