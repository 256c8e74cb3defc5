"""An engine of one's own, to copy: grass with pillars of oak, drawn by numpy. One can walk, turn and break blocks.

Masks, depth and lines of sight are left alone: they come from `scan`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, Event, Moment, Scan, Sight

_GROUND = 64  # the first level that is free
_HALF = 64  # blocks from the middle to the edge
_COLORS = {"grass_block": (90, 160, 70), "oak_log": (110, 80, 40), "gold_block": (240, 210, 60)}
_OTHER_COLOR = (190, 90, 200)
_SKY = (150, 190, 240)
_FAR_BLOCKS, _RAY_STEP_BLOCKS = 40.0, 0.08
_SPEED_BLOCKS = 0.2  # a tick
_EYE_BLOCKS, _HALF_WIDTH_BLOCKS, _REACH_BLOCKS = 1.62, 0.3, 4.5
_BREAK_TICKS = 6


class PillarEngine(Engine):
    """One agent among pillars; the seed of the world says where they stand."""

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        super().__init__(image_px, options)
        self._block: dict[tuple[int, int, int], str] = {}
        self._index: dict[tuple[int, int, int], int] = {}

    def reset(self, episode: dict[str, Any]) -> Moment:
        rng = np.random.default_rng(episode["world"]["seed"])
        self._block, self._index, self._hits = {}, {}, 0
        for x, z, height in rng.integers((-60, -60, 2), (60, 60, 6), (120, 3)).tolist():
            for y in range(_GROUND, _GROUND + height):
                self._block[x, y, z] = "oak_log"
        for index, placement in enumerate(episode["placements"]):
            x, y, z = placement["position"]
            self._block[x, y, z], self._index[x, y, z] = placement["kind"], index
        *self._feet, self._yaw, self._pitch = episode["start"]
        self._events: list[Event] = []
        return self.observe()

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        held = dict(zip(BUTTONS, buttons))  # noqa: B905 - Python 3.8
        self._events = []
        for _ in range(num_ticks):
            self._pitch = min(90.0, max(-90.0, self._pitch + camera_deg[0]))
            self._yaw += camera_deg[1]
            sin, cos = math.sin(math.radians(self._yaw)), math.cos(math.radians(self._yaw))
            ahead, left = held["forward"] - held["back"], held["left"] - held["right"]
            for axis, way in ((0, -sin * ahead + cos * left), (2, cos * ahead + sin * left)):
                self._move(axis, _SPEED_BLOCKS * way)
            if self._name_at(self._feet[0], self._feet[1] - 0.01, self._feet[2]) is None:
                self._feet[1] = max(self._feet[1] - 0.5, float(_GROUND))
            self._hits = self._hits + 1 if held["attack"] else 0
            if self._hits == _BREAK_TICKS:
                self._break()
        return self.observe()

    def observe(self) -> Moment:
        x, y, z = self._feet
        pose = (x, y, z, self._yaw, self._pitch)
        sight = self.look_from([(x, y + _EYE_BLOCKS, z, self._yaw, self._pitch)])[0]
        return Moment(sight=sight, pose=pose, events=self._events)

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        names = ["", "grass_block", *sorted(set(self._block.values()))]
        color_N3 = np.array([_COLORS.get(name, _OTHER_COLOR) for name in names], float)
        cell_XYZ = np.zeros((2 * _HALF, 80, 2 * _HALF), np.uint8)
        cell_XYZ[:, :_GROUND] = 1
        for (x, y, z), name in self._block.items():
            cell_XYZ[x + _HALF, y, z + _HALF] = names.index(name)
        return [self._draw(np.array(eye), cell_XYZ, color_N3) for eye in eyes]

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        names = ["air", "stone", "grass_block", *sorted(set(self._block.values()))]
        index_XZY = np.zeros((size[0], size[2], size[1]), np.uint16)
        level_Y = lowest[1] + np.arange(size[1])
        index_XZY[:, :, level_Y < _GROUND - 1] = 1
        index_XZY[:, :, level_Y == _GROUND - 1] = 2
        for (x, y, z), name in self._block.items():
            place = (x - lowest[0], z - lowest[2], y - lowest[1])
            if all(0 <= place[axis] < index_XZY.shape[axis] for axis in range(3)):
                index_XZY[place] = names.index(name)
        return Scan(names, index_XZY)

    def _name_at(self, x: float, y: float, z: float) -> str | None:
        cell = (math.floor(x), math.floor(y), math.floor(z))
        return self._block.get(cell) or ("grass_block" if cell[1] < _GROUND else None)

    def _move(self, axis: int, way_blocks: float) -> None:
        there = list(self._feet)
        there[axis] += way_blocks + math.copysign(_HALF_WIDTH_BLOCKS, way_blocks)
        if all(self._name_at(there[0], there[1] + up, there[2]) is None for up in (0.0, 1.0)):
            self._feet[axis] += way_blocks

    def _break(self) -> None:
        eye = np.array(self._feet) + (0.0, _EYE_BLOCKS, 0.0)
        ahead = _direction(self._yaw, self._pitch)
        for distance in np.arange(0.1, _REACH_BLOCKS, 0.05):
            x, y, z = (int(part) for part in np.floor(eye + distance * ahead))
            if (x, y, z) in self._block:
                name = self._block.pop((x, y, z))
                self._events.append(Event("block_broken", name, 0, (x, y, z), self._index.get((x, y, z), -1)))
                return

    def _draw(self, eye_5: np.ndarray, cell_XYZ: np.ndarray, color_N3: np.ndarray) -> Sight:
        height, width = self.image_px
        ahead, right = _direction(*eye_5[3:]), _direction(eye_5[3] + 90.0, 0.0)
        tan = math.tan(math.radians(35.0))  # of half the vertical field of view
        up_H = tan * (1 - 2 * (np.arange(height) + 0.5) / height)
        right_W = tan * (2 * (np.arange(width) + 0.5) / width - 1) * width / height
        ray_HW3 = ahead + up_H[:, None, None] * np.cross(right, ahead) + right_W[None, :, None] * right
        ray_HW3 /= np.linalg.norm(ray_HW3, axis=2, keepdims=True)
        image_HWC, is_open_HW = np.full((height, width, 3), _SKY, np.uint8), np.ones((height, width), bool)
        for distance in np.arange(_RAY_STEP_BLOCKS, _FAR_BLOCKS, _RAY_STEP_BLOCKS):
            cell_HW3 = np.floor(eye_5[:3] + ray_HW3 * distance).astype(int) + (_HALF, 0, _HALF)
            is_in_HW = is_open_HW & ((cell_HW3 >= 0) & (cell_HW3 < cell_XYZ.shape)).all(2)
            kind_HW = np.zeros((height, width), int)
            kind_HW[is_in_HW] = cell_XYZ[tuple(cell_HW3[is_in_HW].T)]
            is_hit_HW = kind_HW > 0
            image_HWC[is_hit_HW] = color_N3[kind_HW[is_hit_HW]] * (1 - 0.5 * distance / _FAR_BLOCKS)
            is_open_HW &= ~is_hit_HW
        return Sight(image_HWC)


def _direction(yaw_deg: float, pitch_deg: float) -> np.ndarray:
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    return np.array([-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)])
