"""The walls and floors of a Doom map: how high the floor is at a place, and which lines of sight are free.

L lines, S sectors, N places. Doom's coordinates: map units, y to the north.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class DoomSectors:
    """Sectors of the map that is loaded, as ViZDoom lists them."""

    def __init__(self, sectors: Sequence[Any]) -> None:
        """Read vizdoom.Sector objects: heights, and the lines round each. A line between two is listed by both."""
        self._floor_S = np.array([sector.floor_height for sector in sectors], float)
        self._ceiling_S = np.array([sector.ceiling_height for sector in sectors], float)
        sides: dict[tuple[float, ...], list[int]] = {}
        of_sector: list[list[tuple[float, ...]]] = []
        for index, sector in enumerate(sectors):
            lines: list[tuple[float, ...]] = []
            for line in sector.lines:
                ends = sorted([(float(line.x1), float(line.y1)), (float(line.x2), float(line.y2))])
                key = (*ends[0], *ends[1])
                if key in lines:
                    lines.remove(key)  # both sides are in this sector: no border of it
                else:
                    lines.append(key)
                sides.setdefault(key, []).append(index)
            of_sector.append(lines)
        self._lines_of_sector = [np.array(lines, float).reshape(-1, 4) for lines in of_sector]
        self._line_L4 = np.array(list(sides), float).reshape(-1, 4)
        # What is open above a line: from the higher floor to the lower ceiling of its sides; nothing at a wall.
        self._open_L2 = np.array([self._opening(found) for found in sides.values()], float).reshape(-1, 2)

    def _opening(self, sectors: list[int]) -> tuple[float, float]:
        if len(sectors) < 2:
            return np.inf, -np.inf
        return self._floor_S[sectors].max(), self._ceiling_S[sectors].min()

    def floor_and_ceiling(self, place_N2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return float64 [N] twice, in map units; NaN outside the map. `place_N2` is x, y in map units."""
        floor_N = np.full(len(place_N2), np.nan)
        ceiling_N = floor_N.copy()
        for index, line_L4 in enumerate(self._lines_of_sector):
            if not len(line_L4):
                continue
            low_2 = np.minimum(line_L4[:, :2].min(0), line_L4[:, 2:].min(0))
            high_2 = np.maximum(line_L4[:, :2].max(0), line_L4[:, 2:].max(0))
            near = np.flatnonzero((place_N2 >= low_2).all(1) & (place_N2 <= high_2).all(1))
            inside = near[_is_inside(place_N2[near], line_L4)]
            floor_N[inside], ceiling_N[inside] = self._floor_S[index], self._ceiling_S[index]
        return floor_N, ceiling_N

    def is_line_free(self, start: Sequence[float], end: Sequence[float]) -> bool:
        """Tell whether nothing of the map is between two points (x, y, z) in map units."""
        (x, y, z), (dx, dy, dz) = start, np.subtract(end, start)
        line_L4 = self._line_L4
        ex_L, ey_L = line_L4[:, 2] - line_L4[:, 0], line_L4[:, 3] - line_L4[:, 1]
        cross_L = dx * ey_L - dy * ex_L
        with np.errstate(divide="ignore", invalid="ignore"):
            along_L = ((line_L4[:, 0] - x) * ey_L - (line_L4[:, 1] - y) * ex_L) / cross_L
            across_L = ((line_L4[:, 0] - x) * dy - (line_L4[:, 1] - y) * dx) / cross_L
        is_met_L = (cross_L != 0) & (along_L > 0) & (along_L < 1) & (across_L >= 0) & (across_L <= 1)
        height_L = z + np.where(is_met_L, along_L, 0.0) * dz
        return bool(((height_L > self._open_L2[:, 0]) & (height_L < self._open_L2[:, 1]))[is_met_L].all())


def _is_inside(place_N2: np.ndarray, line_L4: np.ndarray) -> np.ndarray:
    """Return bool [N]: whether a ray to the east crosses the border an odd number of times."""
    x_N1, y_N1 = place_N2[:, :1], place_N2[:, 1:]
    x1_L, y1_L, x2_L, y2_L = line_L4.T
    is_level_NL = (y1_L > y_N1) != (y2_L > y_N1)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_NL = x1_L + (y_N1 - y1_L) / (y2_L - y1_L) * (x2_L - x1_L)
    return (is_level_NL & (x_N1 < at_NL)).sum(1) % 2 == 1
