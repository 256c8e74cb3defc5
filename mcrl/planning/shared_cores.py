"""Cores that several simulated processes share, each getting the same share while there are too few."""

import math
from collections.abc import Generator
from typing import Any

import simpy

# Of work left over by rounding; where the clock has gone so far that its own steps are longer, by one of them.
_NOTHING_S = 1e-9


class SharedCores:
    """Processor sharing: n processes at work on c cores each go on at the rate min(1, c / n)."""

    def __init__(self, env: simpy.Environment, num_cores: float | None) -> None:
        """With None every process has a core of its own."""
        self._env = env
        self._num_cores = num_cores
        self._left_s: dict[simpy.Event, float] = {}
        self._settled_s = 0.0
        self._generation = 0

    def compute(self, work_s: float) -> simpy.Event:
        """Return the event that `work_s` seconds of one core's work, begun now, are done."""
        if self._num_cores is None or work_s <= 0:
            return self._env.timeout(max(0.0, work_s))
        done = self._env.event()
        self._settle()
        self._left_s[done] = work_s
        self._wake_at_next_end()
        return done

    def _rate(self) -> float:
        assert self._num_cores is not None
        return min(1.0, self._num_cores / len(self._left_s)) if self._left_s else 1.0

    def _settle(self) -> None:
        """Credit everyone at work with what was done since the last change."""
        worked_s = (self._env.now - self._settled_s) * self._rate()
        self._left_s = {done: left_s - worked_s for done, left_s in self._left_s.items()}
        self._settled_s = self._env.now

    def _wake_at_next_end(self) -> None:
        # Whoever comes or goes changes the rate of all: wake-ups of earlier generations are void.
        self._generation += 1
        if self._left_s:
            soonest_s = max(0.0, min(self._left_s.values())) / self._rate()
            self._env.process(self._wake(soonest_s, self._generation))

    def _wake(self, delay_s: float, generation: int) -> Generator[simpy.Event, Any, None]:
        yield self._env.timeout(delay_s)
        if generation != self._generation:
            return
        self._settle()
        nothing_s = max(_NOTHING_S, 2 * math.ulp(self._env.now))
        for done in [done for done, left_s in self._left_s.items() if left_s <= nothing_s]:
            del self._left_s[done]
            done.succeed()
        self._wake_at_next_end()
