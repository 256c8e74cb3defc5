"""Claims about pictures of scenes: what is said to be in them is in them."""

import numpy as np
import pytest

from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.skills import base_kind
from task_synthesis.views.sightings import VIEWS_PER_SCENE, Sightings, object_boxes, photograph
from tests.task_synthesis.fixtures import some_tasks
from worlds.voxel.backend import VoxelBackend


@pytest.fixture(scope="module")
def sightings() -> Sightings:
    return photograph(some_tasks()[:20], image_px=64, seed=1)


def in_order() -> list:
    tasks = some_tasks()[:20]
    return sorted(tasks, key=lambda task: (task.world.seed, tasks.index(task)))


def test_the_same_seed_takes_the_same_pictures(sightings):
    again = photograph(some_tasks()[:20], image_px=64, seed=1, num_threads=2)
    for name in Sightings.__dataclass_fields__:
        assert np.array_equal(getattr(again, name), getattr(sightings, name))


def test_how_many_scenes_are_up_at_once_changes_nothing(sightings, monkeypatch):
    monkeypatch.setattr("task_synthesis.views.sightings._NUM_PARALLEL", 8)
    by_eights = photograph(some_tasks()[:20], image_px=64, seed=1)
    for name in Sightings.__dataclass_fields__:
        assert np.array_equal(getattr(by_eights, name), getattr(sightings, name)), name


def test_every_scene_has_its_own_goal_picture_and_mask(sightings):
    backend = VoxelBackend(1, size_blocks=(64, 64, 64), image_px=(64, 64))
    for scene, task in enumerate(in_order()):
        goal = TaskEnv(backend, lambda _, task=task: task).reset().goals[0]
        (row,) = np.flatnonzero((sightings.goal_scene_G == scene) & (sightings.goal_object_G == task.target_index))
        assert np.array_equal(sightings.goal_image_GHWC[row], goal.image_HWC)
        assert np.array_equal(sightings.goal_mask_GHW[row], goal.mask_HW)
        assert sightings.goal_interaction_G[row] == int(goal.interaction)


def test_other_goals_mark_another_object_of_the_kind(sightings):
    tasks = in_order()
    others = 0
    for scene, index, mask_HW in zip(
        sightings.goal_scene_G, sightings.goal_object_G, sightings.goal_mask_GHW, strict=True
    ):
        task = tasks[scene]
        kind = base_kind(task.placements[task.target_index].kind)
        assert base_kind(task.placements[index].kind) == kind
        assert mask_HW.any()
        others += index != task.target_index
    assert others > 3


def test_of_what_kind_an_object_is_and_where_it_is_seen(sightings):
    for scene, task in enumerate(in_order()):
        kind = base_kind(task.placements[task.target_index].kind)
        is_same = [base_kind(placement.kind) == kind for placement in task.placements]
        assert sightings.is_same_kind_SN[scene, : len(is_same)].tolist() == is_same
        assert not sightings.is_same_kind_SN[scene, len(is_same) :].any()
        assert not sightings.box_SVN5[scene, :, len(is_same) :].any()
    # Somebody who looks for an object sees one more often than not.
    seen_SV = (sightings.box_SVN5[..., 0] * sightings.is_same_kind_SN[:, None] > 0).any(2)
    assert seen_SV.shape[1] == VIEWS_PER_SCENE
    assert seen_SV.mean() > 0.5


def test_boxes_are_those_of_the_ids():
    instance_HW = np.ones((16, 32), np.int32)
    instance_HW[4:8, 8:16] = 2 + 3
    instance_HW[0, 0] = 2 + 5  # one pixel is no sighting
    box_N5 = object_boxes(instance_HW[None])[0]
    assert box_N5[3].tolist() == [32 / 512, 8 / 32, 4 / 16, 16 / 32, 8 / 16]
    assert not np.delete(box_N5, 3, 0).any()
