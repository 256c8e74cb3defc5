"""Ctrl-C and SIGTERM: as a wish to stop soon, so that a run can save itself first, and as one and the same end."""

import contextlib
import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_STDERR_FD = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM: whatever ends in order by Ctrl-C does so by this too, and only the exit code differs."""


class StopRequest:
    """While entered, the first signal is only noted; the second one acts as it always did."""

    def __init__(self, answer: str = "") -> None:
        """`answer` is said on stderr when the first signal comes: what it asks for may take a while."""
        self._answer = answer
        self.signal_number: int | None = None
        self._previous: dict[signal.Signals, Any] = {}

    @property
    def is_set(self) -> bool:
        """Return whether the run was asked to stop."""
        return self.signal_number is not None

    @property
    def exit_code(self) -> int:
        """Return what the process should exit with: 0, or 128 + signal as shells report it (130, 143)."""
        return 0 if self.signal_number is None else 128 + self.signal_number

    def interrupt(self) -> KeyboardInterrupt:
        """Return what the signal would have raised at once."""
        return Terminated() if self.signal_number == signal.SIGTERM else KeyboardInterrupt()

    def ask(self, number: int = signal.SIGTERM) -> None:
        """Ask for a stop on behalf of another process that got this signal."""
        self._note(number, None)

    def __enter__(self) -> "StopRequest":
        # Only the main thread may set handlers; elsewhere the caller's own handling stays.
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal_number = number
        self._restore()
        if self._answer:
            # Not print: what it interrupted may be in the midst of one. Nobody may read it, and the run is saved still.
            with contextlib.suppress(OSError):
                os.write(_STDERR_FD, f"\n{self._answer}\n".encode("ascii"))

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}


class SigtermAsInterrupt:
    """While entered, SIGTERM raises Terminated as Ctrl-C does KeyboardInterrupt: files close, children end in order."""

    def __init__(self) -> None:
        self._previous: Any = None
        self._pid = os.getpid()

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGTERM, self._interrupt)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGTERM, self._previous)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() == self._pid:
            raise Terminated
        signal.signal(number, signal.SIG_DFL)  # a fork has it from us, and ends as it would have
        os.kill(os.getpid(), number)
