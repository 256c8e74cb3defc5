"""Whether a goal view shows its target well: large enough, whole, in the open. V views, H W image."""

from collections.abc import Sequence

import numpy as np

from task_synthesis.placement.layout import Layout
from task_synthesis.synthesis_config import SynthesisConfig
from worlds.spec import BLOCK_MASK
from worlds.types import INSTANCE_FIRST_OBJECT, Pose, ViewBatch
from worlds.voxel.backend import VoxelBackend

_LEAST_COMPANION_AREA = 0.002  # of the goal view, as the smallest targets of a large library
_NEAR_BLOCKS = 1.0  # what is nearer to the camera than that stands in its way


class GoalCheck:
    """Looks at goal views rendered on one backend and names what is wrong with them."""

    def __init__(self, backend: VoxelBackend, config: SynthesisConfig) -> None:
        """Check views of `backend`, which must draw depth, by the bounds of `config`."""
        self._backend = backend
        self._config = config

    def is_in_air(self, env: int, eye: Pose) -> bool:
        """Tell whether the camera hangs in a cell of air."""
        size_x, size_y, size_z = self._backend.size_blocks
        x, y, z = int(np.floor(eye.x)) % size_x, int(np.floor(eye.y)), int(np.floor(eye.z)) % size_z
        return 0 <= y < size_y - 1 and int(self._backend.state.terrain.block_EXZY[env, x, z, y]) & BLOCK_MASK == 0

    def faults(self, views: ViewBatch) -> list[str]:
        """Return what is wrong with each view, "" for nothing."""
        assert views.depth_VHW is not None
        return [
            self._fault(label_7, depth_HW) for label_7, depth_HW in zip(views.target_V7, views.depth_VHW, strict=True)
        ]

    def shows_companion(self, views: ViewBatch, layouts: Sequence[Layout]) -> list[bool]:
        """Tell whether each view shows the companion of its layout's target; a target without one lacks none."""
        return [
            layout.companion_index is None
            or bool((instance_HW == INSTANCE_FIRST_OBJECT + layout.companion_index).mean() >= _LEAST_COMPANION_AREA)
            for instance_HW, layout in zip(views.instance_VHW, layouts, strict=True)
        ]

    def _fault(self, label_7: np.ndarray, depth_HW: np.ndarray) -> str:
        area, _, _, left, top, right, bottom = label_7
        if area == 0:
            return "target_hidden"
        if area < self._config.goal_area[0]:
            return "mask_too_small"
        if area > self._config.goal_area[1]:
            return "mask_too_large"
        if min(left, top) <= 0 or max(right, bottom) >= 1:
            return "mask_cut"
        if area < self._config.least_mask_width * max(right - left, bottom - top):
            return "mask_too_thin"  # a door or a gate seen from its edge
        if self._config.max_near_share < 1.0 and (depth_HW < _NEAR_BLOCKS).mean() > self._config.max_near_share:
            return "camera_at_wall"
        return ""
