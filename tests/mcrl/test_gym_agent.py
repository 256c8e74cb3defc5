"""Claims about a trained policy in Gymnasium environments: it acts as it does anywhere else."""

import numpy as np
import pytest

from mcrl.gym_agent import GymAgent
from policies.agent import PolicyAgent
from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.gym_env import CrossViewEnv, CrossViewVectorEnv
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from worlds.voxel.backend import VoxelBackend


@pytest.fixture(scope="module")
def tasks():
    return Synthesizer(SynthesisConfig(), split="train", seed=0).run(6)


@pytest.mark.parametrize("name", ["small", "keen"])
def test_it_acts_in_a_vector_of_envs_as_the_same_policy_does_in_evaluations(tasks, name):
    agent = GymAgent(name, num_envs=3, seed=5)
    px, action_repeat = agent.image_px, agent.action_repeat
    env = CrossViewVectorEnv(tasks, num_envs=3, split="train", image_px=px, action_repeat=action_repeat)
    backend = VoxelBackend(3, size_blocks=tasks[0].world.size_blocks, image_px=(px, px))
    inner = TaskEnv(backend, ShuffledTasks(tasks, split="train", seed=7), action_repeat=action_repeat)
    played = PolicyAgent(agent.policy, 3, seed=5, precision=agent.config.precision)
    observation, _ = env.reset(seed=7)
    begins, shown = np.ones(3, bool), inner.reset()
    for _ in range(30):
        assert np.array_equal(observation["image"], shown.image_EHWC)
        action, expected = agent.act(observation, begins), played.act(shown)
        assert np.array_equal(action["buttons"], expected.buttons_EB)
        assert np.array_equal(action["camera"], expected.camera_deg_E2)
        observation, _, terminated, truncated, _ = env.step(action)
        begins = terminated | truncated
        shown = inner.step(expected).observation
    env.close()


def test_in_one_env_it_acts_as_in_a_vector_of_one(tasks):
    single, vector = GymAgent("small", seed=1), GymAgent("small", num_envs=1, seed=1)
    env = CrossViewEnv(tasks, split="train", image_px=single.image_px, action_repeat=single.action_repeat)
    observation, _ = env.reset(seed=0)
    begins = True
    for _ in range(10):
        batched = {key: np.asarray(value)[None] for key, value in observation.items()}
        action, expected = single.act(observation, begins), vector.act(batched, begins)
        assert env.action_space.contains(action)
        assert all(np.array_equal(action[key], expected[key][0]) for key in action)
        observation, _, terminated, truncated, _ = env.step(action)
        begins = terminated or truncated
        if begins:
            observation, _ = env.reset()
    env.close()


def test_what_does_not_fit_is_one_sentence(tasks):
    with pytest.raises(ValueError, match="no such checkpoint"):
        GymAgent("smal")
    with pytest.raises(ValueError, match="num_envs must be at least 1, got 0"):
        GymAgent("small", num_envs=0)
    agent = GymAgent("small", num_envs=2)
    env = CrossViewVectorEnv(tasks, num_envs=3, split="train")
    observation, _ = env.reset(seed=0)
    with pytest.raises(ValueError, match=r"2 envs \(num_envs\), got image of shape \(3, 64, 64, 3\)"):
        agent.act(observation, np.ones(3, bool))
    with pytest.raises(ValueError, match=r"one CrossViewEnv, since num_envs is None, got image of shape \(3, 64"):
        GymAgent("small").act(observation, True)
    env.close()
