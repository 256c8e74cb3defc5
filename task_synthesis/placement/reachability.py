"""Which places can be walked to, and how far it is: shortest paths over standing cells to where a target is in reach.

A cell's cost is in tenths of a block, UNREACHED where no path is known. Steps go to 8 neighbours: level, one block up
(a jump, straight only) or up to three blocks down. `is_solid_K` is solid_table(), or footing_table() where shapes
other than cubes are about: then jumps are as high as the shapes on both sides say.
"""

import math

import numpy as np
from numba import njit, prange

from task_synthesis.placement.targets import OBSTACLE, is_standable
from worlds.spec import BLOCK_MASK
from worlds.types import EYE_HEIGHT_BLOCKS
from worlds.voxel.raycast import first_hit_cpu

UNREACHED = np.uint16(65535)
STRAIGHT_COST, DIAGONAL_COST, JUMP_COST = 10, 14, 6
MAX_DROP_BLOCKS = 3
# Nearer than the 2.5 blocks that count as success, so that whoever reaches such a cell has not to inch forward.
STAND_RADIUS_BLOCKS = 2.2
_MAX_JUMP_SIXTEENTHS = 20  # a jump is 1.252 blocks high
_LOW_FLOOR_SIXTEENTHS = 12  # from a floor as high as that every floor one level up is within a jump
_FIVE_LEVELS = 31  # bits: from one below a cell up to a drop above it
_NUM_BUCKETS = 32  # more than the dearest step costs


@njit(cache=True, nogil=True)
def feet_distance(x, y, z, target_x, target_y, target_z):
    """Return the distance from feet at (x, y, z) to the centre of the target cell's floor, without wrapping."""
    dx, dy, dz = target_x + 0.5 - x, target_y - y, target_z + 0.5 - z
    return math.sqrt(dx * dx + dy * dy + dz * dz)


@njit(cache=True, nogil=True)
def middle_of(boxes, state):
    """Return the height of the middle of a state's largest box within its cell; half a block where it has none."""
    middle, largest = 0.5, 0.0
    for b in range(boxes.start_S[state], boxes.start_S[state] + boxes.count_S[state]):
        x0, y0, z0, x1, y1, z1 = boxes.box_B6[b]
        volume = (x1 - x0) * (y1 - y0) * (z1 - z0)
        if volume > largest:
            middle, largest = (y0 + y1) / 2.0, volume
    return middle


@njit(cache=True, nogil=True)
def sees_cell(block_XZY, outline, x, y, z, target_x, target_y, target_z):
    """Tell whether the eye of a body with feet at (x, y, z) has a clear line to the middle of the target cell.

    A cell that holds nothing a ray could meet (of a mob, an item) is seen when nothing stands before its middle.
    """
    size_x, size_z, size_y = block_XZY.shape
    wrapped_x, wrapped_z = target_x & (size_x - 1), target_z & (size_z - 1)
    state = block_XZY[wrapped_x, wrapped_z, target_y] & BLOCK_MASK
    middle = middle_of(outline, state)
    dx, dy, dz = target_x + 0.5 - x, target_y + middle - (y + EYE_HEIGHT_BLOCKS), target_z + 0.5 - z
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    hit_x, hit_y, hit_z, _, distance = first_hit_cpu(
        block_XZY, outline, x, y + EYE_HEIGHT_BLOCKS, z, dx / length, dy / length, dz / length, length + 1.0
    )
    if outline.count_S[state] == 0:
        return distance >= length
    return hit_y == target_y and hit_x == wrapped_x and hit_z == wrapped_z


@njit(cache=True, nogil=True)
def is_column_open(block_XZY, is_solid_K, x, z, y0, y1):
    """Tell whether no solid block stands in column (x, z) from level y0 to y1, both included."""
    x &= block_XZY.shape[0] - 1
    z &= block_XZY.shape[1] - 1
    for y in range(y0, min(y1 + 1, block_XZY.shape[2])):
        if is_solid_K[block_XZY[x, z, y] & BLOCK_MASK]:
            return False
    return True


@njit(cache=True, nogil=True)
def is_jump_low(block_XZY, is_solid_K, x, y, z, next_x, next_y, next_z):
    """Tell whether the floor under standing cell (next_x, next_y, next_z) is at most a jump above that of (x, y, z)."""
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    top = int(is_solid_K[block_XZY[x & mask_x, z & mask_z, y - 1] & BLOCK_MASK])
    next_top = int(is_solid_K[block_XZY[next_x & mask_x, next_z & mask_z, next_y - 1] & BLOCK_MASK])
    return 16 * (next_y - y) + next_top - top <= _MAX_JUMP_SIXTEENTHS


