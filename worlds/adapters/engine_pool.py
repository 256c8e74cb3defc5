"""E engine processes that are asked together; one that fails is ended, counted, and started again when it is needed."""

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from worlds.adapters.engine_choice import EngineChoice, EngineFaultError, Limits
from worlds.adapters.process import EngineProcess

_LOG = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class EnginePool:
    """Engines by the number of their env. A lost one is asked nothing until it is revived."""

    def __init__(
        self,
        num_envs: int,
        choice: EngineChoice,
        image_px: tuple[int, int],
        limits: Limits,
        *,
        max_faults_in_row: int,
    ) -> None:
        """Start `num_envs` engines at once; EngineFaultError where one does not start."""
        if max_faults_in_row < 1:
            raise ValueError(f"max_faults_in_row must be at least 1, got {max_faults_in_row}")
        self._choice, self._image_px, self._limits = choice, image_px, limits
        self._max_faults_in_row = max_faults_in_row
        self._process_of: dict[int, EngineProcess] = {}
        self.is_lost_E = np.zeros(num_envs, bool)  # a fault since it was revived
        self._num_faults_E = np.zeros(num_envs, np.int64)  # in a row
        try:
            for e in range(num_envs):
                self._process_of[e] = self._start()
            for process in self._process_of.values():
                process.hello()
        except BaseException:
            self.close()
            raise

    def _start(self) -> EngineProcess:
        return EngineProcess(self._choice, self._image_px, self._limits)

    def process(self, e: int) -> EngineProcess:
        """Return the engine of an env that is not lost."""
        return self._process_of[e]

    def revive(self, e: int) -> None:
        """Give env e another chance, with a fresh engine where the last one has failed."""
        self.is_lost_E[e] = False
        if e not in self._process_of:
            self.attempt(e, lambda: self._begin_again(e))

    def _begin_again(self, e: int) -> None:
        self._process_of[e] = self._start()
        self._process_of[e].hello()

    def note_steps(self) -> None:
        """Hear that all envs have made a step: faults before it are no longer in a row with those to come."""
        self._num_faults_E[~self.is_lost_E] = 0

    def ask(self, env_index_N: Iterable[int], ask: Callable[[EngineProcess, int], None]) -> None:
        """Send requests to the engines that are not lost, all before the first answer is waited for."""
        for e in env_index_N:
            if not self.is_lost_E[e]:
                self.attempt(e, partial(ask, self._process_of[e], e))

    def answers(
        self, env_index_N: Iterable[int], answer: Callable[[EngineProcess, int], _Answer]
    ) -> Iterator[tuple[int, _Answer]]:
        """Yield the answers of the engines that were asked, with their envs."""
        for e in env_index_N:
            if not self.is_lost_E[e]:
                found = self.attempt(e, partial(answer, self._process_of[e], e))
                if found is not None:
                    yield e, found

    def attempt(self, e: int, deed: Callable[[], _Answer]) -> _Answer | None:
        """Return what `deed` does; None where the engine of env e fails in it, which is then ended.

        Raises:
            EngineFaultError: it has failed too often in a row.
        """
        try:
            return deed()
        except EngineFaultError as fault:
            _LOG.warning("env %d: %s; the engine is ended, and started again for the next episode", e, fault)
            self.lose(e)
            if self._num_faults_E[e] >= self._max_faults_in_row:
                raise EngineFaultError(f"{fault}; that was fault {self._num_faults_E[e]} in a row of env {e}") from None
            return None

    def lose(self, e: int) -> None:
        """End the engine of env e, which has failed; `revive` starts another."""
        self.is_lost_E[e] = True
        self._num_faults_E[e] += 1
        process = self._process_of.pop(e, None)
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End all engines."""
        for process in self._process_of.values():
            process.close()
        self._process_of.clear()
