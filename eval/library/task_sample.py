"""A sample of a library that shows every skill."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from task_synthesis.task import TaskSpec

# What a page says of them; see sample_tasks.
SAMPLE_RULE = "drawn at random, evenly from the skills"


def sample_tasks(tasks: Sequence[TaskSpec], num_tasks: int, *, seed: int) -> list[TaskSpec]:
    """Return up to `num_tasks` tasks, drawn without repetition, as evenly from the skills as they allow."""
    rng = np.random.default_rng(seed)
    of_skill: dict[str, list[int]] = defaultdict(list)
    for index in rng.permutation(len(tasks)):
        of_skill[tasks[index].skill].append(int(index))
    chosen: list[int] = []
    for rank in range(max(len(indices) for indices in of_skill.values())):
        chosen += [of_skill[skill][rank] for skill in sorted(of_skill) if rank < len(of_skill[skill])]
        if len(chosen) >= num_tasks:
            break
    return sorted((tasks[index] for index in chosen[:num_tasks]), key=lambda task: (task.skill, task.task_id))
