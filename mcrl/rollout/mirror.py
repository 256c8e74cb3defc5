"""A fragment as in a mirror: left and right exchanged in what is seen and in what is done. T steps, A action factors.

Worlds, physics and judges know no left and right, so what leads to a target leads to it in the mirror too: twice the
demonstrations for those that were recorded. An expert with habits, say to look to its right first, is shown with both,
which costs a policy some certainty. Textures come out the wrong way round, which no policy minds.
"""

import dataclasses

import numpy as np

from mcrl.rollout.fragment import Fragment
from policies.action_codec import FACTOR_INDEX, NUM_CAMERA_BINS
from task_synthesis.goal import CrossViewGoal
from worlds.types import TARGET_LABELS

_STRAFE, _YAW = FACTOR_INDEX["left_right"], FACTOR_INDEX["camera_yaw"]
_OTHER_SIDE = np.array([0, 2, 1], np.uint8)  # of the factor left_right: none, left, right
_CENTER_X, _LEFT, _RIGHT = (TARGET_LABELS.index(name) for name in ("center_x", "left", "right"))


def mirrored(fragment: Fragment) -> Fragment:
    """Return the same steps with left and right exchanged; what belongs to none of both is shared, not copied.

    The log-probabilities, values and reference logits stay those of the step as it was played.

    Raises:
        ValueError: the fragment holds what a frozen part made of the views, not the views.
    """
    if fragment.image_THWC.dtype != np.uint8:
        raise ValueError("mirror: views of a policy with a frozen part are not kept; set imitation.mirrors to False")
    return dataclasses.replace(
        fragment,
        image_THWC=fragment.image_THWC[:, :, ::-1],
        goals=tuple(_mirrored_goal(goal) for goal in fragment.goals),
        previous_action_TA=_mirrored_actions(fragment.previous_action_TA),
        action_TA=_mirrored_actions(fragment.action_TA),
        expert_action_TA=None if fragment.expert_action_TA is None else _mirrored_actions(fragment.expert_action_TA),
        target_T7=_mirrored_targets(fragment.target_T7),
    )


def _mirrored_goal(goal: CrossViewGoal) -> CrossViewGoal:
    return CrossViewGoal(goal.image_HWC[:, ::-1], goal.mask_HW[:, ::-1], goal.interaction)


def _mirrored_actions(action_TA: np.ndarray) -> np.ndarray:
    action_TA = action_TA.copy()
    action_TA[:, _STRAFE] = _OTHER_SIDE[action_TA[:, _STRAFE]]
    action_TA[:, _YAW] = NUM_CAMERA_BINS - 1 - action_TA[:, _YAW]
    return action_TA


def _mirrored_targets(target_T7: np.ndarray) -> np.ndarray:
    """Return labels of the mirrored views; those of a target that is not seen stay zeros."""
    target_T7 = target_T7.copy()
    is_seen_T = target_T7[:, 0] > 0
    left_T, right_T = target_T7[is_seen_T, _LEFT], target_T7[is_seen_T, _RIGHT]
    target_T7[is_seen_T, _CENTER_X] = 1 - target_T7[is_seen_T, _CENTER_X]
    target_T7[is_seen_T, _LEFT], target_T7[is_seen_T, _RIGHT] = 1 - right_T, 1 - left_T
    return target_T7
