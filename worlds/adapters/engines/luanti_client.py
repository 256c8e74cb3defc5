"""A Luanti under a virtual display that draws one frame a request and stands still in between."""

import os
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from worlds.adapters.engine import EngineError

_CELLS, _COLORS, _DEPTH = 1, 2, 4
_REQUEST, _KEY, _REPLY = struct.Struct("=QiiII"), struct.Struct("=II"), struct.Struct("=II")

# Keysyms of X by the names of our keys.
_KEYSYMS: Dict[str, int] = {
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
_KEYSYMS.update({"hotbar.%d" % slot: ord(str(slot)) for slot in range(1, 10)})
MOUSE_DEG_PER_PX = 0.01  # the setting mouse_sensitivity

# Leaves when its owner is gone, however that ended: ends what runs in its process group, then removes the folder.
_REAPER = 'trap "" TERM INT HUP; cat >/dev/null; kill -TERM 0; sleep 0.3; rm -rf "$1"; kill -KILL 0'


class Frame(NamedTuple):
    """What was drawn, as far as it was asked for."""

    image_HWC: Optional[np.ndarray] = None  # uint8 [H, W, 3] RGB or cell codes, row 0 is the top
    depth_HW: Optional[np.ndarray] = None  # float32 [H, W], of the depth buffer, 1 is nothing


class LuantiClient:
    """One Xvfb and one Luanti, which both end with this process, and a folder that goes with them."""

    def __init__(self, folder: Path, *, time_limit_s: float) -> None:
        """Begin with a display; everything this starts is in one process group of its own."""
        self.folder = folder
        self._time_limit_s = time_limit_s
        self._keys_down: List[str] = []
        self._left_over_px = (0.0, 0.0)
        self._link: Optional[socket.socket] = None
        self._game: Optional["subprocess.Popen[bytes]"] = None
        self._reaper = subprocess.Popen(
            ["/bin/sh", "-c", _REAPER, "reaper", str(folder)], stdin=subprocess.PIPE, preexec_fn=_lead_group
        )
        reading, writing = os.pipe()
        self._display = self._spawn(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp", "-terminate"],
            dict(os.environ),
            log="xvfb.txt",
            keep=(writing,),
        )
        os.close(writing)
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        if not number:
            raise EngineError("luanti: Xvfb did not start: %s" % self._tail("xvfb.txt"))
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
        keys: Optional[Sequence[str]] = None,
        mouse_deg: Tuple[float, float] = (0.0, 0.0),
        cells: bool = False,
        colors: bool = False,
        depth: bool = False,
    ) -> Frame:
        """Let `duration_s` of game time pass with `keys` down and the mouse moved, and return what is then drawn.

        Without `keys` those that are down stay down.
        `mouse_deg` is (pitch, yaw) at a sensitivity of MOUSE_DEG_PER_PX; what is smaller than the mouse can say is kept for the next frame.
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
        """End everything and remove the folder."""
        self.stop_game()
        self._display.terminate()
        self._display.wait()
        assert self._reaper.stdin is not None
        self._reaper.stdin.close()
        self._reaper.wait()

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
            except socket.timeout:
                raise EngineError("luanti: no frame came within %g s" % self._time_limit_s) from None
            except OSError:
                raise self._gone() from None
            if not got:
                raise self._gone()
            view = view[got:]
        return room

    def _gone(self) -> EngineError:
        time.sleep(0.1)  # its last words are on their way
        return EngineError("luanti: the game ended: %s" % self._tail("luanti.txt"))

    def _tail(self, log: str) -> str:
        path = self.folder / log
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        return text[-600:] or "it said nothing"

    def _spawn(
        self, command: Sequence[str], environment: Dict[str, str], *, log: str, keep: Tuple[int, ...]
    ) -> "subprocess.Popen[bytes]":
        group = self._reaper.pid
        with open(self.folder / log, "ab") as words:
            return subprocess.Popen(
                list(command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                pass_fds=keep,
                preexec_fn=lambda: os.setpgid(0, group),
            )


def _lead_group() -> None:
    os.setpgid(0, 0)
