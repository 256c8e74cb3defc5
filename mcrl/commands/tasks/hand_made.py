"""`mcrl synth --from FILE --out DIR`: make a library of tasks that a person wrote down."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from mcrl.commands.options import option_names, read_options
from mcrl.commands.writable import check_out_folder


@dataclass(frozen=True, kw_only=True)
class HandMadeOptions:
    """Where the file is and where its tasks go. The same command again replaces them by what the file says then."""

    file: Annotated[Path, tyro.conf.arg(name="from")]
    """JSON or, by its suffix, YAML file of tasks."""
    out: Path
    """Folder of the library: tasks.jsonl and manifest.json."""


def hand_made_command(args: Sequence[str]) -> int:
    """Check the tasks of a file, measure how hard they are, and write them as a library."""
    if any(arg in ("-h", "--help") for arg in args):
        return _explain()
    from mcrl.commands.tasks.synth import SynthOptions

    ours = option_names(HandMadeOptions)
    for name in (arg.partition("=")[0] for arg in args):
        if name in option_names(SynthOptions) and name not in ours:
            raise ValueError(
                f"{name}: not with --from, whose file says what its tasks are, the seed of a world its split; leave it "
                "out (`mcrl synth --from --help` shows such a file)"
            )
    options = read_options(HandMadeOptions, args, prog="mcrl synth --from", description=str(HandMadeOptions.__doc__))
    from eval.numbers.counted import counted
    from task_synthesis.by_hand.user_library import other_file_of, write_user_library
    from task_synthesis.by_hand.user_tasks import save_folders
    from task_synthesis.libraries.library import load_tasks
    from task_synthesis.libraries.library_build import LIBRARY_FILES

    check_out_folder(options.out, ours=LIBRARY_FILES, what="a library")

    def warn(what: str) -> None:
        print(f"mcrl: warning: {what}; it is kept for those who dig or build", file=sys.stderr)

    former = other_file_of(options.out, options.file)
    manifest = write_user_library(options.out, options.file, on_warning=warn)
    if former:
        print(f"{options.out} held the tasks of {former}, which these replace", file=sys.stderr)
    worlds = counted(manifest["num_worlds"], "world")
    print(f"{options.out}: {counted(manifest['num_tasks'], manifest['split'] + ' task')} in {worlds}")
    print(f"content {manifest['sha256']}")
    for number, task in enumerate(load_tasks(options.out, split=manifest["split"]), 1):
        hard = task.difficulty
        print(
            f"{number}: {task.family}, {task.band}, {hard.distance_blocks:.1f} blocks away, {hard.path_blocks:.1f} to "
            f"walk, target {100 * hard.goal_area:.1f} % of the goal view, {task.max_ticks} ticks"
        )
    out, saves = quote(str(options.out)), save_folders(options.file)
    if not any(saves):  # a gallery draws no real saves
        print(f"look at them: mcrl synth --gallery {out} --out tasks.html")
    world = f" --save {quote(str(saves[0]))}" if saves[0] else ""
    print(f"watch one: mcrl play --task {out}:1{world} --agent expert --out expert.webm")
    return 0


def _explain() -> int:
    """Print how such a file is written, where tyro would fold the lines of the example."""
    from task_synthesis.by_hand import user_tasks
    from task_synthesis.skills import SKILLS

    print(f"usage: mcrl synth --from FILE --out DIR\n\n{str(user_tasks.__doc__).rstrip()}")
    print(f"\nSkills: {', '.join(SKILLS)}.")
    return 0
