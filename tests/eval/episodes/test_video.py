import base64
import os
import threading

import numpy as np
import pytest

from eval.benches.unplayed_task import unplayed_task
from eval.episodes.action_archive import EpisodeActions
from eval.episodes.replay import Replay
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from worlds.types import BUTTON_INDEX, BUTTONS

video = pytest.importorskip(
    "eval.episodes.video",
    reason="opencv cannot be imported here, it needs libgl1 and libglib2.0-0",
    exc_type=ImportError,
)

TASK = unplayed_task(max_ticks=240, world_seed=1)


def _replay(num_decisions: int = 2) -> Replay:
    mask_HW = np.zeros((16, 16), bool)
    mask_HW[4:8, 4:8] = True
    actions = EpisodeActions(
        buttons_DB=np.zeros((num_decisions, len(BUTTONS)), bool),
        camera_deg_D2=np.zeros((num_decisions, 2), np.float32),
        ticks_per_decision=3,
    )
    actions.buttons_DB[:, BUTTON_INDEX["forward"]] = True
    return Replay(
        task=TASK,
        goal=CrossViewGoal(np.full((16, 16, 3), (10, 20, 200), np.uint8), mask_HW, Interaction.APPROACH),
        actions=actions,
        images=[np.full((16, 16, 3), (200, 60 * n % 256, 10), np.uint8) for n in range(num_decisions + 1)],
        keys=["forward"] * num_decisions,
        outcome="success",
        ticks=3 * num_decisions,
    )


def test_frame_shows_the_agents_view_in_its_colours():
    frame_HWC = video.frame_of(_replay(), 1)
    assert frame_HWC[-20, 20].tolist() == [10, 60, 200]  # BGR


def test_a_pressed_key_looks_other_than_a_free_one():
    pressed, free = _replay(), _replay()
    free.actions.buttons_DB[:] = False
    differs_HW = (video.frame_of(pressed, 0) != video.frame_of(free, 0)).any(axis=2)
    assert differs_HW.any()
    assert not differs_HW[40:].any()  # below is the view


def test_a_turn_is_drawn_to_the_side_it_goes():
    turning, still = _replay(), _replay()
    turning.actions.camera_deg_D2[0] = (0.0, 5.0)
    differs_HW = (video.frame_of(turning, 0) != video.frame_of(still, 0)).any(axis=2)
    assert differs_HW.any(axis=0).nonzero()[0].min() >= video.VIEW_PX // 2 - 2


def test_last_frame_names_the_outcome():
    success, late = _replay(), _replay()
    late.outcome = "time_limit"
    assert (video.frame_of(success, 2) != video.frame_of(late, 2)).any()


def test_video_is_written_in_a_browser_codec_and_plays_at_real_speed(tmp_path):
    import cv2

    path = video.write_video(_replay(), tmp_path / "episode", hold_last_s=0.3)
    capture = cv2.VideoCapture(str(path))
    assert capture.get(cv2.CAP_PROP_FPS) == pytest.approx(20 / 3, abs=0.1)
    frames = 0
    while capture.read()[0]:
        frames += 1
    assert frames == 3 + 2
    assert int(capture.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little").lower() in (b"vp09", b"vp90", b"vp80")
    uri = video.data_uri(path)
    assert base64.b64decode(uri.partition(",")[2]) == path.read_bytes()


def test_a_long_episode_leaves_out_frames_and_says_how_many():
    long = _replay(num_decisions=2 * video.MAX_FRAMES)
    assert video.speed_up(long) == 3
    assert video.speed_up(_replay()) == 1


@pytest.fixture
def small_files():
    """Let the system refuse files of this process that are larger than 4 KiB, as a full disk does."""
    resource = pytest.importorskip("resource", reason="this system limits no sizes of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_video_that_there_is_no_room_for_is_said_with_the_systems_reason_and_not_kept(tmp_path, capfd, small_files):
    noise = np.random.default_rng(0).integers(0, 255, (60, 64, 64, 3), np.uint8)
    with pytest.raises(OSError, match="File too large") as failed:
        video.write_frames(noise, tmp_path / "run", frames_per_s=20.0)
    assert failed.value.filename == str(tmp_path / f"run.{video.choose_codec()[1]}")
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_a_place_where_no_video_can_be_is_said_with_the_systems_reason(tmp_path):
    with pytest.raises(FileNotFoundError) as failed:
        video.write_frames([np.zeros((64, 64, 3), np.uint8)], tmp_path / "nowhere" / "run", frames_per_s=20.0)
    assert failed.value.filename == str(tmp_path / "nowhere" / f"run.{video.choose_codec()[1]}")


def test_a_video_that_cannot_be_begun_leaves_opencv_as_loud_as_it_was(tmp_path):
    import cv2

    before = cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_INFO)
    try:
        with pytest.raises(FileNotFoundError):
            video.write_frames([np.zeros((64, 64, 3), np.uint8)], tmp_path / "nowhere" / "run", frames_per_s=20.0)
        assert cv2.utils.logging.getLogLevel() == cv2.utils.logging.LOG_LEVEL_INFO
    finally:
        cv2.utils.logging.setLogLevel(before)


def test_two_threads_that_silence_opencv_at_once_leave_stderr_as_it_was():
    from eval.episodes import video_file

    first_is_in, second_is_in, first_is_out = threading.Event(), threading.Event(), threading.Event()

    def first():
        with video_file._silence():
            first_is_in.set()
            second_is_in.wait(0.3)  # where the two exclude each other it does not come
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with video_file._silence(), video_file._silence():
            second_is_in.set()
            first_is_out.wait(10)

    kept, before = os.dup(2), os.fstat(2)
    try:
        threads = [threading.Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert os.path.sameopenfile(2, kept)
        assert os.fstat(2).st_ino == before.st_ino
    finally:
        os.dup2(kept, 2)
        os.close(kept)
