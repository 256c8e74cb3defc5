"""The shapes of trees, cell by cell. X Y Z blocks. Leaves take only air; trunks take what they meet."""

import numba
import numpy as np

from worlds.generate.noise import hash_unit

_HIGHEST = 62  # nothing grows above


@numba.njit(cache=True, nogil=True)
def put_leaf(block_XZY: np.ndarray, x: int, y: int, z: int, leaves: int) -> None:
    """Set one block where there is air."""
    x_in, z_in = x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1)
    if y <= _HIGHEST and block_XZY[x_in, z_in, y] == 0:
        block_XZY[x_in, z_in, y] = leaves


@numba.njit(cache=True, nogil=True)
def put_trunk(block_XZY: np.ndarray, x: int, y: int, z: int, trunk: int) -> None:
    """Set one block whatever stands there."""
    if y <= _HIGHEST:
        block_XZY[x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1), y] = trunk


@numba.njit(cache=True, nogil=True)
def put_round_crown(block_XZY: np.ndarray, x: int, top: int, z: int, leaves: int, key: np.uint64) -> None:
    """Minecraft's oak: two layers 5 wide without some corners, one 3 wide, and a cross on top of the trunk."""
    for dy in range(-2, 2):
        radius = 2 if dy < 0 else 1
        for dx in range(-radius, radius + 1):
            for dz in range(-radius, radius + 1):
                is_corner = abs(dx) == radius and abs(dz) == radius
                if is_corner and (dy == 1 or hash_unit(key, x * 8 + dx, z * 8 + dz, 16 + dy) < 0.5):
                    continue
                put_leaf(block_XZY, x + dx, top + dy, z + dz, leaves)


@numba.njit(cache=True, nogil=True)
def put_cone_crown(block_XZY: np.ndarray, x: int, ground: int, height: int, z: int, lowest: int, leaves: int) -> None:
    """Minecraft's spruce: rings that widen downwards in two steps and start again, `lowest` above the ground."""
    put_leaf(block_XZY, x, ground + height + 1, z, leaves)
    radius, widest = 0, 1
    for y in range(ground + height, ground + lowest - 1, -1):
        for dx in range(-radius, radius + 1):
            for dz in range(-radius, radius + 1):
                if radius > 0 and abs(dx) == radius and abs(dz) == radius:
                    continue
                put_leaf(block_XZY, x + dx, y, z + dz, leaves)
        if radius >= widest:
            radius, widest = widest - 1 if widest < 3 else 1, min(widest + 1, 3)
        else:
            radius += 1


@numba.njit(cache=True, nogil=True)
def put_blob(block_XZY: np.ndarray, x: int, y: int, z: int, radius: float, half_height: float, leaves: int) -> None:
    """Set an ellipsoid of leaves."""
    reach, reach_y = int(radius), int(half_height)
    for dx in range(-reach, reach + 1):
        for dz in range(-reach, reach + 1):
            for dy in range(-reach_y, reach_y + 1):
                flat = (dx * dx + dz * dz) / (radius * radius)
                if flat + dy * dy / (half_height * half_height) <= 1.0:
                    put_leaf(block_XZY, x + dx, y + dy, z + dz, leaves)


@numba.njit(cache=True, nogil=True)
def put_disc(block_XZY: np.ndarray, x: int, y: int, z: int, radius: int, corner: int, leaves: int) -> None:
    """Set one square layer of leaves, `corner` blocks cut off each corner."""
    for dx in range(-radius, radius + 1):
        for dz in range(-radius, radius + 1):
            if abs(dx) + abs(dz) <= 2 * radius - corner:
                put_leaf(block_XZY, x + dx, y, z + dz, leaves)


@numba.njit(cache=True, nogil=True)
def put_big_oak(
    block_XZY: np.ndarray, x: int, ground: int, height: int, z: int, trunk: int, leaves: int, key: np.uint64
) -> None:
    """A wide oak: a blob of leaves on top and at the end of each of four boughs."""
    put_blob(block_XZY, x, ground + height, z, 2.9, 2.3, leaves)
    for bough in range(4):
        if hash_unit(key, x, z, 32 + bough) < 0.25:
            continue
        step_x = (1, -1, 0, 0)[bough]
        step_z = (0, 0, 1, -1)[bough]
        side = int(3.0 * hash_unit(key, x, z, 36 + bough)) - 1
        length = 2 + int(2.0 * hash_unit(key, x, z, 40 + bough))
        y = ground + height // 2 + int(0.4 * height * hash_unit(key, x, z, 44 + bough))
        x_end, z_end = x + length * step_x + side * step_z, z + length * step_z + side * step_x
        put_blob(block_XZY, x_end, y + 1, z_end, 2.3, 1.7, leaves)
        for step in range(1, length + 1):
            across = side if step > length // 2 else 0
            put_trunk(block_XZY, x + step * step_x + across * step_z, y, z + step * step_z + across * step_x, trunk)


