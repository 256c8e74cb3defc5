import errno
import os

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)

from eval.episodes.picture_file import write_picture  # noqa: E402

PICTURE_HWC = np.arange(8 * 12 * 3, dtype=np.uint8).reshape(8, 12, 3)


def test_a_png_holds_the_picture(tmp_path):
    write_picture(tmp_path / "new" / "a.png", PICTURE_HWC)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "new" / "a.png")), PICTURE_HWC)


def test_a_format_that_opencv_does_not_know_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt: not a picture that opencv writes; name a \.png or \.jpg"):
        write_picture(tmp_path / "a.txt", PICTURE_HWC)


def test_a_full_disk_is_said_and_leaves_no_file(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as failed:
        write_picture(tmp_path / "a.png", PICTURE_HWC)
    assert failed.value.filename == str(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
