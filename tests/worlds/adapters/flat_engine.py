"""A light engine for tests of the process layer: a flat world that needs numpy alone, and that fails as it is told.

Options: "fault", one of FAULTS, "at", the request in which it happens, "once", a file that is made at the first fault
and prevents a second, "file", which it writes at its start to say which processes and folders it has, and "claims_pid",
the process that it says it is.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

from worlds.adapters.engine import Engine, EngineError, Event, Moment, Scan, Sight

FAULTS = (
    "exit", "kill", "hang", "stop", "garbage", "half", "wrong_size", "error", "disk_full", "bad_event", "wrong_kind",
    "too_long", "no_number",
)  # fmt: skip


class FlatEngine(Engine):
    """Stone up to y = 3; the agent turns and walks on it, the picture shows where it looks."""

    has_masks = True

    def __init__(self, image_px, options):
        super().__init__(image_px, options)
        print("flat engine starts")
        self.pose = [0.0] * 5
        self.events = []
        if "file" in options:
            # In a group and session of its own, as games are started: the keeper has to find it all the same.
            helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            with open(options["file"], "w") as file:
                file.write(f"{os.getpid()} {helper.pid} {tempfile.mkdtemp()}")
        if "claims_pid" in options:
            os.getpid = lambda: options["claims_pid"]
        self._maybe_fail("start")

    def reset(self, episode):
        self._maybe_fail("reset")
        self.pose = [float(part) for part in episode["start"]]
        return self._moment()

    def step(self, buttons, camera_deg, num_ticks):
        self._maybe_fail("step")
        self.pose[4] = min(90.0, max(-90.0, self.pose[4] + camera_deg[0] * num_ticks))
        self.pose[3] += camera_deg[1] * num_ticks
        self.pose[2] += 0.1 * num_ticks * buttons[2]
        return self._moment()

    def observe(self):
        self._maybe_fail("observe")
        return self._moment()

    def look_from(self, eyes):
        self._maybe_fail("look_from")
        return [self._sight(eye[4]) for eye in eyes]

    def lines_clear(self, froms, cells):
        return [cell[1] <= 3 for cell in cells]

    def scan(self, lowest, size):
        index_XZY = np.zeros((size[0], size[2], size[1]), np.uint16)
        index_XZY[:, :, : max(0, 4 - lowest[1])] = 1
        return Scan(["air", "stone"], index_XZY)

    def close(self):
        if self.options.get("fault") == "deaf_to_close":
            time.sleep(600)

    def _sight(self, pitch_deg):
        height, width = self.image_px
        image_HWC = np.full((height, width, 3), int(pitch_deg) % 256, np.uint8)
        return Sight(image_HWC, np.ones((height, width), np.int32))

    def _moment(self):
        return Moment(sight=self._sight(self.pose[4]), pose=tuple(self.pose), events=self.events)

    def _maybe_fail(self, request):
        if self.options.get("at") != request:
            return
        if "once" in self.options:
            try:
                os.close(os.open(self.options["once"], os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
        fault = self.options["fault"]
        socket_fd = int(sys.argv[sys.argv.index("--socket-fd") + 1])
        if fault == "exit":
            print("java.lang.OutOfMemoryError: Java heap space", file=sys.stderr)
            sys.stderr.flush()
            os._exit(3)
        elif fault == "kill":
            os.kill(os.getpid(), 9)
        elif fault == "hang":
            time.sleep(600)
        elif fault == "stop":
            signal.raise_signal(signal.SIGSTOP)  # not even its other threads go on
        elif fault == "garbage":
            os.write(socket_fd, b"HTTP/1.1 200 OK\r\n\r\nhello there")
        elif fault == "half":
            os.write(socket_fd, b"MCR1\0\0\0\x40\0\0\0\0\0\0\0\0{")
            time.sleep(600)
        elif fault == "too_long":
            os.write(socket_fd, b"MCR1\xff\xff\xff\xff\0\0\0\0\0\0\0\0{")
        elif fault == "wrong_size":
            self.image_px = (8, 8)
        elif fault == "error":
            raise EngineError("the server kicked the player; log in again")
        elif fault == "disk_full":
            with open("/dev/full", "w") as file:
                file.write("the world is saved" * 1000)
        elif fault == "bad_event":
            self.events = [Event("won", "the game")]
        elif fault == "no_number":
            self.pose[0] = math.nan
        elif fault == "wrong_kind":
            os.write(socket_fd, b"MCR1\0\0\0\x10\0\0\0\0\0\0\0\0" + b'{"kind":"lines"}')