@numba.njit(cache=True, nogil=True)
def put_acacia(
    block_XZY: np.ndarray, x: int, ground: int, height: int, z: int, trunk: int, leaves: int, key: np.uint64
) -> None:
    """A trunk that bends twice, each bend under a flat crown."""
    for bend in range(2):
        direction = (int(4.0 * hash_unit(key, x, z, 32)) + (2 + int(2.0 * hash_unit(key, x, z, 33))) * bend) % 4
        step_x = (1, 0, -1, 0)[direction]
        step_z = (0, 1, 0, -1)[direction]
        lean = 1 + int(3.0 * hash_unit(key, x, z, 34 + bend))
        if bend == 1 and hash_unit(key, x, z, 36) < 0.4:
            break
        fork = ground + height - 2 - bend
        for step in range(lean + 1):
            put_trunk(block_XZY, x + step * step_x, fork + step, z + step * step_z, trunk)
        x_end, top, z_end = x + lean * step_x, fork + lean, z + lean * step_z
        put_disc(block_XZY, x_end, top, z_end, 3 - bend, 2 - bend, leaves)
        put_disc(block_XZY, x_end, top + 1, z_end, 2 - bend, 1, leaves)


@numba.njit(cache=True, nogil=True)
def put_dark_oak(
    block_XZY: np.ndarray, ground_XZ: np.ndarray, x: int, ground: int, height: int, z: int, trunk: int, leaves: int
) -> None:
    """A trunk 2 x 2 wide under a broad flat crown; each of the four columns stands on its own ground."""
    for dx in range(2):
        for dz in range(2):
            put_disc(block_XZY, x + dx, ground + height, z + dz, 3, 1, leaves)
            put_disc(block_XZY, x + dx, ground + height - 1, z + dz, 2, 1, leaves)
            put_disc(block_XZY, x + dx, ground + height + 1, z + dz, 1, 0, leaves)
    for dx in range(2):
        for dz in range(2):
            x_in, z_in = (x + dx) & (block_XZY.shape[0] - 1), (z + dz) & (block_XZY.shape[1] - 1)
            for y in range(ground_XZ[x_in, z_in] + 1, ground + height + 1):
                put_trunk(block_XZY, x_in, y, z_in, trunk)


@numba.njit(cache=True, nogil=True)
def put_mushroom(block_XZY: np.ndarray, x: int, ground: int, height: int, z: int, is_flat: bool, cap: int) -> None:
    """The cap of a huge mushroom: a flat roof 7 wide, or a dome 5 wide."""
    top = ground + height
    if is_flat:
        put_disc(block_XZY, x, top + 1, z, 3, 1, cap)
        return
    put_disc(block_XZY, x, top + 1, z, 1, 0, cap)
    for y in range(top - 2, top + 1):
        for side in range(-1, 2):
            put_leaf(block_XZY, x + side, y, z + 2, cap)
            put_leaf(block_XZY, x + side, y, z - 2, cap)
            put_leaf(block_XZY, x + 2, y, z + side, cap)
            put_leaf(block_XZY, x - 2, y, z + side, cap)


@numba.njit(cache=True, nogil=True)
def put_spike(block_XZY: np.ndarray, ground_XZ: np.ndarray, x: int, top: int, z: int, radius: float, ice: int) -> None:
    """A cone of ice, every column of it on its own ground."""
    reach = int(radius) + 1
    height = top - ground_XZ[x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1)]
    for dx in range(-reach, reach + 1):
        for dz in range(-reach, reach + 1):
            away = np.sqrt(float(dx * dx + dz * dz)) / (radius + 0.3)
            if away > 1.0:
                continue
            x_in, z_in = (x + dx) & (block_XZY.shape[0] - 1), (z + dz) & (block_XZY.shape[1] - 1)
            for y in range(ground_XZ[x_in, z_in] + 1, top - int(away * height) + 1):
                put_trunk(block_XZY, x_in, y, z_in, ice)


@numba.njit(cache=True, nogil=True)
def _may_cling(block_XZY: np.ndarray, x: int, x_held: int, y: int, z: int, z_held: int, vine_4: np.ndarray) -> bool:
    """Tell whether a cell is free and the one beside it can hold a vine."""
    held = block_XZY[x_held, z_held, y]
    is_vine = held == vine_4[0] or held == vine_4[1] or held == vine_4[2] or held == vine_4[3]
    return block_XZY[x, z, y] == 0 and held != 0 and not is_vine


@numba.njit(cache=True, nogil=True)
def hang_vines(
    block_XZY: np.ndarray,
    x: int,
    lowest: int,
    highest: int,
    z: int,
    reach: int,
    share: float,
    vine_4: np.ndarray,
    key: np.uint64,
) -> None:
    """Hang vines on the sides of what stands within `reach` of a trunk; vine_4 cling to +x, -x, +z, -z."""
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    for dx in range(-reach - 1, reach + 2):
        for dz in range(-reach - 1, reach + 2):
            x_in, z_in = (x + dx) & mask_x, (z + dz) & mask_z
            if hash_unit(key, x * 16 + dx, z * 16 + dz, 48) >= share:
                continue
            for side in range(4):
                x_held = (x_in + (1, -1, 0, 0)[side]) & mask_x
                z_held = (z_in + (0, 0, 1, -1)[side]) & mask_z
                y = min(highest, _HIGHEST)
                while y >= lowest and not _may_cling(block_XZY, x_in, x_held, y, z_in, z_held, vine_4):
                    y -= 1
                if y < lowest:
                    continue
                # It hangs on below the block that holds it.
                length = 1 + int(5.0 * hash_unit(key, x * 16 + dx, z * 16 + dz, 49))
                while length > 0 and y >= lowest and block_XZY[x_in, z_in, y] == 0:
                    block_XZY[x_in, z_in, y] = vine_4[side]
                    y -= 1
                    length -= 1
                break
