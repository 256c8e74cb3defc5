"""Where an agent stands with its task, read from simulator state: for a critic that only training has. E envs.

No policy sees it. What the numbers are is in SITUATION; all of them are of the order of 1.
"""

import numpy as np

from task_synthesis.playing.task_objects import TaskObjects
from task_synthesis.skills import SKILLS
from worlds.types import EYE_HEIGHT_BLOCKS, TickBatch

# Columns of situation_EP. "Target" and "rival" are measured from the agent's eye to an object's centre; the rival is
# the nearest object of the target's kind that is not meant.
SITUATION: tuple[str, ...] = (
    "target_ahead",  # tens of blocks
    "target_right",
    "target_up",
    "target_level_distance",
    "target_log_distance",  # log(1 + blocks)
    "target_sin_yaw",  # of how far to the right the target is of where the agent looks
    "target_cos_yaw",
    "target_pitch",  # how far below the agent's look, 1 is 40 degrees
    "in_view",
    "view_size",  # 3 roots of its share of the picture
    "view_x",  # from the middle, -0.5 to 0.5
    "view_y",
    "view_width",
    "view_height",
    "has_rival",
    "rival_log_distance",
    "rival_sin_yaw",
    "rival_cos_yaw",
    "rivals",  # 1 is four of them
    "target_health",  # of a mob, 1 is 20 half hearts
    "health",
    "time",  # share of the time limit that has passed
    *(f"skill_{name}" for name in SKILLS),
)

_TENS = 0.1
_PITCH_UNIT_RAD = np.radians(40.0)
_FULL_HEALTH = 20.0


def situations(objects: TaskObjects, tick: TickBatch, elapsed_E: np.ndarray) -> np.ndarray:
    """Return float32 [E, P], columns as in SITUATION, of the state in `tick`.

    `elapsed_E` is the share of each task's time limit that has passed.
    """
    num_envs = len(tick.pose_E5)
    row_E, target_E = np.arange(num_envs), objects.target_index_E
    delta_EN3 = objects.from_feet(tick, follows_mobs=True)
    delta_EN3[:, :, 1] += 0.5 - EYE_HEIGHT_BLOCKS
    ahead_EN, right_EN = _turned(delta_EN3, np.radians(tick.pose_E5[:, 3]))
    level_EN = np.hypot(ahead_EN, right_EN) + 1e-6
    distance_EN = np.linalg.norm(delta_EN3, axis=2)

    is_rival_EN = objects.is_same_kind_EN.copy()
    is_rival_EN[row_E, target_E] = False
    has_rival_E = is_rival_EN.any(1)
    rival_E = np.where(is_rival_EN, distance_EN, np.inf).argmin(1)

    target, rival = (row_E, target_E), (row_E, rival_E)
    up_E, level_E = delta_EN3[row_E, target_E, 1], level_EN[target]
    pitch_E = -np.arctan2(up_E, level_E) - np.radians(tick.pose_E5[:, 4])
    area_E, center_x_E, center_y_E, left_E, top_E, right_E, bottom_E = tick.target_E7.T.astype(np.float64)
    is_seen_E = area_E > 0
    column_PE = [
        _TENS * ahead_EN[target],
        _TENS * right_EN[target],
        _TENS * up_E,
        _TENS * level_E,
        np.log1p(distance_EN[target]),
        right_EN[target] / level_E,
        ahead_EN[target] / level_E,
        pitch_E / _PITCH_UNIT_RAD,
        is_seen_E,
        3.0 * np.sqrt(area_E),
        np.where(is_seen_E, center_x_E - 0.5, 0.0),
        np.where(is_seen_E, center_y_E - 0.5, 0.0),
        right_E - left_E,
        bottom_E - top_E,
        has_rival_E,
        np.where(has_rival_E, np.log1p(distance_EN[rival]), 0.0),
        np.where(has_rival_E, right_EN[rival] / level_EN[rival], 0.0),
        np.where(has_rival_E, ahead_EN[rival] / level_EN[rival], 0.0),
        is_rival_EN.sum(1) / 4.0,
        _target_health(tick, target_E) / _FULL_HEALTH,
        tick.health_E / _FULL_HEALTH,
        elapsed_E,
    ]
    is_skill_ES = objects.skill_E[:, None] == np.arange(len(SKILLS))
    return np.concatenate([np.stack(column_PE, axis=1), is_skill_ES], axis=1).astype(np.float32)


def _turned(delta_EN3: np.ndarray, yaw_rad_E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far ahead and to the right of agents with this yaw things lie, float64 [E, N] each."""
    sine_E1, cosine_E1 = np.sin(yaw_rad_E)[:, None], np.cos(yaw_rad_E)[:, None]
    east_EN, south_EN = delta_EN3[:, :, 0], delta_EN3[:, :, 2]
    return south_EN * cosine_E1 - east_EN * sine_E1, -east_EN * cosine_E1 - south_EN * sine_E1


def _target_health(tick: TickBatch, target_E: np.ndarray) -> np.ndarray:
    """Return float64 [E], half hearts of the target where it is a living mob, else 0."""
    is_target_EM = (tick.mob_EM6[:, :, 0] >= 0) & (tick.mob_EM6[:, :, 1] == target_E[:, None] + 1)
    return np.asarray(np.where(is_target_EM, tick.mob_EM6[:, :, 5], 0.0).sum(1))
