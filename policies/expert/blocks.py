"""Deeds on blocks: approach, break, use, and put a block against one; plants in the pointer's way are cut."""

import math

import numpy as np
from numba import njit

from policies.expert.ground import Ground, state_at
from policies.expert.mind import APPROACH, BREAK, INTERACT, NO_TOOL, PLACE, Mind
from policies.expert.view import BLOCKED, box_centre, direction_of, eye_height, plants_between
from policies.expert.walker import (
    PITCH_SLACK_DEG,
    YAW_SLACK_DEG,
    go,
    look,
    look_level,
    near_image,
    point_to_go,
    refresh_plan,
)
from task_synthesis.skills import APPROACH_RADIUS_BLOCKS
from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import BUTTON_INDEX, EYE_HEIGHT_BLOCKS
from worlds.voxel.mining import REACH_BLOCKS
from worlds.voxel.motion import HALF_WIDTH, STANDING_HEIGHT
from worlds.voxel.raycast import first_hit_cpu
from worlds.voxel.state import Bodies, Hands
from worlds.voxel.tables import USE_NOTHING, BlockTables

STAND_BLOCKS, REACH_EYE_BLOCKS = APPROACH_RADIUS_BLOCKS - 0.3, 3.2
_STAY_BLOCKS, _STAY_EYE_BLOCKS = APPROACH_RADIUS_BLOCKS - 0.1, 3.6
KEEP_OFF_OBJECT_BLOCKS = 2.7  # an object of the target's kind counts as approached within 2.5
_GAZE_BLOCKS = 7.0
_FINE_SLACK_DEG = 0.3
_ATTACK, _USE, _SNEAK = BUTTON_INDEX["attack"], BUTTON_INDEX["use"], BUTTON_INDEX["sneak"]
_FIRST_HOTBAR = BUTTON_INDEX["hotbar.1"]


def take_in_hand(e: int, hands: Hands, mind: Mind, buttons_B: np.ndarray) -> None:
    """Press the hotbar key of the item that the skill needs, unless it is in hand."""
    tool = mind.tool_E[e]
    if tool != NO_TOOL and hands.selected_E[e] != tool:
        buttons_B[_FIRST_HOTBAR + tool] = True


@njit(cache=True, nogil=True)
def _is_room(block_XZY, is_replaceable_S, body_x, body_y, body_z, x, y, z):
    """Tell whether a block could be put into a cell, beside a body with its feet at a point."""
    if y < 0 or y >= block_XZY.shape[2] or not is_replaceable_S[state_at(block_XZY, x, y, z)]:
        return False
    is_aside = abs(body_x - x - 0.5) >= 0.5 + HALF_WIDTH or abs(body_z - z - 0.5) >= 0.5 + HALF_WIDTH
    return is_aside or body_y >= y + 1.0 or body_y + STANDING_HEIGHT <= y


@njit(cache=True, nogil=True)
def _free_face(block_XZY, outline, ground, is_replaceable_S, body_x, body_y, body_z, eye_y, x, y, z, slot):
    """Return x, y, z of the middle of the face seen most squarely that a block fits against; y is -1 if none."""
    best, best_x, best_y, best_z = 0.1, 0.0, -1.0, 0.0
    for axis in range(3):
        for sign in (-1, 1):
            nx, ny, nz = sign * (axis == 0), sign * (axis == 1), sign * (axis == 2)
            if not _is_room(block_XZY, is_replaceable_S, body_x, body_y, body_z, x + nx, y + ny, z + nz):
                continue
            face_x, face_y, face_z = x + 0.5 + 0.499 * nx, y + 0.5 + 0.499 * ny, z + 0.5 + 0.499 * nz
            dx, dy, dz = body_x - face_x, eye_y - face_y, body_z - face_z
            squareness = (dx * nx + dy * ny + dz * nz) / math.sqrt(dx * dx + dy * dy + dz * dz)
            if squareness > best and (
                plants_between(block_XZY, outline, ground, body_x, eye_y, body_z, face_x, face_y, face_z, slot) >= 0
            ):
                best, best_x, best_y, best_z = squareness, face_x, face_y, face_z
    return best_x, best_y, best_z


def _point(
    e: int, block_XZY: np.ndarray, blocks: BlockTables, ground: Ground, bodies: Bodies, mind: Mind,
    hit: tuple[int, int, int, int], num_plants: int, skill: int, buttons_B: np.ndarray,
) -> None:  # fmt: skip
    """Press what the pointer's cell calls for: strike, use, place, cut what stands in the way."""
    hit_x, hit_y, hit_z, face = hit
    if hit_y < 0:
        return
    packed = int(block_XZY[hit_x, hit_z, hit_y])
    if packed >> BLOCK_BITS != mind.slot_E[e]:
        buttons_B[_ATTACK] = num_plants != 0 and ground.is_plant_S[packed & BLOCK_MASK]
        return
    if skill == BREAK:
        buttons_B[_ATTACK] = True
    elif skill == INTERACT:
        buttons_B[_USE] = not mind.has_used_E[e]
    elif skill == PLACE and 0 <= face < 6:
        step = 1 if face & 1 else -1
        x = hit_x + (step if face < 2 else 0)
        y = hit_y + (step if face == 2 or face == 3 else 0)
        z = hit_z + (step if face >= 4 else 0)
        body_x, body_y, body_z = bodies.position_E3[e].tolist()
        body_x, body_z = near_image(block_XZY, x + 0.5, z + 0.5, body_x, body_z)
        has_room = _is_room(
            block_XZY, blocks.is_replaceable_S, body_x, body_y, body_z, x, y, z
        )  # fmt: skip
        # A crafting table opens at a click, unless it is clicked by one who sneaks.
        opens = blocks.use_S[packed & BLOCK_MASK] != USE_NOTHING
        buttons_B[_USE] = has_room and not mind.has_used_E[e] and (not opens or bodies.is_sneaking_E[e])


