"""What a policy is held against: itself, shown another task's goal, or none."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from policies.interface import Agent
from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.task_env import Observation, TaskEnv
from task_synthesis.task import TaskSpec
from worlds.types import ActionBatch


class OtherGoalAgent:
    """An agent that is shown another task's goal and judged on the task it plays.

    What it still solves, it solves without looking at the goal.
    """

    def __init__(self, agent: Agent, goal_of: Mapping[str, CrossViewGoal]) -> None:
        """`goal_of` maps the id of each task played to the goal that is shown."""
        self._agent = agent
        self._goal_of = goal_of

    def act(self, observation: Observation) -> ActionBatch:
        """Let the agent act on the swapped goals."""
        return self._agent.act(replace(observation, goals=[self._goal_of[task.task_id] for task in observation.tasks]))


class BlankGoalAgent:
    """An agent that is told what to do and not what with: a black picture with nothing marked in it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def act(self, observation: Observation) -> ActionBatch:
        """Let the agent act without a goal view."""
        goals = [
            CrossViewGoal(np.zeros_like(goal.image_HWC), np.zeros_like(goal.mask_HW), goal.interaction)
            for goal in observation.goals
        ]
        return self._agent.act(replace(observation, goals=goals))


def lonely_skills(tasks: Sequence[TaskSpec]) -> list[str]:
    """Return the skills with a single task, sorted: there is no other goal to show with it."""
    num_tasks = Counter(task.skill for task in tasks)
    return sorted(skill for skill, count in num_tasks.items() if count == 1)


def shuffled_partners(tasks: Sequence[TaskSpec], *, seed: int) -> dict[str, str]:
    """Map each task to another one of the same skill, every goal used once: a derangement.

    Tasks are put in random order within a skill and each is given the next one's goal, so no task keeps its own. The
    same tasks and seed give the same partners. A skill with a single task raises ValueError.
    """
    lonely = lonely_skills(tasks)
    if lonely:
        raise ValueError(f"shuffled goals need at least two tasks a skill, {lonely[0]!r} has one; judge more tasks")
    by_skill: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        by_skill[task.skill].append(task.task_id)
    rng = np.random.default_rng(seed)
    partner_of: dict[str, str] = {}
    for _, task_ids in sorted(by_skill.items()):
        order = [task_ids[index] for index in rng.permutation(len(task_ids))]
        partner_of.update(zip(order, order[1:] + order[:1], strict=True))
    return partner_of


def goals_of(env: TaskEnv, num_tasks: int) -> dict[str, CrossViewGoal]:
    """Return the goal of every task of a fresh `env` whose source is a list of `num_tasks` tasks, by task id."""
    goal_of: dict[str, CrossViewGoal] = {}
    for _ in range(0, num_tasks, env.num_envs):
        observation = env.reset()
        goal_of.update({task.task_id: goal for task, goal in zip(observation.tasks, observation.goals, strict=True)})
    return goal_of
