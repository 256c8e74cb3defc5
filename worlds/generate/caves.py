"""Tunnels, rooms and ravines cut into the land. X Y Z blocks.

Every tunnel begins with a mouth at the surface and goes down about one block in two, so that it can be walked both
ways; its branch begins in its room. Nothing is cut where water would run in: `roof_XZ` is the highest cell that may go.
"""

import numba
import numpy as np

from worlds.blocks import BLOCK_ID, state_of
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.land import Land
from worlds.generate.noise import hash_unit

_CELL = 32
_RAVINE_CELL = 64
_OPEN = 63  # roof of a column that may be cut up to the sky
_ROOF_UNDER_WATER, _ROOF_UNDER_SITE = 3, 5
_LOWEST, _LAVA_LEVEL = 4, 6  # what is cut at or below the lava level is full of lava
_LAVA = state_of("lava")

# cos and sin of 64 directions, rounded: the last bits of a library's own differ from machine to machine.
_TURN = 64
_DIRECTION_N2 = np.round([[np.cos(2.0 * np.pi * n / _TURN), np.sin(2.0 * np.pi * n / _TURN)] for n in range(_TURN)], 6)


def dig_caves(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Cut the biome's caves and ravines; ground_XZ is lowered where they open to the sky."""
    before_XZ = ground_XZ.copy()
    roof_XZ = _roofs(ground_XZ, reserved_XZ)
    chance = land.draw("cave_density", land.biome.cave_density) * _CELL**2 / 1000.0
    _dig_tunnels(block_XZY, ground_XZ, roof_XZ, land.key("caves"), chance, _LAVA)
    chance = land.biome.ravine_density * _RAVINE_CELL**2 / 1000.0
    _dig_ravines(block_XZY, ground_XZ, before_XZ, roof_XZ, land.key("ravines"), chance, _LAVA)
    # Soil that a shallow cut laid bare is overgrown.
    x_N, z_N = np.nonzero((ground_XZ < before_XZ) & (ground_XZ >= before_XZ - 3))
    y_N = ground_XZ[x_N, z_N]
    is_soil_N = block_XZY[x_N, z_N, y_N] == BLOCK_ID[land.biome.filler]
    block_XZY[x_N[is_soil_N], z_N[is_soil_N], y_N[is_soil_N]] = BLOCK_ID[land.biome.surface]


def _roofs(ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> np.ndarray:
    """Return the highest cell of every column that may be cut, int16 [X, Z]."""
    lowest_XZ = ground_XZ
    for axis in (0, 1):
        lowest_XZ = np.minimum(np.minimum(lowest_XZ, np.roll(lowest_XZ, 1, axis)), np.roll(lowest_XZ, -1, axis))
    roof_XZ = np.where(lowest_XZ < SEA_LEVEL, lowest_XZ - _ROOF_UNDER_WATER, _OPEN)
    return np.where(reserved_XZ != 0, np.minimum(roof_XZ, ground_XZ - _ROOF_UNDER_SITE), roof_XZ).astype(np.int16)


@numba.njit(cache=True, nogil=True)
def _cut(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    roof_XZ: np.ndarray,
    x: float,
    y: float,
    z: float,
    radius: float,
    half_height: float,
    lava: int,
) -> None:
    """Cut an ellipsoid with a flat floor, and lower the ground where its top was cut."""
    size_x, size_z, _ = block_XZY.shape
    for x_cut in range(int(np.floor(x - radius)), int(np.floor(x + radius)) + 1):
        for z_cut in range(int(np.floor(z - radius)), int(np.floor(z + radius)) + 1):
            dx, dz = (x_cut + 0.5 - x) / radius, (z_cut + 0.5 - z) / radius
            flat = dx * dx + dz * dz
            if flat >= 1.0:
                continue
            x_in, z_in = x_cut & (size_x - 1), z_cut & (size_z - 1)
            reach = half_height * np.sqrt(1.0 - flat)
            highest = min(int(np.floor(y + reach)), roof_XZ[x_in, z_in])
            lowest = max(int(np.floor(y - min(reach, 0.75 * half_height))), _LOWEST)
            for y_in in range(lowest, highest + 1):
                block_XZY[x_in, z_in, y_in] = lava if y_in <= _LAVA_LEVEL else 0
            ground = ground_XZ[x_in, z_in]
            while block_XZY[x_in, z_in, ground] == 0 or block_XZY[x_in, z_in, ground] == lava:
                ground -= 1
            ground_XZ[x_in, z_in] = ground


@numba.njit(cache=True, nogil=True)
def _dig_tunnel(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    roof_XZ: np.ndarray,
    key: np.uint64,
    number: int,
    start_xyz: tuple[float, float, float],
    yaw: float,
    num_steps: int,
    depth: float,
    lava: int,
) -> tuple[float, float, float]:
    """Cut one winding tunnel that goes down to about `depth`; return the centre of the room in its later half."""
    x, y, z = start_xyz
    turn, wide, sink = 0.0, 0.0, 0.55
    room_step = num_steps // 2 + int(0.4 * num_steps * hash_unit(key, number, 0, 7))
    room_xyz = (x, y, z)
    for step in range(num_steps):
        turn = 0.8 * turn + 2.4 * (hash_unit(key, number, step, 8) - 0.5)
        wide = 0.85 * wide + 0.5 * (hash_unit(key, number, step, 9) - 0.5)
        yaw += turn
        direction = int(np.floor(yaw)) % _TURN
        if y < depth:
            # Once deep enough it goes on at about this depth.
            sink = 0.8 * sink + 0.5 * (hash_unit(key, number, step, 10) - 0.5) + 0.04 * (y - depth + 1.0)
        x += _DIRECTION_N2[direction, 0]
        z += _DIRECTION_N2[direction, 1]
        y = max(y - sink, _LAVA_LEVEL + 1.5)
        radius = 2.0 + max(-0.5, wide)
        _cut(block_XZY, ground_XZ, roof_XZ, x, y, z, radius, max(radius, 1.9), lava)
        if step == room_step:
            room_xyz = (x, y, z)
            _cut(block_XZY, ground_XZ, roof_XZ, x, y + 1.0, z, 4.0 + 2.0 * hash_unit(key, number, 0, 11), 3.2, lava)
    return room_xyz


@numba.njit(cache=True, nogil=True)
def _dig_tunnels(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, roof_XZ: np.ndarray, key: np.uint64, chance: float, lava: int
) -> None:
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _CELL):
        for k in range(size_z // _CELL):
            if hash_unit(key, i, k, 0) >= chance:
                continue
            x = i * _CELL + int(_CELL * hash_unit(key, i, k, 1))
            z = k * _CELL + int(_CELL * hash_unit(key, i, k, 2))
            if roof_XZ[x, z] != _OPEN:
                continue
            number = 4 * (i * (size_z // _CELL) + k)
            num_steps = 45 + int(50 * hash_unit(key, i, k, 3))
            depth = 8.0 + 10.0 * hash_unit(key, i, k, 4)
            yaw = _TURN * hash_unit(key, i, k, 5)
            mouth_xyz = (x + 0.5, ground_XZ[x, z] + 1.5, z + 0.5)
            room_xyz = _dig_tunnel(block_XZY, ground_XZ, roof_XZ, key, number, mouth_xyz, yaw, num_steps, depth, lava)
            if hash_unit(key, i, k, 6) < 0.6:
                _dig_tunnel(
                    block_XZY, ground_XZ, roof_XZ, key, number + 1, room_xyz, yaw + 0.4 * _TURN, num_steps // 2,
                    0.7 * depth, lava,
                )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _dig_ravines(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    before_XZ: np.ndarray,
    roof_XZ: np.ndarray,
    key: np.uint64,
    chance: float,
    lava: int,
) -> None:
    """Cut long narrow clefts that are open to the sky; their floor rises to the surface at both ends."""
    size_x, size_z, _ = block_XZY.shape
    for i in range(size_x // _RAVINE_CELL):
        for k in range(size_z // _RAVINE_CELL):
            if hash_unit(key, i, k, 0) >= chance:
                continue
            x = _RAVINE_CELL * (i + hash_unit(key, i, k, 1))
            z = _RAVINE_CELL * (k + hash_unit(key, i, k, 2))
            length = 40 + int(16 * hash_unit(key, i, k, 3))
            # 4 depth / length is the steepest slope of the floor: below 1 it can be climbed.
            depth = min(7.0 + 6.0 * hash_unit(key, i, k, 4), 0.24 * length)
            width = 1.6 + 1.2 * hash_unit(key, i, k, 5)
            yaw = _TURN * hash_unit(key, i, k, 6)
            turn = 0.0
            level = -1.0
            for step in range(length):
                turn = 0.85 * turn + 0.8 * (hash_unit(key, i * size_z + k, step, 7) - 0.5)
                yaw += turn
                direction = int(np.floor(yaw)) % _TURN
                x += _DIRECTION_N2[direction, 0]
                z += _DIRECTION_N2[direction, 1]
                x_in, z_in = int(np.floor(x)) & (size_x - 1), int(np.floor(z)) & (size_z - 1)
                if roof_XZ[x_in, z_in] != _OPEN:
                    level = -1.0
                    continue
                along = (step + 1.0) / (length + 1.0)
                # Measured from a smoothed surface, or every bump would be seen on the floor too.
                surface = float(before_XZ[x_in, z_in]) + 1.0
                level = surface if level < 0.0 else level + max(-0.3, min(0.3, surface - level))
                floor = level - 4.0 * depth * along * (1.0 - along)
                # The walls lean in a little towards the floor.
                height = (level + 3.0 - floor) / 1.75
                _cut(
                    block_XZY, ground_XZ, roof_XZ, x, floor + 0.75 * height, z, width + 0.8 * along * (1.0 - along),
                    height, lava,
                )  # fmt: skip
