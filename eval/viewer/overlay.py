"""What a policy believes, drawn into the view it believes it of. H W C image."""

import cv2
import numpy as np

from eval.viewer.players import Belief
from task_synthesis.goal import CrossViewGoal

_BOX_RGB, _CENTRE_RGB, _TARGET_RGB = (255, 210, 0), (255, 0, 220), (255, 0, 0)
_BAR_RGB, _GROUND_RGB, _FRAME_RGB = (90, 220, 120), (40, 40, 40), (255, 255, 255)
_GOAL_SHARE = 0.3  # of the picture's side that the goal picture takes
_TARGET_ALPHA = 0.5
_LEAST_VISIBILITY = 0.5  # below that the policy says itself that box and centre mean nothing


def with_overlay(image_HWC: np.ndarray, *, belief: Belief | None, goal: CrossViewGoal | None) -> np.ndarray:
    """Return a copy of a view with what is believed of it, and the goal in a corner, uint8 [H, W, 3] RGB.

    The bar at the lower edge is the probability that the target is in view; box and cross are where it is, drawn when
    that is above a half.

    Args:
        image_HWC: uint8 RGB, square.
        belief: of that view; None draws none.
        goal: drawn into the upper right corner, its target in red; None draws none.
    """
    shown_HWC = np.ascontiguousarray(image_HWC).copy()
    side = shown_HWC.shape[0]
    if goal is not None:
        _draw_goal(shown_HWC, goal)
    if belief is None:
        return shown_HWC
    thick = max(1, side // 192)
    if belief.visibility >= _LEAST_VISIBILITY:
        left, top, right, bottom = (_to_px(part, side) for part in belief.box)
        cv2.rectangle(shown_HWC, (left, top), (right, bottom), _BOX_RGB, thick)
        x, y = (_to_px(part, side) for part in belief.centre)
        cv2.drawMarker(shown_HWC, (x, y), _CENTRE_RGB, cv2.MARKER_CROSS, max(5, side // 16), thick)
    bar_px = max(2, side // 48)
    shown_HWC[-bar_px:] = _GROUND_RGB
    shown_HWC[-bar_px:, : round(belief.visibility * side)] = _BAR_RGB
    return shown_HWC


def _draw_goal(shown_HWC: np.ndarray, goal: CrossViewGoal) -> None:
    side = shown_HWC.shape[0]
    goal_px = max(8, round(side * _GOAL_SHARE))
    marked_HWC = goal.image_HWC.astype(np.float32)
    marked_HWC[goal.mask_HW] = (1 - _TARGET_ALPHA) * marked_HWC[goal.mask_HW] + _TARGET_ALPHA * np.array(_TARGET_RGB)
    small_HWC = cv2.resize(marked_HWC.astype(np.uint8), (goal_px, goal_px), interpolation=cv2.INTER_AREA)
    shown_HWC[:goal_px, side - goal_px :] = small_HWC
    cv2.rectangle(shown_HWC, (side - goal_px, 0), (side - 1, goal_px - 1), _FRAME_RGB, 1)


def _to_px(share: float, side_px: int) -> int:
    return min(side_px - 1, max(0, int(share * side_px)))
