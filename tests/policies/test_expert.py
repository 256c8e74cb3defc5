"""Claims about the expert: it solves what is synthesised, and teaches only what a learner can know."""

import numpy as np
import pytest

from policies.expert import ExpertAgent
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from tests.task_synthesis.fixtures import some_tasks
from worlds.types import BUTTON_INDEX, ActionBatch
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


@pytest.mark.parametrize("is_teaching", [True, pytest.param(False, marks=pytest.mark.slow)])
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


def test_hearing_of_its_own_actions_changes_nothing():
    tasks = some_tasks()[:12]

    def labels(does_note):
        backend = VoxelBackend(len(tasks), size_blocks=(64, 64, 64), image_px=(32, 32))
        env = TaskEnv(backend, lambda e: tasks[e])
        expert, observation, chosen = ExpertAgent(env), env.reset(), []
        for _ in range(40):
            actions = expert.act(observation)
            chosen.append(np.concatenate([actions.buttons_EB, actions.camera_deg_E2], axis=1))
            observation = env.step(actions).observation
            if does_note:
                expert.note_actions(actions)
        return np.stack(chosen)

    assert np.array_equal(labels(True), labels(False))


def test_who_does_not_walk_is_not_told_to_hop_and_slide():
    tasks = [task for task in some_tasks() if task.skill == "approach"][:8]
    slides = {}
    for does_note in (True, False):
        backend = VoxelBackend(len(tasks), size_blocks=(64, 64, 64), image_px=(16, 16))
        env = TaskEnv(backend, lambda e: tasks[e])
        expert, observation = ExpertAgent(env, is_teaching=False), env.reset()
        slides[does_note] = 0
        for _ in range(12):
            actions = expert.act(observation)
            slides[does_note] += int(actions.buttons_EB[:, BUTTON_INDEX["left"]].sum())
            done = ActionBatch.noop(len(tasks))  # turns as it is told and stays where it is
            done.camera_deg_E2[:] = actions.camera_deg_E2
            if does_note:
                expert.note_actions(done)
            observation = env.step(done).observation
    assert slides[True] == 0
    assert slides[False] > 0


def test_who_does_not_use_is_told_to_use_again():
    config = SynthesisConfig(skills={"interact": 1.0}, bands={"near": 1.0})
    tasks = Synthesizer(config, split="train", seed=3, num_threads=1).run(4)
    env = TaskEnv(VoxelBackend(4, size_blocks=(64, 64, 64), image_px=(16, 16)), lambda e: tasks[e])
    expert, observation = ExpertAgent(env, is_teaching=False), env.reset()
    use, num_labels_E = BUTTON_INDEX["use"], np.zeros(4, int)
    for _ in range(60):
        actions = expert.act(observation)
        wants_use_E = actions.buttons_EB[:, use].copy()
        # Once it is told to use it never is told anything else: nothing has changed.
        assert (wants_use_E | (num_labels_E == 0)).all()
        num_labels_E += wants_use_E
        actions.buttons_EB[:, use] = False
        actions.buttons_EB[num_labels_E > 0] = False
        actions.camera_deg_E2[num_labels_E > 0] = 0.0
        expert.note_actions(actions)
        transition = env.step(actions)
        observation = transition.observation
        if transition.truncated_E.any():
            break
    assert (num_labels_E >= 3).any()


def test_the_expert_refuses_an_engine_it_cannot_read():
    class OtherBackend:
        num_envs = 1

    class OtherEnv:
        backend = OtherBackend()

    with pytest.raises(ValueError, match="built-in engine only"):
        ExpertAgent(OtherEnv())
