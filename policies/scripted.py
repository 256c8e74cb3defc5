"""Agents that look at nothing: floors for every table of results."""

import numpy as np

from policies import action_codec
from task_synthesis.playing.task_env import Observation
from worlds.types import ActionBatch

# Left at rest by chance: inventory opens a screen in which nothing else works, drop and hotbar take the tool out of
# the hand. Pressed at random they would only make the floor lower than blind luck is.
_LEFT_ALONE = ("hotbar", "drop", "inventory")


class RandomAgent:
    """Draws every factor uniformly and independently, except hotbar, drop and inventory, which it leaves alone."""

    def __init__(self, num_envs: int, seed: int) -> None:
        self._num_envs = num_envs
        self._rng = np.random.default_rng(seed)
        self._num_classes_A = np.array(
            [1 if name in _LEFT_ALONE else classes for name, classes in action_codec.FACTORS]
        )

    def act(self, observation: Observation) -> ActionBatch:
        """Choose one action for every env, whatever it sees."""
        shape = (self._num_envs, action_codec.NUM_FACTORS)
        return action_codec.decode(self._rng.integers(self._num_classes_A, size=shape))


class NoopAgent:
    """Does nothing."""

    def __init__(self, num_envs: int) -> None:
        self._num_envs = num_envs

    def act(self, observation: Observation) -> ActionBatch:
        """Press nothing and turn nowhere."""
        return ActionBatch.noop(self._num_envs)
