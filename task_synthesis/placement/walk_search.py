"""How far one place is from a target on foot: the one number of reachability.walk_costs that a task needs.

A* instead of Dijkstra: backwards from the target's ends, towards the start, so that of a world of 128 x 128 columns
only those about the straight line are looked at.
"""

import numpy as np
from numba import njit

from task_synthesis.placement.reachability import (
    DIAGONAL_COST,
    JUMP_COST,
    STRAIGHT_COST,
    UNREACHED,
    can_come,
    is_end,
    read_column,
)
from worlds.voxel.tables import Boxes

TOO_FAR = -1  # a walk may exist, but none within the limit
NO_WALK = -2  # whatever the limit
_FIVE_LEVELS = 31  # bits: from one below a cell up to a drop above it
# A power of two above what the estimates of the ends differ by (80), and above what a step adds (46).
_NUM_BUCKETS = 128


@njit(cache=True, nogil=True)
def _estimate(x, y, z, start_x, start_y, start_z, size_x, size_z):
    """Return the least cost of a walk from a start to (x, y, z) on a torus: straight, with one jump for each level."""
    dx, dz = abs(x - start_x), abs(z - start_z)
    dx, dz = min(dx, size_x - dx), min(dz, size_z - dz)
    level_cost = STRAIGHT_COST * max(dx, dz) + (DIAGONAL_COST - STRAIGHT_COST) * min(dx, dz)
    return level_cost + JUMP_COST * max(0, y - start_y)


@njit(cache=True, nogil=True)
def _wait_at_ends(
    block_XZY, outline, is_solid_K, is_fluid_K, target_3, start_3, max_cost, cost_XZY, cell_N, next_N, head_B
):
    """Begin at the places from which the target is in reach.

    Returns how many there are, the least cost that a walk from the start to one of them may have (max_cost + 1 where
    there is none), and whether one is too far from the start.
    """
    size_x, size_z, size_y = cost_XZY.shape
    target_x, target_y, target_z = target_3
    start_x, start_y, start_z = start_3
    num_nodes, bound, is_cut = 0, max_cost + 1, False
    for dx in range(-3, 4):
        for dz in range(-3, 4):
            for y in range(max(1, target_y - 2), min(size_y - 1, target_y + 3)):
                x, z = target_x + dx, target_z + dz
                if not is_end(block_XZY, outline, is_solid_K, is_fluid_K, x, y, z, target_x, target_y, target_z):
                    continue
                x, z = x & (size_x - 1), z & (size_z - 1)
                least = _estimate(x, y, z, start_x, start_y, start_z, size_x, size_z)
                if least > max_cost:
                    is_cut = True
                    continue
                cost_XZY[x, z, y] = 0
                cell_N[num_nodes] = (x * size_z + z) * size_y + y
                next_N[num_nodes] = head_B[least % _NUM_BUCKETS]
                head_B[least % _NUM_BUCKETS] = num_nodes
                num_nodes += 1
                bound = min(bound, least)
    return num_nodes, bound, is_cut


@njit(cache=True, nogil=True)
def _search(
    block_XZY,
    outline,
    is_solid_K,
    is_fluid_K,
    target_3,
    start_3,
    max_cost,
    cost_XZY,
    cell_N,
    next_N,
    bits_XZ3,
    is_read_XZ,
):
    """Return the cost of the cheapest walk, TOO_FAR or NO_WALK; cost_XZY is UNREACHED everywhere before and after."""
    size_x, size_z, size_y = cost_XZY.shape
    start_x, start_y, start_z = start_3
    head_B = np.full(_NUM_BUCKETS, -1, np.int64)
    num_nodes, bound, is_cut = _wait_at_ends(
        block_XZY, outline, is_solid_K, is_fluid_K, target_3, start_3, max_cost, cost_XZY, cell_N, next_N, head_B
    )
    num_waiting = num_nodes
    found = -1
    while num_waiting > 0 and bound <= max_cost and found < 0:
        node = head_B[bound % _NUM_BUCKETS]
        if node < 0:
            bound += 1
            continue
        head_B[bound % _NUM_BUCKETS] = next_N[node]
        num_waiting -= 1
        cell = cell_N[node]
        y, z, x = cell % size_y, (cell // size_y) % size_z, cell // (size_y * size_z)
        cost = int(cost_XZY[x, z, y])
        # A cell that has become cheaper since waits in another bucket as well.
        if cost + _estimate(x, y, z, start_x, start_y, start_z, size_x, size_z) != bound:
            continue
        if x == start_x and y == start_y and z == start_z:
            found = cost
            break
        read_column(block_XZY, is_solid_K, is_fluid_K, x, z, bits_XZ3, is_read_XZ)
        for dx in range(-1, 2):
            for dz in range(-1, 2):
                if dx == 0 and dz == 0:
                    continue
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
                    reached = cost + (DIAGONAL_COST if dx != 0 and dz != 0 else STRAIGHT_COST)
                    if from_y < y:
                        reached += JUMP_COST
                    if reached >= cost_XZY[from_x, from_z, from_y]:
                        continue
                    if not can_come(
                        block_XZY, is_solid_K, is_fluid_K, bits_XZ3, is_read_XZ, from_x, from_y, from_z, x, y, z
                    ):
                        continue
                    least = reached + _estimate(from_x, from_y, from_z, start_x, start_y, start_z, size_x, size_z)
                    if least > max_cost or num_nodes == len(cell_N):
                        is_cut = True
                        continue
                    cost_XZY[from_x, from_z, from_y] = reached
                    cell_N[num_nodes] = (from_x * size_z + from_z) * size_y + from_y
                    next_N[num_nodes] = head_B[least % _NUM_BUCKETS]
                    head_B[least % _NUM_BUCKETS] = num_nodes
                    num_nodes += 1
                    num_waiting += 1
    cost_N = cost_XZY.reshape(-1)
    for node in range(num_nodes):
        cost_N[cell_N[node]] = UNREACHED
    if found >= 0:
        return found
    return TOO_FAR if is_cut else NO_WALK


class WalkSearch:
    """Searches walks in worlds of one size, one after the other."""

    def __init__(
        self, shape_XZY: tuple[int, int, int], *, outline: Boxes, footing_S: np.ndarray, is_fluid_S: np.ndarray
    ) -> None:
        """Search by the tables that walk_costs is given."""
        self._tables = outline, footing_S, is_fluid_S
        self._cost_XZY = np.full(shape_XZY, UNREACHED, np.uint16)
        # A cell is seldom entered more than once, and few cells can be stood in.
        self._cell_N, self._next_N = np.empty(self._cost_XZY.size, np.int32), np.empty(self._cost_XZY.size, np.int32)
        self._bits_XZ3 = np.empty((*shape_XZY[:2], 3), np.uint64)
        self._is_read_XZ = np.empty(shape_XZY[:2], bool)

    def cost(
        self, block_XZY: np.ndarray, target: tuple[int, int, int], start: tuple[int, int, int], *, max_cost: int
    ) -> int:
        """Return the cost of the cheapest walk in tenths of a block, or TOO_FAR or NO_WALK.

        Args:
            block_XZY: uint16 cells, objects included.
            target: its cell x, y, z.
            start: the standing cell that the walk begins in, within the world.
            max_cost: dearer walks are not looked for.
        """
        self._is_read_XZ[:] = False
        outline, footing_S, is_fluid_S = self._tables
        return int(
            _search(
                block_XZY, outline, footing_S, is_fluid_S, target, start, max_cost,
                self._cost_XZY, self._cell_N, self._next_N, self._bits_XZ3, self._is_read_XZ,
            )
        )  # fmt: skip
