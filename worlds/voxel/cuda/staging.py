"""Episodes begun on the host and copied to a GPU: the only thing that a GPU's envs get from the host. N envs, K puts.

Terrain does not travel: the host knows the worlds, the GPU has them in a pool, and what an episode puts into its world
are a few blocks.
"""

from collections.abc import Sequence

import numpy as np

from worlds.spec import Episode
from worlds.voxel.cuda.memory import Memory, each_array
from worlds.voxel.cuda.puts import PUT_THREADS, put_blocks
from worlds.voxel.cuda.world_pool import WorldPool
from worlds.voxel.daylight import darkness
from worlds.voxel.episode_start import BlockPut, begin_life
from worlds.voxel.state import EnvState, Terrain, empty_state
from worlds.voxel.world_cache import PreparedWorld

_MOST_ROWS = 64


class Staging:
    """A few rows of state on the host, in which episodes begin by the same code as the CPU's."""

    def __init__(self, memory: Memory, num_envs: int, size_blocks: tuple[int, int, int]) -> None:
        """Begin episodes in worlds of `size_blocks`."""
        self._memory = memory
        self.num_rows = min(num_envs, _MOST_ROWS)
        self._pool = WorldPool(memory, size_blocks, least=self.num_rows)
        like = empty_state(self.num_rows, size_blocks)
        # The terrain of a row is that of the world that an episode is begun in, for as long as that takes.
        self._rows: EnvState = each_array(self._staged_like, like._replace(terrain=_no_terrain()))
        self._row_views = [self._view_of(row) for row in range(self.num_rows)]
        self._is_sending = False

    def _view_of(self, row: int) -> EnvState:
        return each_array(lambda array: array[row : row + 1], self._rows)

    def _staged_like(self, host: np.ndarray) -> np.ndarray:
        staged = self._memory.staging(host.shape, host.dtype)
        staged[...] = host
        return staged

    def begin(
        self,
        state: EnvState,
        state_k: EnvState,
        index_N: np.ndarray,
        episodes: Sequence[Episode],
        prepared: Sequence[PreparedWorld],
    ) -> None:
        """Put episodes[n] into row index_N[n] of a GPU's state, at most `num_rows` of them.

        `state_k` is the state as kernels take it.
        """
        if self._is_sending:
            self._memory.wait()  # for what the rows held before
        puts = [self._begin_row(row, episode, prepared[row]) for row, episode in enumerate(episodes)]
        index = self._memory.upload(index_N)
        darkness_N = np.array([darkness(episode.look) for episode in episodes], np.uint8)
        self._pool.copy(prepared, darkness_N, index, state.terrain.block_EXZY, state.terrain.field_EXZY)
        self._put(state_k.terrain, index, puts)
        for group, staged_group in zip(state, self._rows, strict=True):
            if not isinstance(group, Terrain):
                for array, staged in zip(group, staged_group, strict=True):
                    self._memory.write_rows(array, index, staged[: len(index_N)])
        self._is_sending = True

    def _begin_row(self, row: int, episode: Episode, prepared: PreparedWorld) -> list[BlockPut]:
        """Begin an episode in a row, and return the blocks that it puts; its world is as before when this returns."""
        block_XZY = prepared.world.block_XZY
        if not block_XZY.flags.writeable:  # of a save, or scanned
            block_XZY = block_XZY.copy()
        terrain = Terrain(block_EXZY=block_XZY[None], field_EXZY=prepared.box_XZY[None])
        puts: list[BlockPut] = []
        try:
            begin_life(self._row_views[row]._replace(terrain=terrain), 0, episode, prepared, puts)
        finally:
            for put in reversed(puts):
                block_XZY[put.x, put.z, put.y] = put.before
        return puts

    def _put(self, terrain_k: Terrain, index: np.ndarray, puts: Sequence[Sequence[BlockPut]]) -> None:
        """Put the blocks into the worlds on the GPU."""
        most = max(len(row) for row in puts)
        if most == 0:
            return
        put_NK4 = np.zeros((len(puts), most, 4), np.int32)
        for n, row in enumerate(puts):
            for k, put in enumerate(row):
                put_NK4[n, k] = put.x, put.y, put.z, put.value
        count_N = np.array([len(row) for row in puts], np.int32)
        put_k, count_k = (
            self._memory.for_kernels(self._memory.upload(array), array.dtype) for array in (put_NK4, count_N)
        )
        launch = put_blocks[len(puts), PUT_THREADS, self._memory.stream()]
        index_k = self._memory.for_kernels(index, np.dtype(np.int64))
        launch(terrain_k.block_EXZY, terrain_k.field_EXZY, index_k, put_k, count_k)


def _no_terrain() -> Terrain:
    return Terrain(block_EXZY=np.zeros((1, 1, 1, 1), np.uint16), field_EXZY=np.zeros((1, 1, 1, 1), np.uint8))
