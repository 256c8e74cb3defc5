"""The present of the built-in engine, small enough for a checkpoint. E envs, K changed cells.

A world of 128 x 64 x 128 blocks takes 3 MiB in the engine, and its episode has changed a few hundred bytes of it. What
is kept of the terrain is where it differs from the world that the episode began in, which its specification makes
again, and a checksum of the whole.
"""

import dataclasses
import functools
import hashlib
import json
import zlib
from collections.abc import Sequence

import numpy as np

from task_synthesis.playing.saved_state import SavedState
from worlds.blocks import STATES
from worlds.items import ITEMS
from worlds.mobs.kinds import MOBS
from worlds.spec import Episode
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.episode_start import begin_episode
from worlds.voxel.state import EnvState, Terrain, empty_state
from worlds.voxel.world_cache import WorldCache

# The group that is kept as differences, and its arrays; all other groups are kept whole, 7 KiB an env.
_TERRAIN = "terrain"


class EngineKeeper:
    """Saves and brings back all envs of a VoxelBackend."""

    def __init__(self, backend: VoxelBackend, worlds: WorldCache) -> None:
        """Keep `backend`; worlds that episodes began in come from `worlds`, best the one the backend has."""
        self._backend = backend
        self._worlds = worlds
        # Made with the first use: most engines are never saved.
        self._scratch: EnvState | None = None

    def saved(self, episodes: Sequence[Episode]) -> SavedState:
        """Return the present of all envs, of which episodes[e] is what env e was last reset to."""
        state = self._backend.state
        arrays = {name: array.copy() for name, array in _small_arrays(state).items()}
        changes: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in state.terrain._fields}
        for env, episode in enumerate(episodes):
            begun = self._begun(episode)
            for name, per_env in changes.items():
                now_N = getattr(state.terrain, name)[env].reshape(-1)
                cell_K = _changed(now_N, getattr(begun, name).reshape(-1))
                per_env.append((cell_K.astype(np.int32), now_N[cell_K]))
        for name, per_env in changes.items():
            arrays[f"{name}/num_cells"] = np.array([len(cell_K) for cell_K, _ in per_env], np.int32)
            arrays[f"{name}/cell"] = np.concatenate([cell_K for cell_K, _ in per_env])
            arrays[f"{name}/value"] = np.concatenate([value_K for _, value_K in per_env])
        arrays["checksum"] = _checksums(state)
        return SavedState(
            values={"size_blocks": list(self._backend.size_blocks), "names": names_digest()}, arrays=arrays
        )

    def check(self, state: SavedState) -> None:
        """Raise ValueError where `state` is of worlds of another size, or of blocks, items or mobs of other numbers."""
        # Older ones do not say it.
        if "names" in state.values and state.value("names", str) != names_digest():
            raise state.misfit("was written by an mcrl with other blocks, items or mobs, whose numbers it holds")
        size = state.value("size_blocks", list)
        if size != list(self._backend.size_blocks):
            raise state.misfit(f"holds worlds of {size} blocks, this run has {list(self._backend.size_blocks)}")

    def load_saved(self, state: SavedState) -> None:
        """Bring back what `saved` returned. Every env has just been reset to its episode."""
        self.check(state)
        engine = self._backend.state
        num_envs = self._backend.num_envs
        checksum_E = state.array("checksum", np.zeros(num_envs, np.uint32))
        changes = {
            name: _read_changes(state, name, array, num_envs) for name, array in engine.terrain._asdict().items()
        }
        state.read_into(_small_arrays(engine))
        for name, per_env in changes.items():
            for cells_XZY, (cell_K, value_K) in zip(getattr(engine.terrain, name), per_env, strict=True):
                cells_XZY.reshape(-1)[cell_K] = value_K
        wrong_N = np.flatnonzero(_checksums(engine) != checksum_E)
        if len(wrong_N):
            raise state.misfit(f"the world of env {wrong_N[0]} is not the one that was saved")

    def _begun(self, episode: Episode) -> Terrain:
        """Return the terrain of one env as `episode` began."""
        if self._scratch is None:
            self._scratch = empty_state(1, self._backend.size_blocks)
        (world,) = self._worlds.get([episode.world])
        # What lives in it is of no account here.
        begin_episode(self._scratch, 0, dataclasses.replace(episode, num_ambient_mobs=0), world)
        return self._scratch.terrain


@functools.cache
def names_digest() -> str:
    """Return a digest of what the numbers of block states, items and mobs mean: a row more, and others mean another."""
    names = [[kind.name for kind in kinds] for kinds in (STATES, ITEMS, MOBS)]
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16]


def _small_arrays(state: EnvState) -> dict[str, np.ndarray]:
    """Return all arrays but the terrain's as "group.array"."""
    return {
        f"{group_name}.{name}": array
        for group_name, group in state._asdict().items()
        if group_name != _TERRAIN
        for name, array in group._asdict().items()
    }


def _changed(now_N: np.ndarray, then_N: np.ndarray) -> np.ndarray:
    """Return int64 [K], where two arrays differ; in words of eight bytes first, since next to nothing does."""
    per_word = 8 // now_N.itemsize
    word_W = np.flatnonzero(now_N.view(np.uint64) != then_N.view(np.uint64))
    near_N = (word_W[:, None] * per_word + np.arange(per_word)).reshape(-1)
    return near_N[now_N[near_N] != then_N[near_N]]


def _read_changes(
    state: SavedState, name: str, like_EXZY: np.ndarray, num_envs: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (cells, values) of every env for one array of the terrain, all of them inside the world."""
    count_E = state.array(f"{name}/num_cells", np.zeros(num_envs, np.int32)).astype(np.int64)
    cell_K, value_K = state.vector(f"{name}/cell", np.int32), state.vector(f"{name}/value", like_EXZY.dtype)
    is_inside = len(cell_K) == 0 or (cell_K.min() >= 0 and cell_K.max() < like_EXZY[0].size)
    if count_E.min() < 0 or not count_E.sum() == len(cell_K) == len(value_K) or not is_inside:
        raise state.misfit(f"the changed cells of {name} are not cells of {num_envs} worlds")
    ends = np.cumsum(count_E)[:-1]
    return list(zip(np.split(cell_K, ends), np.split(value_K, ends), strict=True))


def _checksums(state: EnvState) -> np.ndarray:
    """Return uint32 [E], the crc32 of each env's terrain."""
    num_envs = len(state.terrain.block_EXZY)
    checksum_E = np.zeros(num_envs, np.uint32)
    for env in range(num_envs):
        checksum = 0
        for array in state.terrain:
            checksum = zlib.crc32(array[env].data, checksum)
        checksum_E[env] = checksum
    return checksum_E
