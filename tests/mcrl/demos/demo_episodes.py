"""Episodes of demonstrations for tests: recorded in the corridor, made up, written as a dataset."""

import dataclasses

import numpy as np

from mcrl.demos.episode import Episode
from mcrl.learning.demonstrations import collect_demonstrations
from policies import action_codec
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task
from tests.mcrl.corridor_policy import CorridorPolicy

ARRAYS = [field.name for field in dataclasses.fields(Episode) if "_T" in field.name]


def recorded(num_steps=120, noise=0.3):
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    return collect_demonstrations(
        CorridorEnv(source, 4, fault_at_step=7),
        CorridorExpert(),
        CorridorPolicy(),
        num_steps=num_steps,
        fragment_steps=10,
        noise=noise,
        seed=0,
    )


def same_goal(one, two):
    same_mask = np.array_equal(one.mask_HW, two.mask_HW)
    return np.array_equal(one.image_HWC, two.image_HWC) and same_mask and one.interaction == two.interaction


def assert_same(one, two):
    assert (one.task_id, one.family) == (two.task_id, two.family)
    assert same_goal(one.goal, two.goal)
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(two, name)
        assert left.dtype == right.dtype, name
        assert np.array_equal(left, right), name


def made_episode(num_steps, seed=0, image_px=16):
    rng = np.random.default_rng(seed)
    actions = np.stack([rng.integers(size, size=num_steps) for size in action_codec.FACTOR_SIZES], 1).astype(np.uint8)
    ends_T = np.arange(num_steps) == num_steps - 1
    return Episode(
        task_id=f"task{seed}",
        family=("approach/gold_block", "hunt/cow")[seed % 2],
        goal=CrossViewGoal(
            rng.integers(256, size=(image_px, image_px, 3), dtype=np.uint8),
            rng.random((image_px, image_px)) < 0.2,
            Interaction.HUNT,
        ),
        image_THWC=rng.integers(256, size=(num_steps, image_px, image_px, 3), dtype=np.uint8),
        action_TA=actions,
        expert_action_TA=actions[::-1].copy(),
        target_T7=rng.random((num_steps, 7)).astype(np.float32),
        reward_T=rng.normal(size=num_steps).astype(np.float32),
        terminated_T=ends_T & bool(seed % 3),
        truncated_T=ends_T & (seed % 3 == 0),
        is_valid_T=rng.random(num_steps) < 0.9,
        outcome_T=rng.integers(3, size=num_steps),
    )


def written(lerobot, folder, episodes=None, **options):
    episodes = episodes or [made_episode(5, 0), made_episode(1, 1), made_episode(7, 2)]
    lerobot[0].write_dataset(folder, episodes, **({"split": "train", "action_repeat_ticks": 4} | options))
    return episodes
