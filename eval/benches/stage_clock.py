"""Where the time of a program goes, by the methods that its stages are; one within another counts alone."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch


class StageClock:
    """Times methods of objects as stages. On a GPU it waits where a stage begins and ends, so that its work counts."""

    def __init__(self, device: torch.device) -> None:
        """Wait for `device`."""
        self._device = device
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since_s = 0.0

    def time(self, holder: Any, method: str, stage: str) -> None:
        """Count the time of holder.method, from now on, to a stage."""
        setattr(holder, method, self._timed(getattr(holder, method), stage))

    def _timed(self, call: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            self._mark()
            self._open.append(stage)
            try:
                return call(*args, **options)
            finally:
                self._mark()
                self._open.pop()

        return timed

    def _mark(self) -> None:
        """Count the time since the last mark to the innermost stage."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        now_s = time.perf_counter()
        if self._open:
            self.seconds[self._open[-1]] += now_s - self._since_s
        self._since_s = now_s
