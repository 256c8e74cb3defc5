"""Scans of worlds by the engines of a pool, each world once and before anything is placed in it."""

from pathlib import Path

from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineFaultError
from worlds.adapters.engine_pool import EnginePool
from worlds.adapters.process import EngineProcess
from worlds.adapters.scanned_worlds import ScannedWorlds, scan_world
from worlds.spec import World, WorldSpec


class PoolScanner:
    """Has worlds that nobody has seen yet loaded and scanned by an engine that is about to be reset anyway."""

    def __init__(self, pool: EnginePool, worlds: ScannedWorlds | None, folder: Path) -> None:
        """Add to `worlds`, which others may share; None makes a set of its own, kept in `folder`."""
        self._pool = pool
        self._process: EngineProcess | None = None  # the one that scans, while it does
        self.worlds = worlds or ScannedWorlds(self._scan, folder=folder)

    def scan_unseen(self, e: int, spec: WorldSpec) -> None:
        """Have env e scan a world that is not known; a fault in it is one of env e.

        Raises:
            EngineFaultError: the env failed too often in a row.
        """
        if not self.worlds.has(spec):
            self._pool.attempt(e, lambda: self._get(e, spec))

    def world(self, spec: WorldSpec) -> World:
        """Return a world, scanned now by the engine of env 0 where it is not known; EngineFaultError: it fails."""
        if self.worlds.has(spec):
            return self.worlds.get([spec])[0].world
        self._pool.revive(0)
        if self._pool.is_lost_E[0]:
            raise EngineFaultError("the engine did not start again")
        try:
            return self._get(0, spec)
        except EngineFaultError:
            self._pool.lose(0)
            raise

    def _get(self, e: int, spec: WorldSpec) -> World:
        self._process = self._pool.process(e)
        try:
            return self.worlds.get([spec])[0].world
        finally:
            self._process = None

    def _scan(self, spec: WorldSpec) -> Scan:
        assert self._process is not None
        return scan_world(self._process, spec)
