"""How far a run is: bars with the time left on a terminal, log lines elsewhere."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LOG = logging.getLogger(__name__)

# Between lines of a log where a stage has nothing else to say.
_LINE_EVERY_S = 30.0
# (what, done, total, is_resumable): hears of every step of every stage.
OnShow = Callable[[str, int, int, bool], None]


class Bar:
    """How far one stage is."""

    def __init__(
        self,
        what: str,
        total: int,
        progress: Any = None,
        done: int = 0,
        on_show: OnShow | None = None,
        *,
        tells_end: bool = True,
        is_resumable: bool = False,
    ) -> None:
        """`progress` is a started rich Progress, or None for log lines; with `tells_end` its end is one of those."""
        self._what, self._total, self._progress, self._on_show = what, total, progress, on_show
        self._tells_end, self._is_resumable = tells_end, is_resumable
        self._done = done
        self._said_s = time.monotonic()
        if on_show is not None:
            on_show(what, done, total, is_resumable)
        self._task_id = None if progress is None else progress.add_task(what, total=total, completed=done, note="")

    def show(self, done: int, note: str = "") -> None:
        """Tell how much is done: as a log line where there is a note, at the end, and every half minute."""
        is_told = (done == self._total and self._tells_end) or time.monotonic() - self._said_s >= _LINE_EVERY_S
        self._done = done
        if self._on_show is not None:
            self._on_show(self._what, done, self._total, self._is_resumable)
        self._tell(note, is_told=is_told)

    @contextmanager
    def waiting(self, for_what: str) -> Iterator[None]:
        """Say every half minute, while the block runs, for how long it has."""
        is_over = threading.Event()
        begun_s = time.monotonic()

        def speak() -> None:
            while not is_over.wait(_LINE_EVERY_S):
                self._tell(f"{for_what} under way for {time.monotonic() - begun_s:.0f} s")

        thread = threading.Thread(target=speak, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _tell(self, note: str, *, is_told: bool = False) -> None:
        if self._progress is not None:
            fields = {"note": note} if note else {}
            self._progress.update(self._task_id, completed=self._done, **fields)
        elif note or is_told:
            self._said_s = time.monotonic()
            _LOG.info("%-12s %6d / %-6d %s", self._what, self._done, self._total, note)

    def remove(self) -> None:
        """Take the bar off the terminal; lines of a log stay."""
        if self._progress is not None:
            self._progress.remove_task(self._task_id)


class ProgressDisplay:
    """Makes bars where stderr is a terminal and rich is installed."""

    def __init__(self, on_show: OnShow | None = None) -> None:
        self._console = _terminal()
        self._on_show = on_show
        self._shown: Any = None
        """What draws the bar of the present stage on a terminal, which has room for one such thing."""

    @contextmanager
    def bar(self, what: str, total: int, done: int = 0, *, is_resumable: bool = False) -> Iterator[Bar]:
        """Show one stage of `total` steps, `done` of which were done before; does a resume go on in its midst?"""
        with self._display() as shown:
            yield Bar(what, total, shown, done, self._on_show, is_resumable=is_resumable)

    @contextmanager
    def aside(self, what: str, total: int) -> Iterator[Bar]:
        """Show what the present stage waits for, if there is one; who says afterwards what came of it tells its end."""
        with self._display() as shown:
            bar = Bar(what, total, shown, tells_end=False)
            yield bar
            bar.remove()

    @contextmanager
    def _display(self) -> Iterator[Any]:
        """Give what draws bars, that of the present stage where there is one; None where there is no terminal."""
        if self._console is None or self._shown is not None:
            yield self._shown
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
        with progress.Progress(*columns, console=self._console) as self._shown:
            try:
                yield self._shown
            finally:
                self._shown = None

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
