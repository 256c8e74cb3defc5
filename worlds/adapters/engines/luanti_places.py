"""Places and angles: the engine's, which begin at the middle of a site, and Luanti's own.

Luanti's nodes lie at whole numbers, a cell here is [n, n + 1); its +z is north, ours south; its yaw grows the other way
round from there, in radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_STEEPEST_RAD = math.radians(89.5)  # Luanti's player looks no steeper
# The planes of Luanti's camera.
_NEAR_BLOCKS, _FAR_BLOCKS = 0.1, 10000.0


class Pose(NamedTuple):
    """Feet in blocks, angles in degrees, as in worlds.types."""

    x: float
    y: float
    z: float
    yaw_deg: float
    pitch_deg: float


class Places:
    """A site: its middle, a node, is the engine's cell (0, 0, 0)."""

    def __init__(self, middle: Sequence[int]) -> None:
        """Begin at a node of Luanti's."""
        self._x, self._y, self._z = (int(part) for part in middle)

    def node(self, cell: Sequence[int]) -> tuple[int, int, int]:
        """Return the node that a cell is."""
        return cell[0] + self._x, cell[1] + self._y, self._z - cell[2]

    def cell(self, node: Sequence[float]) -> tuple[int, int, int]:
        """Return the cell that a node is."""
        return int(node[0]) - self._x, int(node[1]) - self._y, self._z - int(node[2])

    def box(self, lowest: Sequence[int], size: Sequence[int]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Return Luanti's lowest and highest node of a box."""
        first = self.node(lowest)
        last = self.node([low + side - 1 for low, side in zip(lowest, size)])
        return (first[0], first[1], last[2]), (last[0], last[1], first[2])

    def point(self, place: Sequence[float]) -> tuple[float, float, float]:
        """Return where a point is to Luanti."""
        return place[0] + self._x - 0.5, place[1] + self._y - 0.5, self._z + 0.5 - place[2]

    def theirs(self, pose: Sequence[float]) -> list[float]:
        """Return a pose as Luanti's point and its two angles in radians."""
        down_rad = min(max(math.radians(pose[4]), -_STEEPEST_RAD), _STEEPEST_RAD)
        return [*self.point(pose), math.radians((180.0 - pose[3]) % 360.0), down_rad]

    def ours(self, place: Sequence[float], near_yaw_deg: float) -> Pose:
        """Return Luanti's point and angles as a pose, its yaw the one nearest to `near_yaw_deg`."""
        x, y, z, around_rad, down_rad = place
        yaw_deg = 180.0 - math.degrees(around_rad)
        yaw_deg += 360.0 * round((near_yaw_deg - yaw_deg) / 360.0)
        return Pose(x - self._x + 0.5, y - self._y + 0.5, self._z + 0.5 - z, yaw_deg, math.degrees(down_rad))


def distances(depth_HW: np.ndarray, fov_deg: float, most_blocks: float) -> np.ndarray:
    """Return float32 [H, W], blocks along each ray, of a depth buffer; `most_blocks` where nothing is."""
    ahead_HW = _NEAR_BLOCKS * _FAR_BLOCKS / (_FAR_BLOCKS - depth_HW.astype(np.float64) * (_FAR_BLOCKS - _NEAR_BLOCKS))
    height, width = depth_HW.shape
    slope = math.tan(math.radians(fov_deg) / 2)
    down_H = (np.arange(height) + 0.5) / height * 2 - 1
    right_W = ((np.arange(width) + 0.5) / width * 2 - 1) * width / height
    away_HW = ahead_HW * np.sqrt(1 + slope**2 * (down_H[:, None] ** 2 + right_W**2))
    return np.minimum(away_HW, most_blocks).astype(np.float32)
