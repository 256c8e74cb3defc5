"""Programs measured by turns: all are started, then each in turn works while the others wait.

So a machine that slows down meanwhile slows all of them. Each program is a driver that speaks the protocol of
eval.peers.turns.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.benches.process_cpu import tree_cpu_s

# On a busy machine a peer needs minutes to start and to run a turn.
_ANSWER_LIMIT_S = 1200.0
_END_TIMEOUT_S = 10.0


class DriverError(RuntimeError):
    """A driver ended, hung or said something else than it should; the message holds its last words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contestant:
    """A program to measure."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    answer_limit_s: float = _ANSWER_LIMIT_S
    """How long it may take to start, or for a turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn brought and cost."""

    num_frames: int
    cpu_s: float  # of the program and all its processes
    wall_s: float

    @property
    def frames_per_cpu_s(self) -> float:
        """Return the speed per CPU-second."""
        return self.num_frames / self.cpu_s


@dataclass(frozen=True, slots=True)
class Result:
    """All turns of one contestant, in order, and what it said of itself."""

    about: Mapping[str, Any]  # "versions": package to version; other facts as the driver gives them
    turns: tuple[Turn, ...]


def take_turns(
    contestants: Sequence[Contestant],
    *,
    num_turns: int,
    iterations_per_turn: int,
    on_turn: Callable[[int, int], None] = lambda num_done, num_turns: None,
) -> tuple[dict[str, Result], dict[str, str]]:
    """Return the results by name, and the reasons why others have none.

    One turn more than asked for comes first and is not counted. `on_turn` hears how many turns are over, and of how
    many; those of a contestant that failed count as over. A contestant that takes longer than its `answer_limit_s`
    has failed; it is ended at once, so that it is in nobody's way.
    """
    failures: dict[str, str] = {}
    drivers: dict[str, _Driver] = {}
    turns: dict[str, list[Turn]] = {contestant.name: [] for contestant in contestants}
    num_done = 0
    with contextlib.ExitStack() as stack:
        for contestant in contestants:
            # One after the other: starting is as much work as a turn, and a crowd of them would only be slower.
            try:
                drivers[contestant.name] = stack.enter_context(_Driver(contestant))
            except DriverError as error:
                failures[contestant.name] = str(error)
        for index in range(num_turns + 1):
            for contestant in contestants:
                name = contestant.name
                if name not in failures:
                    try:
                        turn = drivers[name].run(iterations_per_turn)
                        if index:
                            turns[name].append(turn)
                    except DriverError as error:
                        failures[name] = str(error)
                        drivers[name].end()
                num_done += 1
                on_turn(num_done, (num_turns + 1) * len(contestants))
        about = {name: driver.about for name, driver in drivers.items()}
    return {name: Result(about[name], tuple(turns[name])) for name in turns if name not in failures}, failures


class _Driver:
    """A running driver. As a context it ends with the block, whatever happens."""

    def __init__(self, contestant: Contestant) -> None:
        self._name = contestant.name
        self._answer_limit_s = contestant.answer_limit_s
        self._heard = b""
        self._has_ended = False
        self._stderr = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                contestant.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=dict(contestant.environment),
                start_new_session=True,  # so that all its processes can be ended together
            )
        except OSError as error:
            self._stderr.close()
            raise DriverError(f"{self._name} does not start: {error}") from None
        try:
            self.about = self._answer()
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> "_Driver":
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def run(self, num_iterations: int) -> Turn:
        """Let it work."""
        cpu_s, wall_s = tree_cpu_s(self._process.pid), time.perf_counter()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{num_iterations}\n".encode("ascii"))
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failed("ended between two turns") from None
        num_frames = self._answer().get("num_frames")
        if not isinstance(num_frames, int) or num_frames < 1:
            raise self._failed(f"says that it learned from {num_frames!r} frames")
        return Turn(num_frames, tree_cpu_s(self._process.pid) - cpu_s, time.perf_counter() - wall_s)

    def _answer(self) -> dict[str, Any]:
        line = self._line()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._failed(f"answered {line[:80]!r}, not one line of JSON")
        return answer

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        deadline_s = time.monotonic() + self._answer_limit_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            # Piece by piece: a line that is begun and never ended must not hold us up either.
            while b"\n" not in self._heard:
                if not selector.select(max(0.0, deadline_s - time.monotonic())):
                    raise self._failed(f"said nothing for {self._answer_limit_s:.0f} s")
                piece = os.read(self._process.stdout.fileno(), 65536)
                if not piece:
                    raise self._failed("ended before it answered")
                self._heard += piece
        line, _, self._heard = self._heard.partition(b"\n")
        return line

    def _failed(self, what: str) -> DriverError:
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return DriverError(f"{self._name} {what}; its last words: {lines[-1].strip() if lines else 'none'}")

    def end(self) -> None:
        """End it and all its processes; once is enough."""
        if self._has_ended:
            return
        self._has_ended = True
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            pass
        # Also after a proper end: processes that it left behind belong to its session.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()
        self._stderr.close()