@njit(cache=True, nogil=True)
def can_step(block_XZY, is_solid_K, is_fluid_K, x, y, z, dx, dz, next_y):
    """Tell whether a body standing at (x, y, z) can go to the standing cell (x + dx, next_y, z + dz)."""
    rise = next_y - y
    if rise > 1 or rise < -MAX_DROP_BLOCKS:
        return False
    if rise == 1 and (dx != 0 and dz != 0 or not is_column_open(block_XZY, is_solid_K, x, z, y + 2, y + 2)):
        return False
    if rise == 1 and not is_jump_low(block_XZY, is_solid_K, x, y, z, x + dx, next_y, z + dz):
        return False
    if rise < 0 and not is_column_open(block_XZY, is_solid_K, x + dx, z + dz, next_y, y + 1):
        return False
    if dx != 0 and dz != 0:
        return is_column_open(block_XZY, is_solid_K, x + dx, z, y, y + 1) and is_column_open(
            block_XZY, is_solid_K, x, z + dz, y, y + 1
        )
    return True


@njit(cache=True, nogil=True)
def read_column(block_XZY, is_solid_K, is_fluid_K, x, z, bits_XZ3, is_read_XZ):
    """Write once into bits_XZ3[x, z] which levels are standing cells, which open, which on a low floor (a slab)."""
    if is_read_XZ[x, z]:
        return
    is_read_XZ[x, z] = True
    one = np.uint64(1)
    open_bits, dry, firm, low = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for y in range(block_XZY.shape[2]):
        state = block_XZY[x, z, y] & BLOCK_MASK
        bit = one << np.uint64(y)
        solid = int(is_solid_K[state])
        if solid == 0:
            open_bits |= bit
            if not is_fluid_K[state]:
                dry |= bit
        elif solid != OBSTACLE:
            firm |= bit
            if solid < _LOW_FLOOR_SIXTEENTHS:
                low |= bit
    stand = (firm << one) & dry & (dry >> one)
    bits_XZ3[x, z, 0], bits_XZ3[x, z, 1], bits_XZ3[x, z, 2] = stand, open_bits, (low << one) & stand


@njit(cache=True, nogil=True)
def are_open(open_bits, y0, y1):
    """Tell whether levels y0 .. y1 of a column are open."""
    wanted = ((np.uint64(1) << np.uint64(y1 - y0 + 1)) - np.uint64(1)) << np.uint64(y0)
    return open_bits & wanted == wanted


@njit(cache=True, nogil=True)
def can_come(block_XZY, is_solid_K, is_fluid_K, bits_XZ3, is_read_XZ, from_x, from_y, from_z, x, y, z):
    """Tell what can_step tells of two standing cells in columns beside each other, both of them read.

    On the bits of whole columns it is nine times as fast. All coordinates lie within the world.
    """
    is_diagonal = from_x != x and from_z != z
    if from_y < y:
        if is_diagonal or not are_open(bits_XZ3[from_x, from_z, 1], y + 1, y + 1):
            return False
        if bits_XZ3[from_x, from_z, 2] >> np.uint64(from_y) & np.uint64(1) != 0 and not is_jump_low(
            block_XZY, is_solid_K, from_x, from_y, from_z, x, y, z
        ):
            return False
    elif from_y > y and not are_open(bits_XZ3[x, z, 1], y, from_y + 1):
        return False
    if is_diagonal:
        read_column(block_XZY, is_solid_K, is_fluid_K, x, from_z, bits_XZ3, is_read_XZ)
        read_column(block_XZY, is_solid_K, is_fluid_K, from_x, z, bits_XZ3, is_read_XZ)
        corners_open = bits_XZ3[x, from_z, 1] & bits_XZ3[from_x, z, 1]
        return are_open(corners_open, from_y, from_y + 1)
    return True


@njit(cache=True, nogil=True)
def is_end(block_XZY, outline, is_solid_K, is_fluid_K, x, y, z, target_x, target_y, target_z):
    """Tell whether a walk can end with the feet in cell (x, y, z): firm, near the target, with a clear line to it."""
    return (
        feet_distance(x + 0.5, y, z + 0.5, target_x, target_y, target_z) <= STAND_RADIUS_BLOCKS
        and is_standable(block_XZY, is_solid_K, is_fluid_K, x, y, z)
        and sees_cell(block_XZY, outline, x + 0.5, y, z + 0.5, target_x, target_y, target_z)
    )


