"""What an agent sees of its goal from where it starts: the target in the first frame, the goal view's surroundings."""

import math

import numpy as np

from task_synthesis.candidate import Candidate, start_eye
from task_synthesis.placement.aim import aimed_at
from task_synthesis.placement.targets import torus_delta
from task_synthesis.views.view_overlap import share_seen
from worlds.spec import Look
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend

_LARGEST_RADIUS_BLOCKS = 3.0  # of a sphere around the middle of the target's cell that holds any object


class StartViews:
    """Measures the first frames of candidates in the envs of a backend."""

    def __init__(self, backend: VoxelBackend) -> None:
        """Look into the envs of `backend`, which must draw depth."""
        self._backend = backend

    def measure(self, candidates: dict[int, Candidate]) -> dict[int, tuple[bool, float]]:
        """Return (target visible in the first frame, view overlap) of each candidate, by env; see task.Difficulty."""
        envs = sorted(candidates)
        if not envs:
            return {}
        eyes = {env: start_eye(candidates[env]) for env in envs}
        visible = self._visible(candidates, eyes)
        circles = {env: candidates[env].circle_blocks for env in envs}
        turned = [aimed_at(eyes[env], candidates[env].layout.target_position, circles[env]) for env in envs]
        depth_VHW = self._backend.render_views(envs, np.array(turned)).depth_VHW
        assert depth_VHW is not None
        measured = {}
        for env, depth_HW, eye in zip(envs, depth_VHW, turned, strict=True):
            surface_P3 = candidates[env].surface_P3
            assert surface_P3 is not None
            overlap = share_seen(surface_P3, depth_HW, eye, fov_deg=Look().fov_deg, sides_blocks=circles[env])
            measured[env] = env in visible, overlap
        return measured

    def _visible(self, candidates: dict[int, Candidate], eyes: dict[int, Pose]) -> set[int]:
        """Return the envs whose first frame shows the target; only those that look its way are drawn."""
        near = [
            env
            for env, eye in eyes.items()
            if is_ahead(
                eye,
                candidates[env].layout.target_position,
                fov_deg=Look().fov_deg,
                circle_blocks=candidates[env].circle_blocks,
            )
        ]
        if not near:
            return set()
        area_V = self._backend.render_views(near, np.array([eyes[env] for env in near])).target_V7[:, 0]
        return {env for env, area in zip(near, area_V, strict=True) if area > 0}


def is_ahead(eye: Pose, target: tuple[int, int, int], *, fov_deg: float, circle_blocks: tuple[int, int]) -> bool:
    """Tell whether a square picture may show an object in cell `target`; False is certain, True is not."""
    dx = float(torus_delta(target[0] + 0.5 - eye.x, circle_blocks[0]))
    dz = float(torus_delta(target[2] + 0.5 - eye.z, circle_blocks[1]))
    dy = target[1] + 0.5 - eye.y
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if distance <= _LARGEST_RADIUS_BLOCKS:
        return True
    yaw, pitch = math.radians(eye.yaw_deg), math.radians(eye.pitch_deg)
    along = (dz * math.cos(yaw) - dx * math.sin(yaw)) * math.cos(pitch) - dy * math.sin(pitch)
    corner = math.atan(math.sqrt(2.0) * math.tan(math.radians(fov_deg) / 2))
    return math.acos(max(-1.0, min(1.0, along / distance))) <= corner + math.asin(_LARGEST_RADIUS_BLOCKS / distance)
