"""The program of an engine's process: `python child.py --socket-fd A --memory-fd B --life-fd C`, Python 3.8 or newer.

It forks before it imports anything. The parent half is a keeper: it waits, and once the engine has ended, once nobody
holds the other end of the life pipe any more (our process closed it, or was killed) or once it is told to end, it kills
the engine with everything that the engine started, and removes its temporary folder. The child half serves one engine
on the socket: it answers one message after another until it is told to close. README.md has the protocol.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from worlds.adapters.engine import Engine

_BEAT_S = 0.5
_GRACE_S = 5.0  # for what the kernel does not kill at once, such as a process that waits for a disk
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h: orphans of the engine become the keeper's children


def main() -> None:
    """Be the keeper, and let the other half serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("socket", "memory", "life"):
        parser.add_argument(f"--{name}-fd", type=int, required=True)
    parser.add_argument("--program", help="serve with this program instead; it gets --socket-fd and --memory-fd")
    args = parser.parse_args()
    # Modules beside this file are called by their full names; `import process` must not find ours.
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]
    folder = tempfile.mkdtemp(prefix="mcrl-engine-")
    os.environ.update(dict.fromkeys(("TMPDIR", "TMP", "TEMP"), folder))
    tempfile.tempdir = None
    _adopt_orphans()
    keeper_pid = os.getpid()
    engine_pid = os.fork()
    if engine_pid:
        os.close(args.socket_fd)
        os.close(args.memory_fd)
        sys.exit(_keep(engine_pid, args.life_fd, folder))
    os.setpgid(0, 0)
    os.close(args.life_fd)
    if args.program:
        fds = ("--socket-fd", str(args.socket_fd), "--memory-fd", str(args.memory_fd))
        os.execv(args.program, [args.program, *fds])
    _make_importable()
    _Server(args.socket_fd, args.memory_fd, keeper_pid, folder).run()


def _adopt_orphans() -> None:
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # not Linux: what the engine started dies with its process group


