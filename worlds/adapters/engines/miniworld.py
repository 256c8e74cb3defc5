"""MiniWorld 2: rooms, boxes, balls and meshes, for zero-shot evaluation. Lockstep, drawn by OpenGL without a display.

Worlds, by `WorldSpec.source`: "miniworld:rooms", rooms made from the seed (floor_plan.py). Its axes are ours and a unit
is a block, so that only angles differ: its direction is -(yaw + 90) degrees, and it looks up for our negative pitch.

Our action       MiniWorld
forward, back    the agent moves 4.317 blocks/s as in Minecraft, 1.3 times that with sprint, 0.3 with sneak;
left, right      the same to the side; it slides along walls and things
camera           added to direction and pitch, which ends at 89 degrees
others           nothing: there is no jumping, and carrying things is no part of a task
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, EngineError, Moment, Scan, Sight
from worlds.adapters.engines.engine_options import read_options
from worlds.adapters.engines.floor_plan import CEILING_BLOCKS, FloorPlan, floor_plan, is_line_free
from worlds.adapters.engines.miniworld_scene import MAX_PITCH_DEG, Scene
from worlds.adapters.engines.miniworld_things import KINDS

_KIND_PREFIX = "miniworld:"
_SOURCE = "miniworld:rooms"
_EYE_BLOCKS = 1.62
_WALK_BLOCKS = 4.317 / 20  # a tick
_SPRINT_FACTOR, _SNEAK_FACTOR = 1.3, 0.3


class MiniWorld(Engine):
    """One agent in rooms."""

    has_masks = True
    view_range_blocks = 64.0

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Take no options; the scene is made with the first episode."""
        super().__init__(image_px, read_options(options, {}))
        self._scene: Scene | None = None
        self._plan: FloorPlan | None = None
        self._pose = np.zeros(5)
        self._object_N3 = np.zeros((0, 3))

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Begin an episode in the rooms of the world's seed."""
        world = episode["world"]
        if world["source"] != _SOURCE:
            raise EngineError(f"miniworld: it has no world {world['source']!r}; it has {_SOURCE}")
        kinds = [_kind_of(placement["kind"]) for placement in episode["placements"]]
        places = [placement["position"] for placement in episode["placements"]]
        self._plan = floor_plan(int(world["seed"]))
        self._object_N3 = np.array(places, float).reshape(-1, 3) + (0.5, 0.0, 0.5)
        fov_deg = float(episode["look"]["fov_deg"])
        if self._scene is None:
            self._scene = Scene(self.image_px, self._plan, kinds, self._object_N3, fov_deg)
        else:
            self._scene.fill(self._plan, kinds, self._object_N3, fov_deg)
        self._pose = np.array(episode["start"], float)
        return self.observe()

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Repeat the action for `num_ticks` ticks."""
        assert self._scene is not None
        held = {name for name, is_held in zip(BUTTONS, buttons) if is_held}
        ahead = ("forward" in held) - ("back" in held)
        aside = ("left" in held) - ("right" in held)
        speed_blocks = _WALK_BLOCKS / max(1.0, math.hypot(ahead, aside))
        if "sneak" in held:
            speed_blocks *= _SNEAK_FACTOR
        elif "sprint" in held and "forward" in held:
            speed_blocks *= _SPRINT_FACTOR
        for _ in range(num_ticks):
            self._turn(camera_deg)
            sin, cos = math.sin(math.radians(self._pose[3])), math.cos(math.radians(self._pose[3]))
            for axis, share in ((0, aside * cos - ahead * sin), (2, ahead * cos + aside * sin)):
                place_3 = self._pose[:3].copy()
                place_3[axis] += share * speed_blocks
                if share and not self._scene.is_blocked(place_3):
                    self._pose[:3] = place_3
        return self.observe()

    def _turn(self, camera_deg: tuple[float, float]) -> None:
        self._pose[3] = (self._pose[3] + camera_deg[1] + 180.0) % 360.0 - 180.0
        self._pose[4] = min(max(self._pose[4] + camera_deg[0], -MAX_PITCH_DEG), MAX_PITCH_DEG)

    def observe(self) -> Moment:
        """Return the present."""
        x, y, z, yaw_deg, pitch_deg = self._pose.tolist()
        (sight,) = self.look_from([(x, y + _EYE_BLOCKS, z, yaw_deg, pitch_deg)])
        return Moment(sight=sight, pose=(x, y, z, yaw_deg, pitch_deg))

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """Return what cameras see; the agent has no body."""
        assert self._scene is not None
        return [self._scene.sight(eye) for eye in eyes]

    def lines_clear(self, froms: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> list[bool]:
        """Tell whether neither a wall nor another thing hides a cell's centre."""
        assert self._scene is not None
        assert self._plan is not None
        answers = []
        for start, cell in zip(froms, cells):
            end = [part + 0.5 for part in cell]
            is_free = is_line_free(self._plan.is_free_XZ, (start[0], start[2]), (end[0], end[2]))
            answers.append(is_free and not self._scene.is_hidden(np.array(start, float), np.array(end)))
        return answers

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """Return the rooms as blocks of air in stone."""
        if self._plan is None:
            raise EngineError("miniworld: there are no rooms before the first reset; reset once, then scan")
        x_X, y_Y, z_Z = (low + np.arange(side) for low, side in zip(lowest, size))
        is_free_XZ = np.zeros((size[0], size[2]), bool)
        plan_XZ = self._plan.is_free_XZ
        is_in_X, is_in_Z = (x_X >= 0) & (x_X < plan_XZ.shape[0]), (z_Z >= 0) & (z_Z < plan_XZ.shape[1])
        is_free_XZ[np.ix_(is_in_X, is_in_Z)] = plan_XZ[np.ix_(x_X[is_in_X], z_Z[is_in_Z])]
        is_air_XZY = is_free_XZ[:, :, None] & (y_Y >= 0) & (y_Y < CEILING_BLOCKS)
        return Scan(["stone", "air"], is_air_XZY.astype(np.uint16))

    def close(self) -> None:
        """Free the scene's window."""
        if self._scene is not None:
            self._scene.close()


def _kind_of(name: str) -> str:
    kind = name[len(_KIND_PREFIX) :]
    if not name.startswith(_KIND_PREFIX) or kind not in KINDS:
        raise EngineError(f"miniworld: it has no {name!r}; it has {', '.join(_KIND_PREFIX + kind for kind in KINDS)}")
    return kind
