"""`mcrl synth --backend ENGINE -n N --out DIR`: make a library of tasks in worlds of another engine."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mcrl.commands.engine_options import EngineOptions
from mcrl.commands.options import read_options
from mcrl.commands.writable import check_out_folder
from worlds.spec import Split


@dataclass(frozen=True, kw_only=True)
class EngineSynthOptions(EngineOptions):
    """What to make and where to put it. The engine is started, its worlds are scanned, and it is ended."""

    num_tasks: Annotated[int, tyro.conf.arg(aliases=["-n"])]
    """How many tasks; they are one file, tasks.jsonl."""
    out: Path
    """Folder of the library: the tasks and manifest.json."""
    split: Split = "train"
    """Worlds of which split of the engine's seeds."""
    skills: tuple[str, ...] | None = None
    """Skills, drawn alike often; None is approach and break, as far as the engine has them."""
    bands: tuple[str, ...] | None = None
    """Distance bands, drawn alike often; None is near, easy and medium."""
    seed: int = 0
    """Another seed gives other worlds and tasks of the same split."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_foreign:
            raise ValueError("--backend voxel is the built-in engine; leave the option out, its tasks have others")
        if self.num_tasks < 1:
            raise ValueError(f"--num-tasks must be at least 1, got {self.num_tasks}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")


def engine_synth_command(args: Sequence[str]) -> int:
    """Make the tasks and print what was made."""
    options = read_options(
        EngineSynthOptions, args, prog="mcrl synth --backend", description=str(EngineSynthOptions.__doc__)
    )
    # The engine compiles on import; bad options must not wait for that.
    from eval.numbers.counted import counted
    from mcrl.commands.progress import counted_progress
    from mcrl.tasks.engine_tasks import check_makeable, engine_tasks, goal_view_px
    from task_synthesis.foreign.foreign_library import LIBRARY_FILES, check_folder, write_foreign_library

    check_makeable(options.backend, options.skills)
    check_out_folder(options.out, ours=LIBRARY_FILES, what="a library")
    check_folder(options.out)
    choice = options.choice()
    print(f"{options.backend} is started and its first world made: up to a minute or two", file=sys.stderr, flush=True)
    begun_s = time.perf_counter()
    with counted_progress(f"tasks of {options.backend}", options.num_tasks) as on_progress:
        tasks = engine_tasks(
            options.backend,
            choice,
            options.num_tasks,
            split=options.split,
            seed=options.seed,
            skills=options.skills,
            bands=options.bands,
            on_progress=on_progress,
        )
    manifest = write_foreign_library(
        options.out, tasks, split=options.split, backend=options.backend, image_px=goal_view_px(options.backend)
    )
    worlds = counted(manifest["num_worlds"], "world")
    print(f"{options.out}: {counted(len(tasks), f'{options.split} task')} in {worlds} of {options.backend}")
    print(f"content {manifest['sha256']}")
    print(f"made {len(tasks)} tasks in {time.perf_counter() - begun_s:.1f} s")
    return 0
