"""Claims about a TaskEnv that is saved: the future after loading is the future that was, and misfits are refused."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.engine_state import EngineKeeper
from task_synthesis.playing.milestones import PartialCredit, RewardConfig
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.task_env import TaskEnv
from tests.task_synthesis.fixtures import SIDE, some_tasks, tasks_of_all_skills
from worlds.types import BUTTON_INDEX, ActionBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

NUM_ENVS = 3
REWARDS = RewardConfig(in_view=0.1, within_reach=0.1, first_hit=0.1, shaping_per_block=0.02)


def make_env(tasks, *, num_envs=NUM_ENVS, seed=0, side=SIDE, rewards=True):
    worlds = WorldCache()
    backend = VoxelBackend(num_envs, size_blocks=(side, 64, side), image_px=(16, 16), world_cache=worlds)
    partial_credit = PartialCredit(REWARDS, num_envs, discount=0.98) if rewards else None
    sampler = ShuffledTasks(tasks, split="train", seed=seed)
    keeper = EngineKeeper(backend, worlds)
    return TaskEnv(backend, sampler, partial_credit=partial_credit, keeper=keeper, tells_situations=True), sampler


def short(tasks, max_ticks=60):
    """The same tasks with episodes short enough to end within a test."""
    return [dataclasses.replace(task, task_id="", max_ticks=max_ticks) for task in tasks]


def random_actions(rng, num_envs=NUM_ENVS):
    """Mostly walking, jumping and holding attack or use with the view down: blocks break, mobs are hit, arrows fly."""
    actions = ActionBatch.noop(num_envs)
    for name, chance in (("forward", 0.2), ("jump", 0.1), ("attack", 0.95), ("use", 0.2), ("drop", 0.05)):
        actions.buttons_EB[:, BUTTON_INDEX[name]] = rng.random(num_envs) < chance
    actions.camera_deg_E2[:] = rng.uniform(-3, 3, (num_envs, 2)) + (1, 0)
    return actions


def seen(observation) -> list[bytes]:
    arrays = [observation.image_EHWC, observation.first_E, observation.target_E7, observation.situation_EP]
    arrays += [array for goal in observation.goals for array in (goal.image_HWC, goal.mask_HW)]
    return [array.tobytes() for array in arrays] + [str(task.task_id).encode() for task in observation.tasks]


def played(env, rng, num_steps) -> list[bytes]:
    """Everything that `num_steps` random actions lead to, as bytes."""
    record = []
    for _ in range(num_steps):
        transition = env.step(random_actions(rng, env.num_envs))
        where = transition.whereabouts
        arrays = [transition.reward_E, transition.outcome_E, transition.episode_ticks_E, transition.final_image_EHWC]
        arrays += [transition.final_situation_EP, where.feet_E3, where.target_E3, where.target_area_E]
        if transition.reward_parts_EP is not None:
            arrays.append(transition.reward_parts_EP)
        record += [array.tobytes() for array in arrays] + seen(transition.observation)
    return record + [array.tobytes() for group in env.backend.state for array in group]


def is_restored_exactly(tasks, *, seed, num_before, num_after, rewards=True) -> bool:
    env, sampler = make_env(tasks, seed=seed, rewards=rewards)
    env.reset()
    played(env, np.random.default_rng(seed), num_before)
    state, order = env.saved(), sampler.saved()
    expected = played(env, np.random.default_rng(seed + 1), num_after)

    # Another seed: whatever is not saved would show.
    other, other_sampler = make_env(tasks, seed=seed + 100, rewards=rewards)
    other_sampler.load_saved(order)
    other.load_saved(state)
    return played(other, np.random.default_rng(seed + 1), num_after) == expected


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10_000), num_before=st.integers(0, 30), rewards=st.booleans())
def test_saved_then_played_on_is_loaded_then_played_on(seed, num_before, rewards):
    assert is_restored_exactly(short(some_tasks()), seed=seed, num_before=num_before, num_after=12, rewards=rewards)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), num_before=st.integers(0, 150))
def test_tasks_of_all_skills_with_mobs_items_and_arrows_are_restored_too(seed, num_before):
    assert is_restored_exactly(tasks_of_all_skills()[0], seed=seed, num_before=num_before, num_after=40)


def test_what_is_loaded_looks_as_what_was_saved_did():
    env, _ = make_env(some_tasks())
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        transition = env.step(random_actions(rng))
    before = seen(transition.observation)
    other, _ = make_env(some_tasks(), seed=5)
    assert seen(other.load_saved(env.saved())) == before


def test_a_broken_block_is_among_what_is_kept_and_a_world_is_not():
    env, _ = make_env(some_tasks())
    env.reset()
    digging = ActionBatch.noop(NUM_ENVS)
    digging.buttons_EB[:, BUTTON_INDEX["attack"]] = True
    digging.camera_deg_E2[:, 0] = 20
    for _ in range(30):
        env.step(digging)
    state = env.saved()
    assert len(state.arrays["engine/block_EXZY/cell"]) > 0
    assert sum(array.nbytes for array in state.arrays.values()) < NUM_ENVS * 16 * 1024


@cache
def saved():
    env, _ = make_env(some_tasks())
    env.reset()
    played(env, np.random.default_rng(3), 8)
    return env.saved()


def with_array(state, name, change):
    return dataclasses.replace(state, arrays=state.arrays | {name: change(state.arrays[name])})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda s: dataclasses.replace(s, values=s.values | {"tasks": s.values["tasks"][:2]}), "holds 2 envs, this"),
        (lambda s: dataclasses.replace(s, values=s.values | {"tasks": 3}), "tasks is 3, wanted a list"),
        (lambda s: dataclasses.replace(s, values={}), "tasks is None, wanted a list"),
        (lambda s: with_array(s, "engine/bodies.position_E3", lambda a: a[:2]), "has shape"),
        (lambda s: with_array(s, "engine/mobs.kind_EM", lambda a: a.astype(np.int64)), "is of int64, wanted int32"),
        (lambda s: with_array(s, "engine/block_EXZY/cell", lambda a: a + 2**24), "are not cells of 3 worlds"),
        (lambda s: with_array(s, "engine/checksum", lambda a: a + 1), "is not the one that was saved"),
        (lambda s: with_array(s, "clock/ticks", lambda a: a[None]), "has shape"),
    ],
)
def test_damage_is_refused_in_one_sentence(damage, sentence):
    env, _ = make_env(some_tasks())
    with pytest.raises(ValueError, match=sentence):
        env.load_saved(damage(saved()))


def test_worlds_of_another_size_and_another_number_of_envs_are_refused():
    wide, _ = make_env(some_tasks(), side=128)
    with pytest.raises(ValueError, match=r"holds worlds of \[64, 64, 64\] blocks, this run has \[128, 64, 128\]"):
        wide.load_saved(saved())
    few, _ = make_env(some_tasks(), num_envs=2)
    with pytest.raises(ValueError, match="holds 3 envs, this run has 2"):
        few.load_saved(saved())


def test_a_present_whose_numbers_mean_other_blocks_is_refused_and_one_that_does_not_say_is_taken():
    engine = saved().values["engine"]
    env, _ = make_env(some_tasks())
    other = dataclasses.replace(saved(), values=saved().values | {"engine": engine | {"names": "0" * 16}})
    with pytest.raises(ValueError, match="an mcrl with other blocks, items or mobs, whose numbers it holds"):
        env.load_saved(other)
    old = {name: value for name, value in engine.items() if name != "names"}
    env.load_saved(dataclasses.replace(saved(), values=saved().values | {"engine": old}))


def test_an_engine_without_a_keeper_says_that_it_keeps_nothing():
    backend = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(16, 16))
    env = TaskEnv(backend, ShuffledTasks(some_tasks(), split="train", seed=0))
    env.reset()
    assert env.saved() is None
    with pytest.raises(ValueError, match="cannot be set"):
        env.load_saved(SavedState())
