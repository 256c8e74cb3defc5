"""One engine in a process of its own: started, watched, asked, ended. What goes wrong there is an error here."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worlds.adapters.engine import Moment, Scan, Sight
from worlds.adapters.engine_choice import EngineChoice, EngineFaultError, Limits, is_program
from worlds.adapters.frames import Frames, open_memory
from worlds.adapters.moments import check_scan, check_sight, moment_of, sights_of
from worlds.adapters.wire import Message, WireClosedError, WireError, WireTimeoutError, receive, send

_CHILD = Path(__file__).with_name("child.py")
_MAX_LOG_BYTES = 64 * 1024
_LOOK_S = 0.5  # how often a wait for an answer looks at the pulse
# An interpreter of somebody else must not look for its packages among ours.
_OUR_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


class EngineProcess:
    """A running engine. Every method may raise EngineFaultError; the process is then of no more use than to be killed.

    Requests come in two halves, `ask` and one of the answers, so that several engines can work at a time.
    """

    def __init__(self, choice: EngineChoice, image_px: tuple[int, int], limits: Limits | None = None) -> None:
        """Start the process; `hello` then waits until it can be asked."""
        self.choice = choice
        self.methods: frozenset[str] = frozenset()
        self.has_masks = self.has_depth = self.can_rescan = self.is_realtime = False
        self.view_range_blocks = 0.0
        self.limits = limits or Limits()
        self._image_px = image_px
        self._log: deque[bytes] = deque()
        self._has_said_hello = False
        self._is_over = False
        try:
            memory_fd = open_memory(image_px)
        except OSError as error:
            raise EngineFaultError(f"{choice.name}: no shared memory for its frames ({error.strerror})") from None
        self._connection, childs_socket = socket.socketpair()
        childs_life_fd, self._life_fd = os.pipe()
        try:
            self._frames = Frames(memory_fd, image_px)
            self._process = self._spawn(childs_socket.fileno(), memory_fd, childs_life_fd)
        except OSError as error:
            self._connection.close()
            os.close(self._life_fd)
            raise EngineFaultError(
                f"{choice.name}: {_python_of(choice)} cannot be started ({error.strerror}); name the engine's "
                "interpreter with --engine-python"
            ) from None
        finally:
            childs_socket.close()
            os.close(memory_fd)
            os.close(childs_life_fd)
        self._reader = threading.Thread(target=self._read_log, name=f"log of {choice.name}", daemon=True)
        self._reader.start()
        self._deadline_s = 0.0
        self._request = self._unanswered = ""
        fields = {"engine": choice.engine, "image_px": list(image_px), "options": dict(choice.options), "protocol": 1}
        try:
            self.ask("start", fields, limit_s=self.limits.start_s)
        except BaseException:
            self.kill()  # nobody else has it
            raise

    def _spawn(self, socket_fd: int, memory_fd: int, life_fd: int) -> subprocess.Popen[bytes]:
        fds = {"--socket-fd": socket_fd, "--memory-fd": memory_fd, "--life-fd": life_fd}
        command = [str(_python_of(self.choice)), "-u", str(_CHILD)]
        for name, fd in fds.items():
            command += [name, str(fd)]
        if is_program(self.choice.engine):
            command += ["--program", str(Path(self.choice.engine).absolute())]
        environment = dict(os.environ)
        if self.choice.python is not None:
            for name in _OUR_VARIABLES:
                environment.pop(name, None)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=tuple(fds.values()),
            env=environment,
            # Ctrl-C at our terminal is for us; we end the engine in our own time.
            start_new_session=True,
        )

    def _read_log(self) -> None:
        """Keep the end of what the engine prints; read on so that it never waits for us."""
        assert self._process.stdout is not None
        num_bytes = 0
        while part := self._process.stdout.read1(8192):  # type: ignore[attr-defined]  # a BufferedReader
            self._log.append(part)
            num_bytes += len(part)
            while num_bytes - len(self._log[0]) >= _MAX_LOG_BYTES:
                num_bytes -= len(self._log.popleft())

    @property
    def log(self) -> str:
        """Return the end of what the engine printed, 64 KiB at most."""
        return b"".join(tuple(self._log)).decode(errors="replace")

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the process ids of the keeper, of the engine and of all that it has started, as the system has them.

        What the engine itself says of them is not asked: whatever it named would be killed.
        """
        return tuple(_family(self._process.pid))

    def ask(self, kind: str, fields: Mapping[str, Any] | None = None, *, limit_s: float | None = None) -> None:
        """Send a request; one of the answers below must follow, within `limit_s` (None: Limits.answer_s)."""
        if self._unanswered:  # whoever asked was interrupted, and every answer would be taken for that to the next
            raise self._fault(f"was asked for {kind} before its answer to {self._unanswered} was heard")
        self._request = self._unanswered = kind
        self._deadline_s = time.monotonic() + (self.limits.answer_s if limit_s is None else limit_s)
        try:
            send(self._connection, Message(kind, dict(fields or {})), deadline_s=self._deadline_s)
        except WireError as error:
            raise self._fault(error) from None

    def ask_reset(self, episode: Mapping[str, Any]) -> None:
        """Send a request to begin an episode; `moment` answers."""
        self.ask("reset", {"episode": dict(episode)}, limit_s=self.limits.reset_s)

    def hello(self) -> None:
        """Wait until the engine has started, and hear what it can do."""
        fields = self._answer("hello").fields
        with self._reading():
            self.methods = frozenset(str(name) for name in fields["methods"])
            self.has_masks, self.has_depth = bool(fields["has_masks"]), bool(fields["has_depth"])
            self.can_rescan, self.is_realtime = bool(fields["can_rescan"]), bool(fields["is_realtime"])
            self.view_range_blocks = float(fields["view_range_blocks"])
            self._has_said_hello = True

    def moment(self) -> Moment:
        """Return the state after reset, step or observe; its view is overwritten by the next one."""
        fields = self._answer("moment").fields
        with self._reading():
            frames = self._frames
            sight = Sight(
                frames.image_HWC,
                frames.instance_HW if fields["has_instance"] else None,
                frames.depth_HW if fields["has_depth"] else None,
            )
            return moment_of(fields, sight)

    def sights(self, num_views: int) -> list[Sight]:
        """Return what the cameras of look_from see."""
        arrays = self._answer("sights").arrays
        with self._reading():
            sights = sights_of(arrays, self._image_px)
            if len(sights) != num_views:
                raise ValueError(f"{len(sights)} views, wanted are {num_views}")
            for sight in sights:
                check_sight(sight, self._image_px)
            return sights

    def lines(self, num_lines: int) -> list[bool]:
        """Return the answers of lines_clear."""
        clear = self._answer("lines").fields.get("clear")
        with self._reading():
            if not isinstance(clear, list) or len(clear) != num_lines:
                raise ValueError(f"{clear!r:.80}, wanted are {num_lines} truths")
            return [bool(value) for value in clear]

    def scanned(self, size: tuple[int, int, int]) -> Scan:
        """Return the blocks of a scan whose sides along x, y, z were `size`."""
        message = self._answer("scan")
        with self._reading():
            names = [str(name) for name in message.fields["names"]]
            (index_XZY,) = message.arrays
            scan = Scan(names, index_XZY)
            check_scan(scan, size)
            return scan

    def _answer(self, wanted: str) -> Message:
        """Return the reply; EngineFaultError where there is none in time, or another one."""
        self._wait_for_words()
        try:
            # What has begun comes at once, or never.
            message = receive(self._connection, deadline_s=time.monotonic() + self.limits.pulse_s)
        except WireTimeoutError:
            raise self._fault(f"said half a message in answer to {self._request}") from None
        except WireError as error:
            raise self._fault(error) from None
        self._unanswered = ""
        if message.kind == "error":
            raise self._fault(str(message.fields.get("text", "no reason given")))
        if message.kind != wanted:
            raise self._fault(f"answered {message.kind[:40]!r} to {self._request}, wanted is {wanted!r}")
        return message

    def _wait_for_words(self) -> None:
        """Wait until the engine says something, as long as it may take and shows signs of life."""
        pulse, pulse_s = self._frames.pulse, time.monotonic()
        while not _is_readable(self._connection, _LOOK_S):
            now_s = time.monotonic()
            if now_s >= self._deadline_s:
                raise self._fault(f"did not answer {self._request} in time")
            if self._frames.pulse != pulse:
                pulse, pulse_s = self._frames.pulse, now_s
            elif self._has_said_hello and now_s - pulse_s > self.limits.pulse_s:
                raise self._fault(f"gave no sign of life for {self.limits.pulse_s:g} s")

    def _reading(self) -> "_Reading":
        return _Reading(self)

    def _fault(self, reason: object) -> EngineFaultError:
        """Return what to raise; the last line that the engine printed goes into it where it just ended."""
        name = f"{self.choice.name}: "
        text = name + str(reason).removeprefix(name)  # many an engine names itself
        if isinstance(reason, WireClosedError):
            text = f"{name}ended during {self._request}, {reason}"
            self._reader.join(timeout=1.0)
            lines = [line for line in self.log.splitlines() if line.strip()]
            if lines:
                text += f"; it last printed {lines[-1].strip()[:300]!r}"
        return EngineFaultError(text)

    def close(self) -> None:
        """Let the engine end by itself, and kill it where it does not. May be called again."""
        if self._is_over:
            return
        deadline_s = time.monotonic() + self.limits.close_s
        try:
            send(self._connection, Message("close", {}), deadline_s=deadline_s)
            self._process.wait(timeout=max(0.0, deadline_s - time.monotonic()))
        except (WireError, subprocess.TimeoutExpired):
            pass
        self.kill()

    def kill(self) -> None:
        """End the process and all that it started, now. May be called again."""
        if self._is_over:
            return
        self._is_over = True
        os.close(self._life_fd)  # the keeper takes that for the order to kill everything
        self._connection.close()
        try:
            self._process.wait(timeout=self.limits.close_s)
        except subprocess.TimeoutExpired:
            for pid in self.pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(timeout=self.limits.close_s)
        assert self._process.stdout is not None
        if not self._reader.is_alive():  # else somebody has the engine's output still open, and closing would wait
            self._process.stdout.close()
        self._frames.close()


class _Reading:
    """Turns what goes wrong while an answer is taken apart into the fault of a strange answer."""

    def __init__(self, process: EngineProcess) -> None:
        self._process = process

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (ValueError, KeyError, TypeError, IndexError, OverflowError)):
            what = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise self._process._fault(f"gave a strange answer to {self._process._request} ({what})") from None


def _python_of(choice: EngineChoice) -> Path:
    return Path(sys.executable) if choice.python is None else choice.python


def _is_readable(connection: socket.socket, wait_s: float) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(wait_s * 1000.0))


def _family(pid: int) -> list[int]:
    """Return a process and all that it has started, itself first; itself alone where the system does not say."""
    family = [pid]
    for member in family:  # which grows meanwhile
        with contextlib.suppress(OSError):  # it has ended by now
            for path in Path(f"/proc/{member}/task").glob("*/children"):
                family += [int(child) for child in path.read_text(encoding="ascii").split()]
    return family
