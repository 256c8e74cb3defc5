"""Work: steps of one family of tasks that take about the same time. What was begun and thrown away is counted in it."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from mcrl.rollout.fragment import Fragment


class WorkKind(NamedTuple):
    """One cell of the books of begun and accepted work."""

    family: str
    duration_bin: int | None
    """Floor of log2(wall seconds a step); None where steps were not timed."""


def work_kind(family: str, step_s: float) -> WorkKind:
    """Return the kind of a family's steps that take `step_s` wall seconds each; NaN where they were not timed."""
    # A clock may stand still for a step: a nanosecond keeps the logarithm finite.
    return WorkKind(family, None if math.isnan(step_s) else math.floor(math.log2(max(step_s, 1e-9))))


def goal_kinds(fragment: Fragment) -> list[WorkKind]:
    """Return the kind of work done for each goal of the fragment."""
    if fragment.step_s_G is None:
        return [WorkKind(family, None) for family in fragment.families]
    return [work_kind(family, float(s)) for family, s in zip(fragment.families, fragment.step_s_G, strict=True)]


def steps_of_kinds(fragment: Fragment) -> Counter[WorkKind]:
    """Return how many steps of each kind of work the fragment holds."""
    num_steps: Counter[WorkKind] = Counter()
    kinds = goal_kinds(fragment)
    for goal, count in enumerate(np.bincount(fragment.goal_index_T, minlength=len(kinds))):
        num_steps[kinds[goal]] += int(count)
    return num_steps


def last_work(fragment: Fragment) -> tuple[WorkKind, int]:
    """Return the kind of work the fragment ended in and its length in steps: the best guess of what follows it."""
    return goal_kinds(fragment)[int(fragment.goal_index_T[-1])], fragment.num_steps
