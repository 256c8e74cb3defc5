"""The rooms of MiniWorld 2 and the things in them, drawn by OpenGL without a display: pictures and masks.

MiniWorld has no masks. Ours are a second drawing of the same scene from the same eye in which fog, so thick that
nothing else is left, gives every thing one colour.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import EngineError, Sight
from worlds.adapters.engines.floor_plan import CEILING_BLOCKS, FloorPlan
from worlds.adapters.engines.miniworld_things import MESH_HEIGHTS

os.environ.setdefault("LP_NUM_THREADS", "0")  # Mesa's software renderer: one thread an engine, as all of ours
if importlib.util.find_spec("miniworld") is None:  # it brings pyglet, which would be called missing
    raise ModuleNotFoundError("No module named 'miniworld'", name="miniworld")
import pyglet  # noqa: E402

pyglet.options["headless"] = True  # before anything of it makes a window: EGL needs no display
try:
    import miniworld.entity
    import miniworld.miniworld
    import miniworld.opengl
    from pyglet import gl
except ImportError as error:
    raise EngineError(
        f"miniworld: OpenGL cannot be used here ({error}); install it, on Debian with `apt-get install libegl1 libgl1 "
        "libglu1-mesa`"
    ) from None

MAX_PITCH_DEG = 89.0  # to which the camera can look up and down

_BOX_BLOCKS, _BALL_BLOCKS = 0.8, 0.8

_FLOORS = ("concrete", "floor_tiles_bw", "grass", "wood", "wood_planks", "asphalt")
_WALLS = ("brick_wall", "concrete", "cinder_blocks", "drywall", "stucco", "marble", "cardboard", "rock")
_CEILINGS = ("concrete_tiles", "ceiling_tiles")
_DOOR_HEIGHT_BLOCKS = 2.5

_RADIUS_BLOCKS = 0.3


class Scene(miniworld.miniworld.MiniWorldEnv):
    """MiniWorld's own environment, filled by plan; its steps and rewards are not used."""

    sky_color: np.ndarray  # float [3], of MiniWorld

    def __init__(
        self, image_px: tuple[int, int], plan: FloorPlan, kinds: Sequence[str], place_N3: np.ndarray, fov_deg: float
    ) -> None:
        self._content = (plan, kinds, place_N3)
        self._is_id_render = False
        height, width = image_px
        super().__init__(obs_width=width, obs_height=height, window_width=width, window_height=height)
        self._id_buffer = miniworld.opengl.FrameBuffer(width, height, 1)
        self.fill(plan, kinds, place_N3, fov_deg)

    def fill(self, plan: FloorPlan, kinds: Sequence[str], place_N3: np.ndarray, fov_deg: float) -> None:
        """Build the rooms and put the things into them."""
        self._content = (plan, kinds, place_N3)
        self.shadow_window.switch_to()
        self.reset(seed=0)
        self.agent.cam_fov_y = fov_deg
        self.agent.cam_height = self.agent.cam_fwd_disp = 0.0
        self.agent.radius = _RADIUS_BLOCKS

    def _gen_world(self) -> None:
        """Answer MiniWorld's question what the world is made of."""
        plan, kinds, place_N3 = self._content
        textures = [
            names[(plan.style >> shift) % len(names)] for names, shift in ((_WALLS, 0), (_FLOORS, 4), (_CEILINGS, 8))
        ]
        rooms = [
            self.add_rect_room(
                min_x=room.x0,
                max_x=room.x1,
                min_z=room.z0,
                max_z=room.z1,
                wall_height=CEILING_BLOCKS,
                wall_tex=textures[0],
                floor_tex=textures[1],
                ceil_tex=textures[2],
            )
            for room in plan.rooms
        ]
        for door in plan.doors:
            first, cells = plan.rooms[door.first], door.cells
            if cells.x0 == first.x1:
                sides = {"min_z": cells.z0, "max_z": cells.z1}
            else:
                sides = {"min_x": cells.x0, "max_x": cells.x1}
            self.connect_rooms(rooms[door.first], rooms[door.second], max_y=_DOOR_HEIGHT_BLOCKS, **sides)
        self.place_entity(self.agent, pos=np.zeros(3), dir=0.0)
        for kind, place_3 in zip(kinds, place_N3):
            self.place_entity(_entity(kind), pos=place_3.copy(), dir=0.0)

    def sight(self, eye: Sequence[float]) -> Sight:
        """Return what is seen from (x, y, z, yaw, pitch)."""
        self.agent.pos = np.array(eye[:3], float)
        self.agent.dir = -math.radians(eye[3] + 90.0)
        self.agent.cam_pitch = -min(max(eye[4], -MAX_PITCH_DEG), MAX_PITCH_DEG)
        image_HWC = self.render_obs()
        self._is_id_render = True
        try:
            id_HWC = self.render_obs(self._id_buffer)
        finally:
            self._is_id_render = False
        return Sight(np.ascontiguousarray(image_HWC), id_HWC[:, :, 0].astype(np.int32))

    def render_obs(self, frame_buffer: Any = None) -> np.ndarray:
        """Return uint8 [H, W, 3] as MiniWorld does; while ids are drawn, the sky is 0."""
        sky_color = self.sky_color
        if self._is_id_render:
            self.sky_color = np.zeros(3)
        try:
            return super().render_obs(frame_buffer)
        finally:
            self.sky_color = sky_color

    def _render_world(self, frame_buffer: Any, render_agent: bool) -> np.ndarray:
        """Draw as MiniWorld does, or each thing in the one colour of its id."""
        if not self._is_id_render:
            return super()._render_world(frame_buffer, render_agent)
        # Full fog begins before anything can be seen, so that textures, colours and light leave no trace.
        gl.glEnable(gl.GL_FOG)
        # Drivers give four samples where one is asked for; their means at edges would be ids of other things.
        gl.glDisable(gl.GL_MULTISAMPLE)
        gl.glFogi(gl.GL_FOG_MODE, gl.GL_LINEAR)
        gl.glFogf(gl.GL_FOG_START, -2.0)
        gl.glFogf(gl.GL_FOG_END, -1.0)
        self._set_id(1)
        for room in self.rooms:
            room._render()
        things = [entity for entity in self.entities if entity is not self.agent]
        for index, entity in enumerate(things):
            self._set_id(2 + index)
            entity.render()
        gl.glDisable(gl.GL_FOG)
        gl.glEnable(gl.GL_MULTISAMPLE)
        return frame_buffer.resolve()

    def _set_id(self, number: int) -> None:
        part = number / 255.0
        gl.glFogfv(gl.GL_FOG_COLOR, (gl.GLfloat * 4)(part, part, part, 1.0))

    def is_blocked(self, place_3: np.ndarray) -> bool:
        """Tell whether the agent's body meets a wall or a thing there."""
        return bool(self.intersect(self.agent, place_3, _RADIUS_BLOCKS))

    def is_hidden(self, start_3: np.ndarray, end_3: np.ndarray) -> bool:
        """Tell whether a thing that does not stand where the line ends is met by it before."""
        along_2 = (end_3 - start_3)[[0, 2]]
        for entity in self.entities:
            off_2 = (np.asarray(entity.pos) - start_3)[[0, 2]]
            is_at_end = float(np.hypot(*(off_2 - along_2))) < 0.5
            if entity is self.agent or is_at_end:
                continue
            share = float(np.dot(off_2, along_2) / max(float(np.dot(along_2, along_2)), 1e-9))
            if not 0.0 < share < 1.0:
                continue
            is_beside = float(np.hypot(*(off_2 - share * along_2))) > entity.radius
            if not is_beside and 0.0 <= start_3[1] + share * (end_3[1] - start_3[1]) <= entity.height:
                return True
        return False

    def close(self) -> None:
        """Close the window that holds the OpenGL context."""
        super().close()
        self.shadow_window.close()


def _entity(kind: str) -> Any:
    """Return a new thing of one of KINDS."""
    if kind in MESH_HEIGHTS:
        return miniworld.entity.MeshEnt(mesh_name=kind, height=MESH_HEIGHTS[kind])
    shape, color = kind.split("_")
    if shape == "box":
        return miniworld.entity.Box(color=color, size=_BOX_BLOCKS)
    return miniworld.entity.Ball(color=color, size=_BALL_BLOCKS)
