"""`mcrl suites`: which evaluation suites there are, and freezing one anew from its definition."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcrl.commands.options import read_options

_ALL = "all"


@dataclass(frozen=True, kw_only=True)
class SuitesOptions:
    """What to do with the suites; without options they are listed."""

    freeze: str | None = None
    """Make the tasks of this suite, or of all, from the definition and write their file. For developers: tasks that
    changed are another version, see eval/suites/suites.py."""
    num_threads: int = 1
    """Threads that make worlds; they do not change the tasks."""

    def __post_init__(self) -> None:
        if self.num_threads < 1:
            raise ValueError(f"--num-threads must be at least 1, got {self.num_threads}")


def suites_command(args: Sequence[str]) -> int:
    """List the suites, or freeze them."""
    options = read_options(
        SuitesOptions,
        args,
        prog="mcrl suites",
        description="List the evaluation suites: what each one claims, how many tasks it has and its content hash.",
    )
    if options.freeze is None:
        _print_suites()
    else:
        _freeze(options.freeze, options.num_threads)
    return 0


def _print_suites() -> None:
    from eval.suites.real_saves import CLAIM as REAL_SAVES_CLAIM
    from eval.suites.real_saves import NAME as REAL_SAVES
    from eval.suites.suites import SUITES
    from mcrl.commands.table import print_table

    rows = [
        [suite.label, f"{suite.num_tasks:,}", ", ".join(suite.bands), str(len(suite.skills)), suite.sha256[:12]]
        for suite in SUITES.values()
    ]
    print_table(f"{len(rows)} frozen suites", ["suite", "tasks", "bands", "skills", "sha256"], rows)
    for suite in SUITES.values():
        print(f"{suite.name}: {suite.claim}")
    print(f"{REAL_SAVES}, not frozen: {REAL_SAVES_CLAIM}")
    print("play one with `mcrl eval CHECKPOINT --suite NAME`; skills: " + ", ".join(SUITES["unseen_seeds"].skills))


def _freeze(name: str, num_threads: int) -> None:
    from eval.suites.suite_freeze import freeze
    from eval.suites.suites import SUITES, suite_of
    from mcrl.commands.progress import counted_progress

    for suite in SUITES.values() if name == _ALL else [suite_of(name)]:
        with counted_progress(suite.label, suite.num_tasks) as on_progress:
            sha256 = freeze(suite, num_threads=num_threads, on_progress=on_progress)
        print(f"{suite.label}: {suite.num_tasks} tasks, {suite.path.stat().st_size:,} bytes, sha256 {sha256}")
