"""Picking up: walk onto an item on the ground, and keep away from the other ones."""

import math

import numpy as np

from policies.expert.ground import Ground
from policies.expert.mind import Mind
from policies.expert.view import eye_height
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
from worlds.voxel.state import NO_ITEM, Bodies, Drops
from worlds.voxel.tables import BlockTables

REACH_BLOCKS = 1.3
# An item is picked up within 1.43 blocks along x and along z, 2.02 at worst; a walker strays 0.7 from a cell's middle.
KEEP_OFF_ITEM_BLOCKS = 2.8
_GAZE_BLOCKS = 5.0
_ON_IT_BLOCKS = 0.1


def find_drop(e: int, drops: Drops, slot: int) -> int:
    """Return the row of a placed item, -1 when it has gone."""
    rows = np.flatnonzero((drops.item_ED[e] != NO_ITEM) & (drops.object_ED[e] == slot))
    return int(rows[0]) if len(rows) else -1


def act_on_item(
    e: int, block_XZY: np.ndarray, blocks: BlockTables, ground: Ground, bodies: Bodies, drops: Drops, mind: Mind,
    num_ticks: float, buttons_B: np.ndarray, camera_2: np.ndarray,
) -> None:  # fmt: skip
    """Choose the keys of env e for picking up."""
    d = find_drop(e, drops, int(mind.slot_E[e]))
    if d < 0:
        return
    x, y, z = bodies.position_E3[e].tolist()
    at_x, at_y, at_z = drops.position_ED3[e, d].tolist()
    yaw_deg, pitch_deg = float(bodies.yaw_deg_E[e]), float(bodies.pitch_deg_E[e])
    goal_x, goal_z = near_image(block_XZY, x, z, at_x, at_z)
    goal_y = at_y + 0.1
    refresh_plan(
        e, block_XZY, blocks.outline, ground, bodies, mind, (goal_x, goal_y, goal_z),
        reach_blocks=REACH_BLOCKS, from_eye=False, keep_off_blocks=KEEP_OFF_ITEM_BLOCKS,
    )  # fmt: skip
    to_x, to_z = point_to_go(e, block_XZY, ground, bodies, mind, goal_x, goal_z)
    look_level(yaw_deg, pitch_deg, to_x - x, to_z - z, num_ticks, camera_2)
    level_blocks = math.hypot(goal_x - x, goal_z - z)
    if _ON_IT_BLOCKS < level_blocks < _GAZE_BLOCKS:
        walk_turn = camera_2[1]
        eye_y = y + eye_height(bool(bodies.is_sneaking_E[e]))
        look(
            yaw_deg, pitch_deg, goal_x - x, goal_y - eye_y, goal_z - z, YAW_SLACK_DEG,
            PITCH_SLACK_DEG, num_ticks, camera_2,
        )  # fmt: skip
        camera_2[1] = walk_turn
    if level_blocks > _ON_IT_BLOCKS:
        go(e, block_XZY, ground, bodies, mind, to_x, to_z, False, num_ticks, buttons_B, camera_2)
