"""Claims about the Gymnasium faces of a task: Gymnasium's checker passes, and the vector env is many single ones."""

import dataclasses
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from task_synthesis.playing.gym_env import CrossViewEnv, CrossViewVectorEnv
from task_synthesis.playing.task_env import Outcome
from tests.task_synthesis.fixtures import some_tasks


def test_the_env_passes_gymnasiums_checker(recwarn):
    env = CrossViewEnv(some_tasks(), split="train", image_px=32, render_mode="rgb_array")
    check_env(env)
    assert type(env.reset()[0]["interaction"]) is np.int64
    env.close()
    # Of how others scale their actions, and of envs without an id.
    known = ("symmetric and normalized space", "not having a spec")
    assert not [warning for warning in recwarn if not any(words in str(warning.message) for words in known)]


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


@pytest.mark.parametrize("is_single", [True, False])
def test_reward_and_outcome_are_those_of_the_task(is_single, monkeypatch):
    tasks, options = some_tasks()[:2], {"split": "train", "image_px": 32}
    env = CrossViewEnv(tasks, **options) if is_single else CrossViewVectorEnv(tasks, num_envs=2, **options)
    env.reset(seed=0)
    play, num_envs = env._env.step, env._env.num_envs
    solved = {"reward_E": np.full(num_envs, 0.25, np.float32), "outcome_E": np.full(num_envs, Outcome.SUCCESS)}
    monkeypatch.setattr(env._env, "step", lambda actions: dataclasses.replace(play(actions), **solved))
    _, reward, *_, info = env.step({name: np.zeros_like(value) for name, value in env.action_space.sample().items()})
    if is_single:
        assert (reward, info["outcome"]) == (0.25, "SUCCESS")
    else:
        assert (reward.tolist(), info["outcome"].tolist()) == ([0.25] * 2, [Outcome.SUCCESS] * 2)


def test_the_last_view_is_of_the_episode_that_ended():
    tasks = [dataclasses.replace(task, task_id="", max_ticks=4) for task in some_tasks()[:6]]
    env = CrossViewVectorEnv(tasks, num_envs=2, split="train", image_px=32)
    before, _ = env.reset(seed=0)
    after, *_, infos = env.step({"buttons": np.zeros((2, 20), np.int8), "camera": np.zeros((2, 2), np.float32)})
    for e, last in enumerate(infos["final_obs"]):
        assert np.array_equal(last["goal_image"], before["goal_image"][e])
        assert not np.array_equal(last["goal_image"], after["goal_image"][e])
        assert not np.array_equal(last["image"], after["image"][e])


def test_what_is_rendered_is_the_view_and_the_goal_to_the_right_of_it():
    env = CrossViewEnv(some_tasks()[:1], split="train", image_px=32, render_mode="rgb_array")
    seen, _ = env.reset(seed=0)
    picture = env.render()
    assert np.array_equal(picture[:, :32], seen["image"])
    assert np.array_equal(picture[:, 32:], seen["goal_image"])


def test_a_camera_that_is_no_number_is_refused():
    env = CrossViewEnv(some_tasks()[:1], split="train", image_px=32)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action\['camera'\] must be finite degrees a tick"):
        env.step({"buttons": [0] * 20, "camera": [0.0, np.nan]})


@pytest.mark.parametrize(
    ("action", "given"), [(np.zeros(3), "ndarray"), ({"buttons": np.zeros((2, 20), np.int8)}, r"\['buttons'\]")]
)
def test_an_action_that_is_none_is_one_sentence(action, given):
    env = CrossViewVectorEnv(some_tasks()[:1], num_envs=2, split="train", image_px=32)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"an action is a dictionary of 'buttons' and 'camera', got {given}"):
        env.step(action)


@pytest.mark.parametrize("camera", [0.0, [0.0], [[0.0, 0.0]]])
def test_plain_lists_are_actions_and_misshapen_ones_are_one_sentence(camera):
    env = CrossViewEnv(some_tasks()[:1], split="train", image_px=32)
    env.reset(seed=0)
    env.step({"buttons": [0] * 20, "camera": [0.0, 0.0]})
    with pytest.raises(ValueError, match=r"camera \(1, 2\), got"):
        env.step({"buttons": [0] * 20, "camera": camera})


def _first_tasks(env, seed=None):
    return [env.reset(seed=seed if index == 0 else None)[1]["task_id"] for index in range(6)]


