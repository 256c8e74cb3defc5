"""Generated worlds kept in memory, so that several episodes in one world generate it once."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from worlds.generate.terrain import generate
from worlds.spec import World, WorldSpec
from worlds.voxel.distance import build_distance


@dataclass(frozen=True, slots=True, eq=False)
class PreparedWorld:
    """A world with its distance field. Read-only."""

    world: World
    distance_XZY: np.ndarray  # uint8 [X, Z, Y], Chebyshev distance to the nearest block, capped

    @property
    def num_bytes(self) -> int:
        """Return the memory its arrays take."""
        return self.world.block_XZY.nbytes + self.distance_XZY.nbytes + self.world.ground_XZ.nbytes


def prepare(spec: WorldSpec) -> PreparedWorld:
    """Generate a world and its distance field."""
    world = generate(spec)
    distance_XZY = np.empty(world.block_XZY.shape, np.uint8)
    build_distance(world.block_XZY, distance_XZY)
    return PreparedWorld(world=world, distance_XZY=distance_XZY)


class WorldCache:
    """The most recently used worlds within `max_bytes` (the newest one stays, whatever its size)."""

    def __init__(self, *, max_bytes: int = 256 * 2**20, num_threads: int = 1) -> None:
        """Generate on up to `num_threads` threads; the kernels release the interpreter lock."""
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._worlds: OrderedDict[WorldSpec, PreparedWorld] = OrderedDict()
        self._threads = ThreadPoolExecutor(num_threads) if num_threads > 1 else None

    def get(self, specs: list[WorldSpec]) -> list[PreparedWorld]:
        """Return the worlds of `specs`, in order, generating what is missing."""
        missing = [spec for spec in dict.fromkeys(specs) if spec not in self._worlds]
        made = self._threads.map(prepare, missing) if self._threads and len(missing) > 1 else map(prepare, missing)
        fresh = dict(zip(missing, made, strict=True))
        found = [fresh[spec] if spec in fresh else self._touch(spec) for spec in specs]
        for spec, world in fresh.items():
            self._worlds[spec] = world
            self._num_bytes += world.num_bytes
        while self._num_bytes > self._max_bytes and len(self._worlds) > 1:
            _, oldest = self._worlds.popitem(last=False)
            self._num_bytes -= oldest.num_bytes
        return found

    def _touch(self, spec: WorldSpec) -> PreparedWorld:
        self._worlds.move_to_end(spec)
        return self._worlds[spec]

    def close(self) -> None:
        """Drop all worlds and stop the threads."""
        self._worlds.clear()
        self._num_bytes = 0
        if self._threads:
            self._threads.shutdown()
