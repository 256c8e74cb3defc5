import base64

import numpy as np
import pytest
from eval.recording import EpisodeRecording

from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.task import Difficulty, TaskSpec
from worlds.spec import Placement, WorldSpec
from worlds.types import Pose

video = pytest.importorskip(
    "eval.video", reason="opencv cannot be imported here, it needs libgl1 and libglib2.0-0", exc_type=ImportError
)


@pytest.fixture
def recording() -> EpisodeRecording:
    task = TaskSpec(
        family="approach/gold_block",
        band="near",
        world=WorldSpec(seed=1),
        placements=(Placement(kind="gold_block", position=(1, 20, 1)),),
        target_index=0,
        start=Pose(9.5, 20.0, 9.5, 0.0, 0.0),
        goal_view=Pose(3.5, 22.0, 3.5, 0.0, 0.0),
        inventory=(),
        max_ticks=240,
        difficulty=Difficulty(
            distance_blocks=8.0,
            path_blocks=8.0,
            target_yaw_deg=0.0,
            height_blocks=0.0,
            in_sight=True,
            visible_at_start=True,
            goal_area=0.1,
            view_overlap=0.0,
            num_same_kind=0,
            num_other_kind=0,
        ),
    )
    mask_HW = np.zeros((16, 16), bool)
    mask_HW[4:8, 4:8] = True
    goal = CrossViewGoal(np.full((16, 16, 3), (10, 20, 200), np.uint8), mask_HW, Interaction.APPROACH)
    images = [np.full((16, 16, 3), (200, shade, 10), np.uint8) for shade in (0, 60, 120)]
    return EpisodeRecording(
        task=task, goal=goal, ticks_per_decision=3, images=images, keys=["forward"] * 2, outcome="success"
    )


def test_frame_shows_goal_mask_and_agent_in_their_colours(recording):
    frame_HWC = video.frame_of(recording, 1)
    height, width, _ = frame_HWC.shape
    row = height // 2
    # BGR, sampled in the right halves of the panels, away from the target.
    assert frame_HWC[row, width // 3 - 40].tolist() == [200, 20, 10]
    assert frame_HWC[row, width - 40].tolist() == [10, 60, 200]
    blue, green, red = frame_HWC[76 + 6 * 16, width // 3 + 30 + 4 * 16].tolist()
    assert red > 150
    assert red > 2 * max(blue, green)


def test_last_frame_names_the_outcome(recording):
    assert (video.frame_of(recording, 2) != video.frame_of(recording, 1)).any()
    success = video.frame_of(recording, 2)
    recording.outcome = "time limit"
    assert (video.frame_of(recording, 2) != success).any()


def test_video_is_written_in_a_browser_codec_and_plays_at_real_speed(recording, tmp_path):
    import cv2

    path = video.write_video(recording, tmp_path / "episode", hold_last_s=0.3)
    capture = cv2.VideoCapture(str(path))
    assert capture.get(cv2.CAP_PROP_FPS) == pytest.approx(20 / 3, abs=0.1)
    frames = 0
    while capture.read()[0]:
        frames += 1
    assert frames == 3 + 2
    assert int(capture.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little").lower() in (b"vp09", b"vp90", b"vp80")
    uri = video.data_uri(path)
    assert base64.b64decode(uri.partition(",")[2]) == path.read_bytes()
