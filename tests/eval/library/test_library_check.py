"""Claims about the check of a library: sound tasks pass, and each broken promise is named."""

import dataclasses
import re

import numpy as np
import pytest

from eval.episodes.records import CAUSES
from eval.library.gallery import gallery_page
from eval.library.library_check import check_tasks, mask_side_px
from eval.library.task_path import path_of
from eval.library.top_down_map import task_map
from eval.suites.suites import load_suite
from task_synthesis.placement.reachability import DIAGONAL_COST, JUMP_COST, STRAIGHT_COST
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from tests.mcrl.corridor import make_task
from tests.task_synthesis.fixtures import some_tasks
from worlds.blocks import state_of
from worlds.spec import Episode, Placement, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend

MASK_PX = 64


def test_sound_tasks_pass_and_the_expert_solves_them():
    heard = []
    report = check_tasks(some_tasks()[:8], mask_px=64, on_progress=heard.append)
    assert report.faults == []
    last = report.by_skill()[-1]
    assert last.num_exact == last.num_tasks == 8
    assert last.num_solved >= 7
    assert heard[-1] == 16


@pytest.mark.parametrize("side_px", [64, 128])
def test_tasks_without_a_manifest_tell_how_large_their_pictures_were(side_px):
    tasks = [
        dataclasses.replace(
            task,
            difficulty=dataclasses.replace(task.difficulty, goal_area=round(num_pixels / side_px**2, 5)),
            task_id="",
        )
        for task, num_pixels in zip(some_tasks(), (109, 35, 4001), strict=False)
    ]
    assert mask_side_px(tasks) == side_px


def test_an_area_just_between_two_of_those_that_can_be_said_is_of_whole_pixels():
    (task,) = some_tasks()[:1]
    tasks = [
        dataclasses.replace(task, difficulty=dataclasses.replace(task.difficulty, goal_area=area), task_id="")
        for area in (round(1281 / 128**2, 5), round(1280 / 128**2, 5))
    ]
    assert tasks[1].difficulty.goal_area == 0.07812  # of 0.078125
    assert mask_side_px(tasks) == 128


def test_one_task_alone_has_no_wrong_area_whatever_the_size_of_its_picture():
    tasks = Synthesizer(SynthesisConfig(image_px=128), split="train", seed=0, num_parallel=8).run(12)
    pixels_N = np.array([task.difficulty.goal_area for task in tasks]) * 64**2
    alike = np.flatnonzero(np.abs(pixels_N - np.round(pixels_N)) < 0.03)  # whole at 64 px as well
    assert len(alike) > 1
    for index in alike:
        short = dataclasses.replace(tasks[index], task_id="", max_ticks=4)
        assert check_tasks([short], mask_px=mask_side_px([short])).faults == []


def test_a_wrong_area_is_named():
    task = some_tasks()[0]
    difficulty = dataclasses.replace(task.difficulty, goal_area=0.2)
    wrong = dataclasses.replace(task, difficulty=difficulty, task_id="")
    assert [fault.what.partition(",")[0] for fault in check_tasks([wrong], mask_px=64).faults] == ["goal_area says 0.2"]


def task_in_grass(kind: str, family: str) -> TaskSpec:
    """A task whose target has taken the place of tall grass, seen from two blocks away."""
    world = WorldSpec(seed=3, size_blocks=(32, 64, 32), detail="full")
    backend = VoxelBackend(1, size_blocks=world.size_blocks, image_px=(MASK_PX, MASK_PX))
    backend.reset([0], [Episode(world=world, start=Pose(16.5, 60.0, 16.5, 0.0, 0.0))])
    block_XZY = backend.state.terrain.block_EXZY[0]
    is_spot_XZY = (block_XZY == state_of("grass")) & np.roll(block_XZY == 0, -1, axis=2)
    is_spot_XZY &= np.roll(block_XZY == 0, 2, axis=1) & np.roll(block_XZY == state_of("grass_block"), 1, axis=2)
    x, z, y = (int(index) for index in np.argwhere(is_spot_XZY)[0])
    task = dataclasses.replace(
        make_task(0),
        family=family,
        world=world,
        placements=(Placement(kind=kind, position=(x, y, z)),),
        target_index=0,
        start=Pose(x + 0.5, y + 1.0, z - 5.5, 0.0, 20.0),
        goal_view=Pose(x + 0.5, y + 1.5, z - 1.0, 0.0, 30.0),
        max_ticks=8,
        task_id="",
    )
    mask_HW = TaskEnv(backend, lambda _: task).reset().goals[0].mask_HW
    difficulty = dataclasses.replace(task.difficulty, goal_area=round(float(mask_HW.mean()), 5))
    return dataclasses.replace(task, difficulty=difficulty, task_id="")


