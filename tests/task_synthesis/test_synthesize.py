"""Claims about synthesised tasks: exact masks, honest distances, disjoint splits, counted rejections."""

import numpy as np
import pytest

from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import BANDS
from task_synthesis.world_stream import world_seeds
from tests.task_synthesis.fixtures import some_tasks
from worlds.spec import split_of
from worlds.voxel.backend import VoxelBackend

SIZE = (64, 64, 64)


def test_the_same_seed_makes_the_same_tasks():
    config = SynthesisConfig(tasks_per_world=4)
    again = Synthesizer(config, split="train", seed=0, num_parallel=8, num_threads=2).run(24)
    assert again == some_tasks()


def test_a_run_is_the_beginning_of_the_stream():
    config = SynthesisConfig(tasks_per_world=4)
    stream = Synthesizer(config, split="train", seed=0, num_parallel=8, num_threads=1).stream()
    assert [next(stream) for _ in range(20)] == some_tasks()[:20]


def test_tasks_are_distinct_and_all_of_their_split():
    tasks = some_tasks()
    assert len({task.task_id for task in tasks}) == len(tasks)
    assert {task.split for task in tasks} == {"train"}


def test_train_val_and_held_out_worlds_never_meet():
    seeds = {
        split: [seed for seed, _ in zip(world_seeds(split, 7), range(300), strict=False)]
        for split in ("train", "val", "held_out")
    }
    for split, of_split in seeds.items():
        assert {split_of("generated", seed) for seed in of_split} == {split}
    assert not set(seeds["train"]) & set(seeds["val"]) | set(seeds["train"]) & set(seeds["held_out"])


def test_distances_lie_in_the_band():
    for task in some_tasks():
        low, high = BANDS[task.band]
        assert low - 0.8 <= task.difficulty.distance_blocks <= high + 0.8


def test_the_mask_is_exactly_what_changes_when_the_target_is_removed():
    backend = VoxelBackend(1, size_blocks=SIZE, image_px=(64, 64))
    for task in some_tasks()[:8]:
        goal = TaskEnv(backend, lambda _, task=task: task).reset().goals[0]
        x, y, z = task.placements[task.target_index].position
        before = backend.render_views([0], np.array([task.goal_view])).instance_VHW[0]
        backend.state.terrain.block_EXZY[0, x, z, y] = 0
        after = backend.render_views([0], np.array([task.goal_view])).instance_VHW[0]
        assert np.array_equal(goal.mask_HW, before == 2 + task.target_index)
        assert not (after == 2 + task.target_index).any()
        assert np.array_equal(before[~goal.mask_HW], after[~goal.mask_HW])


def test_the_goal_area_is_within_its_bounds_and_clear_of_the_border():
    config = SynthesisConfig()
    backend = VoxelBackend(1, size_blocks=SIZE, image_px=(64, 64))
    for task in some_tasks():
        mask_HW = TaskEnv(backend, lambda _, task=task: task).reset().goals[0].mask_HW
        assert config.goal_area[0] <= mask_HW.mean() <= config.goal_area[1]
        assert mask_HW.mean() == pytest.approx(task.difficulty.goal_area, abs=1e-4)
        border = np.concatenate([mask_HW[0], mask_HW[-1], mask_HW[:, 0], mask_HW[:, -1]])
        assert not border.any()


def test_the_number_of_wrong_objects_of_the_same_kind_is_a_true_field_that_varies():
    for task in some_tasks():
        kind = task.placements[task.target_index].kind
        assert sum(placement.kind == kind for placement in task.placements) == 1 + task.difficulty.num_same_kind
    assert {task.difficulty.num_same_kind for task in some_tasks()} == {0, 1, 2}


def test_hidden_starts_are_kept_only_where_they_are_asked_for():
    assert all(task.difficulty.in_sight for task in some_tasks())
    config = SynthesisConfig(hidden_share=1.0, tasks_per_world=4)
    with_hidden = Synthesizer(config, split="train", seed=0, num_parallel=8).run(32)
    assert not all(task.difficulty.in_sight for task in with_hidden)


def test_rejections_are_counted_by_reason():
    synthesizer = Synthesizer(SynthesisConfig(goal_area=(0.05, 0.06)), split="train", seed=0, num_parallel=8)
    synthesizer.run(4)
    assert synthesizer.rejections["mask_too_small"] > 0
    assert sum(synthesizer.rejections.values()) > 4


@pytest.mark.parametrize(
    "fields",
    [
        {"skills": {"paint": 1.0}},
        {"skills": {"approach": 0.0}},
        {"skills": {"approach": -1.0, "break": 2.0}},
        {"bands": {}},
        {"bands": {"near": float("nan")}},
        {"goal_views": {"close": 0.0, "human": 0.0}},
        {"biomes": ("moon",)},
        {"goal_area": (0.3, 0.1)},
        {"num_same_kind": (3, 1)},
        {"num_other_kind": (-1, 1)},
    ],
)
def test_an_impossible_config_is_refused(fields):
    with pytest.raises(ValueError, match=r"synthesis\."):
        SynthesisConfig(**fields)
