"""Blocks around the agent, as an engine's scan lists them: what is where, what changed, what the agent looks at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from worlds.adapters.engines.minecraft_commands import AIR_NAMES, Cell, bare

AIR = "air"
EYE_BLOCKS, SNEAK_EYE_BLOCKS = 1.62, 1.27  # above the feet
_FLUIDS = frozenset({"water", "lava", "bubble_column"})
_HALF_DEG = 180.0


class Box:
    """Cells from `lowest` to just before `highest`."""

    def __init__(self, lowest: Cell, highest: Cell) -> None:
        """Take two corners, the second one exclusive."""
        self.lowest, self.highest = lowest, highest

    def __contains__(self, cell: object) -> bool:
        return all(low <= part < high for low, part, high in zip(self.lowest, cell, self.highest))  # type: ignore[call-overload]

    @staticmethod
    def around(cell: Cell, reach: int) -> Box:
        """Return the cube of cells at most `reach` away along every axis."""
        return Box(tuple(part - reach for part in cell), tuple(part + reach + 1 for part in cell))

    def moved(self, before: Cell, after: Cell) -> Box:
        """Return the box that a request made from cell `before` covers when it is answered from cell `after`."""
        shift = [now - then for now, then in zip(after, before)]
        corners = (self.lowest, self.highest)
        return Box(*(tuple(part + by for part, by in zip(corner, shift)) for corner in corners))

    def request(self, feet: Cell) -> list[int]:
        """Return x0, x1, y0, y1, z0, z1 of a scan that holds the box, from the agent's cell.

        Whether a scan's far corner belongs to it is said nowhere: one more row is asked for, and left out when read.
        """
        pairs = zip(self.lowest, self.highest, feet)
        return [part for low, high, at in pairs for part in (low - at, high - at)]


class Cells:
    """The blocks of one scanned box, kinds without properties; cells that the scan leaves out are air."""

    def __init__(self, box: Box, rows: Iterable[Mapping[str, Any]], feet: Cell) -> None:
        """Read rows of x, y, z (whole blocks from the agent's cell `feet`) and type."""
        self.box = box
        self.kind: dict[Cell, str] = {}
        for row in rows:
            cell = (feet[0] + int(row["x"]), feet[1] + int(row["y"]), feet[2] + int(row["z"]))
            kind = bare(str(row["type"]))
            if kind not in AIR_NAMES and cell in box:
                self.kind[cell] = kind

    def __getitem__(self, cell: Cell) -> str:
        return self.kind.get(cell, AIR)

    def changed_since(self, before: Cells) -> list[tuple[Cell, str, str]]:
        """Return (cell, kind before, kind now) of every cell that both scans hold and that differ."""
        cells = [*before.kind, *(cell for cell in self.kind if cell not in before.kind)]
        return [
            (cell, before[cell], self[cell])
            for cell in cells
            if before[cell] != self[cell] and cell in self.box and cell in before.box
        ]

    def is_ground_under(self, x: float, y: float, z: float, half_width: float = 0.3) -> bool:
        """Tell whether a body's feet may rest on something: a block that is no fluid right under one of its corners."""
        return any(
            self[(math.floor(x + dx), math.floor(y - 0.01), math.floor(z + dz))] not in _FLUIDS | AIR_NAMES
            for dx in (-half_width, half_width)
            for dz in (-half_width, half_width)
        )

    def aimed_at(self, eye: Cell, yaw_deg: float, pitch_deg: float, reach_blocks: float) -> Cell | None:
        """Return the first cell along the view that is neither air nor fluid, by whole cells; None: there is none."""
        direction = view_direction(yaw_deg, pitch_deg)
        cell = [math.floor(part) for part in eye]
        step = [1 if part > 0 else -1 for part in direction]
        # Distance along the ray to the next border of each axis, and between two borders.
        between = [abs(1.0 / part) if part else math.inf for part in direction]
        to_border = [
            ((at + (1 if forward > 0 else 0)) - start) / part if part else math.inf
            for at, forward, start, part in zip(cell, step, eye, direction)
        ]
        travelled = 0.0
        while travelled <= reach_blocks:
            kind = self[tuple(cell)]
            if kind != AIR and kind not in _FLUIDS:
                return tuple(cell)
            axis = min(range(3), key=lambda index: to_border[index])
            travelled = to_border[axis]
            to_border[axis] += between[axis]
            cell[axis] += step[axis]
        return None


def view_direction(yaw_deg: float, pitch_deg: float) -> tuple:
    """Return the unit vector of a view: yaw 0 faces +z and grows clockwise from above, pitch +90 looks down."""
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    return (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))


def wrapped_deg(yaw_deg: float) -> float:
    """Return an angle in [-180, 180)."""
    return (yaw_deg + _HALF_DEG) % 360.0 - _HALF_DEG
