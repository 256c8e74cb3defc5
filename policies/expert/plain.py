"""Walks up to blocks in plain worlds, and breaks them: the play that agents were cloned from, kept as it was measured.

Worlds with fences, slabs, plants and caves need more: see policies.expert.routes and policies.expert.blocks.
"""

import math

from numba import njit, prange

from policies.expert.view import MAX_TURN_DEG, turn
from task_synthesis.placement.reachability import UNREACHED, can_step, feet_distance, is_column_open, sees_cell
from task_synthesis.placement.targets import is_standable
from task_synthesis.skills import APPROACH_RADIUS_BLOCKS
from worlds.spec import BLOCK_MASK
from worlds.types import BUTTON_INDEX, EYE_HEIGHT_BLOCKS
from worlds.voxel.raycast import first_hit_cpu

LEVEL_PITCH_DEG = 8.0
# Errors below this are left alone: a learner that sees 1 pixel a degree could only guess such corrections.
YAW_SLACK_DEG, PITCH_SLACK_DEG = 4.0, 6.0
_LOOK_AHEAD_STEPS = 6
_LOST_CELLS = 7  # how far it looks for a way back on the path
_ATTACK, _FORWARD, _JUMP = BUTTON_INDEX["attack"], BUTTON_INDEX["forward"], BUTTON_INDEX["jump"]
_LEFT, _RIGHT = BUTTON_INDEX["left"], BUTTON_INDEX["right"]


@njit(cache=True, nogil=True)
def _standing_level(block_XZY, is_solid_K, is_fluid_K, x, y, z):
    """Return the level of the standing cell of column (x, z) that a body at height y stands on or falls to, or -1."""
    for level in range(int(math.floor(y + 0.6)), max(0, int(math.floor(y)) - 4), -1):
        if is_standable(block_XZY, is_solid_K, is_fluid_K, x, level, z):
            return level
    return -1


@njit(cache=True, nogil=True)
def _is_line_walkable(block_XZY, is_solid_K, is_fluid_K, x, y, z, to_x, to_z):
    """Tell whether a body can walk straight from (x, y, z) to column point (to_x, to_z), jumping single blocks."""
    dx, dz = to_x - x, to_z - z
    length = math.sqrt(dx * dx + dz * dz)
    if length < 1e-6:
        return True
    dx, dz = dx / length, dz / length
    for side in (-0.32, 0.32):
        level = int(math.floor(y + 0.01))
        cell_x, cell_z = int(math.floor(x - dz * side)), int(math.floor(z + dx * side))
        travelled = 0.0
        while travelled < length:
            travelled = min(length, travelled + 0.25)
            next_x = int(math.floor(x + dx * travelled - dz * side))
            next_z = int(math.floor(z + dz * travelled + dx * side))
            next_level = -1
            for rise in (0, 1, -1, -2, -3):
                if is_standable(block_XZY, is_solid_K, is_fluid_K, next_x, level + rise, next_z):
                    next_level = level + rise
                    break
            if next_level < 0:
                return False
            # Head room where it jumps from, and all the way down where it drops to.
            if next_level > level and not is_column_open(block_XZY, is_solid_K, cell_x, cell_z, level + 2, level + 2):
                return False
            if next_level < level and not is_column_open(block_XZY, is_solid_K, next_x, next_z, next_level, level + 1):
                return False
            cell_x, cell_z, level = next_x, next_z, next_level
    return True


@njit(cache=True, nogil=True)
def _best_neighbour(block_XZY, is_solid_K, is_fluid_K, cost_XZY, x, y, z):
    """Return (x, y, z, cost) of the neighbour that the shortest path goes to; cost UNREACHED where there is none."""
    best_cost, best_x, best_y, best_z = int(UNREACHED), x, y, z
    for dx in range(-1, 2):
        for dz in range(-1, 2):
            if dx == 0 and dz == 0:
                continue
            wrapped_x, wrapped_z = (x + dx) & (cost_XZY.shape[0] - 1), (z + dz) & (cost_XZY.shape[1] - 1)
            for next_y in range(max(1, y - 3), min(cost_XZY.shape[2] - 1, y + 2)):
                cost = int(cost_XZY[wrapped_x, wrapped_z, next_y])
                if cost >= UNREACHED or not can_step(block_XZY, is_solid_K, is_fluid_K, x, y, z, dx, dz, next_y):
                    continue
                cost += 14 if dx != 0 and dz != 0 else 10
                if cost < best_cost:
                    best_cost, best_x, best_y, best_z = cost, x + dx, next_y, z + dz
    return best_x, best_y, best_z, best_cost


