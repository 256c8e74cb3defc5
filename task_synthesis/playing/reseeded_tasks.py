"""Tasks in an order that can be started again from a seed, as Gymnasium's environments do."""

from collections.abc import Sequence

import numpy as np

from task_synthesis.playing.curriculum import ShuffledTasks, check_tasks
from task_synthesis.task import TaskSpec
from worlds.spec import Split


class ReseededTasks:
    """A TaskSource over shuffled tasks whose order can be started again from a seed."""

    def __init__(self, tasks: Sequence[TaskSpec], split: Split) -> None:
        """Hand out `tasks`, all of one split and one world size; `begin` comes first."""
        self._tasks, self._split = tasks, split
        check_tasks(tasks, split)
        self._shuffled: ShuffledTasks | None = None
        self._kept: TaskSpec | None = None

    def begin(self, seed: int | None, np_random: np.random.Generator) -> None:
        """Start the order from `seed`; without one go on, and begin where chance has it: copies of an env differ."""
        if seed is not None or self._shuffled is None:
            drawn = int(np_random.integers(2**31)) if seed is None else seed
            self._shuffled, self._kept = ShuffledTasks(self._tasks, split=self._split, seed=drawn), None

    def keep(self, task: TaskSpec) -> None:
        """Hand out `task`, which was drawn and not played, once more; a new order forgets it."""
        self._kept = task

    def __call__(self, env_index: int) -> TaskSpec:
        """Return the next task, see TaskSource."""
        assert self._shuffled is not None
        kept, self._kept = self._kept, None
        return kept or self._shuffled(env_index)
