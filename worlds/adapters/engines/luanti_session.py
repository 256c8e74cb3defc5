"""An open world of Luanti in lockstep: time passes only while something here waits for the server.

Luanti's server takes its time from the client's frames, but its packets come when they come. So the client presses or
releases one key more than the agent does, and what the server tells counts once it has heard of that key.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from worlds.adapters.engine import EngineError
from worlds.adapters.engines import luanti_files as files
from worlds.adapters.engines.luanti_client import LuantiClient
from worlds.adapters.engines.luanti_control import LuantiControl

TICK_S = 0.05
_SYNC_S = 0.001  # a frame that only lets the server answer
# How long the server is waited for before another such frame. It sleeps for up to 30 ms until a packet wakes it; a tick
# waits longer, so that on a busy machine, too, it hardly ever takes a millisecond more than its 50.
_PATIENCE_S, _TICK_PATIENCE_S = 0.004, 0.05
_SETTLE_S = 0.5  # a frame of an agent that is held, in which nothing but the server has anything to do
_NEAR_ENOUGH = 0.02  # nodes; places travel in steps of a thousandth
# Luanti's mouse is slower where the picture is narrower (getSensitivityScaleFactor): this times tan(fov / 2).
_MOUSE_SCALE = 1.3763818698


class LuantiSession:
    """One Luanti, restarted for every world. Places and angles are Luanti's own."""

    def __init__(self, folder: Path, image_px: tuple[int, int], *, time_limit_s: float) -> None:
        """Start the display; `time_limit_s` bounds whatever is waited for."""
        self._folder = folder
        self._image_px = image_px
        self._time_limit_s = time_limit_s
        self._programs = files.find_programs()
        self._control = LuantiControl()
        self._client = LuantiClient(folder, time_limit_s=time_limit_s)
        files.write_shaders(self._programs["share"], folder / "shaders")
        self._library = files.build_lockstep(self._programs["cc"], folder)
        self._is_odd = False
        self._debt_s = 0.0  # game time that went into waiting and comes off the next tick
        self.fov_deg = 70.0  # vertical, of the camera as it is

    @property
    def present(self) -> dict[str, Any]:
        """Return what the mod told last."""
        return self._control.present

    def open_world(self, seed: int) -> None:
        """End the world that is open, and make that of `seed`."""
        self._client.stop_game()
        self._control.forget()
        settings = files.write_world(
            self._folder,
            seed=seed,
            port=self._control.port,
            token=self._control.token,
            window_px=self._image_px,
            shaders=self._folder / "shaders",
        )
        world = str(self._folder / "world")
        command = [self._programs["minetest"], "--go", "--world", world, "--gameid", "minetest_game"]
        command += ["--name", "agent", "--config", str(settings), "--port", str(files.free_port())]
        self._client.start_game(command, self._library)
        self._until(lambda: bool(self.present.get("is_ready")), "nobody joined the world", TICK_S)
        self._client.frame(_SYNC_S, keys=("chat",))
        self._client.frame(_SYNC_S, keys=())
        self._is_odd = False

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and let as little time pass as its answer takes; EngineError where it is refused."""
        number = self._control.send(verb, **arguments)
        answers: list[dict[str, Any]] = []

        def is_answered() -> bool:
            answer = self._control.answer(number)
            if answer is not None:
                answers.append(answer)
            return bool(answers)

        self._until(is_answered, f"{verb} was not answered")
        if "error" in answers[0]:
            raise EngineError(f"luanti: {verb}: {answers[0]['error']}")
        return answers[0]

    def tell(self, verb: str, **arguments: Any) -> None:
        """Send a request that has no answer."""
        self._control.send(verb, **arguments)

    def tick(self, keys: Sequence[str], camera_deg: tuple[float, float], num_ticks: int) -> np.ndarray:
        """Hold the keys for `num_ticks` frames of 50 ms, turning (pitch, yaw) in each; return the last picture."""
        scale = _MOUSE_SCALE * math.tan(math.radians(self.fov_deg) / 2)
        mouse_deg = (camera_deg[0] / scale, camera_deg[1] / scale)
        for tick in range(num_ticks):
            duration_s = TICK_S - self._debt_s
            self._debt_s = 0.0
            if tick == num_ticks - 1:
                self._is_odd = not self._is_odd
                duration_s -= _SYNC_S
            self._press(keys, max(0.0, duration_s), mouse_deg)
        image_HWC = self.sync(colors=True)
        self._debt_s -= _SYNC_S  # the first one was part of the tick
        assert image_HWC is not None
        return image_HWC

    def tap(self, key: str) -> None:
        """Press and release a key."""
        self._press((key,))
        self.sync()
        self._press(())
        self.sync(num_steps=2)

    def sync(self, num_steps: int = 1, *, colors: bool = False) -> np.ndarray | None:
        """Wait until the server has heard of the newest keys and made `num_steps` steps; return the last picture."""
        step = self.present["step"]

        def is_heard() -> bool:
            return self.present["step"] >= step + num_steps and self.present["is_odd"] == self._is_odd

        patience_s = _TICK_PATIENCE_S if colors else _PATIENCE_S
        return self._until(is_heard, "the server did not hear of the client", patience_s=patience_s, colors=colors)

    def arrive(self, place: Sequence[float]) -> None:
        """Wait until the client stands where it was put.

        The server believes it at once. But what it hears of a key pressed since comes with where the client then is.
        """

        def is_there() -> bool:
            here = self.present["pose"]
            turn_rad = (here[3] - place[3] + math.pi) % (2 * math.pi) - math.pi
            is_near = max(abs(a - b) for a, b in zip(here[:3], place[:3])) < _NEAR_ENOUGH
            is_turned = abs(turn_rad) < 0.002 and abs(here[4] - place[4]) < 0.002
            return self.present["is_odd"] == self._is_odd and is_near and is_turned

        self._is_odd = not self._is_odd
        self._press(())
        self._until(is_there, "the agent did not get to where it was put")

    def settle(self, num_quiet: int) -> None:
        """Let time pass until the picture has not changed in `num_quiet` frames of half a second.

        Between two frames all threads of the game get to the end of what they have to do, on a busy machine, too. The
        server pauses for two seconds when it has nothing to send: fewer than five frames may miss what comes then.
        """
        deadline_s = time.monotonic() + self._time_limit_s
        before, quiet = self.draw_cells(), 0
        while quiet < num_quiet:
            step = self.present["step"]
            self._client.frame(_SETTLE_S)
            while self.present["step"] == step and time.monotonic() < deadline_s:
                self._control.listen(_PATIENCE_S)
            self._client.rest()
            now = self.draw_cells()
            quiet = quiet + 1 if all(np.array_equal(one, other) for one, other in zip(now, before)) else 0
            before = now
            if time.monotonic() > deadline_s:
                raise EngineError(f"luanti: the picture did not come to rest within {self._time_limit_s:g} s")
        self._debt_s = 0.0

    def draw(self) -> np.ndarray:
        """Return uint8 [H, W, 3] of the present, the clock standing still."""
        image_HWC = self._client.frame(0.0, colors=True).image_HWC
        assert image_HWC is not None
        return image_HWC

    def draw_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the present, the clock standing still.

        uint8 [H, W, 3], the code of the cell that each pixel shows, and float32 [H, W], the depth buffer, 1 for sky.
        """
        frame = self._client.frame(0.0, cells=True, depth=True)
        assert frame.image_HWC is not None
        assert frame.depth_HW is not None
        return frame.image_HWC, frame.depth_HW

    def close(self) -> None:
        """End the game and the display."""
        self._client.close()
        self._control.close()

    def _press(self, keys: Sequence[str], duration_s: float = 0.0, mouse_deg: tuple[float, float] = (0.0, 0.0)) -> None:
        """Let a frame pass with these keys down, and with the one by which the server's echo is known."""
        self._client.frame(duration_s, keys=(*keys, "echo") if self._is_odd else keys, mouse_deg=mouse_deg)

    def _until(
        self,
        is_done: Callable[[], bool],
        complaint: str,
        duration_s: float = _SYNC_S,
        *,
        patience_s: float = _PATIENCE_S,
        colors: bool = False,
    ) -> np.ndarray | None:
        """Let short frames pass until `is_done`; return the last picture where `colors` are asked for."""
        image_HWC = None
        deadline_s = time.monotonic() + self._time_limit_s
        while not is_done():
            if time.monotonic() > deadline_s:
                raise EngineError(f"luanti: {complaint} within {self._time_limit_s:g} s")
            image_HWC = self._client.frame(duration_s, colors=colors).image_HWC
            self._debt_s += duration_s
            asked_again_s = time.monotonic() + patience_s
            while not is_done() and time.monotonic() < asked_again_s:
                self._control.listen(patience_s)
        return image_HWC
