"""Whether a goal view shows its target well: large enough, whole, in the open. E envs, V views, H W image."""

import numpy as np

from task_synthesis.layout import Layout
from task_synthesis.synthesis_config import SynthesisConfig
from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import Pose, ViewBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.state import NO_ITEM, NO_MOB

_NEAR_BLOCKS = 1.0  # what is nearer to the camera than that stands in its way
_MARGIN_BLOCKS = 2  # around the line from camera to target, in which all that could hide the target lies


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

    def faults(self, envs: list[int], eyes: list[Pose], layouts: list[Layout], views: ViewBatch) -> list[str]:
        """Return what is wrong with each view, "" for nothing."""
        assert views.depth_VHW is not None
        found = [
            self._fault(label_7, depth_HW) for label_7, depth_HW in zip(views.target_V7, views.depth_VHW, strict=True)
        ]
        if self._config.max_hidden_share >= 1.0:
            return found
        good = [row for row, fault in enumerate(found) if not fault]
        if good:
            alone_V = self._area_alone(
                [envs[row] for row in good], [eyes[row] for row in good], [layouts[row] for row in good]
            )
            for row, alone in zip(good, alone_V, strict=True):
                if views.target_V7[row, 0] < (1.0 - self._config.max_hidden_share) * alone:
                    found[row] = "target_overgrown"
        return found

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

    def _area_alone(self, envs: list[int], eyes: list[Pose], layouts: list[Layout]) -> np.ndarray:
        """Return float32 [V]: the target's share of each view when nothing else stands between it and the camera."""
        state = self._backend.state
        block_EXZY = state.terrain.block_EXZY
        _, size_x, size_z, size_y = block_EXZY.shape
        kept: list[tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]] = []
        mob_kind_EM, item_ED = state.mobs.kind_EM.copy(), state.drops.item_ED.copy()
        for env, eye, layout in zip(envs, eyes, layouts, strict=True):
            slot = layout.target_index + 1
            state.mobs.kind_EM[env, state.mobs.object_EM[env] != slot] = NO_MOB
            state.drops.item_ED[env, state.drops.object_ED[env] != slot] = NO_ITEM
            x, y, z = layout.target_position
            between = (
                np.arange(int(min(eye.x, x)) - _MARGIN_BLOCKS, int(max(eye.x, x)) + _MARGIN_BLOCKS + 1) % size_x,
                np.arange(int(min(eye.z, z)) - _MARGIN_BLOCKS, int(max(eye.z, z)) + _MARGIN_BLOCKS + 1) % size_z,
                np.arange(
                    max(0, int(min(eye.y, y)) - _MARGIN_BLOCKS),
                    min(size_y, int(max(eye.y, y)) + _MARGIN_BLOCKS + 1),
                ),
            )
            block_XZY, cells = block_EXZY[env], np.ix_(*between)
            before = block_XZY[cells]
            kept.append((block_XZY, cells, before))
            # The field that rays skip by knows only of more blocks than are left now, which is safe.
            block_XZY[cells] = np.where(before >> BLOCK_BITS == slot, before, 0)
        area_V = self._backend.render_views(envs, np.array(eyes)).target_V7[:, 0]
        for block_XZY, cells, before in kept:
            block_XZY[cells] = before
        state.mobs.kind_EM[:], state.drops.item_ED[:] = mob_kind_EM, item_ED
        return area_V
