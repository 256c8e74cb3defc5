"""The setting that all training systems are driven at, and how a driver takes turns with the others.

Drivers run in environments of their own: nothing here or beside it imports mcrl. E envs, T steps, H W C image.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

IMAGE_PX = 84
NUM_ENVS = 16
ROLLOUT_STEPS = 64
MINIBATCH_FRAMES = 256
FRAMES_PER_ITERATION = NUM_ENVS * ROLLOUT_STEPS
NUM_ACTIONS = 6
EPISODE_STEPS = 200
NUM_FRAMES_IN_POOL = 32
EPISODES_PER_EVALUATION = 4 * NUM_ENVS
# Those of Schulman et al. 2017 for Atari; speed does not depend on them, but all systems get the same.
LEARNING_RATE = 2.5e-4
DISCOUNT, GAE_LAMBDA, CLIP_EPS = 0.99, 0.95, 0.2
VALUE_COEF, ENTROPY_COEF, MAX_GRAD_NORM = 0.5, 0.01, 0.5


class FramePool:
    """An env that costs next to nothing: random frames in turn, reward for one action in six, episodes of 200 steps."""

    def __init__(self, seed: int, *, image_px: int = IMAGE_PX, episode_steps: int = EPISODE_STEPS) -> None:
        """Draw the frames."""
        shape = (NUM_FRAMES_IN_POOL, image_px, image_px, 3)
        self.pool_NHWC = np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8)
        self.age_steps, self._episode_steps = 0, episode_steps

    def reset(self) -> np.ndarray:
        """Begin an episode and return its first view, uint8 [H, W, 3]."""
        self.age_steps = 0
        return self.pool_NHWC[0]

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        """Return the next view, the reward, and whether the time limit ended the episode."""
        self.age_steps += 1
        reward = float(action == self.age_steps % NUM_ACTIONS)
        return self.pool_NHWC[self.age_steps % NUM_FRAMES_IN_POOL], reward, self.age_steps >= self._episode_steps


def seed() -> int:
    """Return the seed, the first argument of every driver."""
    return int(sys.argv[1])


def keep_stdout_for_answers() -> None:
    """Send what the peer prints from now on to stderr, native libraries included; answers still go to stdout."""
    sys.__stdout__ = os.fdopen(os.dup(1), "w")  # type: ignore[misc]  # a constant to type checkers
    os.dup2(2, 1)


def take_turns(iterate: Callable[[int], int], versions: dict[str, str], **more: Any) -> None:
    """Say that the system is ready, then run what each line of stdin asks for, until stdin ends.

    A line holds a number of iterations of 1,024 frames; `iterate` runs them and returns how many frames were learned
    from. Each answer is one line of JSON on stdout, where a driver must print nothing else.
    """
    _say({"versions": versions, **more})
    for line in sys.stdin:
        _say({"num_frames": iterate(int(line))})


def next_turn() -> int | None:
    """Wait for the next line of stdin and return its number; None when there are no more."""
    line = sys.stdin.readline()
    return int(line) if line else None


def say_ready(versions: dict[str, str], **more: Any) -> None:
    """Say that the system is ready, for drivers that are called back and cannot call `take_turns`."""
    _say({"versions": versions, **more})


def say_done(num_frames: int) -> None:
    """Say that a turn is over and how many frames were learned from."""
    _say({"num_frames": num_frames})


def _say(what: dict[str, Any]) -> None:
    sys.__stdout__.write(json.dumps(what) + "\n")  # type: ignore[union-attr]  # a driver always has a stdout
    sys.__stdout__.flush()  # type: ignore[union-attr]
