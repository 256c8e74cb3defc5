"""The built-in engine behind the EnvBackend contract. E envs, V views, H W C image."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from worlds.blocks import BLOCK_ID, break_damage_per_tick, fluid_table, solid_table
from worlds.spec import BLOCK_BITS, Episode
from worlds.textures.atlas import build_atlas
from worlds.textures.procedural import build_textures
from worlds.types import (
    BUTTONS,
    EYE_HEIGHT_BLOCKS,
    INSTANCE_FIRST_OBJECT,
    SNEAK_EYE_HEIGHT_BLOCKS,
    ActionBatch,
    TickBatch,
    ViewBatch,
)
from worlds.voxel.distance import lower_distance
from worlds.voxel.motion import GRAVITY, VERTICAL_DRAG
from worlds.voxel.raycast import is_line_clear
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes
from worlds.voxel.state import FULL_HEALTH, VoxelState
from worlds.voxel.tick import run_ticks
from worlds.voxel.world_cache import WorldCache

Renderer = Literal["lanes", "scalar"]
_RENDERERS = {"lanes": render_lanes, "scalar": render_scalar}
FULL_VIEW_RANGE_BLOCKS = 64.0


class VoxelBackend:
    """E voxel worlds in lockstep on the CPU, no download and no display needed. See worlds.backend.EnvBackend."""

    def __init__(
        self,
        num_envs: int,
        *,
        size_blocks: tuple[int, int, int] = (128, 64, 128),
        image_px: tuple[int, int] = (128, 128),
        with_depth: bool = False,
        renderer: Renderer = "lanes",
        num_threads: int = 1,
        world_cache: WorldCache | None = None,
    ) -> None:
        """Make `num_envs` worlds of `size_blocks`; every episode's world must have that size.

        `num_threads` bounds world generation; stepping uses numba's thread count. `renderer` "scalar" is the slow
        obvious twin of "lanes". A shared `world_cache` saves generating a world again.
        """
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        if min(image_px) < 4 or image_px[0] % 4 or image_px[1] % 4:
            raise ValueError(f"image_px must be multiples of 4, got {image_px}")
        self.num_envs = num_envs
        self.size_blocks = size_blocks
        self.image_px = image_px
        # A torus shows its own copy one side away; a range of half a side keeps every object single.
        self.view_range_blocks = min(FULL_VIEW_RANGE_BLOCKS, min(size_blocks[0], size_blocks[2]) / 2)
        self.state = VoxelState(num_envs, size_blocks)
        self._with_depth = with_depth
        self._render = _RENDERERS[renderer]
        self._atlas = build_atlas(build_textures())
        self._is_solid_K, self._is_fluid_K = solid_table(), fluid_table()
        self._worlds = world_cache or WorldCache(num_threads=num_threads)
        self.ground_EXZ = np.zeros((num_envs, size_blocks[0], size_blocks[2]), np.int16)
        self._is_started_E = np.zeros(num_envs, bool)
        self._all_envs_E = np.arange(num_envs)
        self._views = self._empty_views(num_envs)

    def reset(self, env_index_N: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Put episodes[n] into env env_index_N[n]; see EnvBackend.reset."""
        for episode in episodes:
            if episode.world.size_blocks != self.size_blocks:
                raise ValueError(
                    f"backend: the episode's world is {episode.world.size_blocks} blocks, this backend was made for "
                    f"{self.size_blocks}; make a backend of that size"
                )
        prepared = self._worlds.get([episode.world for episode in episodes])
        for e, episode, world in zip(env_index_N, episodes, prepared, strict=True):
            self.state.block_EXZY[e] = world.world.block_XZY
            self.state.distance_EXZY[e] = world.distance_XZY
            self.ground_EXZ[e] = world.world.ground_XZ
            self._place_objects(e, episode)
            self._place_agent(e, episode)
        self._is_started_E[list(env_index_N)] = True

    def _place_objects(self, e: int, episode: Episode) -> None:
        size_x, size_y, size_z = self.size_blocks
        for slot, placement in enumerate(episode.placements):
            x, y, z = placement.position
            if placement.kind not in BLOCK_ID:
                raise ValueError(f"backend: placement {slot} is {placement.kind!r}, which is no block of this engine")
            if not (0 <= x < size_x and 0 <= y < size_y and 0 <= z < size_z):
                raise ValueError(f"backend: placement {slot} at {placement.position} is outside {self.size_blocks}")
            self.state.block_EXZY[e, x, z, y] = BLOCK_ID[placement.kind] | ((slot + 1) << BLOCK_BITS)
            lower_distance(self.state.distance_EXZY[e], x, y, z)

    def _place_agent(self, e: int, episode: Episode) -> None:
        state, start = self.state, episode.start
        state.position_E3[e] = (start.x % self.size_blocks[0], start.y, start.z % self.size_blocks[2])
        # A body at rest is always falling a little: so the first tick finds the ground under it.
        state.velocity_E3[e] = (0.0, -GRAVITY * VERTICAL_DRAG, 0.0)
        state.yaw_deg_E[e], state.pitch_deg_E[e] = start.yaw_deg, start.pitch_deg
        state.is_on_ground_E[e] = True
        state.is_sprinting_E[e] = state.is_sneaking_E[e] = state.has_bumped_E[e] = False
        state.jump_delay_ticks_E[e] = state.mine_delay_ticks_E[e] = 0
        state.fall_blocks_E[e] = state.mine_progress_E[e] = 0.0
        state.mine_cell_E[e] = -1
        state.health_E[e] = FULL_HEALTH
        state.break_damage_EK[e] = break_damage_per_tick(episode.held_item)
        state.event_EN4[e] = 0
        state.num_events_E[e] = 0
        state.fov_deg_E[e], state.brightness_E[e] = episode.look.fov_deg, episode.look.brightness
        state.target_instance_E[e] = INSTANCE_FIRST_OBJECT + episode.target_index if episode.target_index >= 0 else 0

    def step(self, actions: ActionBatch, *, num_ticks: int = 1) -> TickBatch:
        """Play `num_ticks` ticks and render; see EnvBackend.step."""
        expected = (self.num_envs, len(BUTTONS))
        if actions.buttons_EB.shape != expected or actions.camera_deg_E2.shape != (self.num_envs, 2):
            raise ValueError(
                f"backend: buttons must be {expected} and camera {(self.num_envs, 2)}, got "
                f"{actions.buttons_EB.shape} and {actions.camera_deg_E2.shape}"
            )
        if num_ticks < 1:
            raise ValueError(f"num_ticks must be at least 1, got {num_ticks}")
        self._check_started()
        s = self.state
        run_ticks(
            num_ticks, self._is_solid_K, self._is_fluid_K, actions.buttons_EB.astype(bool, copy=False),
            actions.camera_deg_E2.astype(np.float64), s.block_EXZY, s.position_E3, s.velocity_E3, s.yaw_deg_E,
            s.pitch_deg_E, s.is_on_ground_E, s.is_sprinting_E, s.is_sneaking_E, s.has_bumped_E, s.jump_delay_ticks_E,
            s.fall_blocks_E, s.health_E, s.mine_cell_E, s.mine_progress_E, s.mine_delay_ticks_E, s.break_damage_EK,
            s.event_EN4, s.num_events_E,
        )  # fmt: skip
        return self._tick_batch()

    def observe(self) -> TickBatch:
        """Render without letting time pass; see EnvBackend.observe."""
        self._check_started()
        self.state.event_EN4[:] = 0
        self.state.num_events_E[:] = 0
        return self._tick_batch()

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Render only the given envs again; rows of the others stay as the last step left them."""
        index_N = np.asarray(env_index_N, np.int64)
        part = self._empty_views(len(index_N))
        self._draw(index_N, self._eye_E5()[index_N], part)
        for whole, rows in (
            (self._views.image_VHWC, part.image_VHWC),
            (self._views.instance_VHW, part.instance_VHW),
            (self._views.target_V7, part.target_V7),
            (self._views.depth_VHW, part.depth_VHW),
        ):
            if whole is not None:
                whole[index_N] = rows
        return self._batch_from_views()

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Render views from anywhere; see EnvBackend.render_views."""
        index_V = np.asarray(env_index_V, np.int64)
        views = self._empty_views(len(index_V))
        self._draw(index_V, np.ascontiguousarray(eye_V5, np.float64), views)
        return views

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first; see EnvBackend.is_line_clear."""
        return is_line_clear(
            self.state.block_EXZY,
            np.asarray(env_index_V, np.int64),
            np.asarray(from_V3, np.float64),
            np.asarray(cell_V3, np.int64),
        )

    def close(self) -> None:
        """Drop the cached worlds."""
        self._worlds.close()

    def _check_started(self) -> None:
        if not self._is_started_E.all():
            raise ValueError(
                f"backend: env {int(np.argmin(self._is_started_E))} has no episode yet; call reset for every env first"
            )

    def _eye_E5(self) -> np.ndarray:
        s = self.state
        eye_E5 = np.empty((self.num_envs, 5))
        eye_E5[:, :3] = s.position_E3
        eye_E5[:, 1] += np.where(s.is_sneaking_E, SNEAK_EYE_HEIGHT_BLOCKS, EYE_HEIGHT_BLOCKS)
        eye_E5[:, 3], eye_E5[:, 4] = s.yaw_deg_E, s.pitch_deg_E
        return eye_E5

    def _empty_views(self, num_views: int) -> ViewBatch:
        height, width = self.image_px
        return ViewBatch(
            image_VHWC=np.empty((num_views, height, width, 3), np.uint8),
            instance_VHW=np.empty((num_views, height, width), np.int32),
            depth_VHW=np.empty((num_views, height, width), np.float32) if self._with_depth else None,
            target_V7=np.empty((num_views, 7), np.float32),
        )

    def _draw(self, env_index_V: np.ndarray, eye_V5: np.ndarray, views: ViewBatch) -> None:
        s = self.state
        self._render(
            s.block_EXZY, s.distance_EXZY, env_index_V, eye_V5, s.fov_deg_E[env_index_V], s.brightness_E[env_index_V],
            s.target_instance_E[env_index_V], self._atlas, self.view_range_blocks, views.image_VHWC, views.instance_VHW,
            views.depth_VHW if views.depth_VHW is not None else np.empty((0, 0, 0), np.float32), views.target_V7,
        )  # fmt: skip

    def _tick_batch(self) -> TickBatch:
        self._draw(self._all_envs_E, self._eye_E5(), self._views)
        return self._batch_from_views()

    def _batch_from_views(self) -> TickBatch:
        s, views = self.state, self._views
        return TickBatch(
            image_EHWC=views.image_VHWC,
            instance_EHW=views.instance_VHW,
            depth_EHW=views.depth_VHW,
            target_E7=views.target_V7,
            pose_E5=np.column_stack([s.position_E3, s.yaw_deg_E, s.pitch_deg_E]),
            is_on_ground_E=s.is_on_ground_E.copy(),
            health_E=s.health_E.copy(),
            event_EN4=s.event_EN4,
            is_fault_E=np.zeros(self.num_envs, bool),
        )