@pytest.mark.parametrize("kind", ["lever[facing=up]", "oak_door[facing=north]", "chest[facing=north]"])
def test_grass_that_a_small_target_took_the_place_of_is_no_fault_of_its_mask(kind):
    task = task_in_grass(kind, f"interact/{kind.partition('[')[0]}")
    assert task.difficulty.goal_area > 0.005
    assert check_tasks([task], mask_px=MASK_PX).faults == []


def test_failures_of_the_expert_are_listed_with_their_causes():
    tasks = [dataclasses.replace(task, max_ticks=8, task_id="") for task in some_tasks()[:6]]
    report = check_tasks(tasks, mask_px=MASK_PX)
    failures = report.failures()
    assert len(failures) == len(tasks) - report.by_skill()[-1].num_solved > 0
    assert {episode.cause for episode in failures} <= set(CAUSES) - {"success"}
    for line in report.by_skill():
        assert (
            sum(int(part.rpartition(" ")[2]) for part in line.failures.split(", ")) == line.num_tasks - line.num_solved
        )


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


@pytest.mark.parametrize(("suite", "task_id"), [("unseen_objects", "ca77c82f14480ff7"), ("far", "cae0878cfc299ba1")])
def test_the_walk_is_as_long_as_its_task_says(suite, task_id):
    # With the first one, a table of what is solid in place of one of what carries a body led to another walk.
    task = next(task for task in load_suite(suite) if task.task_id == task_id)
    backend = VoxelBackend(1, size_blocks=task.world.size_blocks, image_px=(16, 16))
    backend.reset([0], [task.episode()])
    steps_T2 = np.diff(path_of(task, backend.state.terrain.block_EXZY[0]), axis=0)
    num_diagonal = int(np.abs(steps_T2).all(axis=1).sum())
    level_cost = 10 * len(steps_T2) + (DIAGONAL_COST - STRAIGHT_COST) * num_diagonal
    num_jumps, rest = divmod(round(10 * task.difficulty.path_blocks) - level_cost, JUMP_COST)
    assert rest == 0
    assert 0 <= num_jumps < len(steps_T2)


def test_the_gallery_needs_nothing_beside_it():
    tasks = some_tasks()[:3]
    page = gallery_page(tasks, title="Tasks & more")
    assert "Tasks &amp; more" in page
    assert all(task.task_id in page for task in tasks)
    assert page.count("data:image/png") == 3 * len(tasks)
    assert "http" not in page.replace("http-equiv", "")
    assert "<p>3 tasks." in page
    sampled = gallery_page(tasks, title="", num_all=40)
    assert "<p>3 of 40 tasks, drawn at random, evenly from the skills. Left" in sampled


def test_the_gallery_fits_a_telephone_and_tells_of_companions():
    page = gallery_page([*load_suite("companions", 1), *load_suite("distractors", 1)], title="")
    assert "<p>2 tasks. With companions: in 1 of 2 tasks a block of another kind stands beside the target. " in page
    assert not re.search(r"minmax\(\d{3,}px", page)


@pytest.mark.parametrize(("source", "across_blocks"), [("generated", 6.0), ("anvil:" + "0" * 64, 58.0)])
def test_the_map_of_a_task_in_a_save_does_not_come_round(source, across_blocks):
    world = WorldSpec(seed=3, size_blocks=(64, 64, 64), detail="plain", source=source)
    task = dataclasses.replace(
        make_task(0),
        world=world,
        placements=(dataclasses.replace(make_task(0).placements[0], position=(60, 30, 20)),),
        target_index=0,
        start=Pose(2.5, 30.0, 20.5, 0.0, 0.0),
        goal_view=Pose(56.5, 32.0, 20.5, -90.0, 0.0),
        task_id="",
    )
    block_XZY = np.full((64, 64, 64), state_of("stone"), np.uint16)
    block_XZY[:, :, 30:] = 0
    drawn = task_map(task, block_XZY)
    places = re.search(r'"start" cx="([-.0-9]+)".*"target" d="M([-.0-9]+)', drawn.svg)
    assert places is not None
    assert abs(float(places[2]) + 1.2 - float(places[1])) == pytest.approx(across_blocks)
    beyond = drawn.land_HWC[:, : int(float(places[1]) - 2.5)]  # west of where x is 0
    assert beyond.size > 0
    assert beyond.any() == (source == "generated")
