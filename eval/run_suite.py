"""Judge several agents on exactly the same tasks."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from eval.episode_track import EpisodeTracker
from eval.judged_episode import judged_episode
from eval.records import JudgedEpisode
from mcrl.episodes import PlayedStep, StepWatcher, TaskListSource, run_episodes
from policies.interface import Agent
from task_synthesis.curriculum import check_split
from task_synthesis.task import TaskSpec
from task_synthesis.task_env import TaskEnv, TaskSource
from worlds.spec import Split


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteRow:
    """One agent to judge."""

    name: str
    source: str
    """Where the agent comes from, for the report: a checkpoint, or what it is in words."""
    make_agent: Callable[[TaskEnv], Agent]
    """Makes a fresh agent for the env it will play."""
    goal_of_task: Mapping[str, str] | None = None
    """Whose goal each task is shown with, by task id; None when every task shows its own."""
    on_step: StepWatcher | None = None
    """Watches the episodes, for videos."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedRow:
    """What came of one row."""

    episodes: list[JudgedEpisode]  # in the order of the tasks
    wall_s: float


def run_suite(
    rows: Sequence[SuiteRow],
    tasks: Sequence[TaskSpec],
    *,
    split: Split,
    make_env: Callable[[TaskSource], TaskEnv],
    on_progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, JudgedRow]:
    """Let every row play every task once, each in a fresh env; return the results by row name.

    Tasks in worlds of another split are refused: nothing may be judged where it was trained. `on_progress` hears the
    row's name, how many episodes are over and how many there are.
    """
    check_split(tasks, split, where="evaluation")
    if len({task.task_id for task in tasks}) != len(tasks):
        raise ValueError("evaluation: a task occurs more than once, so its episodes cannot be told apart; remove it")
    names = [row.name for row in rows]
    if len(set(names)) != len(names):
        raise ValueError(f"evaluation: two rows have the same name, got {', '.join(names)}; rename one")
    judged = {}
    for row in rows:
        started_s = time.perf_counter()
        env = make_env(TaskListSource(tasks))
        tracker = EpisodeTracker(tasks, ticks_per_decision=env.action_repeat)
        watchers: list[StepWatcher] = [tracker] + [
            watcher for watcher in (row.on_step, _progress_watcher(row.name, len(tasks), on_progress)) if watcher
        ]
        records = run_episodes(row.make_agent(env), env, tasks, on_step=_each(watchers))
        goal_of_task = row.goal_of_task or {}
        episodes = [
            judged_episode(
                task,
                record,
                tracker.track(index),
                row=row.name,
                suite="",
                unit=0,
                goal_task_id=goal_of_task.get(task.task_id, task.task_id),
            )
            for index, (task, record) in enumerate(zip(tasks, records, strict=True))
        ]
        judged[row.name] = JudgedRow(episodes=episodes, wall_s=time.perf_counter() - started_s)
    return judged


def _each(watchers: Sequence[StepWatcher]) -> StepWatcher:
    def watch(step: PlayedStep) -> None:
        for watcher in watchers:
            watcher(step)

    return watch


def _progress_watcher(
    name: str, num_tasks: int, on_progress: Callable[[str, int, int], None] | None
) -> StepWatcher | None:
    if on_progress is None:
        return None
    num_over = 0

    def watch(step: PlayedStep) -> None:
        nonlocal num_over
        is_over_E = step.transition.terminated_E | step.transition.truncated_E
        num_over += int((is_over_E & (step.task_index_E >= 0)).sum())
        on_progress(name, num_over, num_tasks)

    return watch
