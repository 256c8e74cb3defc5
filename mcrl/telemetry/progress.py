"""How far a run is: bars with the time left on a terminal, log lines elsewhere."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LOG = logging.getLogger(__name__)

# (what, done, total): hears of every step of every stage.
OnShow = Callable[[str, int, int], None]


class Bar:
    """How far one stage is."""

    def __init__(
        self, what: str, total: int, progress: Any = None, done: int = 0, on_show: OnShow | None = None
    ) -> None:
        """`progress` is a started rich Progress, or None for log lines."""
        self._what, self._total, self._progress, self._on_show = what, total, progress, on_show
        if on_show is not None:
            on_show(what, done, total)
        self._task_id = None if progress is None else progress.add_task(what, total=total, completed=done, note="")

    def show(self, done: int, note: str = "") -> None:
        """Tell how much is done. As a log line only when there is something to say: a note, or that it is over."""
        if self._on_show is not None:
            self._on_show(self._what, done, self._total)
        if self._progress is not None:
            fields = {"note": note} if note else {}
            self._progress.update(self._task_id, completed=done, **fields)
        elif note or done == self._total:
            _LOG.info("%-12s %6d / %-6d %s", self._what, done, self._total, note)


class ProgressDisplay:
    """Makes bars where stderr is a terminal and rich is installed."""

    def __init__(self, on_show: OnShow | None = None) -> None:
        self._console = _terminal()
        self._on_show = on_show

    @contextmanager
    def bar(self, what: str, total: int, done: int = 0) -> Iterator[Bar]:
        """Show one stage of `total` steps, `done` of which were done before."""
        if self._console is None:
            yield Bar(what, total, done=done, on_show=self._on_show)
            return
        from rich import progress

        columns = (
            progress.TextColumn("{task.description:<12}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[note]}"),
        )
        with progress.Progress(*columns, console=self._console) as shown:
            yield Bar(what, total, shown, done, self._on_show)

    def say(self, text: str) -> None:
        """Print one line, above the bar where there is one."""
        if self._console is None:
            _LOG.info("%s", text)
        else:
            self._console.print(text, highlight=False)


def _terminal() -> Any:
    """Return rich's console on stderr, or None where that is no terminal or rich is not installed."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console  # not needed by the core, which has to run without it
    except ImportError:
        return None
    return Console(stderr=True)
