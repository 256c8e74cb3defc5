"""Success that is a place or a way instead of an event: how much of it one step of standing, walking or looking is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worlds.types import EYE_HEIGHT_BLOCKS


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """Where agents stand to objects of their target's kind after a step. N pairs of an agent and an object."""

    num_ticks: int
    """How long the step took, in ticks of 50 ms."""
    from_feet_N3: np.ndarray
    """float64, from the agent's feet to the middle of the object's floor, blocks; of a mob, where it is now."""
    from_feet_before_N3: np.ndarray
    """The same a step ago; as now in an episode's first step."""
    view_N3: np.ndarray
    """float64, unit vectors: where the agents look."""
    clear: Callable[[np.ndarray], np.ndarray]
    """Whether nothing solid stands between eye and object: int64 [K] of the pairs -> bool [K]. Rays: ask for few."""


Progress = Callable[[Standing], np.ndarray]
"""float64 [N]: how much of the success this step was, to be added up: 1 the whole, 0 nothing, -inf begin anew.

Less than 0 takes off, and a sum of -1 is the whole as well: once round is once round, either way.
"""


def near_and_facing(radius_blocks: float, *, cone_deg: float) -> Progress:
    """Make the rule: an object's floor is within the radius of the feet, its centre within the cone, in clear view."""

    def progress(standing: Standing) -> np.ndarray:
        done_N = np.zeros(len(standing.from_feet_N3))
        near_K = np.flatnonzero((standing.from_feet_N3**2).sum(1) <= radius_blocks**2)
        if not len(near_K):
            return done_N
        to_center_K3 = standing.from_feet_N3[near_K] + np.array([0.0, 0.5 - EYE_HEIGHT_BLOCKS, 0.0])
        cosine_K = (standing.view_N3[near_K] * to_center_K3).sum(1) / np.linalg.norm(to_center_K3, axis=1)
        faced_K = near_K[cosine_K >= np.cos(np.radians(cone_deg))]
        if len(faced_K):
            done_N[faced_K] = standing.clear(faced_K)
        return done_N

    return progress
