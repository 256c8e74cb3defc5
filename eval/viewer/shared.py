"""What all sessions of a viewer share and none changes: worlds and meshes that were made, policies that were loaded."""

import threading
from collections.abc import Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numba

from eval.viewer.engine_menu import EngineMenu
from eval.viewer.mesh_store import MeshStore
from eval.viewer.reach import Reach
from mcrl.config import TrainConfig
from mcrl.run_folder import checkpoint_of, config_of
from mcrl.trained import load_policy
from policies.interface import Policy
from worlds.anvil import Save
from worlds.spec import WorldSpec
from worlds.voxel.world_cache import PreparedWorld, WorldCache

_MAX_POLICIES = 4  # kept in memory; a base policy is 100 MB


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPolicy:
    """A checkpoint ready to act. Read-only: several sessions play with the same weights."""

    folder: Path
    config: TrainConfig
    policy: Policy


class SharedWorlds(WorldCache):
    """A WorldCache that several threads may ask, and that outlives the engines that use it."""

    def __init__(
        self, *, max_bytes: int = 256 * 2**20, saves: Sequence[Save] = (), engines: EngineMenu | None = None
    ) -> None:
        super().__init__(max_bytes=max_bytes, saves=saves)
        self._lock = threading.RLock()
        self._engines = engines or EngineMenu()

    def announce(self, specs: Sequence[WorldSpec]) -> None:
        """Begin to make worlds; see WorldCache.announce."""
        with self._lock:
            super().announce(specs)

    def get(self, specs: Sequence[WorldSpec]) -> list[PreparedWorld]:
        """Return worlds, making what is missing; see WorldCache.get.

        Who asks for worlds that are there does not wait for those that are being made for others.
        """
        with self._lock:
            super().announce(specs)
            begun = [self._pending[spec] for spec in specs if spec in self._pending]
        wait(begun)
        with self._lock:
            return super().get(specs)

    def _make(self, spec: WorldSpec) -> PreparedWorld:
        if spec.source == "generated" or spec.source in self._saves:
            return super()._make(spec)
        scanned = self._engines.scanned(spec)
        if scanned is None:
            raise ValueError(
                f"view: the page draws no world of {spec.source!r}; an engine of your own is named with --backend, and "
                "`mcrl play --task PLACE:NUMBER`, with --backend or --save, shows tasks in rooms and in Minecraft saves"
            )
        return scanned

    def close(self) -> None:
        """Do nothing: an engine that goes must not take the worlds of the others with it."""


class Shared:
    """The read-only things of one viewer process."""

    def __init__(
        self, *, saves: Sequence[Save] = (), engines: EngineMenu | None = None, reach: Reach | None = None
    ) -> None:
        """Share worlds, also those cut out of real `saves`, policies, the `engines` and the files to choose from."""
        self.reach = reach or Reach()
        self.engines = engines or EngineMenu()
        self.worlds = SharedWorlds(saves=saves, engines=self.engines)
        self.meshes = MeshStore()
        self._lock = threading.Lock()
        self._turns = threading.RLock()
        self._policies: dict[tuple[Path, int], LoadedPolicy] = {}

    def turn(self) -> AbstractContextManager[object]:
        """Return what a thread holds while it works on its session, where sessions have threads of their own.

        With OpenMP or TBB that is nothing. Where numba has neither (macOS without libomp), two threads in parallel
        kernels at a time would end the process: there they take turns.
        """
        try:
            is_safe = numba.threading_layer() != "workqueue"
        except ValueError:  # nothing has run yet, so nobody knows
            is_safe = False
        return nullcontext() if is_safe else self._turns

    def policy(self, name: str) -> LoadedPolicy:
        """Return the policy of a checkpoint, a run's folder or a shipped name. ValueError says what does not fit."""
        folder = checkpoint_of(Path(self.reach.of(name)))
        with self._lock:
            # A run that is trained anew, or goes on, leaves other weights at the same place.
            state = folder / "state.json"
            written = (folder, state.stat().st_mtime_ns if state.is_file() else 0)
            if written not in self._policies:
                config = config_of(folder)
                loaded = LoadedPolicy(folder, config, load_policy(folder, config))
                while len(self._policies) >= _MAX_POLICIES:
                    del self._policies[next(iter(self._policies))]
                self._policies[written] = loaded
            return self._policies[written]
