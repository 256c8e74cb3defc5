"""Boxes of other engines' worlds as worlds of ours: scanned once, then kept in memory and in a cache folder. X Z Y."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.engine_version import engine_version
from worlds.adapters.foreign_episode import episode_fields, scout_episode
from worlds.adapters.moments import check_scan
from worlds.adapters.names import state_id
from worlds.adapters.process import EngineProcess
from worlds.anvil.ground import highest_ground, is_ground_table
from worlds.blocks import STATE_ID
from worlds.cache_home import cache_home
from worlds.npz_file import read_arrays
from worlds.spec import World, WorldSpec
from worlds.voxel.world_cache import PreparedWorld, WorldCache, prepare

_ENGINES = Path(__file__).with_name("engines")

Scanner = Callable[[WorldSpec], Scan]


def world_of_scan(spec: WorldSpec, scan: Scan) -> World:
    """Return the scanned box as a world of ours; blocks that we do not have become the nearest that we have.

    Our worlds wrap around in x and z, the box does not: as with real saves, the planes x = 0 and z = 0 are barrier and
    the level y = 0 is bedrock. A world that our own generator made wraps, and stays as it is.
    """
    block_XZY = np.array([state_id(name) for name in scan.names], np.uint16)[scan.index_XZY]
    if spec.source != "generated":
        block_XZY[:, :, 0] = STATE_ID["bedrock"]
        block_XZY[0] = block_XZY[:, 0] = STATE_ID["barrier"]
    ground_XZ = np.maximum(highest_ground(is_ground_table()[block_XZY]), 0).astype(np.int16)
    for array in (block_XZY, ground_XZ):
        array.setflags(write=False)
    return World(spec, block_XZY, ground_XZ)


class ScannedWorlds(WorldCache):
    """A WorldCache of worlds that somebody else makes.

    Give it to a VoxelBackend or a Synthesizer, and they work in boxes of that engine's worlds.
    """

    def __init__(self, scanner: Scanner, *, folder: Path | None = None) -> None:
        """Ask `scanner` for what is neither in memory nor in `folder` (None keeps nothing on disk).

        A folder must hold scans of one engine, with the same options: see `scan_folder`.
        """
        super().__init__()
        self._scanner = scanner
        self._folder = folder

    def announce(self, specs: object) -> None:
        """Do nothing: an engine can be asked by one thread alone, and only between its own requests."""

    def get(self, specs: Sequence[WorldSpec]) -> list[PreparedWorld]:
        """Return the worlds of `specs`, in order; what is missing is made here, one after another: see announce."""
        found = {spec: super(ScannedWorlds, self).get([spec])[0] for spec in dict.fromkeys(specs)}
        return [found[spec] for spec in specs]

    def has(self, spec: WorldSpec) -> bool:
        """Tell whether `get` would not have to scan."""
        return spec in self._worlds or (self._file(spec) is not None and self._read(spec) is not None)

    def _make(self, spec: WorldSpec) -> PreparedWorld:
        kept = self._read(spec)
        scan = self._scanner(spec) if kept is None else kept
        world = world_of_scan(spec, scan)
        if kept is None:  # not before: what is no world must not be kept
            self._write(spec, scan)
        return prepare(world)

    def _file(self, spec: WorldSpec) -> Path | None:
        if self._folder is None:
            return None
        name = json.dumps([spec.source, spec.seed, spec.origin_blocks, spec.size_blocks, spec.biome, spec.detail])
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.npz"

    def _read(self, spec: WorldSpec) -> Scan | None:
        """Return a kept scan; one that is damaged is as good as none."""
        path = self._file(spec)
        if path is None or not path.is_file():
            return None
        try:
            name_N, index_XZY = read_arrays(path, ("names", "index_XZY"))
            scan = Scan([str(name) for name in name_N.tolist()], index_XZY)
            check_scan(scan, spec.size_blocks)
        except (OSError, ValueError):
            return None
        return scan

    def _write(self, spec: WorldSpec, scan: Scan) -> None:
        path = self._file(spec)
        if path is None:
            return
        # A full disk costs the next run a scan, and this one nothing.
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    np.savez_compressed(file, names=np.array(scan.names), index_XZY=scan.index_XZY)
                os.replace(name, path)
            except BaseException:
                os.unlink(name)
                raise


def scan_folder(choice: EngineChoice) -> Path:
    """Return where scans of an engine are kept; elsewhere once its module, version, interpreter or options change."""
    ours = [*_ENGINES.glob("*.py"), *_ENGINES.parent.glob("luanti_mod/*.lua")]
    sources = [Path(choice.engine)] if "/" in choice.engine else sorted(ours)
    chosen = [choice.engine, str(choice.python), dict(choice.options), engine_version(choice)]
    digest = hashlib.sha256(json.dumps(chosen).encode())
    for path in sources:
        digest.update(path.read_bytes())
    return cache_home("scans") / f"{choice.name}-{digest.hexdigest()[:16]}"


def scan_world(process: EngineProcess, spec: WorldSpec) -> Scan:
    """Load a world with nothing placed in it, and return the blocks of the box that `spec` names."""
    process.ask_reset(episode_fields(scout_episode(spec)))
    process.moment()
    process.ask("scan", {"lowest": spec.origin_blocks, "size": spec.size_blocks}, limit_s=process.limits.reset_s)
    return process.scanned(spec.size_blocks)
