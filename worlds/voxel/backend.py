"""The built-in engine behind the EnvBackend contract. E envs, V views, H W C image."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worlds.anvil import Save
from worlds.numba_threads import begin_threads
from worlds.spec import Episode, Look, WorldSpec
from worlds.textures.resource_pack import ResourcePack
from worlds.types import (
    BUTTONS,
    EYE_HEIGHT_BLOCKS,
    SNEAK_EYE_HEIGHT_BLOCKS,
    ActionBatch,
    TickBatch,
    ViewBatch,
)
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.episode_start import begin_episode, target_instance
from worlds.voxel.forked import check_not_forked
from worlds.voxel.kernels import run_ticks
from worlds.voxel.painter import Painter, Renderer
from worlds.voxel.raycast import is_line_clear
from worlds.voxel.state import EnvState, empty_state, rows_of, write_rows
from worlds.voxel.world_cache import WorldCache

FULL_VIEW_RANGE_BLOCKS = 64.0


@dataclass(frozen=True, slots=True, eq=False)
class VoxelSnapshot:
    """N envs at one moment, with everything that decides their future."""

    size_blocks: tuple[int, int, int]
    state: EnvState
    ground_NXZ: np.ndarray
    looks: tuple[tuple[Look, int], ...]  # with the target's instance id


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
        resource_packs: Sequence[ResourcePack] = (),
        saves: Sequence[Save] = (),
    ) -> None:
        """Make `num_envs` worlds of `size_blocks`; every episode's world must have that size.

        `num_threads` bounds the making of worlds; stepping uses numba's thread count. `renderer` "scalar" is the slow
        obvious twin of "lanes". A shared `world_cache` saves making a world again. Looks may name the
        `resource_packs`, world sources the `saves`. RuntimeError: this process is a fork of one that ran the engine.
        """
        check_not_forked()
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        if min(image_px) < 4 or image_px[0] % 4 or image_px[1] % 4:
            raise ValueError(f"image_px must be multiples of 4, got {image_px}")
        self.num_envs = num_envs
        self.size_blocks = size_blocks
        self.image_px = image_px
        # A torus shows its own copy one side away; a range of half a side keeps every object single.
        self.view_range_blocks = min(FULL_VIEW_RANGE_BLOCKS, min(size_blocks[0], size_blocks[2]) / 2)
        self.state = empty_state(num_envs, size_blocks)
        self.ground_EXZ = np.zeros((num_envs, size_blocks[0], size_blocks[2]), np.int16)
        self._tables = engine_tables()
        self._worlds = world_cache or WorldCache(num_threads=num_threads, saves=saves)
        self._painter = Painter(
            num_envs,
            image_px=image_px,
            view_range_blocks=self.view_range_blocks,
            with_depth=with_depth,
            renderer=renderer,
            resource_packs=resource_packs,
        )
        self._is_started_E = np.zeros(num_envs, bool)
        self._all_envs_E = np.arange(num_envs)
        self._views = self._painter.empty_views(num_envs)

    def announce(self, worlds: Sequence[WorldSpec]) -> None:
        """Make worlds ready in the background; see EnvBackend.announce."""
        self._worlds.announce(worlds)

    def reset(self, env_index_N: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Put episodes[n] into env env_index_N[n]; see EnvBackend.reset."""
        for episode in episodes:
            if episode.world.size_blocks != self.size_blocks:
                raise ValueError(
                    f"backend: the episode's world is {episode.world.size_blocks} blocks, this backend was made for "
                    f"{self.size_blocks}; make a backend of that size"
                )
        if len(env_index_N) != len(episodes):
            raise ValueError(f"backend: got {len(env_index_N)} envs and {len(episodes)} episodes; pass one for each")
        begin_threads()
        prepared = self._worlds.get([episode.world for episode in episodes])
        for e, episode, world in zip(env_index_N, episodes, prepared, strict=True):
            begin_episode(self.state, e, episode, world)
            self.ground_EXZ[e] = world.world.ground_XZ
            self._painter.set_look(e, episode.look, target_instance=target_instance(episode))
        self._is_started_E[list(env_index_N)] = True

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
        self._check_started(self._all_envs_E)
        run_ticks(
            num_ticks,
            self.state,
            self._tables,
            actions.buttons_EB.astype(bool, copy=False),
            actions.camera_deg_E2.astype(np.float64),
        )
        return self._tick_batch()

    def observe(self) -> TickBatch:
        """Render without letting time pass; see EnvBackend.observe."""
        self._check_started(self._all_envs_E)
        self.state.log.event_EN4[:] = 0
        self.state.log.num_events_E[:] = 0
        return self._tick_batch()

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Render only the given envs again; rows of the others stay as the last step left them."""
        index_N = np.asarray(env_index_N, np.int64)
        part = self._painter.empty_views(len(index_N))
        self._painter.draw(self.state, index_N, self._eye_E5()[index_N], part)
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
        views = self._painter.empty_views(len(index_V))
        self._painter.draw(self.state, index_V, np.ascontiguousarray(eye_V5, np.float64), views)
        return views

    def render_lens(
        self, env_index_V: Sequence[int], eye_V5: np.ndarray, *, image_px: tuple[int, int], fov_deg_V: np.ndarray
    ) -> ViewBatch:
        """Render views as render_views does, with other (height, width) and vertical fields of view; an env once."""
        index_V = np.asarray(env_index_V, np.int64)
        if len(set(env_index_V)) != len(index_V):
            raise ValueError(f"render_lens: every env may be named once, got {list(env_index_V)}; call it twice")
        views = self._painter.empty_views(len(index_V), image_px=image_px)
        self._painter.draw(
            self.state, index_V, np.ascontiguousarray(eye_V5, np.float64), views, fov_deg_V=np.asarray(fov_deg_V)
        )
        return views

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first; see EnvBackend.is_line_clear."""
        return is_line_clear(
            self.state.terrain.block_EXZY,
            self._tables.blocks.outline,
            np.asarray(env_index_V, np.int64),
            np.asarray(from_V3, np.float64),
            np.asarray(cell_V3, np.int64),
        )

    def snapshot(self, env_index_N: Sequence[int]) -> VoxelSnapshot:
        """Return the present of some envs; see EnvBackend.snapshot."""
        index_N = np.asarray(env_index_N, np.int64)
        self._check_started(index_N)
        return VoxelSnapshot(
            size_blocks=self.size_blocks,
            state=rows_of(self.state, index_N),
            ground_NXZ=self.ground_EXZ[index_N].copy(),
            looks=tuple(self._painter.look_of(e) for e in env_index_N),
        )

    def restore(self, env_index_N: Sequence[int], snapshot: VoxelSnapshot) -> None:
        """Bring back what `snapshot` kept, in the same or other envs; see EnvBackend.restore."""
        if snapshot.size_blocks != self.size_blocks or len(env_index_N) != len(snapshot.ground_NXZ):
            raise ValueError(
                f"backend: the snapshot holds {len(snapshot.ground_NXZ)} worlds of {snapshot.size_blocks} blocks, "
                f"wanted {len(env_index_N)} of {self.size_blocks}; restore it into a backend like the one it came from"
            )
        begin_threads()
        index_N = np.asarray(env_index_N, np.int64)
        write_rows(self.state, index_N, snapshot.state)
        self.ground_EXZ[index_N] = snapshot.ground_NXZ
        for e, (look, target) in zip(env_index_N, snapshot.looks, strict=True):
            self._painter.set_look(e, look, target_instance=target)
        self._is_started_E[index_N] = True

    def close(self) -> None:
        """Drop the cached worlds."""
        self._worlds.close()

    def _check_started(self, index_N: np.ndarray) -> None:
        waiting_N = index_N[~self._is_started_E[index_N]]
        if len(waiting_N):
            raise ValueError(f"backend: env {waiting_N[0]} has no episode yet; call reset for every env first")

    def _eye_E5(self) -> np.ndarray:
        bodies = self.state.bodies
        eye_E5 = np.empty((self.num_envs, 5))
        eye_E5[:, :3] = bodies.position_E3
        eye_E5[:, 1] += np.where(bodies.is_sneaking_E, SNEAK_EYE_HEIGHT_BLOCKS, EYE_HEIGHT_BLOCKS)
        eye_E5[:, 3], eye_E5[:, 4] = bodies.yaw_deg_E, bodies.pitch_deg_E
        return eye_E5

    def _tick_batch(self) -> TickBatch:
        self._painter.draw(self.state, self._all_envs_E, self._eye_E5(), self._views)
        return self._batch_from_views()

    def _batch_from_views(self) -> TickBatch:
        bodies, hands, mobs, views = self.state.bodies, self.state.hands, self.state.mobs, self._views
        return TickBatch(
            image_EHWC=views.image_VHWC,
            instance_EHW=views.instance_VHW,
            depth_EHW=views.depth_VHW,
            target_E7=views.target_V7,
            pose_E5=np.column_stack([bodies.position_E3, bodies.yaw_deg_E, bodies.pitch_deg_E]),
            is_on_ground_E=bodies.is_on_ground_E.copy(),
            health_E=bodies.health_E.copy(),
            item_ES=hands.item_ES,
            count_ES=hands.count_ES,
            selected_E=hands.selected_E,
            mob_EM6=np.concatenate(
                [mobs.kind_EM[..., None], mobs.object_EM[..., None], mobs.position_EM3, mobs.health_EM[..., None]],
                axis=2,
            ),
            event_EN4=self.state.log.event_EN4,
            is_fault_E=np.zeros(self.num_envs, bool),
        )
