"""A Luanti under a virtual display that draws one frame a request and stands still in between."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from worlds.adapters.engine import EngineError
from worlds.adapters.engines.luanti_files import MOUSE_DEG_PER_PX

_CELLS, _COLORS, _DEPTH = 1, 2, 4
_REQUEST, _KEY, _REPLY = struct.Struct("=QiiII"), struct.Struct("=II"), struct.Struct("=II")

# Keysyms of X by the names of our keys.
_KEYSYMS: dict[str, int] = {
    "attack": ord("k"),
    "use": ord("l"),
    "forward": ord("w"),
    "back": ord("s"),
    "left": ord("a"),
    "right": ord("d"),
    "jump": 0x20,
    "sneak": 0xFFE1,
    "sprint": ord("e"),
    "drop": ord("q"),
    "echo": ord("z"),
    "chat": 0xFFBF,  # F2 hides it
}
_KEYSYMS.update({f"hotbar.{slot}": ord(str(slot)) for slot in range(1, 10)})

_QUIET_LOOKS, _LOOK_S = 3, 0.001


class Frame(NamedTuple):
    """What was drawn, as far as it was asked for."""

    image_HWC: np.ndarray | None = None  # uint8 [H, W, 3] RGB or cell codes, row 0 is the top
    depth_HW: np.ndarray | None = None  # float32 [H, W], of the depth buffer, 1 is nothing


class LuantiClient:
    """One Xvfb, and one Luanti after another; both end with this process, however that ends."""

    def __init__(self, folder: Path, *, time_limit_s: float) -> None:
        """Begin with a display, which lets in local programs alone and leaves no file behind; logs go to `folder`."""
        self.folder = folder
        self._time_limit_s = time_limit_s
        self._keys_down: list[str] = []
        self._left_over_px = (0.0, 0.0)
        self._link: socket.socket | None = None
        self._game: subprocess.Popen[bytes] | None = None
        reading, writing = os.pipe()
        self._display = self._spawn(
            [
                "Xvfb",
                "-displayfd",
                str(writing),
                "-screen",
                "0",
                "640x480x24",
                "-nolisten",
                "tcp",
                "-nolisten",
                "unix",
                "-nolock",
                "-noreset",
            ],
            dict(os.environ),
            log="xvfb.txt",
            keep=(writing,),
        )
        os.close(writing)
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        if not number:
            raise EngineError("luanti: Xvfb did not start: {}".format(self._tail("xvfb.txt")))
        self._display_name = ":" + number

    def start_game(self, command: Sequence[str], library: Path) -> None:
        """Start Luanti with `command`; it waits before its first frame."""
        ours, its = socket.socketpair()
        ours.settimeout(self._time_limit_s)
        self._link = ours
        environment = dict(
            os.environ,
            DISPLAY=self._display_name,
            HOME=str(self.folder),
            MINETEST_USER_PATH=str(self.folder / "user"),
            LD_PRELOAD=str(library),
            MCRL_LOCKSTEP_FD=str(its.fileno()),
            LIBGL_ALWAYS_SOFTWARE="1",
            LP_NUM_THREADS="0",
        )
        self._game = self._spawn(command, environment, log="luanti.txt", keep=(its.fileno(),))
        its.close()
        self._keys_down = []
        self._receive()

    def frame(
        self,
        duration_s: float,
        *,
        keys: Sequence[str] | None = None,
        mouse_deg: tuple[float, float] = (0.0, 0.0),
        cells: bool = False,
        colors: bool = False,
        depth: bool = False,
    ) -> Frame:
        """Let `duration_s` of game time pass with `keys` down and the mouse moved, and return what is then drawn.

        Without `keys` those that are down stay down.
        `mouse_deg` is (pitch, yaw) at a sensitivity of MOUSE_DEG_PER_PX; what is less than a pixel is kept for the next
        frame.
        """
        mouse_px = [left / MOUSE_DEG_PER_PX + kept for left, kept in zip(mouse_deg, self._left_over_px)]
        whole_px = [int(round(px)) for px in mouse_px]
        self._left_over_px = (mouse_px[0] - whole_px[0], mouse_px[1] - whole_px[1])
        keys = self._keys_down if keys is None else keys
        changes = [(0, key) for key in self._keys_down if key not in keys]
        changes += [(1, key) for key in keys if key not in self._keys_down]
        self._keys_down = list(keys)
        flags = _CELLS * cells | _COLORS * (colors or cells) | _DEPTH * depth
        request = _REQUEST.pack(round(duration_s * 1e9), whole_px[1], whole_px[0], flags, len(changes))
        request += b"".join(_KEY.pack(is_down, _KEYSYMS[key]) for is_down, key in changes)
        assert self._link is not None
        try:
            self._link.sendall(request)
        except OSError:
            raise self._gone() from None
        return self._receive(has_image=colors or cells, has_depth=depth)

    def rest(self) -> None:
        """Wait until no thread of the game has anything to do; one that waits for a processor has."""
        assert self._game is not None
        deadline_s = time.monotonic() + self._time_limit_s
        num_quiet = 0
        while num_quiet < _QUIET_LOOKS and time.monotonic() < deadline_s:
            num_quiet = 0 if _is_busy(self._game.pid) else num_quiet + 1
            time.sleep(_LOOK_S)

    def stop_game(self) -> None:
        """End Luanti; its world stays."""
        if self._link:
            self._link.close()
            self._link = None
        if self._game:
            try:
                self._game.wait(5)
            except subprocess.TimeoutExpired:
                self._game.kill()
                self._game.wait()
            self._game = None

    def close(self) -> None:
        """End everything."""
        self.stop_game()
        self._display.terminate()
        self._display.wait()

    def _receive(self, *, has_image: bool = False, has_depth: bool = False) -> Frame:
        width, height = _REPLY.unpack(self._read(_REPLY.size))
        image_HWC = depth_HW = None
        if has_image:
            image_HWC = np.frombuffer(self._read(height * width * 3), np.uint8).reshape(height, width, 3)[::-1]
        if has_depth:
            depth_HW = np.frombuffer(self._read(height * width * 4), np.float32).reshape(height, width)[::-1]
        return Frame(image_HWC, depth_HW)

    def _read(self, count: int) -> bytearray:
        assert self._link is not None
        room = bytearray(count)
        view = memoryview(room)
        while view:
            try:
                got = self._link.recv_into(view)
            except socket.timeout:  # noqa: UP041 - no TimeoutError before Python 3.10
                raise EngineError(f"luanti: no frame came within {self._time_limit_s:g} s") from None
            except OSError:
                raise self._gone() from None
            if not got:
                raise self._gone()
            view = view[got:]
        return room

    def _gone(self) -> EngineError:
        time.sleep(0.1)  # its last words are on their way
        return EngineError("luanti: the game ended: {}".format(self._tail("luanti.txt")))

    def _tail(self, log: str) -> str:
        path = self.folder / log
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        return text[-600:] or "it said nothing"

    def _spawn(
        self, command: Sequence[str], environment: dict[str, str], *, log: str, keep: tuple[int, ...]
    ) -> subprocess.Popen[bytes]:
        with open(self.folder / log, "ab") as words:
            return subprocess.Popen(
                list(command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                pass_fds=keep,
            )


def _is_busy(pid: int) -> bool:
    """Tell whether a thread of a process runs, or would if there were a processor for it."""
    for task in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            state = task.read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue  # the thread has just ended
        if state in "RD":
            return True
    return False
