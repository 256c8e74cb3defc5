"""The built-in engine on a GPU behind the EnvBackend contract. E envs, V views, M mobs, H W C image.

State and pictures stay on the GPU: the arrays of a TickBatch are torch tensors on the memory that the kernels write,
and actions may be tensors. Only a reset comes from the host, see worlds.voxel.cuda.staging.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from worlds.anvil import Save
from worlds.spec import Episode, Look, WorldSpec
from worlds.textures.resource_pack import ResourcePack
from worlds.types import BUTTONS, ActionBatch, TickBatch, ViewBatch
from worlds.voxel.backend import FULL_VIEW_RANGE_BLOCKS
from worlds.voxel.cuda.kernels import look_along_lines, tick_envs
from worlds.voxel.cuda.memory import Array, device_memory, each_array
from worlds.voxel.cuda.painter import CudaPainter, num_blocks
from worlds.voxel.cuda.staging import Staging
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.episode_start import target_instance
from worlds.voxel.look_book import LookBook
from worlds.voxel.state import EnvState, empty_state
from worlds.voxel.world_cache import WorldCache

# An env's tick is long and full of branches, so lanes of one warp mostly wait for each other: envs are spread over as
# many warps as the GPU can hold (the kernel takes 255 registers: 8 warps a multiprocessor) before they share one.
_TICK_WARPS_A_PROCESSOR = 8
_LINE_THREADS = 64


@dataclass(frozen=True, slots=True, eq=False)
class CudaSnapshot:
    """N envs at one moment, on the GPU."""

    size_blocks: tuple[int, int, int]
    state: EnvState
    ground_NXZ: np.ndarray
    looks: tuple[tuple[Look, int], ...]  # with the target's instance id


class CudaVoxelBackend:
    """E voxel worlds in lockstep on the current CUDA device. See worlds.backend.EnvBackend.

    `state` holds tensors (uint16 as int16), `ground_EXZ` is on the host. Work runs on torch's current stream; nothing
    waits for it until somebody looks at the numbers.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        size_blocks: tuple[int, int, int] = (128, 64, 128),
        image_px: tuple[int, int] = (128, 128),
        with_depth: bool = False,
        num_threads: int = 1,
        world_cache: WorldCache | None = None,
        resource_packs: Sequence[ResourcePack] = (),
        saves: Sequence[Save] = (),
    ) -> None:
        """Make `num_envs` worlds of `size_blocks`; the arguments are those of worlds.voxel.backend.VoxelBackend."""
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        if min(image_px) < 4 or image_px[0] % 4 or image_px[1] % 4:
            raise ValueError(f"image_px must be multiples of 4, got {image_px}")
        self._memory = device_memory()
        self.num_envs = num_envs
        self.size_blocks = size_blocks
        self.image_px = image_px
        self.view_range_blocks = min(FULL_VIEW_RANGE_BLOCKS, min(size_blocks[0], size_blocks[2]) / 2)
        self._staging = Staging(self._memory, num_envs, size_blocks)
        row = empty_state(1, size_blocks)
        self.state = each_array(self._empty_rows_like, row)
        self._state_k = each_array(self._as_kernels_take_it, self.state, row)
        self.ground_EXZ = np.zeros((num_envs, size_blocks[0], size_blocks[2]), np.int16)
        self._tables_k = each_array(self._upload_for_kernels, engine_tables())
        self._worlds = world_cache or WorldCache(num_threads=num_threads, saves=saves)
        self._book = LookBook(num_envs, resource_packs=resource_packs)
        self._painter = CudaPainter(
            self._memory,
            self._book,
            self.state,
            self._state_k,
            self._tables_k,
            image_px=image_px,
            view_range_blocks=self.view_range_blocks,
            with_depth=with_depth,
        )
        self._buttons_EB = self._memory.zeros((num_envs, len(BUTTONS)), np.dtype(bool))
        self._camera_deg_E2 = self._memory.zeros((num_envs, 2), np.dtype(np.float64))
        self._buttons_k = self._memory.for_kernels(self._buttons_EB, np.dtype(bool))
        self._camera_k = self._memory.for_kernels(self._camera_deg_E2, np.dtype(np.float64))
        self._is_fault_E = self._memory.zeros((num_envs,), np.dtype(bool))
        self._is_started_E = np.zeros(num_envs, bool)
        self._is_shown = False  # since the last reset, restore or tick
        self._all_envs_E = np.arange(num_envs)
        self._views = self._painter.empty_views(num_envs)

    def _empty_rows_like(self, row: np.ndarray) -> Array:
        return self._memory.zeros((self.num_envs, *row.shape[1:]), row.dtype)

    def _as_kernels_take_it(self, array: Array, row: np.ndarray) -> Any:
        return self._memory.for_kernels(array, row.dtype)

    def _upload_for_kernels(self, host: np.ndarray) -> Any:
        return self._memory.for_kernels(self._memory.upload(host), host.dtype)

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
        num_staged = self._staging.num_rows
        for first in range(0, len(episodes), num_staged):
            self._begin(np.asarray(env_index_N[first : first + num_staged]), episodes[first : first + num_staged])
        self._painter.take_looks()

    def _begin(self, index_N: np.ndarray, episodes: Sequence[Episode]) -> None:
        prepared = self._worlds.get([episode.world for episode in episodes])
        self._staging.begin(self.state, self._state_k, index_N, episodes, prepared)
        for e, episode, world in zip(index_N, episodes, prepared, strict=True):
            self.ground_EXZ[e] = world.world.ground_XZ
            self._book.set_look(int(e), episode.look, target_instance=target_instance(episode))
        self._is_started_E[index_N] = True
        self._is_shown = False

    def step(self, actions: ActionBatch, *, num_ticks: int = 1) -> TickBatch:
        """Play `num_ticks` ticks and render; see EnvBackend.step. The actions may be tensors on the GPU."""
        expected = (self.num_envs, len(BUTTONS))
        if tuple(actions.buttons_EB.shape) != expected or tuple(actions.camera_deg_E2.shape) != (self.num_envs, 2):
            raise ValueError(
                f"backend: buttons must be {expected} and camera {(self.num_envs, 2)}, got "
                f"{tuple(actions.buttons_EB.shape)} and {tuple(actions.camera_deg_E2.shape)}"
            )
        if num_ticks < 1:
            raise ValueError(f"num_ticks must be at least 1, got {num_ticks}")
        self._check_started(self._all_envs_E)
        self.play(actions, num_ticks=num_ticks)
        self.show()
        self.draw()
        return self._batch()

    def play(self, actions: ActionBatch, *, num_ticks: int = 1) -> None:
        """Play `num_ticks` ticks and draw nothing: the first part of a step."""
        self._memory.write(self._buttons_EB, actions.buttons_EB)
        self._memory.write(self._camera_deg_E2, actions.camera_deg_E2)
        slots = _TICK_WARPS_A_PROCESSOR * self._memory.num_processors()
        threads = min(32, num_blocks(self.num_envs, slots))
        launch = tick_envs[num_blocks(self.num_envs, threads), threads, self._memory.stream()]
        launch(num_ticks, self._state_k, self._tables_k, self._buttons_k, self._camera_k)
        self._is_shown = False

    def show(self) -> None:
        """Derive eyes, poses, mobs and the entities to draw: the second part of a step."""
        self._painter.show()
        self._is_shown = True

    def draw(self) -> None:
        """Draw every agent's view into the arrays of the last TickBatch: the last part of a step."""
        self._painter.draw_agents(self._all_envs_E, self._views)

    def observe(self) -> TickBatch:
        """Render without letting time pass; see EnvBackend.observe."""
        self._check_started(self._all_envs_E)
        self.state.log.event_EN4[:] = 0
        self.state.log.num_events_E[:] = 0
        self.show()
        self.draw()
        return self._batch()

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Render only the given envs again; rows of the others stay as the last step left them."""
        if not self._is_shown:
            self.show()
        self._painter.draw_agents(np.asarray(env_index_N, np.int64), self._views)
        return self._batch()

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Render views from anywhere; see EnvBackend.render_views. Arrays of the result are tensors on the GPU."""
        index_V = np.asarray(env_index_V, np.int64)
        views = self._painter.empty_views(len(index_V))
        if not self._is_shown:
            self.show()
        self._painter.draw(index_V, self._memory.upload(np.asarray(eye_V5, np.float64)), views)
        return views

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first; a tensor, see EnvBackend.is_line_clear."""
        num_rows = len(env_index_V)
        is_clear_V = self._memory.zeros((num_rows,), np.dtype(bool))
        if num_rows:
            launch = look_along_lines[num_blocks(num_rows, _LINE_THREADS), _LINE_THREADS, self._memory.stream()]
            launch(
                self._state_k.terrain.block_EXZY,
                self._tables_k.blocks.outline,
                self._upload_for_kernels(np.asarray(env_index_V, np.int64)),
                self._upload_for_kernels(np.ascontiguousarray(from_V3, np.float64)),
                self._upload_for_kernels(np.ascontiguousarray(cell_V3, np.int64)),
                self._memory.for_kernels(is_clear_V, np.dtype(bool)),
            )
        return is_clear_V

    def snapshot(self, env_index_N: Sequence[int]) -> CudaSnapshot:
        """Return the present of some envs, kept on the GPU; see EnvBackend.snapshot."""
        index_N = np.asarray(env_index_N, np.int64)
        self._check_started(index_N)
        return CudaSnapshot(
            size_blocks=self.size_blocks,
            state=each_array(lambda array: self._memory.rows_of(array, index_N), self.state),
            ground_NXZ=self.ground_EXZ[index_N].copy(),
            looks=tuple(self._book.look_of(int(e)) for e in index_N),
        )

    def restore(self, env_index_N: Sequence[int], snapshot: CudaSnapshot) -> None:
        """Bring back what `snapshot` kept, in the same or other envs; see EnvBackend.restore."""
        if snapshot.size_blocks != self.size_blocks or len(env_index_N) != len(snapshot.ground_NXZ):
            raise ValueError(
                f"backend: the snapshot holds {len(snapshot.ground_NXZ)} worlds of {snapshot.size_blocks} blocks, "
                f"wanted {len(env_index_N)} of {self.size_blocks}; restore it into a backend like the one it came from"
            )
        index_N = np.asarray(env_index_N, np.int64)
        for group, rows in zip(self.state, snapshot.state, strict=True):
            for array, array_rows in zip(group, rows, strict=True):
                self._memory.write_rows(array, index_N, array_rows)
        self.ground_EXZ[index_N] = snapshot.ground_NXZ
        for e, (look, target) in zip(index_N, snapshot.looks, strict=True):
            self._book.set_look(int(e), look, target_instance=target)
        self._painter.take_looks()
        self._is_started_E[index_N] = True
        self._is_shown = False

    def close(self) -> None:
        """Drop the cached worlds; the GPU's memory is freed with the backend."""
        self._worlds.close()

    def _check_started(self, index_N: np.ndarray) -> None:
        waiting_N = index_N[~self._is_started_E[index_N]]
        if len(waiting_N):
            raise ValueError(f"backend: env {waiting_N[0]} has no episode yet; call reset for every env first")

    def _batch(self) -> TickBatch:
        bodies, hands, views, painter = self.state.bodies, self.state.hands, self._views, self._painter
        return TickBatch(
            image_EHWC=views.image_VHWC,
            instance_EHW=views.instance_VHW,
            depth_EHW=views.depth_VHW,
            target_E7=views.target_V7,
            pose_E5=painter.pose_E5,
            is_on_ground_E=bodies.is_on_ground_E,
            health_E=bodies.health_E,
            item_ES=hands.item_ES,
            count_ES=hands.count_ES,
            selected_E=hands.selected_E,
            mob_EM6=painter.mob_EM6,
            event_EN4=self.state.log.event_EN4,
            is_fault_E=self._is_fault_E,
        )
