"""Draws what a session shows into a browser's 3-D scene; sends only what has changed.

Places of the scene are those of eval.viewer.scene_place; node names begin with what they show.
"""

import math
import time

import numpy as np
import viser

from eval.viewer.mesh import CHUNK_BLOCKS, ChunkIndex, MeshStyle, WorldMesh
from eval.viewer.scene_bodies import SceneBodies
from eval.viewer.scene_models import ModelMeshes
from eval.viewer.scene_place import UNITS_PER_BLOCK, Ground, camera_wxyz, look_at_of, upright_wxyz
from eval.viewer.session import Scene, ViewerSession
from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.spec import Look
from worlds.types import Pose
from worlds.voxel.daylight import daylight
from worlds.voxel.render_view import DAY_HORIZON, DAY_ZENITH, NIGHT_HORIZON, NIGHT_ZENITH

AGENT_COLOR, RIVAL_COLOR, GOAL_COLOR, TARGET_COLOR, START_COLOR = (
    (64, 190, 255), (255, 120, 200), (255, 190, 60), (255, 225, 40), (110, 220, 110),
)  # fmt: skip
_MAX_PATH_POINTS = 1500  # of a drawn path; a longer one is thinned out
_NEAR_CAMERA_BLOCKS = 3.0  # from here the picture of the goal camera would fill the view
_NEW_PAGE_S = 8.0
_LABEL_BLOCKS = 2.1  # above the feet
_GROWN_BLOCKS = 0.03  # of a frame around a block, so that it does not flicker in the block's faces


def prepare(server: viser.ViserServer) -> None:
    """Tell all browsers to come what holds for every scene: y is up, and nothing throws a shadow.

    They hear it before anything else. Told together with the first eye, the eye was at times placed with z up.
    """
    server.scene.set_up_direction("+y")
    server.scene.configure_default_lights(cast_shadow=False)


