"""Shortest walks over the floors of a world to where something can be seen and reached, and the next point on them.

Costs are tenths of a block, UNREACHED where no walk is known. The search goes backwards from its ends and stops soon
after it has met the agent, so planning anew for a moving target costs the more the farther away it is.
"""

import math

import numpy as np
from numba import njit

from policies.expert.ground import (
    DROP_BLOCKS,
    JUMP_RISE_BLOCKS,
    WALK_RISE_BLOCKS,
    can_go,
    floor_near,
    floor_of,
    state_at,
)
from policies.expert.view import plants_between
from task_synthesis.placement.reachability import UNREACHED

MAX_COST = 2400
_STRAIGHT, _DIAGONAL, _JUMP, _SWIM, _PLANT = 10, 14, 6, 15, 8
_NUM_BUCKETS = 64  # more than the dearest step costs
_MARGIN = 80  # how much farther than the agent it searches, for one who strays from the walk
_END_CELLS = 5  # how far from the target an end of the walk may be, at most
_LOOK_AHEAD_STEPS = 6
_LOST_CELLS = 7


@njit(cache=True, nogil=True)
def _is_kept_off(x, z, keep_off_N2, num_keep_off, keep_off_blocks, size_x, size_z):
    for n in range(num_keep_off):
        dx = (x + 0.5 - keep_off_N2[n, 0] + size_x / 2) % size_x - size_x / 2
        dz = (z + 0.5 - keep_off_N2[n, 1] + size_z / 2) % size_z - size_z / 2
        if dx * dx + dz * dz < keep_off_blocks * keep_off_blocks:
            return True
    return False


@njit(cache=True, nogil=True)
def _end_cost(
    block_XZY, outline, ground, x, height, z, goal_x, goal_y, goal_z, reach_blocks, from_eye, eye_blocks, slot
):  # fmt: skip
    """Return the cost of ending a walk at a floor, -1 where the goal is out of reach or sight there."""
    dx, dy, dz = goal_x - x - 0.5, goal_y - height, goal_z - z - 0.5
    if from_eye:
        dy -= eye_blocks
    if dx * dx + dy * dy + dz * dz > reach_blocks * reach_blocks:
        return -1
    num_plants = plants_between(
        block_XZY, outline, ground, x + 0.5, height + eye_blocks, z + 0.5, goal_x, goal_y, goal_z, slot
    )
    return _PLANT * num_plants if num_plants >= 0 else -1


@njit(cache=True, nogil=True)
def _wait_at_ends(
    block_XZY, outline, ground, goal_x, goal_y, goal_z, reach_blocks, from_eye, eye_blocks, slot, cost_XZY, bucket_BN,
    count_B,
):  # fmt: skip
    """Put the floors where a walk may end into cost_XZY and the buckets of their costs; return how many there are."""
    size_x, size_z, size_y = cost_XZY.shape
    num_ends = 0
    for dx in range(-_END_CELLS, _END_CELLS + 1):
        for dz in range(-_END_CELLS, _END_CELLS + 1):
            for level in range(math.floor(goal_y) - 3, math.floor(goal_y) + 4):
                x, z = math.floor(goal_x) + dx, math.floor(goal_z) + dz
                height = floor_of(block_XZY, ground, x, level, z)
                if height < 0.0:
                    continue
                end = _end_cost(
                    block_XZY, outline, ground, x, height, z, goal_x, goal_y, goal_z, reach_blocks, from_eye,
                    eye_blocks, slot,
                )  # fmt: skip
                if end >= 0:
                    wrapped_x, wrapped_z = x & (size_x - 1), z & (size_z - 1)
                    cost_XZY[wrapped_x, wrapped_z, level] = end
                    bucket_BN[end, count_B[end]] = (wrapped_x * size_z + wrapped_z) * size_y + level
                    count_B[end] += 1
                    num_ends += 1
    return num_ends


