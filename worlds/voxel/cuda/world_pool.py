"""Worlds kept on a GPU as they are before any episode, so that a reset copies them there. P slots, N envs."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from worlds.spec import WorldSpec
from worlds.voxel.cuda.memory import Array, Memory
from worlds.voxel.field import LIGHT_SHIFT
from worlds.voxel.world_cache import PreparedWorld

_LAMP_BITS = (1 << LIGHT_SHIFT) - 1
_BYTES_PER_CELL = 4  # 2 of blocks, 1 of free boxes, 1 of light


class WorldPool:
    """The most recently used worlds, in slots."""

    def __init__(self, memory: Memory, size_blocks: tuple[int, int, int], *, least: int) -> None:
        """Have slots for `least` worlds of `size_blocks`, or as many as fill a quarter of the free memory."""
        size_x, size_y, size_z = size_blocks
        cells = size_x, size_z, size_y
        num_slots = max(least, memory.free_bytes() // 4 // (_BYTES_PER_CELL * size_x * size_y * size_z))
        self._memory = memory
        self._block_PXZY = memory.zeros((num_slots, *cells), np.dtype(np.uint16))
        self._box_PXZY = memory.zeros((num_slots, *cells), np.dtype(np.uint8))
        self._light_PXZY = memory.zeros((num_slots, *cells), np.dtype(np.uint8))
        self._free = list(range(num_slots))
        self._slot_of: OrderedDict[WorldSpec, int] = OrderedDict()  # not the worlds: they would stay on the host

    def copy(
        self,
        worlds: Sequence[PreparedWorld],
        darkness_N: np.ndarray,
        index: Array,
        block_EXZY: Array,
        field_EXZY: Array,
    ) -> None:
        """Write worlds[n], by the darkness of its hour, into the terrain of env index[n]; at most `least` of them.

        Args:
            worlds: one an env.
            darkness_N: uint8 [N], taken off the sky's light, see worlds.voxel.field.
            index: int64 [N], on the GPU.
            block_EXZY: uint16, on the GPU, rows are overwritten.
            field_EXZY: uint8, on the GPU, rows are overwritten.
        """
        slot_N = self._memory.upload(np.array([self._slot(world) for world in worlds]))
        block_EXZY[index] = self._block_PXZY[slot_N]
        dark_N = self._memory.upload(darkness_N.reshape(-1, 1, 1, 1))
        light_NXZY, maximum = self._light_PXZY[slot_N], self._memory.maximum
        sky_NXZY = maximum(light_NXZY >> LIGHT_SHIFT, dark_N) - dark_N
        level_NXZY = maximum(sky_NXZY, light_NXZY & _LAMP_BITS)
        field_EXZY[index] = self._box_PXZY[slot_N] | (level_NXZY << LIGHT_SHIFT)

    def _slot(self, world: PreparedWorld) -> int:
        """Return where a world is, brought there if it was not."""
        spec = world.world.spec
        if spec in self._slot_of:
            self._slot_of.move_to_end(spec)
            return self._slot_of[spec]
        slot = self._free.pop() if self._free else self._slot_of.popitem(last=False)[1]
        for array, host in (
            (self._block_PXZY, world.world.block_XZY),
            (self._box_PXZY, world.box_XZY),
            (self._light_PXZY, world.light_XZY),
        ):
            self._memory.write(array[slot], host)
        self._slot_of[spec] = slot
        return slot
