"""MiniWorld, the first-person engine in Python: 80 x 60 RGB through OpenGL, without a mask, random actions.

It is called with an environment's name, for instance MiniWorld-MazeS3-v0.
"""

import os
import sys

# Before it is imported: it opens its window, or none, then.
os.environ["PYGLET_HEADLESS"] = "1"

import gymnasium  # noqa: E402
import miniworld  # noqa: E402
import numpy as np  # noqa: E402
from turns import FRAMES_PER_ITERATION, keep_stdout_for_answers, seed, take_turns  # noqa: E402


def main() -> None:
    """Drive it."""
    keep_stdout_for_answers()  # it says how it draws
    env = gymnasium.make(sys.argv[2])
    env.reset(seed=seed())
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    actions = np.random.default_rng(seed()).integers(0, env.action_space.n, FRAMES_PER_ITERATION).tolist()

    def iterate(num_iterations: int) -> int:
        for action in actions * num_iterations:
            image_HWC, _, is_terminated, is_truncated, _ = env.step(action)
            assert image_HWC.shape == (60, 80, 3)
            if is_terminated or is_truncated:
                env.reset()
        return num_iterations * FRAMES_PER_ITERATION

    take_turns(iterate, {"miniworld": miniworld.__version__, "gymnasium": gymnasium.__version__})
    env.close()


if __name__ == "__main__":
    main()
