"""A bandit with a slow arm and a fast one, and the ways in which workers may collect what it pays. R runs, N workers.

Arm 0 takes 1 tick, arm 1 takes 8. A run is a policy of one number, the logit of the slow arm, that learns by plain
REINFORCE; many runs are simulated side by side. Each update learns from what a window of ticks brought.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mcrl.config import DurationWeighting
from mcrl.learning.duration import DurationWeighter, Segments
from mcrl.work import work_kind

ARM_TICKS = np.array([1, 8])
ARM_NAMES = ("bandit/fast", "bandit/slow")
LEARNING_RATE = 0.1
CRITIC_RATE = 0.05

Collection = Literal["renewal", "cancel", "drop"]
# Ticks between two updates. With 5, what takes 8 ticks is 2 updates old in two cases of five.
WINDOW_TICKS: dict[Collection, int] = {"renewal": 10, "cancel": 10, "drop": 5}
MAX_STALENESS = 1


class Workers:
    """N workers in each of R runs that choose an arm, wait until it is done, and choose again."""

    def __init__(self, collection: Collection, num_runs: int, num_workers: int, seed: int, window_ticks: int) -> None:
        self._collection, self._window_ticks = collection, window_ticks
        self._rng = np.random.default_rng(seed)
        self._left_RN = np.zeros((num_runs, num_workers), np.int64)  # ticks to go, 0: idle
        self._is_slow_RN = np.zeros((num_runs, num_workers), bool)
        self._version_RN = np.zeros((num_runs, num_workers), np.int64)
        self._version = 0

    def window(self, slow_probability_R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Work until the next update; return what reached it and what was begun in vain, int64 [R, 2] by arm."""
        num_runs = len(self._left_RN)
        accepted_R2, refused_R2 = np.zeros((num_runs, 2), np.int64), np.zeros((num_runs, 2), np.int64)
        for _ in range(self._window_ticks):
            is_idle_RN = self._left_RN == 0
            is_slow_RN = self._rng.random(self._left_RN.shape, np.float32) < slow_probability_R[:, None]
            self._is_slow_RN = np.where(is_idle_RN, is_slow_RN, self._is_slow_RN)
            self._left_RN = np.where(is_idle_RN, ARM_TICKS[self._is_slow_RN.astype(int)], self._left_RN) - 1
            self._version_RN = np.where(is_idle_RN, self._version, self._version_RN)
            is_done_RN = self._left_RN == 0
            is_kept_RN = is_done_RN
            if self._collection == "drop":
                is_kept_RN = is_done_RN & (self._version - self._version_RN <= MAX_STALENESS)
            accepted_R2 += self._count(is_kept_RN)
            refused_R2 += self._count(is_done_RN & ~is_kept_RN)
        self._version += 1
        if self._collection == "cancel":
            refused_R2 += self._count(self._left_RN > 0)
            self._left_RN[:] = 0
        return accepted_R2, refused_R2

    def _count(self, which_RN: np.ndarray) -> np.ndarray:
        num_slow_R = (which_RN & self._is_slow_RN).sum(1)
        return np.stack([which_RN.sum(1) - num_slow_R, num_slow_R], axis=1)


@dataclass(frozen=True)
class Setting:
    """One cell of the bias table."""

    weighting: DurationWeighting
    best: Literal["slow", "fast"]  # it pays 1.0, the other 0.6
    critic: Literal["none", "plain", "weighted"] = "none"  # a running mean of rewards, so that advantages are centred


@dataclass(frozen=True)
class Outcome:
    """How a cell ended, mean over its seeds."""

    best_probability: float
    updates_to_90: float | None  # until the best arm has 0.9; None where a seed never got there


def segments(accepted_2: np.ndarray) -> Segments:
    return Segments(
        families=ARM_NAMES, step_s_S=ARM_TICKS.astype(float), num_steps_S=accepted_2, num_valid_S=accepted_2
    )


KINDS = [work_kind(name, float(ticks)) for name, ticks in zip(ARM_NAMES, ARM_TICKS, strict=True)]


def train(
    collection: Collection,
    settings: Sequence[Setting],
    *,
    num_seeds: int,
    num_workers: int = 64,
    num_updates: int = 1200,
    window_ticks: int | None = None,
) -> dict[Setting, Outcome]:
    """Learn in every setting from the same way of collecting."""
    runs = [setting for setting in settings for _ in range(num_seeds)]
    workers = Workers(collection, len(runs), num_workers, 0, window_ticks or WINDOW_TICKS[collection])
    weighters = [DurationWeighter(setting.weighting) for setting in runs]
    reward_R2 = np.array([[0.6, 1.0] if setting.best == "slow" else [1.0, 0.6] for setting in runs])
    has_critic_R = np.array([setting.critic != "none" for setting in runs])
    is_critic_weighted_R = np.array([setting.critic == "weighted" for setting in runs])
    is_slow_best_R = np.array([setting.best == "slow" for setting in runs])
    logit_R, critic_R = np.zeros(len(runs)), np.zeros(len(runs))
    reached_R = np.full(len(runs), np.nan)
    for update in range(1, num_updates + 1):
        slow_R = 1 / (1 + np.exp(-logit_R))
        accepted_R2, refused_R2 = workers.window(slow_R)
        weight_R2 = np.ones((len(runs), 2))
        for run, weighter in enumerate(weighters):
            if weighter.mode != "none":
                refused = dict(zip(KINDS, refused_R2[run].tolist(), strict=True))
                weight_R2[run] = weighter.weigh_segments(segments(accepted_R2[run]), refused)
        observed_R2 = accepted_R2 / np.maximum(accepted_R2.sum(1, keepdims=True), 1)
        share_R2 = weight_R2 * observed_R2
        advantage_R2 = reward_R2 - (critic_R * has_critic_R)[:, None]
        critic_share_R2 = np.where(is_critic_weighted_R[:, None], weight_R2, 1.0) * observed_R2
        critic_R += CRITIC_RATE * (critic_share_R2 * (reward_R2 - critic_R[:, None])).sum(1)
        gradient_R = share_R2[:, 1] * advantage_R2[:, 1] * (1 - slow_R) - share_R2[:, 0] * advantage_R2[:, 0] * slow_R
        logit_R = logit_R + 2 * LEARNING_RATE * gradient_R  # the two arms' logits move apart
        best_R = 1 / (1 + np.exp(np.where(is_slow_best_R, -logit_R, logit_R)))
        reached_R = np.where(np.isnan(reached_R) & (best_R > 0.9), update, reached_R)
    outcomes = {}
    for index, setting in enumerate(settings):
        rows = slice(index * num_seeds, (index + 1) * num_seeds)
        reached = reached_R[rows].mean()
        outcomes[setting] = Outcome(float(best_R[rows].mean()), None if np.isnan(reached) else float(reached))
    return outcomes
