"""`mcrl synth`: make tasks and write them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mcrl.commands.options import read_options
from task_synthesis.task import BANDS, SKILLS
from worlds.spec import Split


@dataclass(frozen=True, kw_only=True)
class SynthOptions:
    """What to make and where to put it."""

    num_tasks: Annotated[int, tyro.conf.arg(aliases=["-n"])]
    """How many tasks."""
    out: Path
    """Folder for tasks.jsonl and manifest.json."""
    split: Split = "train"
    """Worlds of which split."""
    skills: tuple[str, ...] = tuple(SKILLS)
    """Skills, with equal shares."""
    bands: tuple[str, ...] = tuple(BANDS)
    """Distance bands, with equal shares."""
    seed: int = 0
    """Another seed gives other worlds and tasks of the same split."""
    size: int = 64
    """Side of the worlds along x and z, in blocks: 32, 64, 128 or 256."""
    num_threads: int = 2
    """Threads of world generation."""

    def __post_init__(self) -> None:
        if self.num_tasks < 1:
            raise ValueError(f"--num-tasks must be at least 1, got {self.num_tasks}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        if self.size not in (32, 64, 128, 256):
            raise ValueError(f"--size must be 32, 64, 128 or 256, got {self.size}")


def synth_command(args: Sequence[str]) -> int:
    """Make the tasks and print what was made."""
    options = read_options(SynthOptions, args, prog="mcrl synth", description="Make tasks, one line of JSON each.")
    # The engine compiles on import; bad options must not wait for that.
    from mcrl.commands.progress import counted_progress
    from task_synthesis.library import save_library
    from task_synthesis.synthesis_config import SynthesisConfig
    from task_synthesis.synthesize import Synthesizer

    config = SynthesisConfig(
        skills=dict.fromkeys(options.skills, 1.0), bands=dict.fromkeys(options.bands, 1.0), side_blocks=options.size
    )
    synthesizer = Synthesizer(config, split=options.split, seed=options.seed, num_threads=options.num_threads)
    with counted_progress("synthesising tasks", options.num_tasks) as on_progress:
        tasks = synthesizer.run(options.num_tasks, on_progress=on_progress)
    path = save_library(
        options.out,
        tasks,
        split=options.split,
        seed=options.seed,
        config=config,
        rejections=synthesizer.rejections,
    )
    print(f"{path}: {len(tasks)} {options.split} tasks in {len({task.world for task in tasks})} worlds")
    rejected = ", ".join(f"{reason} {count}" for reason, count in synthesizer.rejections.most_common())
    print(f"rejected attempts: {rejected or 'none'}")
    return 0
