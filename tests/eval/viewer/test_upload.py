"""Pictures from elsewhere: decoded safely, marked by hand, and played as goals of another episode."""

import struct
import zlib

import cv2
import numpy as np
import pytest

from eval.viewer.goal_editor import GOAL_PX
from eval.viewer.goal_mask import flooded
from eval.viewer.scene_place import direction_of
from eval.viewer.upload import MAX_BYTES, decode_picture
from tests.eval.viewer.made_goals import eye_over_start, mark_ground


def encoded(image_HWC: np.ndarray, suffix: str = ".png") -> bytes:
    return cv2.imencode(suffix, image_HWC[..., ::-1])[1].tobytes()


def two_halves() -> np.ndarray:
    image_HWC = np.zeros((GOAL_PX, GOAL_PX, 3), np.uint8)
    image_HWC[:, : GOAL_PX // 2] = (200, 40, 30)
    image_HWC[:, GOAL_PX // 2 :] = (20, 60, 220)
    return image_HWC


def png_header(width: int, height: int) -> bytes:
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


def test_a_png_comes_back_as_it_was_and_others_are_cut_square():
    image_HWC = two_halves()
    np.testing.assert_array_equal(decode_picture(encoded(image_HWC), GOAL_PX), image_HWC)
    wide_HWC = np.pad(image_HWC, ((0, 0), (100, 100), (0, 0)))
    np.testing.assert_array_equal(decode_picture(encoded(wide_HWC), GOAL_PX), image_HWC)
    jpeg_HWC = decode_picture(encoded(image_HWC, ".jpg"), GOAL_PX)
    assert np.abs(jpeg_HWC[:, :100].astype(int) - image_HWC[:, :100]).max() < 12
    assert decode_picture(encoded(image_HWC[:40, :40]), 64).shape == (64, 64, 3)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "neither PNG nor JPEG"),
        (b"GIF89a" + bytes(100), "neither PNG nor JPEG"),
        (b"\x80\x04\x95" + bytes(100), "neither PNG nor JPEG"),
        (bytes(MAX_BYTES + 1), "more than 8 MiB"),
        (png_header(60000, 60000), "make it smaller"),
        (png_header(0, 5), "header says 0 x 5"),
        (png_header(64, 64), "broken"),
        (encoded(two_halves())[:500], "broken"),
        (b"\xff\xd8", "JPEG without a size"),
        (b"\xff\xd8" + b"\xff\xe0\x00\x00" * 4, "JPEG without a size"),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + bytes(20), "make it smaller"),
    ],
)
def test_what_is_no_good_picture_is_refused_in_a_sentence(session, content, expected):
    draft = session.goal.draft
    with pytest.raises(ValueError, match=expected):
        session.goal.upload(content)
    assert session.goal.draft == draft


def test_random_bytes_behind_a_good_header_never_do_harm():
    rng = np.random.default_rng(0)
    whole = encoded(two_halves(), ".jpg")
    for _ in range(200):
        broken = bytearray(whole)
        for place in rng.integers(2, len(whole), 6):
            broken[place] = rng.integers(256)
        try:
            assert decode_picture(bytes(broken), 64).shape == (64, 64, 3)
        except ValueError:
            pass


def test_a_click_marks_what_looks_alike_and_the_goal_of_another_episode_is_played_unjudged(session):
    session.goal.upload(encoded(two_halves()))
    with pytest.raises(ValueError, match="nothing is marked"):
        session.goal.plan(64)
    session.goal.click_goal(10, 10)
    assert session.goal.view().mask_HW[:, : GOAL_PX // 2].all()
    assert not session.goal.view().mask_HW[:, GOAL_PX // 2 :].any()
    session.goal.paint(20, 200, radius_px=8.0)
    session.goal.choose_skill("approach")
    plan = session.goal.plan(64)
    assert plan.task is None
    assert plan.goal.mask_HW[:, :32].all()
    session.run.choose_player("small")
    session.run.step()
    assert session.run.frame().milestones == {}
    session.run.choose_player("expert")
    with pytest.raises(ValueError, match="expert reads the world"):
        session.run.play()
    with pytest.raises(ValueError, match="no target yet"):
        session.goal.task()


def test_a_click_marks_a_grainy_thing_and_not_the_grainy_ground_around_it():
    rng = np.random.default_rng(0)
    image_HWC = np.array([90, 150, 60]) + rng.integers(-25, 26, (GOAL_PX, GOAL_PX, 1))
    thing = (slice(80, 180), slice(90, 150))
    image_HWC[thing] = np.array([225, 222, 220]) + rng.integers(-25, 26, (100, 60, 1))
    image_HWC[120:124, 110:114] = 30  # an eye
    picture_HWC = np.array(decode_picture(encoded(image_HWC.clip(0, 255).astype(np.uint8), ".jpg"), GOAL_PX))
    is_thing_HW = np.zeros((GOAL_PX, GOAL_PX), bool)
    is_thing_HW[thing] = True
    for row, column in ((100, 100), (170, 140)):
        mask_HW = flooded(picture_HWC, row, column)
        assert (mask_HW & is_thing_HW).sum() > 0.95 * is_thing_HW.sum()
        assert (mask_HW & ~is_thing_HW).sum() < 0.1 * is_thing_HW.sum()
    ground_HW = flooded(picture_HWC, 20, 20)
    assert (ground_HW & ~is_thing_HW).sum() > 0.95 * (~is_thing_HW).sum()
    assert (ground_HW & is_thing_HW).sum() < 0.1 * is_thing_HW.sum()


def test_an_uploaded_picture_with_a_target_here_is_judged_by_it(session, tmp_path):
    mark_ground(session)
    task = session.goal.task()
    session.goal.upload(encoded(two_halves()))
    session.goal.click_goal(10, 10)
    assert session.goal.plan(64).task == task
    place = session.goal.save(tmp_path / "mine.jsonl")
    session.goal.reset_mask()
    session.open_place(place)
    assert session.goal.draft.picture.is_foreign
    np.testing.assert_array_equal(session.goal.view().image_HWC, two_halves())


def test_a_target_that_is_clicked_on_after_the_upload_leaves_the_picture_and_what_was_painted(session):
    session.goal.upload(encoded(two_halves()))
    session.goal.paint(100, 100, radius_px=20.0)
    picture = session.goal.draft.picture
    eye = eye_over_start(session)
    dx, dy, dz = direction_of(eye)
    session.click((eye.x, eye.y, eye.z), (float(dx), float(dy), float(dz)), eye=eye)
    assert session.goal.draft.picture is picture
    assert session.goal.plan(64).task is not None


@pytest.mark.parametrize("marker", [0x00, 0x01, 0xD0, 0xD7, 0xD8])
def test_a_jpeg_does_not_hide_its_size_behind_a_marker_without_a_length(marker):
    whole = cv2.imencode(".jpg", np.zeros((6000, 6000, 3), np.uint8))[1].tobytes()
    comment = bytearray(b"\xff\xfe\xff\xfd" + bytes(65531))
    first_bytes = 2 + int.from_bytes(whole[4:6])
    # Who takes the marker that follows, FF E0, for the length goes on in the comment.
    at = 2 + 2 + 0xFFE0 - (4 + first_bytes)
    comment[at : at + 9] = b"\xff\xc0\x00\x11\x08\x00\x10\x00\x10"
    hiding = whole[:2] + bytes([0xFF, marker]) + whole[2 : 2 + first_bytes] + bytes(comment) + whole[2 + first_bytes :]
    with pytest.raises(ValueError, match="without a size"):
        decode_picture(hiding, 64)
