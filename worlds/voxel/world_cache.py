"""Worlds kept in memory, and made ready in the background before they are needed."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from worlds.anvil import Save, read_world
from worlds.generate.terrain import generate
from worlds.spec import World, WorldSpec
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.field import build_distance, build_light
from worlds.voxel.free_boxes import add_flat_boxes

_MAX_PENDING = 64  # announced worlds beyond that are not begun: a wrong announcement must not fill the memory


@dataclass(frozen=True, slots=True, eq=False)
class PreparedWorld:
    """A world with what is derived from it. Read-only."""

    world: World
    box_XZY: np.ndarray  # uint8 [X, Z, Y], see worlds.voxel.free_boxes
    light_XZY: np.ndarray  # uint8 [X, Z, Y], sky light in the high nibble, lamp light in the low one

    @property
    def num_bytes(self) -> int:
        """Return the memory its arrays take."""
        arrays = (self.world.block_XZY, self.world.ground_XZ, self.box_XZY, self.light_XZY)
        return sum(array.nbytes for array in arrays)


def prepare(world: World) -> PreparedWorld:
    """Derive free boxes and light from a world."""
    blocks = engine_tables().blocks
    box_XZY, light_XZY = np.empty(world.block_XZY.shape, np.uint8), np.empty(world.block_XZY.shape, np.uint8)
    build_distance(world.block_XZY, box_XZY)
    add_flat_boxes(box_XZY)
    build_light(world.block_XZY, blocks.emission_S, blocks.opacity_S, light_XZY)
    return PreparedWorld(world=world, box_XZY=box_XZY, light_XZY=light_XZY)


class WorldCache:
    """The most recently used worlds within `max_bytes` (the newest one stays, whatever its size)."""

    def __init__(self, *, max_bytes: int = 256 * 2**20, num_threads: int = 1, saves: Sequence[Save] = ()) -> None:
        """Make worlds on up to `num_threads` background threads; the kernels release the interpreter lock.

        `saves` are the real saves that a WorldSpec's source may name.
        """
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._saves = {f"anvil:{save.sha256}": save for save in saves}
        self._worlds: OrderedDict[WorldSpec, PreparedWorld] = OrderedDict()
        self._pending: dict[WorldSpec, Future[PreparedWorld]] = {}
        self._threads = ThreadPoolExecutor(num_threads, thread_name_prefix="mcrl-worlds")

    def announce(self, specs: Sequence[WorldSpec]) -> None:
        """Begin to make worlds that will soon be asked for; a hint, never needed."""
        self._keep_made()
        for spec in specs:
            if spec not in self._worlds and spec not in self._pending and len(self._pending) < _MAX_PENDING:
                self._pending[spec] = self._threads.submit(self._make, spec)

    def get(self, specs: Sequence[WorldSpec]) -> list[PreparedWorld]:
        """Return the worlds of `specs`, in order, making what is missing."""
        wanted = dict.fromkeys(specs)
        missing = [spec for spec in wanted if spec not in self._worlds]
        late = [spec for spec in missing if spec not in self._pending]
        # The last one is made here: the caller would only wait for it.
        for spec in late[:-1]:
            self._pending[spec] = self._threads.submit(self._make, spec)
        fresh = {spec: self._make(spec) for spec in late[-1:]}
        for spec in missing:
            if spec not in fresh:
                fresh[spec] = self._pending.pop(spec).result()
        found = [fresh[spec] if spec in fresh else self._touch(spec) for spec in specs]
        self._keep({spec: fresh[spec] for spec in missing})
        return found

    def _keep_made(self) -> None:
        """Take in what was announced and is made: nobody may ask for it, and there would be room for no other."""
        made = [spec for spec, future in self._pending.items() if future.done()]
        futures = {spec: self._pending.pop(spec) for spec in made}
        # What could not be made is made again, and fails, for who asks.
        self._keep({spec: future.result() for spec, future in futures.items() if future.exception() is None})

    def _keep(self, fresh: Mapping[WorldSpec, PreparedWorld]) -> None:
        for spec, world in fresh.items():
            self._worlds[spec] = world
            self._num_bytes += world.num_bytes
        while self._num_bytes > self._max_bytes and len(self._worlds) > 1:
            _, oldest = self._worlds.popitem(last=False)
            self._num_bytes -= oldest.num_bytes

    def _make(self, spec: WorldSpec) -> PreparedWorld:
        if spec.source == "generated":
            return prepare(generate(spec))
        if spec.source not in self._saves:
            opened = ", ".join(str(save.folder) for save in self._saves.values())
            another = f": what was, {opened}, is another, or has changed since" if opened else ""
            raise ValueError(
                f"world.source is {spec.source!r}, which is no save that was opened{another}; give its folder (--save, "
                "or in a program worlds.anvil.open_save), or name the engine whose world it is (--backend)"
            )
        return prepare(read_world(self._saves[spec.source], spec))

    def _touch(self, spec: WorldSpec) -> PreparedWorld:
        self._worlds.move_to_end(spec)
        return self._worlds[spec]

    def close(self) -> None:
        """Drop all worlds and stop the threads."""
        self._worlds.clear()
        self._pending.clear()
        self._num_bytes = 0
        self._threads.shutdown(cancel_futures=True)
