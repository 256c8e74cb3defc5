"""Legs and neck: keys that walk to a point, turns that look at one, plans that are made anew when the target moved."""

import math

import numpy as np

from policies.expert.ground import Ground, state_at
from policies.expert.mind import Mind
from policies.expert.routes import is_jump_ahead, next_point, plan_walks
from policies.expert.view import angle_between, angles_to, nearest_image, turn
from task_synthesis.placement.reachability import UNREACHED
from worlds.types import BUTTON_INDEX, EYE_HEIGHT_BLOCKS
from worlds.voxel.state import Bodies
from worlds.voxel.tables import Boxes

LEVEL_PITCH_DEG = 8.0
PITCH_SLACK_DEG, YAW_SLACK_DEG = 6.0, 4.0
_WALK_CONE_DEG = 25.0
_FORWARD, _JUMP, _SPRINT = BUTTON_INDEX["forward"], BUTTON_INDEX["jump"], BUTTON_INDEX["sprint"]
_LEFT, _RIGHT = BUTTON_INDEX["left"], BUTTON_INDEX["right"]
# A plan for a target that has moved is kept for this many decisions, and longer where the walk is long.
_PLAN_STEPS, _FAR_PLAN_STEPS, _FAR_BLOCKS = 3, 10, 20.0
_MOVED_BLOCKS = 1.0
_SPRINT_BLOCKS = 4.0


def near_image(block_XZY: np.ndarray, from_x: float, from_z: float, x: float, z: float) -> tuple[float, float]:
    """Return x, z of the image of a point on the torus that is nearest to (from_x, from_z)."""
    return (
        from_x + nearest_image(float(x - from_x), block_XZY.shape[0]),
        from_z + nearest_image(float(z - from_z), block_XZY.shape[1]),
    )


def look(
    yaw_deg: float, pitch_deg: float, to_x: float, to_y: float, to_z: float, yaw_slack_deg: float,
    pitch_slack_deg: float, num_ticks: float, camera_2: np.ndarray,
) -> None:  # fmt: skip
    """Turn to a direction from the eye, given in blocks."""
    wanted_yaw_deg, wanted_pitch_deg = angles_to(to_x, to_y, to_z)
    camera_2[0] = turn(wanted_pitch_deg - pitch_deg, pitch_slack_deg, num_ticks)
    camera_2[1] = turn(angle_between(yaw_deg, wanted_yaw_deg), yaw_slack_deg, num_ticks)


def look_level(yaw_deg: float, pitch_deg: float, dx: float, dz: float, num_ticks: float, camera_2: np.ndarray) -> None:
    """Turn to where it walks, (dx, dz), with the gaze a little down."""
    camera_2[0] = turn(LEVEL_PITCH_DEG - pitch_deg, PITCH_SLACK_DEG, num_ticks)
    camera_2[1] = turn(angle_between(yaw_deg, math.degrees(math.atan2(-dx, dz))), YAW_SLACK_DEG, num_ticks)


def go(
    e: int, block_XZY: np.ndarray, ground: Ground, bodies: Bodies, mind: Mind, to_x: float, to_z: float,
    may_sprint: bool, num_ticks: float, buttons_B: np.ndarray, camera_2: np.ndarray,
) -> None:  # fmt: skip
    """Press the keys that walk to a point, as far as the turn of this decision faces it; hop and slide when stuck."""
    x, y, z = bodies.position_E3[e].tolist()
    yaw_deg = float(bodies.yaw_deg_E[e] + camera_2[1] * num_ticks)
    wanted_deg = math.degrees(math.atan2(-(to_x - x), to_z - z))
    if abs(angle_between(yaw_deg, wanted_deg)) >= _WALK_CONE_DEG:
        return
    buttons_B[_FORWARD] = True
    buttons_B[_SPRINT] = may_sprint and math.hypot(to_x - x, to_z - z) > _SPRINT_BLOCKS
    is_wet = ground.is_water_S[state_at(block_XZY, math.floor(x), math.floor(y), math.floor(z))]
    buttons_B[_JUMP] = is_wet or is_jump_ahead(block_XZY, ground, x, y, z, yaw_deg)
    moved = math.hypot(x - mind.last_position_E3[e, 0], z - mind.last_position_E3[e, 2])
    mind.stuck_steps_E[e] = mind.stuck_steps_E[e] + 1 if moved < 0.025 * num_ticks else 0
    if mind.stuck_steps_E[e] >= 3:
        # Caught on a corner: hop, and after that slide to one side.
        buttons_B[_JUMP] = True
        buttons_B[_LEFT] = mind.stuck_steps_E[e] >= 6 and mind.stuck_steps_E[e] % 12 < 9
        buttons_B[_RIGHT] = mind.stuck_steps_E[e] >= 6 and not buttons_B[_LEFT]


def refresh_plan(
    e: int, block_XZY: np.ndarray, outline: Boxes, ground: Ground, bodies: Bodies, mind: Mind,
    goal: tuple[float, float, float], *, reach_blocks: float, from_eye: bool, slot: int = 0,
    keep_off_blocks: float = 0.0, eye_blocks: float = EYE_HEIGHT_BLOCKS,
) -> None:  # fmt: skip
    """Plan the walk to a goal, if there is no plan yet or the goal has moved and the plan has served its time."""
    goal_x, goal_y, goal_z = goal
    x, y, z = bodies.position_E3[e].tolist()
    if mind.plan_steps_E[e] >= 0:
        mind.plan_steps_E[e] += 1
        is_far = math.hypot(goal_x - x, goal_z - z) > _FAR_BLOCKS
        if mind.plan_steps_E[e] < (_FAR_PLAN_STEPS if is_far else _PLAN_STEPS):
            return
        dx = nearest_image(float(goal_x - mind.planned_E3[e, 0]), block_XZY.shape[0])
        dz = nearest_image(float(goal_z - mind.planned_E3[e, 2]), block_XZY.shape[1])
        dy = goal_y - mind.planned_E3[e, 1]
        if dx * dx + dy * dy + dz * dz < _MOVED_BLOCKS * _MOVED_BLOCKS:
            return
    cost_XZY = mind.cost_EXZY[e]
    num_keep_off = int(mind.num_keep_off_E[e])
    is_met = False
    for num_points in sorted({num_keep_off, 0}, reverse=True):
        is_met = is_met or plan_walks(
            block_XZY, outline, ground, goal_x, goal_y, goal_z, reach_blocks, from_eye, eye_blocks, slot,
            mind.keep_off_EO2[e], num_points, keep_off_blocks, x, y, z, cost_XZY,
        )  # fmt: skip
    mind.planned_E3[e] = goal
    mind.plan_steps_E[e] = 0


def point_to_go(
    e: int, block_XZY: np.ndarray, ground: Ground, bodies: Bodies, mind: Mind, goal_x: float, goal_z: float
) -> tuple[float, float]:
    """Return the next point of the walk, or the goal itself at the end of it and where no walk is known."""
    x, y, z = bodies.position_E3[e].tolist()
    to_x, to_z, cost = next_point(block_XZY, ground, mind.cost_EXZY[e], x, y, z)
    if math.hypot(to_x - x, to_z - z) < 0.15 and (cost < 10 or cost >= UNREACHED):
        return goal_x, goal_z
    return to_x, to_z
