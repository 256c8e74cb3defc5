"""Which task an env plays next."""

from collections.abc import Sequence

import numpy as np

from task_synthesis.task import TaskSpec
from worlds.spec import Split


class ShuffledTasks:
    """Hands out a list of tasks in a fresh random order every time it has gone through: a TaskSource.

    Mixed at the ratio of the list, as in the paper's 1:1:1 curriculum.
    """

    def __init__(self, tasks: Sequence[TaskSpec], *, split: Split, seed: int) -> None:
        """Refuse tasks whose world is not of `split`."""
        if not tasks:
            raise ValueError("curriculum: there are no tasks; make some with `mcrl synth`")
        check_split(tasks, split)
        self._tasks = list(tasks)
        self._rng = np.random.default_rng(seed)
        self._order: list[int] = []

    def __call__(self, env_index: int) -> TaskSpec:
        """Return the next task, whichever env asks."""
        if not self._order:
            self._order = self._rng.permutation(len(self._tasks)).tolist()
        return self._tasks[self._order.pop()]

    def upcoming(self, num_tasks: int) -> list[TaskSpec]:
        """Return the tasks handed out next, as far as they are decided."""
        return [self._tasks[index] for index in self._order[: -num_tasks - 1 : -1]]


def check_split(tasks: Sequence[TaskSpec], split: Split, *, where: str = "tasks") -> None:
    """Raise ValueError for the first task whose world belongs to another split."""
    for task in tasks:
        if task.split != split:
            raise ValueError(
                f"{where}: world seed {task.world.seed} of task {task.task_id} is in split {task.split!r}, but this is "
                f"a {split!r} set; regenerate it with `mcrl synth --split {split}`"
            )