def act_on_block(
    e: int, block_XZY: np.ndarray, blocks: BlockTables, ground: Ground, bodies: Bodies, hands: Hands, mind: Mind,
    num_ticks: float, buttons_B: np.ndarray, camera_2: np.ndarray,
) -> None:  # fmt: skip
    """Choose the keys of env e for approach, break, interact or place."""
    skill, slot = int(mind.skill_E[e]), int(mind.slot_E[e])
    x, y, z = bodies.position_E3[e].tolist()
    yaw_deg, pitch_deg = float(bodies.yaw_deg_E[e]), float(bodies.pitch_deg_E[e])
    eye_y = y + eye_height(bool(bodies.is_sneaking_E[e]))
    cell_x, cell_y, cell_z = mind.cell_E3[e].tolist()
    state = state_at(block_XZY, cell_x, cell_y, cell_z)
    middle_x, middle_y, middle_z = box_centre(blocks.outline, state)
    goal_x, goal_z = near_image(block_XZY, x, z, cell_x + middle_x, cell_z + middle_z)
    goal_y = cell_y + middle_y
    is_feet_bound = skill == APPROACH or skill == BREAK
    # A crafting table opens at a click, unless it is clicked by one who sneaks, with the eyes lower.
    must_sneak = skill == PLACE and blocks.use_S[state] != USE_NOTHING
    deed_eye_y = y + eye_height(True) if must_sneak else eye_y
    take_in_hand(e, hands, mind, buttons_B)
    # The plan is made for the middle of the cell's floor where feet count, for the middle of the shape where eyes do.
    refresh_plan(
        e, block_XZY, blocks.outline, ground, bodies, mind, (goal_x, goal_y, goal_z),
        reach_blocks=STAND_BLOCKS + 0.1 if is_feet_bound else REACH_EYE_BLOCKS, from_eye=not is_feet_bound, slot=slot,
        keep_off_blocks=KEEP_OFF_OBJECT_BLOCKS, eye_blocks=eye_height(must_sneak),
    )  # fmt: skip
    aim_x, aim_y, aim_z = goal_x, goal_y, goal_z
    if skill == PLACE:
        corner_x, corner_z = math.floor(goal_x), math.floor(goal_z)
        face_x, face_y, face_z = _free_face(
            block_XZY, blocks.outline, ground, blocks.is_replaceable_S, x, y, z, deed_eye_y, corner_x, cell_y, corner_z,
            slot,
        )  # fmt: skip
        if face_y >= 0.0:
            aim_x, aim_y, aim_z = face_x, face_y, face_z
    num_plants = plants_between(block_XZY, blocks.outline, ground, x, deed_eye_y, z, aim_x, aim_y, aim_z, slot)
    if is_feet_bound:
        dx, dy, dz = goal_x - x, cell_y - y, goal_z - z
        is_near = dx * dx + dy * dy + dz * dz <= _STAY_BLOCKS * _STAY_BLOCKS
    else:
        dx, dy, dz = aim_x - x, aim_y - y - EYE_HEIGHT_BLOCKS, aim_z - z
        is_near = dx * dx + dy * dy + dz * dz <= _STAY_EYE_BLOCKS * _STAY_EYE_BLOCKS
    level_blocks = math.hypot(goal_x - x, goal_z - z)
    if num_plants == BLOCKED or not is_near:
        to_x, to_z = point_to_go(e, block_XZY, ground, bodies, mind, goal_x, goal_z)
        look_level(yaw_deg, pitch_deg, to_x - x, to_z - z, num_ticks, camera_2)
        if num_plants != BLOCKED and level_blocks < _GAZE_BLOCKS:
            walk_turn = camera_2[1]
            look(yaw_deg, pitch_deg, aim_x - x, aim_y - eye_y, aim_z - z, YAW_SLACK_DEG, PITCH_SLACK_DEG, num_ticks,
                 camera_2)  # fmt: skip
            camera_2[1] = walk_turn
        go(e, block_XZY, ground, bodies, mind, to_x, to_z, False, num_ticks, buttons_B, camera_2)
        mind.has_used_E[e] = False
        return
    mind.stuck_steps_E[e] = 0
    slacks = ((YAW_SLACK_DEG, PITCH_SLACK_DEG), (_FINE_SLACK_DEG, _FINE_SLACK_DEG))
    for yaw_slack, pitch_slack in slacks if is_feet_bound else slacks[1:]:
        look(yaw_deg, pitch_deg, aim_x - x, aim_y - eye_y, aim_z - z, yaw_slack, pitch_slack, num_ticks, camera_2)
        dx, dy, dz = direction_of(float(yaw_deg + camera_2[1]), float(pitch_deg + camera_2[0]))
        hit_x, hit_y, hit_z, face, _ = first_hit_cpu(block_XZY, blocks.outline, x, eye_y, z, dx, dy, dz, REACH_BLOCKS)
        # A rough aim that rests on something else has to be made finer.
        if hit_y >= 0 and int(block_XZY[hit_x, hit_z, hit_y]) >> BLOCK_BITS == slot:
            break
    _point(
        e, block_XZY, blocks, ground, bodies, mind, (hit_x, hit_y, hit_z, face), num_plants, skill, buttons_B
    )  # fmt: skip
    if must_sneak:
        buttons_B[_SNEAK] = True
    mind.has_used_E[e] = buttons_B[_USE]
