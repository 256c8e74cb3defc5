"""Finding a camera that photographs each target well: draw one, look, draw another."""

from collections.abc import Sequence

import numpy as np

from task_synthesis.candidate import Candidate
from task_synthesis.placement.sites import Sites
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.views.close_look import CloseLook
from task_synthesis.views.goal_check import GoalCheck
from task_synthesis.views.view_overlap import surface_points
from task_synthesis.views.viewpoints import draw_goal_view
from worlds.spec import Look, World
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend

_CAMERA_DRAWS = 6


class GoalCamera:
    """Gives candidates their goal views."""

    def __init__(self, backend: VoxelBackend, config: SynthesisConfig, sites: Sites) -> None:
        """Look into the envs of `backend`, which must draw depth."""
        self._backend = backend
        self._check = GoalCheck(backend, config)
        # Where anything may hide the target there is little to see early.
        self._close_look = CloseLook(backend, config) if config.max_hidden_share < 1.0 else None
        self._sites = sites

    def settle(self, candidates: dict[int, Candidate], worlds: Sequence[World]) -> dict[int, str]:
        """Give each candidate (by env) a goal view with its area and surface; return why some got none.

        `worlds` are those of all envs, without objects.
        """
        reasons: dict[int, str] = {}
        pending = sorted(candidates)
        for _ in range(_CAMERA_DRAWS):
            eyes: dict[int, Pose] = {}
            for env in pending:
                eye = self._draw(candidates[env], worlds[env])
                if eye is None:
                    reasons.setdefault(env, "camera_no_ground")
                elif not self._check.is_in_air(env, eye):
                    reasons.setdefault(env, "camera_in_block")
                else:
                    eyes[env] = eye
            if self._close_look and eyes:
                layouts = [candidates[env].layout for env in eyes]
                for env, fault in zip(
                    list(eyes), self._close_look.faults(list(eyes), list(eyes.values()), layouts), strict=True
                ):
                    if fault:
                        reasons[env] = fault
                        del eyes[env]
            if not eyes:
                continue
            views = self._backend.render_views(list(eyes), np.array(list(eyes.values())))
            assert views.depth_VHW is not None
            faults = self._check.faults(views)
            is_accompanied = self._check.shows_companion(views, [candidates[env].layout for env in eyes])
            for row, (env, eye) in enumerate(eyes.items()):
                if faults[row] or not is_accompanied[row]:
                    reasons[env] = faults[row] or "companion_hidden"
                    continue
                candidate = candidates[env]
                candidate.goal_view = eye
                candidate.goal_area = round(float(views.target_V7[row, 0]), 5)
                candidate.surface_P3 = surface_points(
                    views.depth_VHW[row], eye, fov_deg=Look().fov_deg, range_blocks=self._backend.view_range_blocks
                )
                pending.remove(env)
        return {env: reasons[env] for env in pending}

    def _draw(self, candidate: Candidate, world: World) -> Pose | None:
        return draw_goal_view(
            candidate.rng,
            candidate.style,
            candidate.layout.kind,
            candidate.layout.target_position,
            lambda x, z: self._sites.ground(world, x, z),
        )
