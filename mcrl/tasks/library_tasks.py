"""The tasks of a run that come from a library of `mcrl synth` instead of being synthesised."""

from pathlib import Path

import numpy as np

from mcrl.config import TrainConfig
from mcrl.seeding import derive_seed
from mcrl.settings.task_config import TaskConfig
from mcrl.tasks.engine_worlds import check_world
from task_synthesis.libraries.library import load_tasks, read_lines
from task_synthesis.playing.curriculum import check_split
from task_synthesis.task import TaskSpec, from_json_line
from worlds.adapters.catalogue import BUILT_IN
from worlds.spec import Split


def library_of(config: TaskConfig, split: Split) -> str | None:
    """Return the folder that the tasks of a split come from; None where they are synthesised."""
    return {"train": config.library, "val": config.val_library}.get(split)


def check_libraries(config: TrainConfig) -> None:
    """Raise ValueError where a library is missing, of another split or of other worlds; looks at one task of each."""
    for split in ("train", "val"):
        folder = library_of(config.tasks, split)
        if folder is not None:
            where, line = next(read_lines(Path(folder)), ("", ""))
            if not line:
                raise ValueError(f"{_option(split)}: {folder} holds no task; make some with `mcrl synth`")
            _check([from_json_line(line, where=where)], config, split)


def library_tasks(config: TrainConfig, split: Split, num_tasks: int) -> list[TaskSpec]:
    """Return all train tasks of the library, or `num_tasks` of the val tasks, the same for the same config.

    A run validates often and on all its val tasks: of those a draw is enough.
    """
    folder = library_of(config.tasks, split)
    assert folder is not None
    tasks = load_tasks(Path(folder), split=split)
    _check(tasks, config, split)
    if split == "train" or len(tasks) <= num_tasks:
        return tasks
    rng = np.random.default_rng(derive_seed(config.seed, "tasks", split))
    return [tasks[index] for index in np.sort(rng.choice(len(tasks), num_tasks, replace=False))]


def _check(tasks: list[TaskSpec], config: TrainConfig, split: Split) -> None:
    folder, side = library_of(config.tasks, split), config.tasks.side_blocks
    check_split(tasks, split, where=f"{_option(split)} {folder}")
    for task in tasks:
        if task.world.size_blocks != (side, 64, side):
            raise ValueError(
                f"{_option(split)}: the worlds of {folder} are {task.world.size_blocks[0]} blocks wide, the run's are "
                f"{side}; give --tasks.side-blocks {task.world.size_blocks[0]}"
            )
        if task.world.source != "generated" and config.env.backend == BUILT_IN:
            raise ValueError(
                f"{_option(split)}: task {task.task_id} of {folder} is in a real save or another engine; leave it out, "
                "or name that engine with --env.backend"
            )
        check_world(config.env.backend, task.world, where=f"{_option(split)} {folder}: task {task.task_id}")


def _option(split: Split) -> str:
    return "--tasks.library" if split == "train" else "--tasks.val-library"