@njit(cache=True, nogil=True)
def _way_point(block_XZY, is_solid_K, is_fluid_K, cost_XZY, x, y, z):
    """Return (to_x, to_z): the farthest point on the next steps of the path with a straight walk to it."""
    cell_x, cell_z = int(math.floor(x)), int(math.floor(z))
    level = _standing_level(block_XZY, is_solid_K, is_fluid_K, cell_x, y, cell_z)
    mask_x, mask_z = cost_XZY.shape[0] - 1, cost_XZY.shape[1] - 1
    if level < 0 or cost_XZY[cell_x & mask_x, cell_z & mask_z, level] == UNREACHED:
        # Off the path (over an edge, in water): make for the cheapest cell around.
        best, to_x, to_z = int(UNREACHED), x, z
        for dx in range(-_LOST_CELLS, _LOST_CELLS + 1):
            for dz in range(-_LOST_CELLS, _LOST_CELLS + 1):
                near = _standing_level(block_XZY, is_solid_K, is_fluid_K, cell_x + dx, y + 0.5, cell_z + dz)
                if near >= 0:
                    # Getting out is dearer than walking on: a near bank beats one that is nearer to the target.
                    cost = int(cost_XZY[(cell_x + dx) & mask_x, (cell_z + dz) & mask_z, near])
                    cost += int(30.0 * math.hypot(cell_x + dx + 0.5 - x, cell_z + dz + 0.5 - z))
                    if cost < best:
                        best, to_x, to_z = cost, cell_x + dx + 0.5, cell_z + dz + 0.5
        return to_x, to_z
    to_x, to_z = cell_x + 0.5, cell_z + 0.5
    for step in range(_LOOK_AHEAD_STEPS):
        cell_x, level, cell_z, cost = _best_neighbour(
            block_XZY, is_solid_K, is_fluid_K, cost_XZY, cell_x, level, cell_z
        )
        if cost >= UNREACHED:
            break
        if not _is_line_walkable(block_XZY, is_solid_K, is_fluid_K, x, y, z, cell_x + 0.5, cell_z + 0.5):
            # A corner in the way of the very first step: go to the middle of this cell first.
            if step > 0 or math.hypot(to_x - x, to_z - z) > 0.15:
                break
        to_x, to_z = cell_x + 0.5, cell_z + 0.5
        if cost_XZY[cell_x & mask_x, cell_z & mask_z, level] == 0:
            break
    return to_x, to_z


@njit(cache=True, nogil=True)
def _is_step_ahead(block_XZY, is_solid_K, x, y, z, yaw):
    """Tell whether a block at foot level stands close ahead, so that it is time to jump."""
    level = int(math.floor(y + 0.01))
    for reach in (0.5, 0.9):
        cell_x = int(math.floor(x - math.sin(yaw) * reach)) & (block_XZY.shape[0] - 1)
        cell_z = int(math.floor(z + math.cos(yaw) * reach)) & (block_XZY.shape[1] - 1)
        if level < block_XZY.shape[2] and is_solid_K[block_XZY[cell_x, cell_z, level] & BLOCK_MASK]:
            return True
    return False


