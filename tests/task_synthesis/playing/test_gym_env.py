"""Claims about the Gymnasium faces of a task: Gymnasium's checker passes, and the vector env is many single ones."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from task_synthesis.playing.gym_env import CrossViewEnv, CrossViewVectorEnv
from tests.task_synthesis.fixtures import some_tasks


def test_the_env_passes_gymnasiums_checker(recwarn):
    env = CrossViewEnv(some_tasks(), split="train", image_px=32, render_mode="rgb_array")
    check_env(env)
    env.close()
    # Of how others scale their actions, and of envs without an id.
    known = ("symmetric and normalized space", "not having a spec")
    assert not [warning for warning in recwarn if not any(words in str(warning.message) for words in known)]
    assert type(env.reset()[0]["interaction"]) is np.int64


def test_the_vector_env_keeps_its_spaces_and_autoresets_in_the_same_step():
    env = CrossViewVectorEnv(some_tasks(), num_envs=4, split="train", image_px=32)
    observation, infos = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert env.metadata["autoreset_mode"] == gym.vector.AutoresetMode.SAME_STEP
    num_ended, played, was_ended = 0, infos["task_id"], np.zeros(4, bool)
    noop = {"buttons": np.zeros((4, 20), np.int8), "camera": np.zeros((4, 2), np.float32)}
    for _ in range(200):
        observation, reward, terminated, truncated, infos = env.step(noop)
        assert env.observation_space.contains(observation)
        assert reward.shape == (4,)
        ended = terminated | truncated
        num_ended += ended.sum()
        # Of the step's own task, as all that is said beside it; the next one's from the step after an end on.
        assert (infos["task_id"] == played)[~was_ended].all()
        played, was_ended = infos["task_id"], ended
        if ended.any():
            assert np.array_equal(infos["_final_obs"], ended)
            assert env.single_observation_space.contains(infos["final_obs"][int(np.argmax(ended))])
    assert num_ended >= 4


def test_the_vector_env_shows_what_the_single_env_shows():
    task = some_tasks()[0]
    single, vector = (
        CrossViewEnv([task], split="train", image_px=32),
        CrossViewVectorEnv([task], num_envs=2, split="train", image_px=32),
    )
    one, _ = single.reset(seed=0)
    many, _ = vector.reset(seed=0)
    action = {"buttons": np.zeros(20, np.int8), "camera": np.array([3.0, 5.0], np.float32)}
    for _ in range(5):
        for name, value in one.items():
            assert np.array_equal(many[name][0], value)
        one, *_ = single.step(action)
        many, *_ = vector.step({name: np.stack([value] * 2) for name, value in action.items()})


@pytest.mark.parametrize(
    ("action", "given"), [(np.zeros(3), "ndarray"), ({"buttons": np.zeros((2, 20), np.int8)}, r"\['buttons'\]")]
)
def test_an_action_that_is_none_is_one_sentence(action, given):
    env = CrossViewVectorEnv(some_tasks()[:1], num_envs=2, split="train", image_px=32)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"an action is a dictionary of 'buttons' and 'camera', got {given}"):
        env.step(action)


def test_step_before_reset_says_so():
    with pytest.raises(gym.error.ResetNeeded):
        CrossViewEnv(some_tasks(), split="train").step({})


def test_a_task_can_be_given_at_reset():
    env = CrossViewEnv(some_tasks(), split="train", image_px=32)
    wanted = some_tasks()[5]
    _, info = env.reset(options={"task": wanted})
    assert info["task_id"] == wanted.task_id
    with pytest.raises(ValueError, match="must be a TaskSpec"):
        env.reset(options={"task": "a"})
    with pytest.raises(ValueError, match=r'options\["task"\]: world seed .* but this is a .val. set'):
        CrossViewEnv(some_tasks("val", num_tasks=4), split="val", image_px=32).reset(options={"task": wanted})
    with pytest.raises(ValueError, match="there is no split 'test'; choose one of train, val, held_out"):
        CrossViewEnv(some_tasks(), split="test")
