"""Engines that are slow, uneven or short-lived on purpose: latency models around any environment. E envs."""

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mcrl.seeding import derive_seed

if TYPE_CHECKING:  # a sleeping worker imports neither torch nor the engine
    from mcrl.dataflow.contracts import LockstepEnv
    from task_synthesis.playing.task_env import Observation, Transition
    from worlds.types import ActionBatch


class EngineCrashError(RuntimeError):
    """An engine's process died. Its environment cannot be stepped again; a new one takes its place."""


class Clock(Protocol):
    """Time that passes, or seems to."""

    def now_s(self) -> float:
        """Return the time in seconds since some fixed moment."""
        ...

    def sleep(self, duration_s: float) -> None:
        """Let that much time pass for the caller."""
        ...


class WallClock:
    """The machine's own monotonic clock."""

    def now_s(self) -> float:
        """Return the monotonic clock in seconds."""
        return time.monotonic()

    def sleep(self, duration_s: float) -> None:
        """Sleep."""
        time.sleep(duration_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class LatencyModel:
    """How long the steps of one environment take, in simulated seconds that come on top of what it computes."""

    step_s: float = 0.03
    """Mean time of a step, without resets and slow instances."""
    sigma: float = 0.0
    """Standard deviation of the log of a step's time; the mean stays `step_s`. 0 is constant."""
    reset_probability: float = 0.0
    """Probability that a step is followed by a reset that takes `reset_s`."""
    reset_s: float = 5.0
    """Time of such a reset."""
    slow_share: float = 0.0
    """Share of the instances whose steps take `slow_factor` times as long; resets take what they take."""
    slow_factor: float = 4.0
    """See `slow_share`."""
    crash_probability: float = 0.0
    """Probability that a step ends in an EngineCrashError."""

    def __post_init__(self) -> None:
        for name in ("step_s", "sigma", "reset_s"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"latency.{name} must be 0 or more and finite, got {getattr(self, name)}")
        for name in ("reset_probability", "slow_share", "crash_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"latency.{name} must be in 0 .. 1, got {getattr(self, name)}")
        if not 1 <= self.slow_factor < math.inf:
            raise ValueError(f"latency.slow_factor must be 1 or more and finite, got {self.slow_factor}")

    def scaled(self, factor: float) -> "LatencyModel":
        """Return the same model in which every time is `factor` times as long."""
        return dataclasses.replace(self, step_s=self.step_s * factor, reset_s=self.reset_s * factor)

    def is_slow(self, instance: int) -> bool:
        """Tell whether this instance is a slow one: of any n in a row n * slow_share are, to within one."""
        return math.floor((instance + 1) * self.slow_share) > math.floor(instance * self.slow_share)


class StepLatency(NamedTuple):
    """One step of one environment, in seconds."""

    step_s: float
    reset_s: float
    is_crash: bool


class LatencyStream:
    """The latencies of one instance, step by step; the same for the same seed, instance and life."""

    def __init__(self, model: LatencyModel, *, seed: int, instance: int, life: int = 0) -> None:
        """`life` counts how often the instance was started again, so that it does not crash at the same step."""
        self._model = model
        self._factor = model.slow_factor if model.is_slow(instance) else 1.0
        self._rng = np.random.default_rng(derive_seed(seed, "latency", instance, life))

    def draw(self) -> StepLatency:
        """Return the latency of the next step."""
        model = self._model
        # Always the same draws, so that a model with resets has the steps of the one without.
        log_s, reset, crash = self._rng.standard_normal(), self._rng.random(), self._rng.random()
        step_s = model.step_s * self._factor * math.exp(model.sigma * log_s - model.sigma**2 / 2)
        reset_s = model.reset_s if reset < model.reset_probability else 0.0
        return StepLatency(step_s, reset_s, bool(crash < model.crash_probability))


class LatencyEnv:
    """A LockstepEnv that takes its time: a step lasts as long as the slowest of its E environments."""

    def __init__(
        self,
        env: "LockstepEnv",
        model: LatencyModel,
        *,
        seed: int,
        first_instance: int = 0,
        life: int = 0,
        clock: Clock | None = None,
    ) -> None:
        """Slow `env` down; its environments are the instances first_instance, first_instance + 1 ..."""
        self.num_envs = env.num_envs
        self._env = env
        self._clock = clock or WallClock()
        self._streams = [
            LatencyStream(model, seed=seed, instance=first_instance + e, life=life) for e in range(env.num_envs)
        ]
        self._is_crashed = False

    def reset(self) -> "Observation":
        """Begin an episode in every env, without delay."""
        return self._env.reset()

    def step(self, actions: "ActionBatch") -> "Transition":
        """Let every env take one decision, then wait. Raise EngineCrashError where the model says so."""
        if self._is_crashed:
            raise EngineCrashError("latency: this engine crashed before; start a new one")
        latencies = [stream.draw() for stream in self._streams]
        step_s = max(latency.step_s for latency in latencies)
        if any(latency.is_crash for latency in latencies):
            self._is_crashed = True
            self._clock.sleep(step_s)
            raise EngineCrashError("latency: this engine crashed, as its model wants it to now and then")
        transition = self._env.step(actions)
        total_s = max(latency.step_s + latency.reset_s for latency in latencies)
        self._clock.sleep(total_s)
        if total_s > step_s:
            reset_ns = transition.reset_ns + round((total_s - step_s) * 1e9)
            transition = dataclasses.replace(transition, reset_ns=reset_ns)
        return transition

    def close(self) -> None:
        """End the engine, without delay."""
        self._env.close()
