"""Doom, through ViZDoom: lockstep, with exact masks, for zero-shot evaluation.

Worlds, by `WorldSpec.source`:
    "vizdoom:rooms"         rooms made from the seed (floor_plan.py)
    "vizdoom:my_way_home"   ViZDoom's maze of that name; the seed says nothing
    "vizdoom:freedoom2"     Freedoom's map number seed % 32 + 1, as far as it lies in the box

Placed things are classes of our own (doom_wad.THINGS) with Freedoom's pictures; natural things that look alike are left
out of every map, and so are monsters. Masks are ViZDoom's labels; its sky counts as terrain.

32 map units are a block, and the agent is as high and wide as ours. Doom's x is ours and its y our -z, so that yaw 0
(south) is Doom's 270 degrees. A tick of 50 ms is 1.75 of Doom's tics; whole ones are played, 7 for 4 ticks.

Our action       Doom's button and amount
forward, back    MOVE_FORWARD_BACKWARD_DELTA +-12: 4.3 blocks/s as in Minecraft; 1.3 times that with sprint, 0.3 with
                 sneak
left, right      MOVE_LEFT_RIGHT_DELTA -+12, in the same way
camera yaw       TURN_LEFT_RIGHT_DELTA, degrees
camera pitch     LOOK_UP_DOWN_DELTA, minus degrees; the renderer ends at 32 degrees up and 56 down
jump             JUMP (1.1 blocks)
attack, use      ATTACK, USE (opens doors)
sneak            slower only: Doom's crouching would change the eye's height at another pace
others           nothing
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, EngineError, Moment, Scan, Sight
from worlds.adapters.engines.doom_game import DoomGame, map_units
from worlds.adapters.engines.doom_sectors import DoomSectors
from worlds.adapters.engines.doom_wad import UNITS_PER_BLOCK
from worlds.adapters.engines.engine_options import read_options
from worlds.adapters.engines.picture_fit import PictureFit

_EYE_BLOCKS = 1.62
_THING_RADIUS_BLOCKS, _THING_HEIGHT_BLOCKS = 0.4, 1.0  # of what stands in a line of sight
_TICS_PER_TICK = 1.75  # 35 a second against 20
_WALK_DELTA = 12.0
_SPRINT_FACTOR, _SNEAK_FACTOR = 1.3, 0.3
# Vertical, of 90 degrees across: what Doom gives every camera, so the agent's view is the middle part of the same.
_MAX_FOV_DEG = 2 * math.degrees(math.atan(0.75))
_SIZES_PX = ((120, 160), (150, 200), (192, 256), (240, 320), (300, 400), (384, 512), (480, 640), (600, 800))


class VizDoom(Engine):
    """One agent in one Doom map; a second game beside it is the camera, so that looking changes nothing."""

    has_masks = True
    view_range_blocks = 64.0

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Take no options; games start with the first episode."""
        super().__init__(image_px, read_options(options, {}))
        # The part that is cut out of the screen should be no smaller than the picture.
        fitting = [size for size in _SIZES_PX if size[0] * 0.9 >= image_px[0] and size[1] * 0.9 >= image_px[1]]
        self._screen_px = (fitting or _SIZES_PX[-1:])[0]
        self._fit = self._fit_of(_MAX_FOV_DEG / 2)
        self._folder = tempfile.TemporaryDirectory(prefix="mcrl-vizdoom-")
        self._world: tuple[str, int] | None = None
        self._agent: DoomGame | None = None
        self._camera: DoomGame | None = None
        self._sectors = DoomSectors(())
        self._object_N3: np.ndarray = np.zeros((0, 3))  # blocks, centre of the floor
        self._episode: dict[str, Any] = {}
        self._num_ticks = 0

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Begin an episode; the map is loaded again where it is another one."""
        world = (str(episode["world"]["source"]), int(episode["world"]["seed"]))
        if world != self._world:
            self._stop()
            self._agent = DoomGame(self._folder.name, self._screen_px, world, is_camera=False)
            self._world = world
            self._sectors = DoomSectors(self._agent.state().sectors)
        assert self._agent is not None
        placements = episode["placements"]
        self._object_N3 = np.array([placement["position"] for placement in placements], float).reshape(-1, 3)
        self._object_N3 += (0.5, 0.0, 0.5)
        self._episode = episode
        self._fit = self._fit_of(float(episode["look"]["fov_deg"]))
        self._num_ticks = 0
        self._agent.begin(episode, self._on_floor(self._object_N3))
        start = episode["start"]
        floor = self._on_floor(np.array([start[:3]], float))[0]
        self._agent.place((start[0], floor[1], start[2], *start[3:]))
        self._agent.rest()
        if self._camera is not None:
            self._camera.begin(episode, self._on_floor(self._object_N3))
        return self.observe()

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Repeat the action for as many whole tics as the ticks so far come to."""
        assert self._agent is not None
        held = {name for name, is_held in zip(BUTTONS, buttons) if is_held}
        first = int(self._num_ticks * _TICS_PER_TICK)
        self._num_ticks += num_ticks
        num_tics = int(self._num_ticks * _TICS_PER_TICK) - first
        speed = _WALK_DELTA
        if "sneak" in held:
            speed *= _SNEAK_FACTOR
        elif "sprint" in held and "forward" in held:
            speed *= _SPRINT_FACTOR
        pitch_deg, yaw_deg = (angle * num_ticks / max(num_tics, 1) for angle in camera_deg)
        action = [
            speed * (("forward" in held) - ("back" in held)),
            speed * (("right" in held) - ("left" in held)),
            yaw_deg,
            -pitch_deg,
            *(float(name in held) for name in ("jump", "attack", "use")),
        ]
        for _ in range(num_tics):
            self._agent.act(action)
        return self.observe()

    def observe(self) -> Moment:
        """Return the present; no tic passes."""
        assert self._agent is not None
        here = self._agent.here()
        return Moment(
            sight=self._agent.sight(self._object_N3, self._fit),
            pose=here.pose,
            is_on_ground=here.is_on_ground,
            health=max(0.0, here.health) / 5.0,
        )

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """Return what a second game sees, in which nothing but a camera moves."""
        assert self._world is not None
        if self._camera is None:
            self._camera = DoomGame(self._folder.name, self._screen_px, self._world, is_camera=True)
            self._camera.begin(self._episode, self._on_floor(self._object_N3))
        sights = []
        for x, y, z, yaw_deg, pitch_deg in eyes:
            self._camera.place((x, y, z, yaw_deg, pitch_deg))
            sights.append(self._camera.sight(self._object_N3, self._fit))
        return sights

    def lines_clear(self, froms: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> list[bool]:
        """Tell whether neither walls and floors of the map nor another placed thing hide a cell's centre."""
        answers = []
        for start, cell in zip(froms, cells):
            end = np.add(cell, 0.5)
            is_clear = self._sectors.is_line_free(map_units(start), map_units(end.tolist()))
            floor_N3 = self._on_floor(self._object_N3)
            others = [place for place, at in zip(floor_N3, self._object_N3) if tuple(np.floor(at)) != tuple(cell)]
            answers.append(is_clear and not any(_is_hidden_by(other, np.asarray(start), end) for other in others))
        return answers

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """Return the map as blocks: a cell is air where its centre is between floor and ceiling, else stone."""
        if self._agent is None:
            raise EngineError("vizdoom: there is no map before the first reset; reset once, then scan")
        x_X, y_Y, z_Z = (low + np.arange(side) for low, side in zip(lowest, size))
        place_XZ2 = np.stack(np.meshgrid(x_X + 0.5, -(z_Z + 0.5), indexing="ij"), axis=-1) * UNITS_PER_BLOCK
        floor_N, ceiling_N = self._sectors.floor_and_ceiling(place_XZ2.reshape(-1, 2))
        center_Y = (y_Y + 0.5) * UNITS_PER_BLOCK
        is_air_NY = (center_Y > floor_N[:, None]) & (center_Y < ceiling_N[:, None])
        return Scan(["stone", "air"], is_air_NY.reshape(len(x_X), len(z_Z), len(y_Y)).astype(np.uint16))

    def close(self) -> None:
        """Stop both games and remove their files."""
        self._stop()
        self._folder.cleanup()

    def _stop(self) -> None:
        for game in (self._agent, self._camera):
            if game is not None:
                game.close()
        self._agent = self._camera = self._world = None

    def _on_floor(self, place_N3: np.ndarray) -> np.ndarray:
        """Return the places [N, 3] on the floor beneath them, as they are where there is none."""
        floor_N, _ = self._sectors.floor_and_ceiling(place_N3[:, [0, 2]] * [UNITS_PER_BLOCK, -UNITS_PER_BLOCK])
        placed_N3 = place_N3.copy()
        placed_N3[:, 1] = np.where(np.isnan(floor_N), place_N3[:, 1], floor_N / UNITS_PER_BLOCK)
        return placed_N3

    def _fit_of(self, fov_deg: float) -> PictureFit:
        try:
            return PictureFit(self._screen_px, _MAX_FOV_DEG, self.image_px, fov_deg)
        except ValueError as error:
            raise EngineError(f"vizdoom: {error}") from None


def _is_hidden_by(other_3: np.ndarray, start_3: np.ndarray, end_3: np.ndarray) -> bool:
    """Tell whether a thing that stands at `other_3` is met by the line before its end."""
    along_2 = (end_3 - start_3)[[0, 2]]
    share = float(np.dot((other_3 - start_3)[[0, 2]], along_2) / max(float(np.dot(along_2, along_2)), 1e-9))
    if not 0.0 < share < 1.0:
        return False
    near_3 = start_3 + share * (end_3 - start_3)
    is_beside = float(np.hypot(*(near_3 - other_3)[[0, 2]])) > _THING_RADIUS_BLOCKS
    return not is_beside and 0.0 <= near_3[1] - other_3[1] <= _THING_HEIGHT_BLOCKS
