"""Claims about tasks in a real save: they lie in it, are held out, and can be done; a hopeless save is refused."""

import pytest

from eval.suites.real_saves import make_tasks
from mcrl.cli import main
from task_synthesis.held_out import held_out_reason
from task_synthesis.playing.task_env import TaskEnv
from tests.worlds.anvil.anvil_files import State, write_save
from worlds.anvil import open_save, suggest_origins
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
