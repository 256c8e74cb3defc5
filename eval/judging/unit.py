"""A unit of an evaluation: up to 256 tasks that one row plays in one process, always with the same result.

Which tasks make a unit, how many envs play it and every random draw in it follow from the task list, the row and the
seed alone. So the table does not depend on how many processes work, in which order, or how often they were stopped.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numba
import torch

from eval.episodes.action_archive import pack
from eval.episodes.episode_track import EpisodeTracker
from eval.episodes.judged_episode import judged_episode
from eval.episodes.records import JudgedEpisode
from eval.judging.baselines import BlankGoalAgent, OtherGoalAgent, goals_of
from eval.judging.suite_row import SuiteRow
from mcrl.rollout.episodes import PlayedStep, TaskListSource, run_episodes
from policies.agent import PolicyAgent
from policies.threads import use_threads
from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.task import TaskSpec
from worlds.adapters.catalogue import BUILT_IN
from worlds.anvil import open_save

UNIT_TASKS = 256
MAX_ENVS = 64
# Envs of the largest worlds, 256 blocks a side, take 25 MB each.
MAX_ENVS_LARGE_WORLDS = 32
# Fewer, and the envs that ran out of tasks idle for longer than the others have left to play.
TASKS_PER_ENV = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """What one process is given to play."""

    row: SuiteRow
    suite: str
    """Name and version of the suite, "" for tasks chosen otherwise."""
    index: int
    """Of the unit in the suite."""
    tasks: tuple[TaskSpec, ...]
    partners: tuple[TaskSpec, ...] = ()
    """Whose goal each task is shown with; empty but in a row of shuffled goals."""
    seed: int
    """Of the evaluation; the unit derives its own from it."""
    save: Path | None = None
    """Folder of the real Minecraft world that the tasks are in; None for generated worlds."""

    @property
    def num_envs(self) -> int:
        """Return how many envs play the unit side by side: one where each is an engine and waits for the slowest."""
        if self.row.config.env.backend != BUILT_IN:
            return 1
        most = MAX_ENVS_LARGE_WORLDS if self.tasks[0].world.size_blocks[0] > 128 else MAX_ENVS
        return max(1, min(most, len(self.tasks) // TASKS_PER_ENV))


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayedUnit:
    """What came of a unit."""

    row: str
    index: int
    episodes: tuple[JudgedEpisode, ...]  # in the order of the tasks
    actions: bytes
    """As eval.episodes.action_archive packs them."""
    wall_s: float
    num_decisions: int
    """Decisions that belong to an episode."""
    num_env_steps: int
    """Decisions of all envs, those included that ran out of tasks."""


def cut_tasks(tasks: Sequence[TaskSpec], unit_tasks: int) -> list[tuple[TaskSpec, ...]]:
    """Return the tasks of each unit."""
    return [tuple(tasks[start : start + unit_tasks]) for start in range(0, len(tasks), unit_tasks)]


def play_unit(unit: Unit, on_episodes: Callable[[int], None] | None = None) -> PlayedUnit:
    """Play a unit on one thread; `on_episodes` hears how many of its episodes are over.

    The threads of torch and numba are put back afterwards: the sums of a matrix product depend on their number.
    """
    torch_threads, numba_threads = torch.get_num_threads(), numba.get_num_threads()
    use_threads(1)
    try:
        return _play(unit, on_episodes)
    finally:
        numba.set_num_threads(numba_threads)
        torch.set_num_threads(torch_threads)


def _play(unit: Unit, on_episodes: Callable[[int], None] | None) -> PlayedUnit:
    started_s = time.perf_counter()
    # The longest first: the last ones to end are then short, and few envs wait for them.
    order = sorted(range(len(unit.tasks)), key=lambda index: -unit.tasks[index].max_ticks)
    tasks = [unit.tasks[index] for index in order]
    # Before the envs of the play: both at once would take twice the memory.
    other_goal_of = _partner_goals(unit) if unit.row.goals == "shuffled" else {}
    with closing(_make_env(unit, tasks)) as env:
        agent = unit.row.make_agent(env, unit.row.load_policy(), seed=unit.seed, unit=unit.index)
        keeping = agent.casts_kept() if isinstance(agent, PolicyAgent) else nullcontext()
        if unit.row.goals == "shuffled":
            agent = OtherGoalAgent(agent, other_goal_of)
        elif unit.row.goals == "blank":
            agent = BlankGoalAgent(agent)
        tracker = EpisodeTracker(tasks, ticks_per_decision=env.action_repeat)
        num_over = num_env_steps = 0

        def watch(step: PlayedStep) -> None:
            nonlocal num_over, num_env_steps
            tracker(step)
            num_env_steps += env.num_envs
            is_over_E = (step.transition.terminated_E | step.transition.truncated_E) & (step.task_index_E >= 0)
            if on_episodes and is_over_E.any():
                num_over += int(is_over_E.sum())
                on_episodes(num_over)

        with keeping:
            records = run_episodes(agent, env, tasks, on_step=watch)
    shown_of = {task.task_id: partner.task_id for task, partner in zip(unit.tasks, unit.partners, strict=False)}
    episodes = {
        task.task_id: judged_episode(
            task,
            record,
            tracker.track(index),
            row=unit.row.name,
            suite=unit.suite,
            unit=unit.index,
            goal_task_id="" if unit.row.goals == "blank" else shown_of.get(task.task_id, task.task_id),
        )
        for index, (task, record) in enumerate(zip(tasks, records, strict=True))
    }
    actions_of = dict(zip([task.task_id for task in tasks], tracker.actions(), strict=True))
    ids = [task.task_id for task in unit.tasks]
    return PlayedUnit(
        row=unit.row.name,
        index=unit.index,
        episodes=tuple(episodes[task_id] for task_id in ids),
        actions=pack({task_id: actions_of[task_id] for task_id in ids}),
        wall_s=time.perf_counter() - started_s,
        num_decisions=sum(record.num_decisions for record in records),
        num_env_steps=num_env_steps,
    )


def _make_env(unit: Unit, tasks: Sequence[TaskSpec]) -> TaskEnv:
    side_blocks = tasks[0].world.size_blocks[0]
    saves = [open_save(unit.save)] if unit.save else []
    return unit.row.make_env(TaskListSource(tasks), unit.num_envs, side_blocks=side_blocks, saves=saves)


def _partner_goals(unit: Unit) -> dict[str, CrossViewGoal]:
    """Return the goal that each task is shown with, by the id of the task that is played."""
    with closing(_make_env(unit, unit.partners)) as env:
        goal_of = goals_of(env, len(unit.partners))
    return {task.task_id: goal_of[partner.task_id] for task, partner in zip(unit.tasks, unit.partners, strict=True)}
