"""Rooms with doors between them, by seed: what engines without terrain of their own are filled with.

X and Z are cells of one block. Runs in the engine's interpreter as well as in ours, so that both know the same rooms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MARGIN_BLOCKS = 1  # solid cells around the outermost rooms
CEILING_BLOCKS = 4  # above the floor at y = 0
_SIDE_BLOCKS = (6, 12)  # of a room, the upper bound left out
_DOOR_BLOCKS = 2  # wide enough for every engine's agent, and a sight line into the next room
_EXTRA_DOOR_CHANCE = 0.35  # beyond the doors that make all rooms one: loops, so that a wrong turn is no dead end


class Room(NamedTuple):
    """A rectangle of floor, x0 <= x < x1 and z0 <= z < z1, in cells."""

    x0: int
    z0: int
    x1: int
    z1: int


class Door(NamedTuple):
    """A gap in the wall of one cell between two rooms, `first` to the west or north of `second`."""

    first: int
    second: int
    cells: Room


class FloorPlan(NamedTuple):
    """Rooms on one floor at y = 0, walled in and covered at `CEILING_BLOCKS`."""

    rooms: list[Room]
    doors: list[Door]
    is_free_XZ: np.ndarray  # bool [X, Z], where the agent can walk; the rest is solid
    style: int  # 0 .. 2**16 - 1, for the engine to choose textures by


def floor_plan(seed: int) -> FloorPlan:
    """Return the plan of a seed: two to three rooms along each side, all connected; the same on every machine."""
    rng = np.random.default_rng([seed, 0xF100])
    sides = [rng.integers(*_SIDE_BLOCKS, size=rng.integers(2, 4)).tolist() for _ in range(2)]
    starts = [np.cumsum([MARGIN_BLOCKS] + [side + 1 for side in along]).tolist() for along in sides]
    num_x, num_z = len(sides[0]), len(sides[1])
    rooms = [
        Room(starts[0][i], starts[1][j], starts[0][i] + sides[0][i], starts[1][j] + sides[1][j])
        for i in range(num_x)
        for j in range(num_z)
    ]
    pairs = [(i * num_z + j, i * num_z + j + 1) for i in range(num_x) for j in range(num_z - 1)]
    pairs += [(i * num_z + j, (i + 1) * num_z + j) for i in range(num_x - 1) for j in range(num_z)]
    doors = [_door(rng, rooms, *pair) for pair in _connecting(rng, len(rooms), pairs)]
    is_free_XZ = np.zeros((starts[0][-1] - 1 + MARGIN_BLOCKS, starts[1][-1] - 1 + MARGIN_BLOCKS), bool)
    for room in rooms + [door.cells for door in doors]:
        is_free_XZ[room.x0 : room.x1, room.z0 : room.z1] = True
    return FloorPlan(rooms, doors, is_free_XZ, int(rng.integers(2**16)))


def is_line_free(is_free_XZ: np.ndarray, start: tuple[float, float], end: tuple[float, float]) -> bool:
    """Tell whether the straight line between two places (x, z) crosses free cells alone."""
    (x, z), (end_x, end_z) = start, end
    # Where the line passes from cell to cell: between two neighbouring crossings it is inside one cell.
    crossings = [0.0, 1.0]
    for a, b in ((x, end_x), (z, end_z)):
        if a != b:
            low, high = sorted((a, b))
            crossings += [(side - a) / (b - a) for side in range(int(np.ceil(low)), int(np.floor(high)) + 1)]
    at_N = np.unique(np.clip(crossings, 0.0, 1.0))
    middle_N = (at_N[1:] + at_N[:-1]) / 2
    i_N = np.floor(x + middle_N * (end_x - x)).astype(int)
    j_N = np.floor(z + middle_N * (end_z - z)).astype(int)
    is_inside_N = (i_N >= 0) & (i_N < is_free_XZ.shape[0]) & (j_N >= 0) & (j_N < is_free_XZ.shape[1])
    return bool(is_inside_N.all() and is_free_XZ[i_N, j_N].all())


def _connecting(rng: np.random.Generator, num_rooms: int, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs that get a door: a random spanning tree, and some of the others."""
    group = list(range(num_rooms))
    chosen = []
    for index in rng.permutation(len(pairs)):
        first, second = pairs[index]
        is_new = group[first] != group[second]
        if is_new:
            old = group[second]
            group = [group[first] if member == old else member for member in group]
        if is_new or rng.random() < _EXTRA_DOOR_CHANCE:
            chosen.append((first, second))
    return chosen


def _door(rng: np.random.Generator, rooms: list[Room], first: int, second: int) -> Door:
    a, b = rooms[first], rooms[second]
    if a.x1 < b.x0:  # side by side along x: the rows of both are the same
        z = int(rng.integers(a.z0, a.z1 - _DOOR_BLOCKS + 1))
        return Door(first, second, Room(a.x1, z, b.x0, z + _DOOR_BLOCKS))
    x = int(rng.integers(a.x0, a.x1 - _DOOR_BLOCKS + 1))
    return Door(first, second, Room(x, a.z1, x + _DOOR_BLOCKS, b.z0))
