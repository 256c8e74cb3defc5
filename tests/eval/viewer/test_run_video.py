"""Videos and overlays: what was played, frame by frame, and what the policy believed of it."""

import cv2
import numpy as np
import pytest

from eval.episodes.video import VIEW_PX
from eval.viewer.overlay import with_overlay
from eval.viewer.players import Belief
from eval.viewer.run_video import _frames
from tests.eval.viewer.made_goals import mark_ground


def frames_of(path) -> list[np.ndarray]:
    reader, frames = cv2.VideoCapture(str(path)), []
    while True:
        is_read, frame_HWC = reader.read()
        if not is_read:
            return frames
        frames.append(frame_HWC)


def test_a_video_shows_every_decision_and_ends_on_what_the_agent_last_saw(session, tmp_path):
    mark_ground(session)
    session.run.choose_player("expert")
    with pytest.raises(ValueError, match="nothing has been begun"):
        session.run.write_video(tmp_path / "run")
    session.run.reset()
    with pytest.raises(ValueError, match="nothing was played yet"):
        session.run.write_video(tmp_path / "run")
    while not session.run.run.is_over:
        session.run.step()
    path = session.run.write_video(tmp_path / "new" / "run", has_overlay=False)
    frames = frames_of(path)
    assert len(frames) == session.run.run.num_decisions + 1 + round(1.5 * 5)
    seen_HWC = session.run.view((VIEW_PX, VIEW_PX))
    shown_HWC = frames[session.run.run.num_decisions][-VIEW_PX:, :, ::-1]
    assert np.abs(shown_HWC.astype(int) - seen_HWC).mean() < 6  # what VP8 loses


def test_a_video_cannot_be_written_where_a_file_is_in_the_way(session, tmp_path):
    mark_ground(session)
    session.run.choose_player("noop")
    session.run.step()
    (tmp_path / "file").write_text("")
    said = rf"^video: {tmp_path}/file: cannot be written \(File exists\); choose another place$"
    with pytest.raises(ValueError, match=said):
        session.run.write_video(tmp_path / "file" / "run")


def test_the_overlay_draws_what_is_believed_and_changes_nothing_else(session):
    mark_ground(session)
    session.run.choose_player("small")
    session.run.step()
    image_HWC = session.run.view((256, 256))
    goal = session.run.frame().goal
    sure = Belief(value=0.5, visibility=1.0, centre=(0.5, 0.25), box=(0.4, 0.2, 0.6, 0.3))
    shown_HWC = with_overlay(image_HWC, belief=sure, goal=None)
    changed_HW = (shown_HWC != image_HWC).any(axis=2)
    assert changed_HW[int(0.25 * 256), 128]
    assert changed_HW[int(0.2 * 256), 110:150].mean() > 0.9
    assert not changed_HW[100:250, :90].any()
    unsure = Belief(value=0.5, visibility=0.25, centre=(0.5, 0.25), box=(0.4, 0.2, 0.6, 0.3))
    faint_HW = (with_overlay(image_HWC, belief=unsure, goal=None) != image_HWC).any(axis=2)
    assert not faint_HW[:240].any()
    np.testing.assert_array_equal(with_overlay(image_HWC, belief=None, goal=None), image_HWC)
    assert (with_overlay(image_HWC, belief=None, goal=goal) != image_HWC).any(axis=2)[:60, -60:].mean() > 0.8
    assert session.run.view((256, 256), has_overlay=True).shape == (256, 256, 3)
    with pytest.raises(ValueError, match="square pictures"):
        session.run.view((256, 128), has_overlay=True)
    with pytest.raises(ValueError, match="multiples of 4"):
        session.run.view((2000, 2000))


def test_a_video_ends_on_the_tick_that_was_played_last_also_within_a_decision(session):
    mark_ground(session)
    session.run.choose_player("expert")
    session.run.reset()
    run = session.run.run
    for _ in range(5):
        run.tick()
    assert run.ticks_per_decision == 4
    *_, last_HWC = _frames(run, session.shared.worlds, has_overlay=False)
    np.testing.assert_array_equal(last_HWC[-VIEW_PX:, :, ::-1], session.run.view((VIEW_PX, VIEW_PX)))
