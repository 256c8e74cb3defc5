"""Playing a list of tasks, each exactly once, and what came of it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcrl.dataflow.contracts import LockstepEnv
from policies.interface import Agent
from task_synthesis.playing.task_env import Observation, Outcome, Transition
from task_synthesis.task import TaskSpec
from worlds.arrays import copied
from worlds.types import ActionBatch


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeRecord:
    """How one task went."""

    task_id: str
    family: str
    """"skill/kind"."""
    band: str
    """Distance band."""
    outcome: str
    """Name of a task_synthesis.playing.task_env.Outcome, in lower case."""
    num_ticks: int
    """Length of the episode, 50 ms each."""
    num_decisions: int
    """Actions chosen."""

    @property
    def is_success(self) -> bool:
        """Return whether the agent did what was asked."""
        return self.outcome == Outcome.SUCCESS.name.lower()


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayedStep:
    """One decision of E agents, for those who watch. Arrays live until the next step."""

    observation: Observation  # before the actions
    actions: ActionBatch
    transition: Transition
    task_index_E: np.ndarray  # int64 [E], which task each env plays, -1 where it only fills the time


StepWatcher = Callable[[PlayedStep], None]


class TaskListSource:
    """A task source for a TaskEnv that hands out a list in order, whichever env asks, then its last task again."""

    def __init__(self, tasks: Sequence[TaskSpec]) -> None:
        if not tasks:
            raise ValueError("the list of tasks is empty; nothing to play")
        self._tasks = list(tasks)
        self._next = 0

    def __call__(self, env_index: int) -> TaskSpec:
        """Return the next task."""
        task = self._tasks[min(self._next, len(self._tasks) - 1)]
        self._next += 1
        return task

    def upcoming(self, num_tasks: int) -> list[TaskSpec]:
        """Return the tasks that come next, so that their worlds can be made ahead."""
        return self._tasks[self._next : self._next + num_tasks]


def run_episodes(
    agent: Agent, env: LockstepEnv, tasks: Sequence[TaskSpec], *, on_step: StepWatcher | None = None
) -> list[EpisodeRecord]:
    """Let the agent play every task once and return the records in the order of `tasks`.

    `env` is fresh, made with TaskListSource(tasks). Which env plays a task follows from the list and the lengths of
    the episodes before it, so the same agent gives the same records again. Envs without a task left play on unheeded.
    """
    waiting: dict[str, list[int]] = defaultdict(list)
    for index in range(len(tasks) - 1, -1, -1):
        waiting[tasks[index].task_id].append(index)
    record_of: dict[int, EpisodeRecord] = {}
    task_index_E = np.full(env.num_envs, -1)
    num_decisions_E = np.zeros(env.num_envs, np.int64)
    num_strange = 0
    observation = env.reset()
    while len(record_of) < len(tasks):
        for e in np.flatnonzero(observation.first_E):
            indices = waiting[observation.tasks[e].task_id]
            task_index_E[e] = indices.pop() if indices else -1
            num_decisions_E[e] = 0
        num_strange = 0 if (task_index_E >= 0).any() else num_strange + 1
        if num_strange > 1:
            raise ValueError(
                f"run_episodes: {len(tasks) - len(record_of)} of {len(tasks)} tasks never came up; "
                "make the env with TaskListSource(tasks)"
            )
        actions = agent.act(observation)
        if on_step is not None:  # the step overwrites what was seen before it
            observation = replace(
                observation, image_EHWC=copied(observation.image_EHWC), target_E7=observation.target_E7.copy()
            )
        transition = env.step(actions)
        num_decisions_E += 1
        if on_step is not None:
            on_step(
                PlayedStep(
                    observation=observation, actions=actions, transition=transition, task_index_E=task_index_E.copy()
                )
            )
        for e in np.flatnonzero(transition.terminated_E | transition.truncated_E):
            index = int(task_index_E[e])
            if index >= 0:
                task = tasks[index]
                record_of[index] = EpisodeRecord(
                    task_id=task.task_id,
                    family=task.family,
                    band=task.band,
                    outcome=Outcome(int(transition.outcome_E[e])).name.lower(),
                    num_ticks=int(transition.episode_ticks_E[e]),
                    num_decisions=int(num_decisions_E[e]),
                )
                task_index_E[e] = -1
        observation = transition.observation
    return [record_of[index] for index in range(len(tasks))]


def success_rate(records: Sequence[EpisodeRecord]) -> float:
    """Return the share of successes among the episodes that the engine did not fail; 0 without any."""
    judged = [record for record in records if record.outcome != Outcome.FAULT.name.lower()]
    return sum(record.is_success for record in judged) / max(1, len(judged))
