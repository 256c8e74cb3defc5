"""How the episodes in the learner's batches went, told to the run's own task sampler."""

from collections.abc import Sequence
from typing import Any

from mcrl.rollout.fragment import Fragment
from task_synthesis.playing.curriculum import TaskSampler
from task_synthesis.playing.task_env import Outcome
from task_synthesis.task import TaskSpec


class TaskFeedback:
    """The sampler that hears of every episode the learner consumed, whichever worker played it.

    It hands out no task itself: what it knows replaces what the workers know with every publish. Between two publishes
    a worker's own sampler hears of its own episodes; those reach this one with their fragments, so each episode counts
    once. Episodes in fragments that were dropped or lost are never counted.
    """

    def __init__(self, sampler: TaskSampler, tasks: Sequence[TaskSpec]) -> None:
        """Tell `sampler` about episodes of `tasks`."""
        self._sampler = sampler
        self._task_of = {task.task_id: task for task in tasks}

    def hear(self, fragments: Sequence[Fragment]) -> None:
        """Report the episodes that ended in these fragments and that the engine did not fail."""
        for fragment in fragments:
            for step in (fragment.terminated_T | fragment.truncated_T).nonzero()[0]:
                outcome = int(fragment.outcome_T[step])
                task = self._task_of.get(fragment.task_ids[int(fragment.goal_index_T[step])])
                if task is not None and outcome != Outcome.FAULT:
                    self._sampler.report(task, is_success=outcome == Outcome.SUCCESS)

    def statistics(self) -> dict[str, Any]:
        """Return what is known, as plain JSON."""
        return self._sampler.statistics()

    def restore(self, statistics: dict[str, Any]) -> None:
        """Know what a checkpoint knew."""
        self._sampler.load_statistics(statistics)

    def metrics(self) -> dict[str, float]:
        """Return the sampler's numbers for the log."""
        return self._sampler.metrics()
