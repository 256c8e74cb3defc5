"""The goal as the policy sees it: a picture from another camera, the target's mask in it, and what to do."""

from dataclasses import dataclass

import numpy as np

from task_synthesis.interaction import Interaction


@dataclass(frozen=True, slots=True, eq=False)
class CrossViewGoal:
    """What the policy is told about a task; rendered once an episode, encoded once a weight version."""

    image_HWC: np.ndarray  # uint8 [H, W, 3] RGB, row 0 is the top
    mask_HW: np.ndarray  # bool [H, W], exactly the target's visible pixels
    interaction: Interaction
