"""A look at the target through a narrow lens, before the whole goal view is drawn: how large and how hidden it is.

Most goal cameras are no good: something hides the target, or it is too small. A picture of the target alone, as large
as it fits into 32 x 32 pixels, tells for a sixteenth of the cost of a goal view. V views.
"""

import math

import numpy as np

from task_synthesis.placement.layout import Layout
from task_synthesis.skills import base_kind, type_of
from task_synthesis.synthesis_config import SynthesisConfig
from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.spec import BLOCK_BITS, Look
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.state import NO_ITEM, NO_MOB

_LENS_PX = 32
_MARGIN_BLOCKS = 2  # around the line from camera to target, in which all that could hide the target lies
# Areas of two pictures differ by pixels at the border: only what is clearly too small is refused here.
_SURELY_SMALL_SHARE = 0.8


class CloseLook:
    """Names what is wrong with goal cameras, as far as the target alone tells it."""

    def __init__(self, backend: VoxelBackend, config: SynthesisConfig) -> None:
        """Look into the envs of `backend`; judge by the bounds of `config`."""
        self._backend = backend
        self._config = config

    def faults(self, envs: list[int], eyes: list[Pose], layouts: list[Layout]) -> list[str]:
        """Return what is wrong with each camera, "" for nothing; every env may be named once."""
        aims_V7 = np.array([_aim(eye, layout) for eye, layout in zip(eyes, layouts, strict=True)])
        aim_V5, fov_deg_V, growth_V = aims_V7[:, :5], aims_V7[:, 5], aims_V7[:, 6]
        seen_V = self._areas(envs, aim_V5, fov_deg_V)
        found = ["" for _ in envs]
        for row, (seen, growth) in enumerate(zip(seen_V, growth_V, strict=True)):
            if seen == 0:
                found[row] = "target_hidden"
            elif seen / growth < _SURELY_SMALL_SHARE * self._config.goal_area[0]:
                found[row] = "mask_too_small"
        good = [row for row, fault in enumerate(found) if not fault]
        if good:
            alone_V = self._areas_alone(
                [envs[row] for row in good], aim_V5[good], fov_deg_V[good], [layouts[row] for row in good]
            )
            for row, alone in zip(good, alone_V, strict=True):
                if seen_V[row] < (1.0 - self._config.max_hidden_share) * alone:
                    found[row] = "target_overgrown"
        return found

    def _areas(self, envs: list[int], eye_V5: np.ndarray, fov_deg_V: np.ndarray) -> np.ndarray:
        """Return float32 [V]: the target's share of each picture."""
        views = self._backend.render_lens(envs, eye_V5, image_px=(_LENS_PX, _LENS_PX), fov_deg_V=fov_deg_V)
        return views.target_V7[:, 0]

    def _areas_alone(
        self, envs: list[int], eye_V5: np.ndarray, fov_deg_V: np.ndarray, layouts: list[Layout]
    ) -> np.ndarray:
        """Return what _areas would if nothing else stood between the target and the camera."""
        state = self._backend.state
        block_EXZY = state.terrain.block_EXZY
        _, size_x, size_z, size_y = block_EXZY.shape
        kept: list[tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]] = []
        mob_kind_EM, item_ED = state.mobs.kind_EM.copy(), state.drops.item_ED.copy()
        for env, (eye_x, eye_y, eye_z, _, _), layout in zip(envs, eye_V5, layouts, strict=True):
            slot = layout.target_index + 1
            state.mobs.kind_EM[env, state.mobs.object_EM[env] != slot] = NO_MOB
            state.drops.item_ED[env, state.drops.object_ED[env] != slot] = NO_ITEM
            x, y, z = layout.target_position
            between = (
                np.arange(int(min(eye_x, x)) - _MARGIN_BLOCKS, int(max(eye_x, x)) + _MARGIN_BLOCKS + 1) % size_x,
                np.arange(int(min(eye_z, z)) - _MARGIN_BLOCKS, int(max(eye_z, z)) + _MARGIN_BLOCKS + 1) % size_z,
                np.arange(
                    max(0, int(min(eye_y, y)) - _MARGIN_BLOCKS),
                    min(size_y, int(max(eye_y, y)) + _MARGIN_BLOCKS + 1),
                ),
            )
            block_XZY, cells = block_EXZY[env], np.ix_(*between)
            before = block_XZY[cells]
            kept.append((block_XZY, cells, before))
            # The field that rays skip by knows only of more blocks than are left now, which is safe.
            block_XZY[cells] = np.where(before >> BLOCK_BITS == slot, before, 0)
        area_V = self._areas(envs, eye_V5, fov_deg_V)
        for block_XZY, cells, before in kept:
            block_XZY[cells] = before
        state.mobs.kind_EM[:], state.drops.item_ED[:] = mob_kind_EM, item_ED
        return area_V


def _aim(eye: Pose, layout: Layout) -> tuple[float, ...]:
    """Return the eye turned to the target, the lens' field of view, and how much larger it shows the target."""
    middle, radius = _sphere(layout.kind)
    x, y, z = layout.target_position
    dx, dy, dz = x + 0.5 - eye.x, y + middle - eye.y, z + 0.5 - eye.z
    level, distance = math.hypot(dx, dz), math.sqrt(dx * dx + dy * dy + dz * dz)
    half_rad = math.atan(radius / max(distance, radius))
    yaw, pitch = math.radians(eye.yaw_deg), math.radians(eye.pitch_deg)
    # Away from the centre a picture stretches: by the third power of the cosine, as areas go.
    along = (dz * math.cos(yaw) - dx * math.sin(yaw)) * math.cos(pitch) - dy * math.sin(pitch)
    growth = (math.tan(math.radians(Look().fov_deg) / 2) / math.tan(half_rad)) ** 2 * max(along / distance, 0.01) ** 3
    yaw_deg, pitch_deg = math.degrees(math.atan2(-dx, dz)), -math.degrees(math.atan2(dy, level))
    return eye.x, eye.y, eye.z, yaw_deg, pitch_deg, math.degrees(2 * half_rad), growth


def _sphere(kind: str) -> tuple[float, float]:
    """Return (height of the centre above the floor, radius) of a sphere around an object of this kind."""
    sort = type_of(kind)
    if sort == "mob":
        height = MOBS[MOB_ID[kind]].height
        return height / 2, 0.5 + 0.75 * height
    if sort == "item":
        return 0.3, 0.4
    return (1.0, 1.15) if base_kind(kind).endswith("_door") else (0.5, 0.9)
