"""An example to copy for a robot, Unreal or DMLab: frames of a film or webcam are seen, actions are written to a file.

Our action                a robot's command           in the file
forward, back             speed ahead, +-1            "ahead"
left, right               speed to the right, +-1     "right"
camera yaw, pitch         turn, degrees               "turn_deg": [yaw, pitch]
attack, use; others       gripper close, open; none   "grip": 1, -1 or 0
Options: video, a file or a camera's number (0); actions, the file (actions.jsonl).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, EngineError, Moment, Sight
from worlds.adapters.engines.engine_options import read_options, text, text_or_integer


class VideoEngine(Engine):
    """A film that is watched; a tick is a frame. No masks, no blocks, and the agent is always at the origin."""

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        super().__init__(image_px, read_options(options, {"video": text_or_integer, "actions": text}))
        video = self.options.get("video", 0)
        self._film = cv2.VideoCapture(video)
        if not self._film.isOpened():
            raise EngineError(f"{video} cannot be opened; name a film or a camera with video=")
        self._image_HWC: np.ndarray | None = None
        self._actions = open(self.options.get("actions", "actions.jsonl"), "a", encoding="ascii")

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Begin the film anew; a camera goes on."""
        self._film.set(cv2.CAP_PROP_POS_FRAMES, 0)
        return self._watch(1)

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Write the action down and watch on."""
        held = {name: int(bool(on)) for name, on in zip(BUTTONS, buttons)}
        command: dict[str, Any] = {"ahead": held["forward"] - held["back"], "right": held["right"] - held["left"]}
        command["turn_deg"], command["grip"] = [c * num_ticks for c in camera_deg[::-1]], held["attack"] - held["use"]
        print(json.dumps(command), file=self._actions, flush=True)
        return self._watch(num_ticks)

    def observe(self) -> Moment:
        """Look again at the same frame."""
        if self._image_HWC is None:
            raise EngineError("the film has no frame that can be read; name another film or camera with video=")
        return Moment(sight=Sight(self._image_HWC), pose=(0.0, 0.0, 0.0, 0.0, 0.0))

    def close(self) -> None:
        """Let go of the film; the file was flushed with every line."""
        self._film.release()

    def _watch(self, num_frames: int) -> Moment:
        for _ in range(num_frames):
            is_there, frame_HWC = self._film.read()
            if is_there:  # else the film is over: its last frame stays
                fit_HWC = cv2.resize(frame_HWC, self.image_px[::-1], interpolation=cv2.INTER_AREA)
                self._image_HWC = np.ascontiguousarray(fit_HWC[:, :, ::-1])
        return self.observe()
