"""Claims about the expert: it solves what is synthesised, and teaches only what a learner can know."""

import numpy as np
import pytest

from policies.expert import ExpertAgent
from task_synthesis.task_env import Outcome, TaskEnv
from tests.task_synthesis.fixtures import some_tasks
from worlds.types import BUTTON_INDEX
from worlds.voxel.backend import VoxelBackend


def play(tasks, **options) -> list[Outcome]:
    """The outcome of each task, played side by side."""
    backend = VoxelBackend(len(tasks), size_blocks=(64, 64, 64), image_px=(64, 64))
    env = TaskEnv(backend, lambda e: tasks[e])
    expert = ExpertAgent(env, **options)
    observation, outcomes = env.reset(), [Outcome.RUNNING] * len(tasks)
    while Outcome.RUNNING in outcomes:
        transition = env.step(expert.act(observation))
        observation = transition.observation
        for e in np.flatnonzero(transition.outcome_E):
            if outcomes[e] == Outcome.RUNNING:
                outcomes[e] = Outcome(int(transition.outcome_E[e]))
    return outcomes


@pytest.mark.parametrize("is_teaching", [True, False])
def test_the_expert_solves_at_least_95_percent_of_accepted_tasks(is_teaching):
    tasks = some_tasks("train", 5, 96)
    outcomes = play(tasks, is_teaching=is_teaching)
    assert {task.skill for task in tasks} == {"approach", "break"}
    assert {task.band for task in tasks} == {"near", "easy"}
    assert outcomes.count(Outcome.SUCCESS) >= 0.95 * len(tasks)


def test_in_teaching_mode_it_does_not_walk_before_it_has_seen_the_target_or_turned_round():
    tasks = [task for task in some_tasks() if not task.difficulty.visible_at_start][:8]
    backend = VoxelBackend(len(tasks), size_blocks=(64, 64, 64), image_px=(64, 64))
    env = TaskEnv(backend, lambda e: tasks[e])
    expert = ExpertAgent(env)
    observation = env.reset()
    has_seen_E = np.zeros(len(tasks), bool)
    for _ in range(8):
        has_seen_E |= observation.target_E7[:, 0] > 0
        actions = expert.act(observation)
        assert not actions.buttons_EB[~has_seen_E, BUTTON_INDEX["forward"]].any()
        observation = env.step(actions).observation
    assert has_seen_E.any()


def test_the_expert_refuses_an_engine_it_cannot_read():
    class OtherBackend:
        num_envs = 1

    class OtherEnv:
        backend = OtherBackend()

    with pytest.raises(ValueError, match="built-in engine only"):
        ExpertAgent(OtherEnv())
