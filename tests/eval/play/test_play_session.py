"""A play of a task ends with the moment that ended it, also where the env has begun the next task meanwhile."""

import dataclasses
import errno

import numpy as np
import pytest

from eval.play.play_session import PlayFrame, TaskStage, WatchedBackend, WatchedProcess, drive_by_script, play
from mcrl.rollout.episodes import TaskListSource
from task_synthesis.playing.task_env import TaskEnv
from tests.task_synthesis.fixtures import some_tasks
from tests.worlds.adapters import flat_engine
from worlds.adapters.engine_choice import EngineChoice
from worlds.types import ActionBatch

IMAGE_PX = (32, 32)


def ours(size_blocks):
    return WatchedBackend(1, size_blocks=size_blocks, image_px=IMAGE_PX)


def another(size_blocks):
    choice = EngineChoice(engine=flat_engine.__file__, options={})
    return WatchedProcess(1, choice, size_blocks=size_blocks, image_px=IMAGE_PX)


@pytest.mark.parametrize("make_backend", [ours, another])
def test_the_last_frame_is_the_moment_that_ended_the_task(make_backend):
    task = dataclasses.replace(some_tasks(num_tasks=1)[0], max_ticks=20, task_id="")
    walk = ActionBatch.noop(1)
    walk.buttons_EB[0, :4] = [True, False, True, False]  # slantwise
    walk.camera_deg_E2[0] = 1.0, 3.0
    frames: list[PlayFrame] = []
    stage = TaskStage(TaskEnv(make_backend(task.world.size_blocks), TaskListSource([task])))
    try:
        play(stage, drive_by_script([walk] * 9), frames.append)
    finally:
        stage.close()
    assert [frame.outcome for frame in frames] == [""] * 5 + ["time limit"]
    gone_blocks = [float(np.linalg.norm(np.subtract(frame.position, frames[0].position))) for frame in frames]
    assert gone_blocks == sorted(gone_blocks)
    assert gone_blocks[-1] > gone_blocks[-2] > 0.0  # on, not back at the start
    assert (frames[-1].image_HWC != frames[0].image_HWC).any()


def test_what_is_pressed_is_written_beside_the_goal_and_not_under_it():
    pytest.importorskip("cv2")
    from eval.play.play_picture import draw_frame

    task = some_tasks(num_tasks=1)[0]
    stage = TaskStage(TaskEnv(ours(task.world.size_blocks), TaskListSource([task])))
    frames: list[PlayFrame] = []
    try:
        play(stage, drive_by_script([ActionBatch.noop(1)]), frames.append)
    finally:
        stage.close()
    busy = dataclasses.replace(frames[0], keys="forward + jump + sprint + sneak + look (-12.0, 7.5) + attack + use")
    idle = draw_frame(dataclasses.replace(busy, keys=""), with_hud=True)
    drawn = draw_frame(busy, with_hud=True)
    assert busy.goal is not None
    inset_px = drawn.shape[0] // 3 + 8
    np.testing.assert_array_equal(drawn[:inset_px, -inset_px:], idle[:inset_px, -inset_px:])
    assert (drawn != idle).any()


def test_a_video_that_cannot_be_begun_says_why(tmp_path, monkeypatch):
    pytest.importorskip("cv2")
    from eval.play.play_picture import PlayWriter

    def full(path, *rest):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("eval.play.play_picture.VideoFile", full)
    task = some_tasks(num_tasks=1)[0]
    stage = TaskStage(TaskEnv(ours(task.world.size_blocks), TaskListSource([task])))
    writer = PlayWriter(tmp_path / "play.webm", ticks_per_frame=1, with_hud=True)
    try:
        with pytest.raises(OSError, match="No space left on device"):
            play(stage, drive_by_script([ActionBatch.noop(1)]), writer.show)
    finally:
        stage.close()
    writer.close()
    assert not list(tmp_path.iterdir())