@njit(cache=True, nogil=True)
def plan_walks(
    block_XZY, outline, ground, goal_x, goal_y, goal_z, reach_blocks, from_eye, eye_blocks, slot, keep_off_N2,
    num_keep_off, keep_off_blocks, agent_x, agent_y, agent_z, cost_XZY,
):  # fmt: skip
    """Fill cost_XZY (uint16) with the cost of walking from each floor to where the goal is in reach and in sight.

    Reach is measured from the eye with `from_eye`, else from the feet; the eye is `eye_blocks` above them. `slot` is
    the object slot + 1 of a block that has to be seen there, 0 for a bare point. Floors nearer than `keep_off_blocks`
    to the points of keep_off_N2 (float64 [N, 2] x, z) are left out. Returns whether the agent's place was reached.
    """
    size_x, size_z, size_y = cost_XZY.shape
    cost_XZY[:] = UNREACHED
    capacity = size_x * size_z
    bucket_BN = np.empty((_NUM_BUCKETS, capacity), np.int32)
    count_B = np.zeros(_NUM_BUCKETS, np.int64)
    num_waiting = _wait_at_ends(
        block_XZY, outline, ground, goal_x, goal_y, goal_z, reach_blocks, from_eye, eye_blocks, slot, cost_XZY,
        bucket_BN, count_B,
    )  # fmt: skip
    agent_level, _ = floor_near(block_XZY, ground, agent_x, agent_y, agent_z)
    agent_cell_x, agent_cell_z = math.floor(agent_x) & (size_x - 1), math.floor(agent_z) & (size_z - 1)
    cost, max_cost, is_met = 0, MAX_COST, False
    while num_waiting > 0 and cost <= max_cost:
        bucket = cost % _NUM_BUCKETS
        index = 0
        while index < count_B[bucket]:
            cell = bucket_BN[bucket, index]
            index += 1
            num_waiting -= 1
            level = cell % size_y
            z = (cell // size_y) % size_z
            x = cell // (size_y * size_z)
            if cost_XZY[x, z, level] != cost:
                continue
            if x == agent_cell_x and z == agent_cell_z and level == agent_level:
                is_met, max_cost = True, min(max_cost, cost + _MARGIN)
            height = floor_of(block_XZY, ground, x, level, z)
            swims = ground.is_water_S[state_at(block_XZY, x, level - 1, z)]
            for dx in range(-1, 2):
                for dz in range(-1, 2):
                    if dx == 0 and dz == 0:
                        continue
                    from_x, from_z = (x - dx) & (size_x - 1), (z - dz) & (size_z - 1)
                    least = cost + (_DIAGONAL if dx != 0 and dz != 0 else _STRAIGHT) + (_SWIM if swims else 0)
                    for from_level in range(max(1, level - 2), min(size_y - 1, level + 4)):
                        if least >= cost_XZY[from_x, from_z, from_level]:
                            continue
                        from_height = floor_of(block_XZY, ground, from_x, from_level, from_z)
                        if from_height < 0.0 or from_height - height > DROP_BLOCKS:
                            continue
                        if not can_go(block_XZY, ground, from_x, from_z, from_height, dx, dz, level, height):
                            continue
                        reached = least + (_JUMP if height - from_height > WALK_RISE_BLOCKS else 0)
                        slot_b = reached % _NUM_BUCKETS
                        if (
                            reached >= cost_XZY[from_x, from_z, from_level]
                            or reached > max_cost
                            or count_B[slot_b] >= capacity
                            or _is_kept_off(from_x, from_z, keep_off_N2, num_keep_off, keep_off_blocks, size_x, size_z)
                        ):
                            continue
                        cost_XZY[from_x, from_z, from_level] = reached
                        bucket_BN[slot_b, count_B[slot_b]] = (from_x * size_z + from_z) * size_y + from_level
                        count_B[slot_b] += 1
                        num_waiting += 1
        count_B[bucket] = 0
        cost += 1
    return is_met


@njit(cache=True, nogil=True)
def _cost_at(cost_XZY, x, level, z):
    if level < 0:
        return int(UNREACHED)
    return int(cost_XZY[x & (cost_XZY.shape[0] - 1), z & (cost_XZY.shape[1] - 1), level])


@njit(cache=True, nogil=True)
def is_way_straight(block_XZY, ground, cost_XZY, x, y, z, to_x, to_z):
    """Tell whether a body can go straight from feet (x, y, z) to a column point, on floors of the map alone."""
    dx, dz = to_x - x, to_z - z
    length = math.hypot(dx, dz)
    if length < 1e-6:
        return True
    dx, dz = dx / length, dz / length
    for side in (-0.32, 0.32):
        side_x, side_z = x - dz * side, z + dx * side
        cell_x, cell_z = math.floor(side_x), math.floor(side_z)
        _, height = floor_near(block_XZY, ground, side_x, y, side_z)
        height = max(height, y)
        travelled = 0.0
        while travelled < length:
            travelled = min(length, travelled + 0.25)
            next_x, next_z = math.floor(side_x + dx * travelled), math.floor(side_z + dz * travelled)
            if next_x == cell_x and next_z == cell_z:
                continue
            next_level, next_height = floor_near(
                block_XZY, ground, side_x + dx * travelled, height + JUMP_RISE_BLOCKS - WALK_RISE_BLOCKS,
                side_z + dz * travelled,
            )  # fmt: skip
            if _cost_at(cost_XZY, next_x, next_level, next_z) >= UNREACHED:
                return False
            step_x, step_z = next_x - cell_x, next_z - cell_z
            if not can_go(block_XZY, ground, cell_x, cell_z, height, step_x, 0 if step_x != 0 else step_z,
                          next_level, next_height):  # fmt: skip
                return False
            cell_x, cell_z, height = next_x, next_z, next_height
    return True


@njit(cache=True, nogil=True)
def next_point(block_XZY, ground, cost_XZY, x, y, z):
    """Return (to_x, to_z, cost): the farthest point on the next steps of the walk that can be gone to straight.

    The cost is that of the floor under (x, y, z); UNREACHED when it is off the map, and the point the nearest way back.
    """
    cell_x, cell_z = math.floor(x), math.floor(z)
    level, height = floor_near(block_XZY, ground, x, y, z)
    here = _cost_at(cost_XZY, cell_x, level, cell_z)
    if here >= UNREACHED:
        best, to_x, to_z = 1e9, x, z
        for dx in range(-_LOST_CELLS, _LOST_CELLS + 1):
            for dz in range(-_LOST_CELLS, _LOST_CELLS + 1):
                near_x, near_z = cell_x + dx + 0.5, cell_z + dz + 0.5
                near, _ = floor_near(block_XZY, ground, near_x, y + 0.7, near_z)
                cost = _cost_at(cost_XZY, cell_x + dx, near, cell_z + dz)
                if cost < UNREACHED:
                    # Getting back is dearer than walking on: a near floor beats one that is nearer to the target.
                    cost += 30.0 * math.hypot(near_x - x, near_z - z)
                    if cost < best:
                        best, to_x, to_z = cost, near_x, near_z
        return to_x, to_z, here
    to_x, to_z, cost = cell_x + 0.5, cell_z + 0.5, here
    for step in range(_LOOK_AHEAD_STEPS):
        best, best_dx, best_dz, best_level, best_height = int(UNREACHED), 0, 0, level, height
        for dx in range(-1, 2):
            for dz in range(-1, 2):
                for next_level in range(max(1, level - 3), min(cost_XZY.shape[2] - 1, level + 3)):
                    next_cost = _cost_at(cost_XZY, cell_x + dx, next_level, cell_z + dz)
                    if (dx == 0 and dz == 0) or next_cost >= cost:
                        continue
                    next_height = floor_of(block_XZY, ground, cell_x + dx, next_level, cell_z + dz)
                    next_cost += _DIAGONAL if dx != 0 and dz != 0 else _STRAIGHT
                    if next_cost < best and can_go(
                        block_XZY, ground, cell_x, cell_z, height, dx, dz, next_level, next_height
                    ):
                        best, best_dx, best_dz, best_level, best_height = next_cost, dx, dz, next_level, next_height
        if best >= UNREACHED:
            break
        cell_x, cell_z, level, height = cell_x + best_dx, cell_z + best_dz, best_level, best_height
        if not is_way_straight(block_XZY, ground, cost_XZY, x, y, z, cell_x + 0.5, cell_z + 0.5):
            # A corner in the way of the very first step: get in line with it first, at the middle of this cell.
            aside = abs((x - to_x) * best_dz - (z - to_z) * best_dx) / math.hypot(best_dx, best_dz)
            if step > 0 or aside > 0.15:
                break
        to_x, to_z = cell_x + 0.5, cell_z + 0.5
        cost = _cost_at(cost_XZY, cell_x, level, cell_z)
    return to_x, to_z, here


@njit(cache=True, nogil=True)
def is_jump_ahead(block_XZY, ground, x, y, z, yaw_deg):
    """Tell whether something to jump on stands close ahead."""
    yaw = math.radians(yaw_deg)
    for reach in (0.5, 0.9):
        cell_x, cell_z = math.floor(x - math.sin(yaw) * reach), math.floor(z + math.cos(yaw) * reach)
        for level in range(math.floor(y + 0.01), math.floor(y + 0.01) + 2):
            state = state_at(block_XZY, cell_x, level, cell_z)
            if ground.is_body_S[state]:
                rise = level + ground.top_S[state] - y
                if WALK_RISE_BLOCKS < rise <= JUMP_RISE_BLOCKS + 0.06:
                    return True
    return False
