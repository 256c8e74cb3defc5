"""The frame pool as a Gymnasium env, for the systems that want one. H W C image."""

from typing import Any

import gymnasium
import numpy as np
from turns import IMAGE_PX, NUM_ACTIONS, FramePool


class FramePoolGym(gymnasium.Env[np.ndarray, np.int64]):
    """Frames out of a pool; the time limit truncates."""

    render_mode = None

    def __init__(self, seed: int, *, is_channels_first: bool = False) -> None:
        """Draw the frames; with `is_channels_first` they are handed out as [C, H, W]."""
        self._pool = FramePool(seed)
        shape = (IMAGE_PX, IMAGE_PX, 3)
        if is_channels_first:
            self._pool.pool_NHWC = np.ascontiguousarray(self._pool.pool_NHWC.transpose(0, 3, 1, 2))
            shape = (3, IMAGE_PX, IMAGE_PX)
        self.observation_space = gymnasium.spaces.Box(0, 255, shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Begin an episode."""
        return self._pool.reset(), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Take one step."""
        image_HWC, reward, is_over = self._pool.step(int(action))
        return image_HWC, reward, False, is_over, {}