@pytest.mark.parametrize("make", [CrossViewEnv, partial(CrossViewVectorEnv, num_envs=1)])
def test_copies_without_a_seed_play_in_orders_of_their_own_and_with_one_in_the_same(make):
    def tasks_of(seed=None):
        return np.array(_first_tasks(make(some_tasks(), split="train", image_px=32), seed)).tolist()

    assert tasks_of(3) == tasks_of(3) != tasks_of(4)
    assert len({str(tasks_of()) for _ in range(4)}) > 1


def test_an_episode_that_ended_is_followed_by_the_next_task_of_the_order_once():
    env = CrossViewEnv(some_tasks(), split="train", image_px=32)
    order = _first_tasks(env, seed=2)
    noop = {"buttons": np.zeros(20, np.int8), "camera": np.zeros(2, np.float32)}
    played = [env.reset(seed=2)[1]["task_id"]]
    for _ in range(2):
        is_over = False
        while not is_over:
            last, _, terminated, truncated, _ = env.step(noop)
            is_over = terminated or truncated
        with pytest.raises(gym.error.ResetNeeded, match="after the end of an episode"):
            env.step(noop)
        first, info = env.reset()
        assert not np.array_equal(first["image"], last["image"])
        played.append(info["task_id"])
    assert played == order[:3]
    # What was begun is let go where another task, or another order, is asked for.
    while not any(env.step(noop)[2:4]):
        pass
    assert env.reset(options={"task": some_tasks()[5]})[1]["task_id"] == some_tasks()[5].task_id
    assert env.reset(seed=2)[1]["task_id"] == order[0]


@pytest.mark.parametrize("make", [CrossViewEnv, partial(CrossViewVectorEnv, num_envs=1)])
def test_a_closed_env_says_so(make):
    env = make(some_tasks()[:1], split="train", image_px=32)
    env.reset(seed=0)
    env.close()
    env.close()
    for call in (env.reset, lambda: env.step(env.action_space.sample())):
        with pytest.raises(gym.error.ClosedEnvironmentError, match="is closed"):
            call()


def test_what_the_envs_do_not_take_is_one_sentence():
    tasks = some_tasks()[:1]
    with pytest.raises(ValueError, match="num_envs must be at least 1, got -1"):
        CrossViewVectorEnv(tasks, num_envs=-1, split="train")
    vector = CrossViewVectorEnv(tasks, num_envs=2, split="train", image_px=32)
    with pytest.raises(ValueError, match=r"seed is one number, got \[1, 2\]"):
        vector.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="no options, got"):
        vector.reset(options={"task": tasks[0]})
    with pytest.raises(ValueError, match=r"options \['tsk'\] are unknown"):
        CrossViewEnv(tasks, split="train", image_px=32).reset(options={"tsk": tasks[0]})


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


def test_a_given_task_takes_the_place_of_none():
    tasks = [dataclasses.replace(task, task_id="", max_ticks=4) for task in some_tasks()[:6]]

    def played(*given_after):
        env = CrossViewEnv(tasks, split="train", image_px=16)
        env.reset(seed=0)
        order = [env._task.task_id]
        while len(order) < len(tasks):
            env.step(env.action_space.sample())
            if len(order) in given_after:
                env.reset(options={"task": tasks[0]})
                env.step(env.action_space.sample())
            order.append(env.reset()[1]["task_id"])
        env.close()
        return order

    assert played(1, 4) == played() != sorted(played())


def test_a_given_task_that_the_engine_refuses_is_not_taken_for_the_next_one():
    tasks = [dataclasses.replace(task, task_id="", max_ticks=4) for task in some_tasks()[:3]]
    env = CrossViewEnv(tasks, split="train", image_px=32)
    played = [env.reset(seed=0)[1]["task_id"]]
    noop = {"buttons": np.zeros(20, np.int8), "camera": np.zeros(2, np.float32)}
    assert env.step(noop)[3]
    wide = dataclasses.replace(tasks[0].world, size_blocks=(128, 64, 128))
    with pytest.raises(ValueError, match="the episode's world is"):
        env.reset(options={"task": dataclasses.replace(tasks[0], task_id="", world=wide)})
    with pytest.raises(gym.error.ResetNeeded):
        env.step(noop)
    for _ in range(2):
        played.append(env.reset()[1]["task_id"])
        assert env.step(noop)[3]
    assert sorted(played) == sorted(task.task_id for task in tasks)
