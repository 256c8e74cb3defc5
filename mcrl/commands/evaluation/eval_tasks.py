"""Which tasks `mcrl eval` plays: a frozen suite, those of a library, of a real save, or freshly synthesised ones."""

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.engine_options import EngineOptions
from mcrl.config import TrainConfig
from task_synthesis.task import TaskSpec
from worlds.spec import Split

ALL_SUITES = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskList:
    """What the rows play."""

    tasks: Sequence[TaskSpec]
    split: Split
    seed: int = 0
    """That the tasks were drawn with."""
    suite: str = ""
    """Name and version of the suite, "" for tasks chosen otherwise."""
    claim: str = ""
    """What the suite tests, in one sentence."""
    sha256: str = ""
    """Of the whole frozen suite, "" where there is none."""
    save: Path | None = None
    """Folder of the real Minecraft world that the tasks are in."""


def suite_names(
    given: str,
    num_tasks: int | None,
    *,
    has_save: bool,
    skills: Sequence[str] | None = None,
    bands: Sequence[str] | None = None,
) -> list[str]:
    """Return the suites that --suite names; ValueError for one that cannot be played, before hours of the others.

    All of them are the frozen ones and, where a save was given, real_saves. Of each the first `num_tasks` are meant,
    None for all, and of those only the named skills and bands.
    """
    from eval.suites.real_saves import NAME as REAL_SAVES
    from eval.suites.suites import SUITES
    from mcrl.commands.options import nearest

    names = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if names == [ALL_SUITES]:
        names = [*SUITES, *[REAL_SAVES] * has_save]
    if not names:
        raise ValueError(f"--suite names none; there are {ALL_SUITES}, {', '.join(SUITES)}, {REAL_SAVES}")
    if ALL_SUITES in names:
        raise ValueError(
            f"--suite {given}: {ALL_SUITES} holds every suite and stands alone; leave out the others, or it"
        )
    for name in names:
        if name not in SUITES and name != REAL_SAVES:
            raise ValueError(f"--suite {name}: no such suite; {nearest(name, (*SUITES, REAL_SAVES, ALL_SUITES))}")
        if name != REAL_SAVES:
            suite_tasks(name, num_tasks, skills=skills, bands=bands)
        elif not has_save:
            raise ValueError(f"--suite {name}: name a Minecraft world with --save, the folder with level.dat in it")
    return names


def suite_tasks(
    name: str,
    num_tasks: int | None,
    *,
    skills: Sequence[str] | None = None,
    bands: Sequence[str] | None = None,
) -> TaskList:
    """Return the first tasks of a frozen suite, all by default; where skills or bands are named, of those alone.

    Raises:
        ValueError: the suite has none of them, or fewer than `num_tasks`.
    """
    from eval.suites.suites import load_suite, suite_of

    suite = suite_of(name)
    if skills is None and bands is None:
        tasks, label = load_suite(name, num_tasks), suite.label
    else:
        tasks = [
            task
            for task in load_suite(name)
            if (skills is None or task.skill in skills) and (bands is None or task.band in bands)
        ]
        chosen = "; ".join(", ".join(names) for names in (skills, bands) if names)
        asked = " and ".join(name for name, names in (("skills", skills), ("bands", bands)) if names)
        if len(tasks) < (num_tasks or 1):
            fewer = f"ask for fewer, or for other {asked}" if tasks else f"ask for other {asked}"
            raise ValueError(
                f"--suite {name}: holds {len(tasks)} tasks of {chosen}, {num_tasks or 1} are wanted; {fewer}"
            )
        tasks, label = tasks[:num_tasks], f"{suite.label} ({chosen})"
    return TaskList(tasks=tasks, split="held_out", suite=label, claim=suite.claim, sha256=suite.sha256)


def save_tasks(save_folder: Path, num_tasks: int, *, seed: int, num_threads: int) -> TaskList:
    """Return tasks in a real Minecraft world of the user's."""
    from eval.suites.real_saves import CLAIM, LABEL, make_tasks
    from mcrl.commands.progress import counted_progress
    from worlds.anvil import open_save

    with counted_progress("tasks in the save", num_tasks) as on_progress:
        tasks = make_tasks(
            open_save(save_folder), num_tasks, seed=seed, num_threads=num_threads, on_progress=on_progress
        )
    return TaskList(tasks=tasks, split="held_out", seed=seed, suite=LABEL, claim=CLAIM, save=save_folder)


def library_tasks(path: Path, num_tasks: int | None, *, split: Split) -> TaskList:
    """Return the first tasks of a library of `mcrl synth`, all by default.

    Raises:
        ValueError: no library, or one of another split or of fewer tasks; names it.
    """
    from task_synthesis.libraries.library import load_tasks, read_lines
    from task_synthesis.task import from_json_line

    for where, line in itertools.islice(read_lines(path), 1):
        found = from_json_line(line, where=where).split
        if found != split:
            unseen = "" if found != "train" else "; to judge in unseen worlds make some with --split held_out"
            raise ValueError(f"{path}: holds tasks in {found} worlds; say so with --split {found}{unseen}")
    tasks = load_tasks(path, split=split)
    if num_tasks is not None and num_tasks > len(tasks):
        raise ValueError(f"--tasks {path}: holds {len(tasks)} tasks: choose 1 to that many, not {num_tasks}")
    return TaskList(tasks=tasks[:num_tasks], split=split)


def foreign_tasks(
    engine: EngineOptions,
    num_tasks: int,
    *,
    skills: tuple[str, ...] | None,
    bands: tuple[str, ...] | None,
    split: Split,
    seed: int,
) -> TaskList:
    """Return fresh tasks in worlds of another engine."""
    from mcrl.commands.progress import counted_progress
    from mcrl.tasks.engine_tasks import check_makeable, engine_tasks

    check_makeable(engine.backend, skills)
    with counted_progress(f"{split} tasks of {engine.backend}", num_tasks) as on_progress:
        tasks = engine_tasks(
            engine.backend,
            engine.choice(),
            num_tasks,
            split=split,
            seed=seed,
            skills=skills,
            bands=bands,
            on_progress=on_progress,
        )
    return TaskList(tasks=tasks, split=split, seed=seed)


def synthesised_tasks(
    config: TrainConfig,
    num_tasks: int,
    *,
    skills: Sequence[str],
    bands: Sequence[str],
    split: Split,
    seed: int,
    num_threads: int,
) -> TaskList:
    """Return fresh tasks in worlds like those of a run."""
    from mcrl.commands.progress import counted_progress
    from mcrl.tasks.drawn_tasks import synthesise_tasks

    mix = dataclasses.replace(config.tasks, skills=dict.fromkeys(skills, 1.0), bands=dict.fromkeys(bands, 1.0))
    with counted_progress(f"{split} tasks", num_tasks) as on_progress:
        tasks = synthesise_tasks(
            dataclasses.replace(config, tasks=mix),
            split,
            num_tasks,
            seed=seed,
            num_threads=num_threads,
            on_progress=on_progress,
        )
    return TaskList(tasks=tasks, split=split, seed=seed)
