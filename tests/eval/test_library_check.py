"""Claims about the check of a library: sound tasks pass, and each broken promise is named."""

import dataclasses

import numpy as np

from eval.gallery import gallery_page
from eval.library_check import check_tasks
from eval.task_path import path_of
from tests.task_synthesis.fixtures import some_tasks
from worlds.voxel.backend import VoxelBackend


def test_sound_tasks_pass_and_the_expert_solves_them():
    heard = []
    report = check_tasks(some_tasks()[:8], mask_px=64, on_progress=heard.append)
    assert report.faults == []
    last = report.by_skill()[-1]
    assert last.num_exact == last.num_tasks == 8
    assert last.num_solved >= 7
    assert heard[-1] == 16


def test_a_wrong_area_is_named():
    task = some_tasks()[0]
    difficulty = dataclasses.replace(task.difficulty, goal_area=0.2)
    wrong = dataclasses.replace(task, difficulty=difficulty, task_id="")
    assert [fault.what.partition(",")[0] for fault in check_tasks([wrong], mask_px=64).faults] == ["goal_area says 0.2"]


def test_the_walk_leads_from_the_start_to_the_target_in_steps_of_one_cell():
    for task in some_tasks()[:4]:
        backend = VoxelBackend(1, size_blocks=task.world.size_blocks, image_px=(16, 16))
        backend.reset([0], [task.episode()])
        path_T2 = np.array(path_of(task, backend.state.terrain.block_EXZY[0]))
        assert tuple(path_T2[0]) == (np.floor(task.start.x), np.floor(task.start.z))
        assert np.abs(np.diff(path_T2, axis=0)).max(initial=0) <= 1
        target = task.placements[task.target_index].position
        gap_2 = (path_T2[-1] - [target[0], target[2]] + 32) % 64 - 32
        assert np.hypot(*gap_2) <= 2.5


def test_the_gallery_needs_nothing_beside_it():
    tasks = some_tasks()[:3]
    page = gallery_page(tasks, title="Tasks & more")
    assert "Tasks &amp; more" in page
    assert all(task.task_id in page for task in tasks)
    assert page.count("data:image/png") == 3 * len(tasks)
    assert "http" not in page.replace("http-equiv", "")
