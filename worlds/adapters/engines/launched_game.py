"""A game that a command starts: it prints the port on which its Malmo listens, and ends when its input is closed."""

from __future__ import annotations

import subprocess
import sys
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
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",  # a game's log may have paths and names in any encoding
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
        threading.Thread(target=self._read_on, name="log of the game", daemon=True).start()

    def _read_on(self) -> None:
        """Copy what the game says to our log; left alone, its pipe would fill and stop it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            sys.stderr.write(line)

    def close(self) -> None:
        """End the game, by force if it does not go."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
