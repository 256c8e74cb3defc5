"""A game that a command starts: it prints the port on which its Malmo listens, and ends when its input is closed."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence

from worlds.adapters.engine import EngineError

_END_S = 5.0


class LaunchedGame:
    """A process of ours. It dies with this one: its standard input is a pipe that nobody else holds."""

    def __init__(self, command: Sequence[str], *, timeout_s: float) -> None:
        """Start `command` and wait for the line with its port.

        Raises:
            EngineError: it cannot be started, ends, or says no port in time.
        """
        try:
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except OSError as error:
            raise EngineError(f"the game {command[0]!r} cannot be started ({error.strerror})") from None
        late = threading.Timer(timeout_s, self._process.kill)
        late.start()
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        late.cancel()
        if not line.isdecimal():
            self.close()
            raise EngineError(f"the game {command[0]!r} was to print its port within {timeout_s:.0f} s, got {line!r}")
        self.port = int(line)

    def close(self) -> None:
        """End the game, by force if it does not go."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