class SceneView:
    """One browser's scene."""

    def __init__(self, client: viser.ClientHandle) -> None:
        """Begin with an empty scene. The server has said that y is up: see `prepare`."""
        self._client = client
        self._scene = client.scene
        self._mesh: WorldMesh | None = None
        self._look: Look | None = None
        self._chunks: dict[ChunkIndex, viser.GlbHandle] = {}
        self._models: ModelMeshes | None = None
        self._bodies: SceneBodies | None = None
        self._drawn: dict[str, object] = {}  # what a marker shows, by its name
        self._goal_camera: viser.CameraFrustumHandle | None = None
        self._goal_eye: Pose | None = None
        # A page may place its camera once more when it is ready, after it was told where to look from.
        self._first_3, self._since_s = client.camera.position.copy(), time.monotonic()
        self._wanted_eye: Pose | None = None
        self.ground = Ground((128, 64, 128), (0, 0))

    def update(self, session: ViewerSession) -> None:
        """Draw the present of a session."""
        shown = session.scene()
        with self._client.atomic():
            self._update_blocks(session, shown)
            self._draw_agent("agent", shown.agent, shown.path, AGENT_COLOR)
            self._draw_agent("rival", shown.rival, shown.rival_path, RIVAL_COLOR)
            self._draw_start(shown.start)
            self._draw_target(shown)
            if self._bodies is not None:
                self._bodies.update(session.engine, self.ground)

    def draw_goal_camera(self, eye: Pose | None, image_HWC: np.ndarray | None, fov_deg: float) -> None:
        """Draw the goal camera with its picture, uint8 [H, W, 3]; nothing without an eye."""
        key = None if eye is None else (eye, None if image_HWC is None else image_HWC.tobytes(), self.ground)
        if not self._is_new("goal_camera", key):
            return
        if self._goal_camera is not None:
            self._goal_camera.remove()
        self._goal_camera, self._goal_eye = None, eye
        if eye is None:
            return
        self._goal_camera = self._scene.add_camera_frustum(
            "/goal_camera",
            fov=math.radians(fov_deg),
            aspect=1.0,
            scale=1.2 * UNITS_PER_BLOCK,
            thickness=2.0,
            thickness_units="screen",
            color=GOAL_COLOR,
            image=image_HWC,
            position=self.ground.scene(np.array(eye[:3])),
            wxyz=camera_wxyz(eye),
            cast_shadow=False,
        )

    def watch_camera(self) -> None:
        """Keep the goal camera's picture out of the way of an eye close to it, and a new page where it was put."""
        position_3 = self._client.camera.position
        if self._goal_camera is not None and self._goal_eye is not None:
            gap = np.linalg.norm(position_3 - self.ground.scene(np.array(self._goal_eye[:3])))
            is_far = bool(gap > _NEAR_CAMERA_BLOCKS * UNITS_PER_BLOCK)
            if self._goal_camera.visible != is_far:
                self._goal_camera.visible = is_far
        is_new_page = time.monotonic() - self._since_s < _NEW_PAGE_S
        if self._wanted_eye is not None and is_new_page and np.allclose(position_3, self._first_3, atol=1e-3):
            self.jump(self._wanted_eye)

    def jump(self, eye: Pose) -> None:
        """Let the browser look from an eye in blocks."""
        self._wanted_eye = eye
        eye_3 = self.ground.scene(np.array(eye[:3]))
        with self._client.atomic():
            self._client.camera.position = eye_3
            self._client.camera.look_at = look_at_of(eye_3, eye)

    def jump_to_birds_eye(self, place: Pose) -> None:
        """Let the browser look down at a place in blocks from high above."""
        at_3 = self.ground.scene(np.array(place[:3]))
        with self._client.atomic():
            self._client.camera.position = at_3 + np.array([0.0, 42.0, 30.0]) * UNITS_PER_BLOCK
            self._client.camera.look_at = at_3

    def _update_blocks(self, session: ViewerSession, shown: Scene) -> None:
        terrain = session.engine.state.terrain
        block_XZY, field_XZY = terrain.block_EXZY[0], terrain.field_EXZY[0]
        look = session.shown.look
        is_new_world = session.changes().is_new_world
        if self._mesh is not None and not is_new_world and look == self._look:
            for chunk in self._mesh.update(block_XZY, field_XZY):
                self._send(chunk)
            return
        self._look = look
        style = MeshStyle.of_look(look)
        self._mesh = WorldMesh(block_XZY, field_XZY, style, store=session.shared.meshes)
        if is_new_world or not self._chunks:
            self.ground = Ground.around(shown.world.size_blocks, (shown.start.x, shown.start.z))
        self._paint_sky(look)
        self._models = ModelMeshes(style)
        if self._bodies is not None:
            self._bodies.clear()
        self._bodies = SceneBodies(self._scene, self._models)
        for handle in self._chunks.values():
            handle.remove()
        self._chunks.clear()
        for chunk in self._mesh.nearest_first(shown.start.x, shown.start.z):
            self._send(chunk)

    def _send(self, chunk: ChunkIndex) -> None:
        assert self._mesh is not None
        content = self._mesh.glb(chunk)
        if content is None:
            if chunk in self._chunks:
                self._chunks.pop(chunk).remove()
            return
        if chunk in self._chunks:
            self._chunks[chunk].glb_data = content
            return
        side = CHUNK_BLOCKS
        position = self.ground.scene(np.array((side * chunk[0], 0.0, side * chunk[1])))
        self._chunks[chunk] = self._scene.add_glb(
            f"/world/{chunk[0]}_{chunk[1]}",
            content,
            scale=UNITS_PER_BLOCK,
            position=position,
            cast_shadow=False,
            receive_shadow=False,
        )

    def _paint_sky(self, look: Look) -> None:
        share = daylight(look)
        ends = [
            np.array(night) + (np.array(day) - np.array(night)) * share
            for day, night in ((DAY_ZENITH, NIGHT_ZENITH), (DAY_HORIZON, NIGHT_HORIZON))
        ]
        down_H1 = np.linspace(0, 1, 64)[:, None]
        sky_HC = ends[0] + (ends[1] - ends[0]) * np.minimum(1.0, 1.6 * down_H1)
        self._scene.set_background_image(np.repeat(sky_HC[:, None], 4, axis=1).astype(np.uint8), format="png")

    def _draw_agent(
        self, name: str, feet: Pose | None, path: tuple[tuple[float, float, float], ...], color: tuple[int, int, int]
    ) -> None:
        """Draw a body and the way it has come."""
        if self._is_new(name, None if feet is None else (feet, self.ground)):
            self._place_body(name, feet)
        if self._is_new(f"{name}_path", (len(path), path[-1:], self.ground)):
            every = len(path) // _MAX_PATH_POINTS + 1
            place_N3 = np.array([*path[::every], *path[-1:]], np.float64).reshape(-1, 3) + (0.0, 0.08, 0.0)
            segments_S23 = self.ground.path(place_N3) if len(place_N3) > 1 else np.zeros((0, 2, 3))
            if not len(segments_S23):
                self._scene.remove_by_name(f"/{name}_path")
                return
            self._scene.add_line_segments(f"/{name}_path", segments_S23, color, thickness=3.0, thickness_units="screen")

    def _place_body(self, name: str, feet: Pose | None) -> None:
        handle = self._drawn.get(f"{name}_body")
        if feet is None or self._models is None:
            if isinstance(handle, viser.GlbHandle):
                handle.remove()
            self._drawn.pop(f"{name}_body", None)
            return
        position, wxyz = self.ground.scene(np.array(feet[:3])), upright_wxyz(feet.yaw_deg)
        if isinstance(handle, viser.GlbHandle):
            handle.position, handle.wxyz = position, wxyz
            return
        self._drawn[f"{name}_body"] = self._scene.add_glb(
            f"/{name}", self._models.agent, scale=UNITS_PER_BLOCK, position=position, wxyz=wxyz, cast_shadow=False
        )
        self._scene.add_label(
            f"/{name}/label", name, position=(0.0, _LABEL_BLOCKS * UNITS_PER_BLOCK, 0.0), font_screen_scale=0.8,
            anchor="bottom-center",
        )  # fmt: skip

    def _draw_start(self, start: Pose) -> None:
        if self._is_new("start", (start, self.ground)):
            at_3 = self.ground.scene(np.array(start[:3]) + (0.0, 0.06, 0.0))
            angle_N = np.linspace(0, 2 * math.pi, 25)
            ring_N3 = np.stack([np.cos(angle_N), 0 * angle_N, np.sin(angle_N)], axis=1) * 0.45 * UNITS_PER_BLOCK + at_3
            self._scene.add_line_segments(
                "/start", np.stack([ring_N3[:-1], ring_N3[1:]], axis=1), START_COLOR, thickness=3.0,
                thickness_units="screen",
            )  # fmt: skip
            self._scene.add_label("/start_label", "start", position=at_3, font_screen_scale=0.8, anchor="top-center")

    def _draw_target(self, shown: Scene) -> None:
        box = target_box(shown)
        if not self._is_new("target", None if box is None else (box, shown.target_kind, self.ground)):
            return
        if box is None:
            self._scene.remove_by_name("/target")
            self._scene.remove_by_name("/target_label")
            return
        low_3, size_3 = np.array(box[0]), np.array(box[1])
        middle_3 = self.ground.scene(low_3 + size_3 / 2)
        corner_83 = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * size_3 / 2
        corner_83 = corner_83 * UNITS_PER_BLOCK + middle_3
        edges = [(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b) in (1, 2, 4)]
        self._scene.add_line_segments(
            "/target", np.array([[corner_83[a], corner_83[b]] for a, b in edges]), TARGET_COLOR, thickness=4.0,
            thickness_units="screen",
        )  # fmt: skip
        name = shown.target_kind.partition("[")[0].removeprefix("item:").replace("_", " ")
        above_3 = middle_3 + np.array([0.0, size_3[1] / 2 + 0.35, 0.0]) * UNITS_PER_BLOCK
        self._scene.add_label(
            "/target_label", f"target: {name}", position=above_3, font_screen_scale=0.9, anchor="bottom-center"
        )

    def _is_new(self, name: str, value: object) -> bool:
        """Tell whether a marker shows something else than this, and note that it shows this from now on."""
        if name in self._drawn and self._drawn[name] == value:
            return False
        is_first_nothing = name not in self._drawn and value is None
        self._drawn[name] = value
        return not is_first_nothing


def target_box(shown: Scene) -> tuple[tuple[float, float, float], tuple[float, float, float]] | None:
    """Return (lower corner, size) in blocks of a frame around the target, or None while there is none to be seen."""
    grown = _GROWN_BLOCKS
    if shown.target_cell is not None:
        x, y, z = shown.target_cell
        return (x - grown, y - grown, z - grown), (1 + 2 * grown,) * 3
    if shown.target_feet is None:
        return None
    kind = MOBS[MOB_ID[shown.target_kind]] if shown.target_kind in MOB_ID else None
    width, height = (0.5, 0.5) if kind is None else (kind.width, kind.height)
    feet_x, feet_y, feet_z = shown.target_feet
    return (feet_x - width / 2, feet_y, feet_z - width / 2), (width, height, width)