def _keep(engine_pid: int, life_fd: int, folder: str) -> int:
    """Wait for one of the ends; return the exit code of the engine, as a shell would give it."""
    wake_fd, signal_fd = os.pipe()
    for fd in (wake_fd, signal_fd):
        os.set_blocking(fd, False)
    is_told_to_end = False

    def end(number: int, frame: Any) -> None:
        nonlocal is_told_to_end
        is_told_to_end = True

    signal.set_wakeup_fd(signal_fd, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    poll = select.poll()  # not select, which takes no descriptor above 1023: ours is numbered as our process has it
    for fd in (life_fd, wake_fd):
        poll.register(fd, select.POLLIN)
    owner_pid, status = os.getppid(), None
    while status is None and not is_told_to_end and os.getppid() == owner_pid:
        ready = {fd for fd, _ in poll.poll(1000.0)}
        if wake_fd in ready:
            os.read(wake_fd, 4096)
        if life_fd in ready:
            break  # nothing is ever written to it: this is its end
        pid, found = os.waitpid(engine_pid, os.WNOHANG)
        status = found if pid else None
    killed = _kill_all(engine_pid)
    shutil.rmtree(folder, ignore_errors=True)
    status = killed if status is None else status
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _kill_all(engine_pid: int) -> int:
    """Kill the engine, its group and every process it left behind; return the engine's wait status."""
    engine_status, deadline_s = 0, time.monotonic() + _GRACE_S
    while time.monotonic() < deadline_s:
        with contextlib.suppress(OSError):
            os.killpg(engine_pid, signal.SIGKILL)
        # Those in groups of their own: children of the dead are our children now.
        for pid in _children():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == engine_pid:
            engine_status = status
        if not pid:
            time.sleep(0.01)
    return engine_status


def _children() -> list[int]:
    """Return the processes that threads of this one have started; none where the system does not say."""
    pids: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            pids += [int(pid) for pid in path.read_text(encoding="ascii").split()]
    return pids


def _heirs(folder: str) -> list[int]:
    """Return the processes that were started with our temporary folder; none where the system does not say."""
    mark, pids = b"\0TMPDIR=" + os.fsencode(folder) + b"\0", []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # of somebody else, or gone by now
            if mark in b"\0" + path.read_bytes():
                pids.append(int(path.parent.name))
    return pids


def _make_importable() -> None:
    """Let `worlds.adapters` be imported without worlds/__init__.py, which asks for packages that are not here."""
    import types

    package = types.ModuleType("worlds")
    package.__path__ = [str(Path(__file__).resolve().parents[1])]
    sys.modules["worlds"] = package


class _Server:
    """Answers for one engine."""

    def __init__(self, socket_fd: int, memory_fd: int, keeper_pid: int, folder: str) -> None:
        import socket

        self._connection = socket.socket(fileno=socket_fd)
        self._memory_fd = memory_fd
        self._keeper_pid = keeper_pid
        self._folder = folder
        self._image_px = (0, 0)
        self._engine_name = ""

    def run(self) -> NoReturn:
        """Start the engine that the first message names, and answer until the end."""
        from worlds.adapters.wire import Message, WireError, receive, send

        engine = None
        try:
            while True:
                message = receive(self._connection)
                try:
                    if message.kind == "close":
                        reply = Message("closed", {})
                        if engine is not None:
                            engine.close()
                    elif engine is None:
                        engine, reply = self._start(message.fields)
                    else:
                        reply = self._answer(engine, message.kind, message.fields)
                except Exception as error:  # whatever a foreign engine raises: it is told, and the process replaced
                    reply = Message("error", {"text": _sentence(error, self._engine_name)})
                send(self._connection, reply)
                if message.kind == "close":
                    break
        except WireError:
            self._end(1)  # our process is gone, or nothing that it says can be understood any more
        self._end(0)

    def _end(self, status: int) -> NoReturn:
        """End at once: threads and exit handlers of an engine may wait for ever."""
        self._clear_up()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    def _start(self, fields: dict[str, Any]) -> tuple[Engine, Any]:
        from worlds.adapters.engine_class import load_engine_class, overridden_methods
        from worlds.adapters.frames import Frames
        from worlds.adapters.wire import Message

        self._engine_name = fields["engine"]
        height, width = fields["image_px"]
        self._image_px = (int(height), int(width))
        self._frames = Frames(self._memory_fd, self._image_px)
        os.close(self._memory_fd)
        threading.Thread(target=self._beat, daemon=True).start()
        engine_class = load_engine_class(fields["engine"])
        engine = engine_class(self._image_px, fields["options"])
        return engine, Message(
            "hello",
            {
                "methods": overridden_methods(engine_class),
                "has_masks": bool(engine.has_masks),
                "has_depth": bool(engine.has_depth),
                "can_rescan": bool(engine.can_rescan),
                "is_realtime": bool(engine.is_realtime),
                "view_range_blocks": float(engine.view_range_blocks),
                "pid": os.getpid(),
                "folder": self._folder,
                "python": ".".join(str(part) for part in sys.version_info[:3]),
            },
        )

    def _beat(self) -> None:
        while os.getppid() == self._keeper_pid:
            self._frames.beat()
            time.sleep(_BEAT_S)
        # The keeper was killed: what it would have done is done here.
        self._clear_up()
        os.killpg(0, signal.SIGKILL)

    def _clear_up(self) -> None:
        """Do what the keeper will, in case it cannot: Ray kills it along with the worker whose engine this is."""
        for pid in _heirs(self._folder):
            if pid not in (os.getpid(), self._keeper_pid):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answer(self, engine: Engine, kind: str, fields: dict[str, Any]) -> Any:
        from worlds.adapters.moments import check_sight, moment_fields, sight_arrays
        from worlds.adapters.wire import Message

        if kind in ("reset", "step", "observe"):
            if kind == "reset":
                moment = engine.reset(fields["episode"])
            elif kind == "step":
                pitch_deg, yaw_deg = fields["camera_deg"]
                moment = engine.step([bool(on) for on in fields["buttons"]], (pitch_deg, yaw_deg), fields["num_ticks"])
            else:
                moment = engine.observe()
            check_sight(moment.sight, self._image_px)
            self._frames.write(moment.sight)
            return Message("moment", moment_fields(moment))
        if kind == "look_from":
            sights = engine.look_from(fields["eyes"])
            for sight in sights:
                check_sight(sight, self._image_px)
            return Message("sights", {}, sight_arrays(sights))
        if kind == "lines_clear":
            clear = engine.lines_clear(fields["froms"], [tuple(cell) for cell in fields["cells"]])
            return Message("lines", {"clear": [bool(value) for value in clear]})
        if kind == "scan":
            scan = engine.scan(tuple(fields["lowest"]), tuple(fields["size"]))
            return Message("scan", {"names": [str(name) for name in scan.names]}, (scan.index_XZY,))
        raise ValueError(f"there is no request {kind!r}")


def _sentence(error: Exception, engine_name: str) -> str:
    """Return what went wrong on one line, and print where to the log; of a user's own file its line is told, too."""
    import traceback

    from worlds.adapters.engine import EngineError

    traceback.print_exc()
    text = " ".join(str(error).split())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == engine_name]
    where = f" ({os.path.basename(engine_name)}:{lines[-1]})" if lines else ""
    if isinstance(error, EngineError) and text:
        return text
    if isinstance(error, (ValueError, NotImplementedError)) and text:
        # numpy's sentences tell a user nothing without their type; in our own engines they are ours.
        return f"{type(error).__name__}: {text}{where}" if where else text
    if isinstance(error, ModuleNotFoundError):
        # The doctor knows the engines that come along, not one that is named by its path.
        command = "" if os.sep in engine_name else f"; `mcrl doctor {engine_name}` has the command"
        return (
            f"{sys.executable} has no package {error.name}; install it there or name a Python that has it with "
            f"--engine-python{command}"
        )
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + where


if __name__ == "__main__":
    main()
