"""Where an agent can walk in a scanned box that is not made of our blocks, and what it sees from there. X Z Y cells."""

import heapq

import numpy as np

from worlds.adapters.engine import Scan
from worlds.adapters.engines.floor_plan import is_line_free

NO_FLOOR = -1
_STEP_CELLS = 1  # up or down between neighbouring columns; Doom's 24 units are rounded to this
_STRAIGHT, _DIAGONAL = 1.0, 2.0**0.5
_AROUND = [(dx, dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1) if (dx, dz) != (0, 0)]


class WalkableFloor:
    """One floor a column: the lowest that the agent can stand on."""

    def __init__(self, scan: Scan) -> None:
        """Read a scan in which all but "air" is solid."""
        is_air_XZY = np.isin(np.array(scan.names), ["air"])[scan.index_XZY]
        can_stand_XZY = np.zeros_like(is_air_XZY)
        can_stand_XZY[:, :, 1:-1] = is_air_XZY[:, :, 1:-1] & is_air_XZY[:, :, 2:] & ~is_air_XZY[:, :, :-2]
        self._is_air_XZY = is_air_XZY
        self.floor_XZ = np.where(can_stand_XZY.any(axis=2), can_stand_XZY.argmax(axis=2), NO_FLOOR)
        # The rim of the box is no place: beyond it may be anything.
        self.floor_XZ[[0, -1]] = self.floor_XZ[:, [0, -1]] = NO_FLOOR

    def open_cells(self) -> np.ndarray:
        """Return int64 [N, 2], columns x, z whose eight neighbours have the same floor: room to walk round a thing."""
        floor_XZ = self.floor_XZ
        is_open_XZ = floor_XZ != NO_FLOOR
        for dx, dz in _AROUND:
            is_open_XZ &= np.roll(floor_XZ, (dx, dz), axis=(0, 1)) == floor_XZ
        return np.argwhere(is_open_XZ)

    def walks(self, x: int, z: int, *, most_blocks: float, blocked: set[tuple[int, int]]) -> np.ndarray:
        """Return float64 [X, Z], the length of the shortest walk to each column, infinite beyond `most_blocks`."""
        walk_XZ = np.full(self.floor_XZ.shape, np.inf)
        walk_XZ[x, z] = 0.0
        front = [(0.0, x, z)]
        while front:
            walked, x, z = heapq.heappop(front)
            if walked > walk_XZ[x, z]:
                continue
            for dx, dz in _AROUND:
                there = walked + (_DIAGONAL if dx and dz else _STRAIGHT)
                if there > most_blocks or there >= walk_XZ[x + dx, z + dz] or (x + dx, z + dz) in blocked:
                    continue
                # A diagonal step must not cut a corner: the agent is wider than a line.
                ways = [(dx, dz)] if not (dx and dz) else [(dx, dz), (dx, 0), (0, dz)]
                if all(self._is_step(x, z, x + a, z + b) for a, b in ways):
                    walk_XZ[x + dx, z + dz] = there
                    heapq.heappush(front, (there, x + dx, z + dz))
        return walk_XZ

    def _is_step(self, x: int, z: int, to_x: int, to_z: int) -> bool:
        floor, to_floor = self.floor_XZ[x, z], self.floor_XZ[to_x, to_z]
        return bool(to_floor != NO_FLOOR and abs(to_floor - floor) <= _STEP_CELLS)

    def is_seen(self, eye_3: np.ndarray, end_3: np.ndarray) -> bool:
        """Tell whether no column is in the way that is solid at the lower of two heights."""
        level = int(np.floor(min(eye_3[1], end_3[1])))
        is_free_XZ = self._is_air_XZY[:, :, level]
        return is_line_free(is_free_XZ, (float(eye_3[0]), float(eye_3[2])), (float(end_3[0]), float(end_3[2])))

    def is_air(self, x: float, y: float, z: float) -> bool:
        """Tell whether a place is in a cell of air."""
        cell = tuple(int(np.floor(part)) for part in (x, z, y))
        is_inside = all(0 <= at < side for at, side in zip(cell, self._is_air_XZY.shape, strict=True))
        return is_inside and bool(self._is_air_XZY[cell])
