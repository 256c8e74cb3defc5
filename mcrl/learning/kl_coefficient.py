"""How strongly the policy is held to its reference."""

import math
from collections.abc import Mapping
from pathlib import Path

from mcrl.config import PPOConfig

# Ziegler et al. 2019, section 2.2: an iteration changes beta by 0.1 of the relative error, itself cut at 0.2.
GAIN = 0.1
MAX_RELATIVE_ERROR = 0.2
# How far beta may go from where it started, either way: at 2 % an iteration this is 350 iterations from either bound.
MAX_CHANGE = 1000.0

_KEY = "kl_coef"


class KLCoefficient:
    """The weight beta of KL(policy || reference): on a fixed schedule, or steered so that the KL stays at a target."""

    def __init__(self, config: PPOConfig) -> None:
        """Start at `ppo.kl_to_reference`; without it beta is 0."""
        self._start = config.kl_to_reference or 0.0
        self._decay = config.kl_decay
        self._target = config.kl_target
        self._steered = self._start

    def at(self, iteration: int) -> float:
        """Return beta for this iteration."""
        return self._start * self._decay**iteration if self._target is None else self._steered

    def hear(self, kl: float) -> None:
        """Steer by the mean KL (nats) of one iteration; on a fixed schedule this does nothing."""
        if self._target is None or not math.isfinite(kl):
            return
        error = min(MAX_RELATIVE_ERROR, max(-MAX_RELATIVE_ERROR, kl / self._target - 1))
        steered = self._steered * (1 + GAIN * error)
        self._steered = min(self._start * MAX_CHANGE, max(self._start / MAX_CHANGE, steered))

    def numbers(self) -> dict[str, float]:
        """Return what a checkpoint must keep; nothing on a fixed schedule."""
        return {} if self._target is None else {_KEY: self._steered}

    def restore(self, numbers: Mapping[str, float], *, where: Path) -> None:
        """Go on from what `numbers` returned; from the start where the checkpoint kept none."""
        steered = numbers.get(_KEY, self._steered)
        if self._target is not None and not (math.isfinite(steered) and steered > 0):
            raise ValueError(f"{where}: {_KEY} must be positive, got {steered}; use another checkpoint of the run")
        self._steered = steered
