"""Progress on the terminal: a bar with an estimate of the time left, on stderr, so that stdout stays for results."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def counted_progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs; what it yields is called with the number done so far."""
    with _progress() as progress:
        task_id = progress.add_task(label, total=total)
        yield lambda num_done: progress.update(task_id, completed=num_done)


@contextmanager
def staged_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar a stage; what it yields is called with a stage's label, the number done and the total."""
    with _progress() as progress:
        task_ids: dict[str, object] = {}

        def update(label: str, num_done: int, total: int) -> None:
            if label not in task_ids:
                task_ids[label] = progress.add_task(label, total=total)
            progress.update(task_ids[label], completed=num_done, total=total)  # type: ignore[arg-type]

        yield update


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        # Of the time left: some work is heard of only every minute, when a process is through with its part.
        speed_estimate_period=600.0,
    )