@njit(cache=True, nogil=True)
def walk_costs(block_XZY, outline, is_solid_K, is_fluid_K, target_x, target_y, target_z, max_cost, cost_XZY):
    """Fill cost_XZY (uint16) with the cost of walking from each standing cell to where the target is in reach.

    Dijkstra with one bucket a cost, backwards from the cells within STAND_RADIUS_BLOCKS that see the target. Paths
    dearer than `max_cost` stay UNREACHED. Returns the number of cells that such a walk can end on.
    """
    size_x, size_z, size_y = cost_XZY.shape
    cost_XZY[:] = UNREACHED
    capacity = size_x * size_z
    bucket_BN = np.empty((_NUM_BUCKETS, capacity), np.int32)
    count_B = np.zeros(_NUM_BUCKETS, np.int64)
    num_ends = 0
    for dx in range(-3, 4):
        for dz in range(-3, 4):
            for y in range(max(1, target_y - 2), min(size_y - 1, target_y + 3)):
                x, z = target_x + dx, target_z + dz
                if not is_end(block_XZY, outline, is_solid_K, is_fluid_K, x, y, z, target_x, target_y, target_z):
                    continue
                wrapped_x, wrapped_z = x & (size_x - 1), z & (size_z - 1)
                cost_XZY[wrapped_x, wrapped_z, y] = 0
                bucket_BN[0, count_B[0]] = (wrapped_x * size_z + wrapped_z) * size_y + y
                count_B[0] += 1
                num_ends += 1
    is_read_XZ = np.zeros((size_x, size_z), np.bool_)
    bits_XZ3 = np.empty((size_x, size_z, 3), np.uint64)
    num_waiting, cost = num_ends, 0
    while num_waiting > 0 and cost <= max_cost:
        bucket = cost % _NUM_BUCKETS
        index = 0
        while index < count_B[bucket]:
            cell = bucket_BN[bucket, index]
            index += 1
            num_waiting -= 1
            y = cell % size_y
            z = (cell // size_y) % size_z
            x = cell // (size_y * size_z)
            if cost_XZY[x, z, y] != cost:
                continue
            read_column(block_XZY, is_solid_K, is_fluid_K, x, z, bits_XZ3, is_read_XZ)
            for dx in range(-1, 2):
                for dz in range(-1, 2):
                    if dx == 0 and dz == 0:
                        continue
                    is_diagonal = dx != 0 and dz != 0
                    from_x, from_z = (x - dx) & (size_x - 1), (z - dz) & (size_z - 1)
                    read_column(block_XZY, is_solid_K, is_fluid_K, from_x, from_z, bits_XZ3, is_read_XZ)
                    # Bit n: whether a body can stand n levels above y - 1.
                    levels = int(bits_XZ3[from_x, from_z, 0] >> np.uint64(y - 1)) & _FIVE_LEVELS
                    from_y = y - 2
                    while levels != 0:
                        from_y += 1
                        is_level = levels & 1
                        levels >>= 1
                        if is_level == 0:
                            continue
                        reached = cost + (DIAGONAL_COST if is_diagonal else STRAIGHT_COST)
                        if from_y < y:
                            reached += JUMP_COST
                        # Most neighbours are done already.
                        if reached >= cost_XZY[from_x, from_z, from_y] or reached > max_cost:
                            continue
                        if not can_come(
                            block_XZY, is_solid_K, is_fluid_K, bits_XZ3, is_read_XZ, from_x, from_y, from_z, x, y, z
                        ):
                            continue
                        slot = reached % _NUM_BUCKETS
                        if count_B[slot] >= capacity:
                            continue
                        cost_XZY[from_x, from_z, from_y] = reached
                        bucket_BN[slot, count_B[slot]] = (from_x * size_z + from_z) * size_y + from_y
                        count_B[slot] += 1
                        num_waiting += 1
        count_B[bucket] = 0
        cost += 1
    return num_ends


@njit(parallel=True, cache=True, nogil=True)
def walk_costs_of_envs(block_EXZY, outline, is_solid_K, is_fluid_K, env_index_N, target_N3, max_cost, cost_EXZY):
    """Fill cost_EXZY[e] for the envs e in `env_index_N`, each towards its row of target_N3 (int64 [N, 3] x, y, z)."""
    for n in prange(len(env_index_N)):
        e = env_index_N[n]
        walk_costs(
            block_EXZY[e],
            outline,
            is_solid_K,
            is_fluid_K,
            target_N3[n, 0],
            target_N3[n, 1],
            target_N3[n, 2],
            max_cost,
            cost_EXZY[e],
        )
