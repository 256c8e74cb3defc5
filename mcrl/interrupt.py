"""Ctrl-C and SIGTERM: as a wish to stop soon, so that a run can save itself first, and as one and the same end."""

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """While entered, the first signal is only noted; the second one acts as it always did."""

    def __init__(self) -> None:
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

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}


class SigtermAsInterrupt:
    """While entered, SIGTERM raises KeyboardInterrupt as Ctrl-C does, so that files close and children end in order."""

    def __init__(self) -> None:
        self.was_sent = False
        self._previous: Any = None
        self._pid = os.getpid()

    def __enter__(self) -> "SigtermAsInterrupt":
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGTERM, self._previous)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._pid:  # a fork has it from us, and ends as it would have
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.was_sent = True
        raise KeyboardInterrupt
