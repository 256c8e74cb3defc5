"""Progress on stderr, so that stdout stays for results: bars on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mcrl.commands.first_use import compiling_announced

_LINE_EVERY_S = 30.0


@contextmanager
def counted_progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs; what it yields is called with the number done so far."""
    with staged_progress() as update:
        update(label, 0, total)
        yield lambda num_done: update(label, num_done, total)


@contextmanager
def staged_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar a stage; what it yields is called with a stage's label, the number done and the total."""
    if not sys.stderr.isatty():
        with compiling_announced():
            yield _Lines().update
        return
    with compiling_announced(), _bars() as progress:
        task_ids: dict[str, object] = {}

        def update(label: str, num_done: int, total: int) -> None:
            if label not in task_ids:
                task_ids[label] = progress.add_task(label, total=total)
            progress.update(task_ids[label], completed=num_done, total=total)  # type: ignore[arg-type]

        yield update


class _Lines:
    """Progress for a log file: a line every half minute and one at the end of each stage."""

    def __init__(self) -> None:
        self._begun_s = self._shown_s = time.monotonic()
        self._finished: set[str] = set()

    def update(self, label: str, num_done: int, total: int) -> None:
        now_s = time.monotonic()
        is_over = num_done >= total
        if label in self._finished or (not is_over and now_s - self._shown_s < _LINE_EVERY_S):
            return
        if is_over:
            self._finished.add(label)
        self._shown_s = now_s
        print(f"{label}: {num_done} / {total} after {now_s - self._begun_s:.0f} s", file=sys.stderr, flush=True)


def _bars() -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        # Of the time left: some work is heard of only every few minutes, as shards made over Ray.
        speed_estimate_period=600.0,
    )