@njit(parallel=True, cache=True, nogil=True)
def choose_plain_actions(
    env_N, block_EXZY, outline, is_solid_K, is_fluid_K, cost_EXZY, position_E3, yaw_deg_E, pitch_deg_E,
    target_E3, is_breaking_E, may_walk_E, last_position_E3, stuck_steps_E, num_ticks, buttons_EB, camera_deg_E2,
):  # fmt: skip
    """Write the buttons and the turns of the envs in `env_N` (int64 [N]): each walks to its target and breaks it."""
    size_x, size_z = block_EXZY.shape[1], block_EXZY.shape[2]
    for n in prange(len(env_N)):
        e = env_N[n]
        block_XZY = block_EXZY[e]
        x, y, z = position_E3[e, 0], position_E3[e, 1], position_E3[e, 2]
        if not may_walk_E[e]:
            camera_deg_E2[e, 0] = turn(LEVEL_PITCH_DEG - pitch_deg_E[e], PITCH_SLACK_DEG, num_ticks)
            camera_deg_E2[e, 1] = MAX_TURN_DEG
            last_position_E3[e] = position_E3[e]
            continue
        # The torus image of the target nearest to the agent.
        target_x = target_E3[e, 0] + size_x * int(math.floor((x - target_E3[e, 0] - 0.5) / size_x + 0.5))
        target_z = target_E3[e, 2] + size_z * int(math.floor((z - target_E3[e, 2] - 0.5) / size_z + 0.5))
        target_y = target_E3[e, 1]
        distance = feet_distance(x, y, z, target_x, target_y, target_z)
        level_distance = math.hypot(target_x + 0.5 - x, target_z + 0.5 - z)
        is_clear = sees_cell(block_XZY, outline, x, y, z, target_x, target_y, target_z)
        is_there = is_clear and distance <= APPROACH_RADIUS_BLOCKS - 0.1
        to_x, to_z = target_x + 0.5, target_z + 0.5
        if not is_there:
            to_x, to_z = _way_point(block_XZY, is_solid_K, is_fluid_K, cost_EXZY[e], x, y, z)
        wanted_yaw_deg = math.degrees(math.atan2(-(to_x - x), to_z - z))
        yaw_error_deg = (wanted_yaw_deg - yaw_deg_E[e] + 180.0) % 360.0 - 180.0
        wanted_pitch_deg = LEVEL_PITCH_DEG
        if is_clear and level_distance < 7.0:
            wanted_pitch_deg = -math.degrees(math.atan2(target_y + 0.5 - y - EYE_HEIGHT_BLOCKS, level_distance))
        yaw_turn_deg = turn(yaw_error_deg, YAW_SLACK_DEG, num_ticks)
        pitch_turn_deg = turn(wanted_pitch_deg - pitch_deg_E[e], PITCH_SLACK_DEG, num_ticks)
        camera_deg_E2[e, 0] = pitch_turn_deg
        camera_deg_E2[e, 1] = yaw_turn_deg
        if is_there:
            stuck_steps_E[e] = 0
            if is_breaking_E[e]:
                yaw, pitch = math.radians(yaw_deg_E[e] + yaw_turn_deg), math.radians(pitch_deg_E[e] + pitch_turn_deg)
                hit_x, hit_y, hit_z, _, _ = first_hit_cpu(
                    block_XZY, outline, x, y + EYE_HEIGHT_BLOCKS, z, -math.sin(yaw) * math.cos(pitch), -math.sin(pitch),
                    math.cos(yaw) * math.cos(pitch), 4.5,
                )  # fmt: skip
                buttons_EB[e, _ATTACK] = hit_x == target_E3[e, 0] and hit_y == target_y and hit_z == target_E3[e, 2]
        elif abs(yaw_error_deg - yaw_turn_deg * num_ticks) < 25.0:
            buttons_EB[e, _FORWARD] = True
            yaw = math.radians(yaw_deg_E[e] + yaw_turn_deg * num_ticks)
            feet = (
                block_XZY[
                    int(math.floor(x)) & (size_x - 1), int(math.floor(z)) & (size_z - 1), min(63, int(math.floor(y)))
                ]
                & BLOCK_MASK
            )
            buttons_EB[e, _JUMP] = is_fluid_K[feet] or _is_step_ahead(block_XZY, is_solid_K, x, y, z, yaw)
            moved = math.hypot(x - last_position_E3[e, 0], z - last_position_E3[e, 2])
            stuck_steps_E[e] = stuck_steps_E[e] + 1 if moved < 0.1 else 0
            if stuck_steps_E[e] >= 3:
                # Caught on a corner: hop, and after that slide to one side.
                buttons_EB[e, _JUMP] = True
                buttons_EB[e, _LEFT] = stuck_steps_E[e] >= 6 and stuck_steps_E[e] % 12 < 9
                buttons_EB[e, _RIGHT] = stuck_steps_E[e] >= 6 and not buttons_EB[e, _LEFT]
        last_position_E3[e] = position_E3[e]
