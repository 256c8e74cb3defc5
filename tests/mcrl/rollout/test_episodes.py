import numpy as np
import pytest

from mcrl.rollout.episodes import TaskListSource, run_episodes, success_rate
from task_synthesis.playing.task_env import Observation
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task
from worlds.types import ActionBatch

TASKS = [make_task(index) for index in range(7)]


class Idler:
    def act(self, observation: Observation) -> ActionBatch:
        return ActionBatch.noop(len(observation.tasks))


@pytest.mark.parametrize("num_envs", [1, 3, 10])
def test_every_task_is_played_once_and_reported_in_order(num_envs):
    env = CorridorEnv(TaskListSource(TASKS), num_envs)
    records = run_episodes(CorridorExpert(), env, TASKS)
    assert [record.task_id for record in records] == [task.task_id for task in TASKS]
    assert all(record.is_success and record.num_decisions == 3 and record.num_ticks == 9 for record in records)


def test_who_does_nothing_runs_into_the_time_limit():
    records = run_episodes(Idler(), CorridorEnv(TaskListSource(TASKS), 2), TASKS)
    assert {record.outcome for record in records} == {"time_limit"}
    assert success_rate(records) == 0.0


def test_a_task_that_stands_twice_in_the_list_is_played_twice():
    tasks = [TASKS[0], TASKS[0], TASKS[1]]
    records = run_episodes(CorridorExpert(), CorridorEnv(TaskListSource(tasks), 2), tasks)
    assert [record.task_id for record in records] == [task.task_id for task in tasks]


def test_faults_are_reported_and_count_in_no_rate():
    env = CorridorEnv(TaskListSource(TASKS), 2, fault_at_step=1)
    records = run_episodes(CorridorExpert(), env, TASKS)
    assert [record.outcome for record in records].count("fault") == 1
    assert success_rate(records) == 1.0


def test_a_watcher_sees_every_decision_with_the_task_it_belongs_to():
    seen = []
    env = CorridorEnv(TaskListSource(TASKS), 2)
    run_episodes(CorridorExpert(), env, TASKS, on_step=lambda step: seen.append(step.task_index_E))
    played = np.concatenate(seen)
    assert {index: int((played == index).sum()) for index in range(7)} == dict.fromkeys(range(7), 3)


def test_an_env_with_other_tasks_is_refused():
    env = CorridorEnv(TaskListSource([make_task(20)]), 2)
    with pytest.raises(ValueError, match=r"7 of 7 tasks never came up"):
        run_episodes(CorridorExpert(), env, TASKS)


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match="empty"):
        TaskListSource([])
