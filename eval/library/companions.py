"""Whether a target has a companion: a block of another kind beside it, by which the picture tells which is meant.

A task's line does not say so, and a file of tasks comes without the manifest that does: it is measured.
"""

import math
from collections.abc import Sequence

from eval.numbers.counted import counted
from task_synthesis.placement.targets import torus_delta
from task_synthesis.skills import base_kind

# Objects are drawn at least 3 blocks from each other, companions at most 2.24 from what they stand beside. All 1,008
# tasks of suite companions have one by this measure, and none of distractors, unseen_seeds and laptop.
_NEAREST_OTHER_BLOCKS = 3.0


def has_companion(
    kinds: Sequence[str], positions: Sequence[Sequence[int]], target_index: int, size_blocks: Sequence[int]
) -> bool:
    """Tell whether an object of another kind stands so near the target that it was put there for it.

    `kinds` and `positions`, x, y, z, are those of every object, `size_blocks` the sides of the world, which comes round
    along x and z.
    """
    target, kind = positions[target_index], base_kind(kinds[target_index])
    return any(
        math.hypot(*(float(torus_delta(other[axis] - target[axis], size_blocks[axis])) for axis in (0, 2)))
        < _NEAREST_OTHER_BLOCKS
        for index, other in enumerate(positions)
        if base_kind(kinds[index]) != kind
    )


def companions_sentence(num_with: int, num_tasks: int) -> str:
    """Return how many tasks have a companion; "" where none has."""
    if not num_with:
        return ""
    those = "every task" if num_with == num_tasks else f"{num_with} of {counted(num_tasks, 'task')}"
    return f"With companions: in {those} a block of another kind stands beside the target."
