"""A structure before it stands anywhere: cells around a ground level, drawn block by block. X Y Z blocks.

Drawn with the front to the south (+z), x to the east, y = 0 in the layer of the ground and 1 on top of it. Cells that
were not drawn leave the world as it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from worlds.blocks import BLOCK_ID, build_block_tables, state_of
from worlds.generate.palette import turned_states

_UNDRAWN = -1
# Neighbours in the order of the bits of `links`: north, east, south, west.
_STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Blueprint:
    """A finished drawing. Read-only."""

    block_XZY: np.ndarray  # int32 [X, Z, Y] state ids, -1 leaves the world as it is
    depth: int  # layers below the ground: layer `depth` of the array is that of the ground

    def turned(self, quarters: int) -> "Blueprint":
        """Return it turned clockwise, seen from above."""
        block_XZY = self.block_XZY
        for _ in range(quarters % 4):
            block_XZY = block_XZY.transpose(1, 0, 2)[::-1]
            block_XZY = np.where(block_XZY == _UNDRAWN, _UNDRAWN, turned_states()[block_XZY])
        return Blueprint(np.ascontiguousarray(block_XZY), self.depth)


class Canvas:
    """A blueprint that is being drawn."""

    def __init__(self, size_x: int, size_z: int, height: int, *, depth: int = 0) -> None:
        """Begin with nothing drawn, `depth` layers below the ground's and `height` above it."""
        self.size_x, self.size_z, self.height = size_x, size_z, height
        self._depth = depth
        self._block_XZY = np.full((size_x, size_z, depth + 1 + height), _UNDRAWN, np.int32)

    def put(self, x: int, y: int, z: int, block: str, **properties: str) -> None:
        """Draw one cell."""
        self._block_XZY[x, z, y + self._depth] = state_of(block, **properties)

    def fill(self, x: tuple[int, int], y: tuple[int, int], z: tuple[int, int], block: str, **properties: str) -> None:
        """Draw a box; the ranges include both ends."""
        y0, y1 = y[0] + self._depth, y[1] + self._depth
        self._block_XZY[x[0] : x[1] + 1, z[0] : z[1] + 1, y0 : y1 + 1] = state_of(block, **properties)

    def walls(self, x: tuple[int, int], y: tuple[int, int], z: tuple[int, int], block: str) -> None:
        """Draw the four walls of a box."""
        for side in x:
            self.fill((side, side), y, z, block)
        for side in z:
            self.fill(x, y, (side, side), block)

    def clear(self, x: tuple[int, int], y: tuple[int, int], z: tuple[int, int]) -> None:
        """Draw a box of air."""
        self.fill(x, y, z, "air")

    def put_door(self, x: int, z: int, block: str, facing: str) -> None:
        """Draw both halves of a closed door on the ground; one walks in towards `facing`."""
        for y, half in ((1, "lower"), (2, "upper")):
            self.put(x, y, z, block, facing=facing, half=half)

    def put_bed(self, x: int, y: int, z: int, block: str, facing: str) -> None:
        """Draw both halves of a bed whose foot lies at x, z and whose head lies towards `facing`."""
        step_x, step_z = dict(zip(("north", "east", "south", "west"), _STEPS, strict=True))[facing]
        self.put(x, y, z, block, facing=facing, part="foot")
        self.put(x + step_x, y, z + step_z, block, facing=facing, part="head")

    def finish(self) -> Blueprint:
        """Return the drawing with its fences and panes linked to their neighbours."""
        self._link()
        return Blueprint(self._block_XZY, self._depth)

    def _link(self) -> None:
        tables = build_block_tables()
        drawn_XZY = np.maximum(self._block_XZY, BLOCK_ID["air"])
        links_XZY = np.zeros_like(drawn_XZY)
        class_XZY, is_cube_XZY = tables.link_class_S[drawn_XZY], tables.collision.is_cube_S[drawn_XZY]
        for bit, (step_x, step_z) in enumerate(_STEPS):
            here_x, there_x = _overlap(self.size_x, step_x)
            here_z, there_z = _overlap(self.size_z, step_z)
            is_linked = is_cube_XZY[there_x, there_z] | (class_XZY[there_x, there_z] == class_XZY[here_x, here_z])
            links_XZY[here_x, here_z] |= is_linked.astype(np.int32) << bit
        linked_XZY = tables.connect_S16[drawn_XZY, links_XZY]
        is_linking_XZY = (self._block_XZY != _UNDRAWN) & (linked_XZY >= 0)
        self._block_XZY[is_linking_XZY] = linked_XZY[is_linking_XZY]


def _overlap(size: int, step: int) -> tuple[slice, slice]:
    """Return where a cell and its neighbour `step` away both lie inside: slices of the cells and of the neighbours."""
    here = slice(max(0, -step), size - max(0, step))
    there = slice(max(0, step), size - max(0, -step))
    return here, there


def ring(size: int) -> Iterable[tuple[int, int]]:
    """Return the cells x, z of the border of a square."""
    last = size - 1
    return [(x, z) for x in range(size) for z in range(size) if x in (0, last) or z in (0, last)]
