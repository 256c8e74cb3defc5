"""Claims about tasks of all seven skills at scale: what stands where, what is carried, what is measured."""

import numpy as np
import pytest

from task_synthesis.placement.targets import FULL, OBSTACLE, OPEN, footing_table
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.skills import SKILLS, base_kind, type_of
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import BANDS, from_json_line, to_json_line
from task_synthesis.views.view_overlap import share_seen, surface_points
from tests.task_synthesis.fixtures import SIDE, tasks_of_all_skills
from worlds.blocks import state_of
from worlds.spec import BLOCK_MASK
from worlds.types import ActionBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables


def test_every_skill_and_band_is_made_and_survives_its_line():
    tasks, _ = tasks_of_all_skills()
    assert {task.skill for task in tasks} == set(SKILLS)
    assert {task.band for task in tasks} == {"near", "easy", "medium"}
    for task in tasks:
        assert from_json_line(to_json_line(task)) == task
        assert type_of(task.placements[task.target_index].kind) == SKILLS[task.skill].target


def test_the_agent_carries_what_the_skill_needs():
    carried = {"hunt": ["iron_sword"], "archery": ["bow", "arrow"], "approach": [], "interact": [], "pick_up": []}
    for task in tasks_of_all_skills()[0]:
        names = [item for item, _ in task.inventory]
        if task.skill in carried:
            assert names == carried[task.skill]
        if task.skill == "place":
            (item, count) = task.inventory[0]
            assert count == 16
            assert item not in {base_kind(placement.kind) for placement in task.placements}


def test_distances_on_the_torus_lie_in_the_band_and_paths_are_no_shorter_than_they_can_be():
    for task in tasks_of_all_skills()[0]:
        low, high = BANDS[task.band]
        assert low - 0.8 <= task.difficulty.distance_blocks <= high + 0.8
        assert task.difficulty.path_blocks >= task.difficulty.distance_blocks - 4.0
        assert 0.0 <= task.difficulty.view_overlap <= 1.0


def test_objects_stand_on_firm_ground_in_free_cells_and_doors_have_both_halves():
    backend = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(16, 16))
    footing_S, is_cube_S = footing_table(), engine_tables().blocks.collision.is_cube_S
    for task in tasks_of_all_skills()[0][:40]:
        backend.reset([0], [task.episode()])
        state_XZY = backend.state.terrain.block_EXZY[0] & BLOCK_MASK
        for placement in task.placements:
            x, y, z = placement.position
            assert is_cube_S[state_XZY[x, z, y - 1]]
            if type_of(placement.kind) == "block":
                assert state_XZY[x, z, y] == state_of(placement.kind)
            else:
                assert footing_S[state_XZY[x, z, y]] == OPEN
            if base_kind(placement.kind).endswith("_door"):
                assert state_XZY[x, z, y + 1] == state_of(placement.kind, half="upper")


def test_starts_are_free_of_collision():
    backend = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(16, 16))
    for task in tasks_of_all_skills()[0]:
        backend.reset([0], [task.episode()])
        backend.step(ActionBatch.noop(1), num_ticks=2)
        pose = backend.observe().pose_E5[0]
        assert np.allclose(pose[:3], (task.start.x, task.start.y, task.start.z), atol=0.02)


def test_the_mask_of_every_skill_is_large_enough_and_clear_of_the_border():
    backend = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(64, 64))
    for task in tasks_of_all_skills()[0]:
        mask_HW = TaskEnv(backend, lambda _, task=task: task).reset().goals[0].mask_HW
        assert mask_HW.mean() == pytest.approx(task.difficulty.goal_area, abs=1e-4)
        assert not np.concatenate([mask_HW[0], mask_HW[-1], mask_HW[:, 0], mask_HW[:, -1]]).any()


def test_rejection_reasons_of_full_worlds_are_counted():
    _, rejections = tasks_of_all_skills()
    assert {"start_hidden", "target_hidden", "mask_too_small"} <= set(rejections)


def test_footing_tells_floors_from_obstacles():
    footing_S = footing_table()
    names = {
        "grass_block": FULL, "oak_slab": 8, "farmland": 15, "oak_fence": OBSTACLE, "oak_door": OBSTACLE,
        "grass": OPEN, "white_carpet": OPEN, "snow[layers=1]": OPEN, "cactus": OBSTACLE, "oak_stairs": FULL,
    }  # fmt: skip
    assert {name: footing_S[state_of(name)] for name in names} == names


def test_a_world_too_small_for_its_band_is_refused():
    with pytest.raises(ValueError, match="'hard' starts up to 60 blocks away, but in a world of 64"):
        SynthesisConfig(bands={"hard": 1.0}, side_blocks=64)


def test_a_target_of_the_wrong_sort_is_refused():
    fields = to_json_line(tasks_of_all_skills()[0][0])
    task = from_json_line(fields)
    line = fields.replace(f'"family":"{task.skill}/', '"family":"hunt/', 1) if task.skill != "hunt" else fields
    line = line.replace(f',"task_id":"{task.task_id}"', "")
    if type_of(task.placements[task.target_index].kind) != "mob":
        with pytest.raises(ValueError, match="the target of 'hunt' is a mob"):
            from_json_line(line)


def test_a_camera_sees_all_of_its_own_picture_and_nothing_of_what_lies_behind_it():
    task = tasks_of_all_skills()[0][0]
    backend = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(64, 64), with_depth=True)
    backend.reset([0], [task.episode()])
    back = task.goal_view._replace(yaw_deg=task.goal_view.yaw_deg + 180.0, pitch_deg=0.0)
    level = task.goal_view._replace(pitch_deg=0.0)
    eyes = [level, back]
    depth_VHW = backend.render_views([0, 0], np.array(eyes)).depth_VHW
    points_P3 = surface_points(depth_VHW[0], level, fov_deg=70.0, range_blocks=backend.view_range_blocks)
    shares = [
        share_seen(points_P3, depth_VHW[row], eye, fov_deg=70.0, sides_blocks=(SIDE, SIDE))
        for row, eye in enumerate(eyes)
    ]
    assert shares[0] > 0.97
    assert shares[1] == 0.0


@pytest.mark.parametrize("skill", SKILLS.values(), ids=SKILLS)
def test_no_deed_is_success_and_failure_at_once(skill):
    assert not set(skill.succeeds_by) & set(skill.fails_by)
    assert bool(skill.succeeds_by) != bool(skill.succeeds_where), "an event or a standing, and not both"
