"""The scale of returns of every task family. B fragments, T steps."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mcrl.rollout.fragment import Fragment

# Share of the newest batch in the running moments: they remember some 50 iterations.
NEWEST_SHARE = 0.02
# A success is worth 1. A family that never succeeded has returns of noise, which must not be blown up to full size.
MIN_DEVIATION = 0.1

_PREFIX = "value_scale"
_MOMENTS = ("weight", "first", "second")


class ValueScale:
    """Running mean and standard deviation of the returns of each task family.

    Multi-task PopArt (Hessel et al. 2019, eq. 5-6) without its correction of the last layer: there each task has a
    value head of its own, here one head serves all families and tells them by their goals, so that no change of its
    weights could undo a change of one family's scale. The scale moves slowly instead. The moments are weighted
    exponentially and freed from their start at 0; a family absent from a batch keeps its own.
    """

    def __init__(self) -> None:
        # family -> total weight of what was seen, and the weighted sums of returns and of their squares
        self._moments: dict[str, tuple[float, float, float]] = {}

    def of(self, fragments: Sequence[Fragment]) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation for the family of each step, float32 [B, T]; 0 and 1 where unknown."""
        scale_BT2 = np.stack(
            [np.array([self._scale(family) for family in f.families])[f.goal_index_T] for f in fragments]
        )
        mean_BT, deviation_BT = torch.from_numpy(scale_BT2.astype(np.float32)).unbind(-1)
        return mean_BT, deviation_BT

    def hear(self, return_BT: Tensor, fragments: Sequence[Fragment]) -> None:
        """Take the returns of valid steps of one batch into the moments."""
        returns: dict[str, list[np.ndarray]] = {}
        for row_T, fragment in zip(return_BT.double().numpy(), fragments, strict=True):
            for goal, family in enumerate(fragment.families):
                chosen_N = row_T[(fragment.goal_index_T == goal) & fragment.is_valid_T]
                if len(chosen_N):
                    returns.setdefault(family, []).append(chosen_N)
        for family, parts in returns.items():
            return_N = np.concatenate(parts)
            newest = (1.0, float(return_N.mean()), float(np.square(return_N).mean()))
            before = self._moments.get(family, (0.0, 0.0, 0.0))
            weight, first, second = (old + NEWEST_SHARE * (new - old) for old, new in zip(before, newest, strict=True))
            self._moments[family] = (weight, first, second)

    def numbers(self) -> dict[str, float]:
        """Return what a checkpoint must keep, "value_scale/FAMILY/moment" to number."""
        return {
            f"{_PREFIX}/{family}/{name}": number
            for family, moments in sorted(self._moments.items())
            for name, number in zip(_MOMENTS, moments, strict=True)
        }

    def restore(self, numbers: Mapping[str, float], *, where: Path) -> None:
        """Know what `numbers` returned. Raise ValueError for moments that no returns have."""
        families = {key.removeprefix(f"{_PREFIX}/").rpartition("/")[0] for key in numbers if key.startswith(_PREFIX)}
        self._moments = {}
        for family in sorted(families):
            weight, first, second = (numbers.get(f"{_PREFIX}/{family}/{name}", math.nan) for name in _MOMENTS)
            if not (0 < weight <= 1 and math.isfinite(first) and math.isfinite(second)):
                raise ValueError(
                    f"{where}: the {_PREFIX} of {family} is incomplete or not a number; use another checkpoint of the "
                    "run"
                )
            self._moments[family] = (weight, first, second)

    def _scale(self, family: str) -> tuple[float, float]:
        if family not in self._moments:
            return 0.0, 1.0
        weight, first, second = self._moments[family]
        mean = first / weight
        return mean, max(MIN_DEVIATION, math.sqrt(max(0.0, second / weight - mean * mean)))
