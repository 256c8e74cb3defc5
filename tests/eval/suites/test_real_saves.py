"""Claims about tasks in a real save: they lie in it, are held out, and can be done; a hopeless save is refused."""

import dataclasses
import math

import pytest

from eval.suites.real_saves import make_tasks
from mcrl.cli import main
from task_synthesis.held_out import held_out_reason
from task_synthesis.placement.aim import wrapped_deg
from task_synthesis.placement.survey import Survey, band_of
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.views.view_shift import view_shift_deg
from tests.worlds.anvil.anvil_files import State, write_save
from worlds.anvil import open_save, suggest_origins
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend


def meadow(x: int, y: int, z: int) -> State:
    """Level grass with a hedge here and there."""
    if y < 20:
        return "minecraft:stone"
    if y == 20:
        return "minecraft:grass_block", {"snowy": "false"}
    is_hedge = y < 23 and x % 16 == 5 and z % 16 < 9
    return "minecraft:oak_leaves" if is_hedge else "minecraft:air"


def sea(x: int, y: int, z: int) -> State:
    return "minecraft:stone" if y < 4 else ("minecraft:water", {"level": "0"}) if y < 20 else "minecraft:air"


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    return open_save(write_save(tmp_path_factory.mktemp("meadow"), meadow, "1.18", chunks=range(8), ys=range(0, 3)))


def test_tasks_of_a_save_are_held_out_balanced_and_playable(save):
    tasks = make_tasks(save, 28, num_threads=2)
    assert len({task.task_id for task in tasks}) == 28
    assert {task.world.source for task in tasks} == {save.source}
    assert all(held_out_reason(task) for task in tasks)
    assert len({task.skill for task in tasks[:7]}) == 7
    backend = VoxelBackend(2, size_blocks=tasks[0].world.size_blocks, image_px=(64, 64), saves=[save])
    shown = iter(tasks)
    goals = TaskEnv(backend, lambda _: next(shown)).reset().goals
    assert all(goal.mask_HW.any() for goal in goals)
    assert make_tasks(save, 9) == make_tasks(save, 9, num_threads=2)


def test_what_is_said_of_a_task_in_a_small_save_is_so_where_nobody_comes_round(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    small = open_save(write_save(folder, meadow, "1.18", chunks=range(5), ys=range(0, 3)))
    tasks = make_tasks(small, 60, num_threads=2)
    assert tasks[0].world.size_blocks[0] == 64
    assert {task.band for task in tasks} == {"near", "easy", "medium"}
    backend = VoxelBackend(1, size_blocks=tasks[0].world.size_blocks, image_px=(32, 32), with_depth=True, saves=[small])
    survey = Survey(backend)
    for task in tasks:
        (x, _, z), start, said = task.placements[task.target_index].position, task.start, task.difficulty
        dx, dz = x + 0.5 - start.x, z + 0.5 - start.z
        assert said.distance_blocks == pytest.approx(math.hypot(dx, dz), abs=1e-3)
        yaw_deg = math.degrees(math.atan2(-dx, dz)) - start.yaw_deg
        assert wrapped_deg(said.target_yaw_deg - yaw_deg) == pytest.approx(0, abs=0.02)
        again = survey.measure(task.episode(), task.goal_view)
        for name in ("distance_blocks", "path_blocks", "target_yaw_deg"):
            assert getattr(again, name) == pytest.approx(getattr(said, name), abs=0.02)
        assert band_of(said.distance_blocks) == task.band


def test_a_look_straight_at_a_target_across_a_whole_save_is_no_look_away(save):
    task = next(task for task in make_tasks(save, 28) if task.skill == "approach")
    side = task.world.size_blocks[0]
    x, y, z = side // 2, *task.placements[task.target_index].position[1:]
    target = dataclasses.replace(task.placements[task.target_index], position=(side - 4, y, z))
    behind = dataclasses.replace(
        task,
        placements=(target,),
        target_index=0,
        start=Pose(4.5, float(y), z + 0.5, -90.0, 0.0),
        goal_view=Pose(x + 0.5, y + 1.5, z + 0.5, -90.0, 5.0),
        task_id="",
    )
    assert view_shift_deg(behind) == pytest.approx(0.0)


def test_cut_outs_of_a_save_do_not_overlap(save):
    origins = suggest_origins(save, (32, 64, 32), most=6)
    assert len(origins) == 6
    for index, (x, _, z) in enumerate(origins):
        assert all(abs(x - other_x) >= 32 or abs(z - other_z) >= 32 for other_x, _, other_z in origins[:index])


def test_a_save_without_dry_land_is_refused(tmp_path):
    save = open_save(write_save(tmp_path, sea, "1.18", chunks=range(4), ys=range(0, 2)))
    with pytest.raises(ValueError, match=r"only 0 tasks found, \d+ attempts failed as target_no_ground"):
        make_tasks(save, 5)


@pytest.mark.slow
def test_an_evaluation_in_a_save_shows_videos_and_so_does_its_report_made_again(tmp_path):
    pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)
    path, out = write_save(tmp_path / "save", meadow, "1.18", chunks=range(8), ys=range(0, 3)), tmp_path / "judged"
    asked = ["--suite", "real_saves", "--save", str(path), "--num-tasks", "6", "--videos", "2", "--out", str(out)]
    assert main(["eval", "small", *asked]) == 0
    assert (out / "report.html").read_text(encoding="utf-8").count("<video") == 2
    assert main(["report", str(out), "--save", str(path), "--videos", "1"]) == 0
    assert (out / "report.html").read_text(encoding="utf-8").count("<video") == 1
