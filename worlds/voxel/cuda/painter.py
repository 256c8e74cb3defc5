"""What turns the state of E envs on a GPU into pictures there. V views, M entities, H W C image."""

import numpy as np

from worlds.types import TARGET_LABELS, ViewBatch
from worlds.voxel.cuda.kernels import (
    MOST_VIEWS,
    NUM_TALLIES,
    TILE_PX,
    TILE_THREADS,
    VIEW_THREADS,
    ViewScratch,
    draw_pixels,
    make_views,
    show_envs,
    write_labels,
)
from worlds.voxel.cuda.memory import Array, KernelArray, Memory, each_array
from worlds.voxel.cuda.views import NUM_REALS, NUM_WHOLES
from worlds.voxel.look_book import LookBook
from worlds.voxel.scene import MAX_ENTITIES, NUM_ENTITY_COLUMNS, Picture, Scene
from worlds.voxel.state import MAX_MOBS, EnvState
from worlds.voxel.tables import Tables

_REAL, _WHOLE, _DOUBLE, _INDEX = (np.dtype(kind) for kind in (np.float32, np.int32, np.float64, np.int64))
_MOB_COLUMNS, _POSE_COLUMNS = 6, 5


def num_blocks(num_items: int, num_threads: int) -> int:
    """Return how many blocks of `num_threads` threads have a thread for every item."""
    return -(-num_items // num_threads)


class CudaPainter:
    """Draws views into E envs; `pose_E5` and `mob_EM6` are what a TickBatch says of agents and mobs."""

    def __init__(
        self,
        memory: Memory,
        book: LookBook,
        state: EnvState,
        state_k: EnvState,
        tables_k: Tables,
        *,
        image_px: tuple[int, int],
        view_range_blocks: float,
        with_depth: bool,
    ) -> None:
        """Draw pictures of `image_px` (height, width) as the look book says.

        `state_k` and `tables_k` are as kernels take them, `state` holds the arrays themselves.
        """
        self._memory = memory
        self._book = book
        self._state_k = state_k
        self._tables_k = tables_k
        self._num_envs = num_envs = len(book.look_EL)
        terrain = state.terrain
        self._block_k = memory.for_kernels(terrain.block_EXZY.reshape(-1), state_k.terrain.block_EXZY.dtype)
        self._field_k = memory.for_kernels(terrain.field_EXZY.reshape(-1), state_k.terrain.field_EXZY.dtype)
        self._image_px = image_px
        self._view_range_blocks = view_range_blocks
        self._with_depth = with_depth
        self._block_looks_k = each_array(self._constant, book.block_looks)
        self._model_looks_k = each_array(self._constant, book.model_looks)
        self._look_EL = memory.upload(book.look_EL)
        self._target_instance_E = memory.upload(book.target_instance_E)
        self._look_k = memory.for_kernels(self._look_EL, _REAL)
        self._target_k = memory.for_kernels(self._target_instance_E, _WHOLE)
        self._num_texture_sets = len(book.atlas_AN)
        self._atlas_k = self._constant(book.atlas_AN)
        self._entity_k = self._scratch((num_envs, MAX_ENTITIES, NUM_ENTITY_COLUMNS), _REAL)
        self._num_entities_k = self._scratch((num_envs,), _WHOLE)
        self._eye_E5 = memory.zeros((num_envs, _POSE_COLUMNS), _DOUBLE)
        self._eye_k = memory.for_kernels(self._eye_E5, _DOUBLE)
        self.pose_E5 = memory.zeros((num_envs, _POSE_COLUMNS), _DOUBLE)
        self.mob_EM6 = memory.zeros((num_envs, MAX_MOBS, _MOB_COLUMNS), _DOUBLE)
        self._pose_k = memory.for_kernels(self.pose_E5, _DOUBLE)
        self._mob_k = memory.for_kernels(self.mob_EM6, _DOUBLE)
        # Kept for the agents' own views; views from elsewhere get scratch of their own.
        self._all_envs_k = self._constant(np.arange(num_envs, dtype=np.int64))
        self._scratch_k = self._view_scratch(num_envs)

    def _constant(self, host: np.ndarray) -> KernelArray:
        return self._memory.for_kernels(self._memory.upload(host), host.dtype)

    def _scratch(self, shape: tuple[int, ...], dtype: np.dtype) -> KernelArray:
        return self._memory.for_kernels(self._memory.zeros(shape, dtype), dtype)

    def _view_scratch(self, num_views: int) -> ViewScratch:
        return ViewScratch(
            real_VR=self._scratch((num_views, NUM_REALS), _REAL),
            whole_VI=self._scratch((num_views, NUM_WHOLES), _WHOLE),
            seen_VMF=self._scratch((num_views, MAX_ENTITIES, NUM_ENTITY_COLUMNS), _REAL),
            num_seen_V=self._scratch((num_views,), _WHOLE),
            tally_VT=self._scratch((num_views, NUM_TALLIES), _WHOLE),
        )

    def take_looks(self) -> None:
        """Bring the GPU's looks up to date with the look book."""
        self._memory.write(self._look_EL, self._book.look_EL)
        self._memory.write(self._target_instance_E, self._book.target_instance_E)
        if len(self._book.atlas_AN) != self._num_texture_sets:
            self._num_texture_sets = len(self._book.atlas_AN)
            self._atlas_k = self._constant(self._book.atlas_AN)

    def empty_views(self, num_views: int) -> ViewBatch:
        """Return arrays to draw into."""
        height, width = self._image_px
        zeros = self._memory.zeros
        return ViewBatch(
            image_VHWC=zeros((num_views, height, width, 3), np.dtype(np.uint8)),
            instance_VHW=zeros((num_views, height, width), _WHOLE),
            depth_VHW=zeros((num_views, height, width), _REAL) if self._with_depth else None,
            target_V7=zeros((num_views, len(TARGET_LABELS)), _REAL),
        )

    def show(self) -> None:
        """Derive eyes, poses, mobs and the entities to draw from the present state."""
        state_k = self._state_k
        launch = show_envs[num_blocks(self._num_envs, VIEW_THREADS), VIEW_THREADS, self._memory.stream()]
        launch(
            state_k.bodies, state_k.mobs, state_k.arrows, state_k.drops, state_k.clock, self._tables_k, self._entity_k,
            self._num_entities_k, self._eye_k, self._pose_k, self._mob_k,
        )  # fmt: skip

    def draw_agents(self, env_index_N: np.ndarray, views: ViewBatch) -> None:
        """Draw what the agents of some envs see into the rows of these envs."""
        if len(env_index_N) == self._num_envs and (np.diff(env_index_N) == 1).all():
            self._launch(self._num_envs, self._all_envs_k, self._all_envs_k, self._eye_k, self._scratch_k, views)
        elif len(env_index_N):
            index_k = self._constant(env_index_N)
            eye_k = self._memory.for_kernels(self._memory.rows_of(self._eye_E5, env_index_N), _DOUBLE)
            scratch_k = self._view_scratch(len(env_index_N))
            self._launch(len(env_index_N), index_k, index_k, eye_k, scratch_k, views)

    def draw(self, env_index_V: np.ndarray, eye_V5: Array, views: ViewBatch) -> None:
        """Draw views from anywhere, one a row."""
        if len(env_index_V):
            self._launch(
                len(env_index_V),
                self._constant(env_index_V),
                self._constant(np.arange(len(env_index_V), dtype=np.int64)),
                self._memory.for_kernels(eye_V5, _DOUBLE),
                self._view_scratch(len(env_index_V)),
                views,
            )

    def _launch(
        self,
        num_views: int,
        env_index_k: KernelArray,
        row_k: KernelArray,
        eye_k: KernelArray,
        scratch_k: ViewScratch,
        views: ViewBatch,
    ) -> None:
        if num_views > MOST_VIEWS:
            raise ValueError(f"backend: at most {MOST_VIEWS} views are drawn at a time, got {num_views}; split them")
        height, width = self._image_px
        scene = Scene(
            block_WXZY=self._state_k.terrain.block_EXZY,
            field_WXZY=self._state_k.terrain.field_EXZY,
            look_WL=self._look_k,
            entity_WMF=self._entity_k,
            num_entities_W=self._num_entities_k,
            atlas_AN=self._atlas_k,
        )
        picture = self._picture(views)
        stream = self._memory.stream()
        make_views[num_blocks(num_views, VIEW_THREADS), VIEW_THREADS, stream](
            scene, self._block_looks_k, self._model_looks_k, env_index_k, eye_k, self._view_range_blocks, height, width,
            scratch_k,
        )  # fmt: skip
        grid = num_blocks(width, TILE_PX), num_blocks(height, TILE_PX), num_views
        draw_pixels[grid, TILE_THREADS, stream](
            scene, self._block_k, self._field_k, self._block_looks_k, self._model_looks_k, env_index_k, row_k,
            self._target_k, scratch_k, picture,
        )  # fmt: skip
        write_labels[num_blocks(num_views, VIEW_THREADS), VIEW_THREADS, stream](
            scratch_k.tally_VT, row_k, height, width, picture.target_V7
        )

    def _picture(self, views: ViewBatch) -> Picture:
        """Return the arrays of views as kernels take them."""
        for_kernels = self._memory.for_kernels
        depth_VHW = self._memory.zeros((0, 0, 0), _REAL) if views.depth_VHW is None else views.depth_VHW
        return Picture(
            image_VHWC=for_kernels(views.image_VHWC, np.dtype(np.uint8)),
            instance_VHW=for_kernels(views.instance_VHW, _WHOLE),
            depth_VHW=for_kernels(depth_VHW, _REAL),
            target_V7=for_kernels(views.target_V7, _REAL),
        )
