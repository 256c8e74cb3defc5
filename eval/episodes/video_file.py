"""A video file that opencv writes: frames in, and an error when it does not hold them all."""

import contextlib
import functools
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

# What browsers play and the wheel of opencv writes (it has no H.264 encoder). VP8 first: on 800 x 320 frames of noise
# it took 0.05 CPU-s a frame, VP9 0.24, and nobody should wait for the videos of a report.
CODECS = (("VP80", "webm", "video/webm"), ("VP90", "webm", "video/webm"), ("vp09", "mp4", "video/mp4"))
# More than opencv holds back before it writes (32 KiB), so that what had no room for it has none for this.
_TRIAL_BYTES = 1 << 20
# The process has one fd 2: a thread that silences it while another does takes that silence for what it is to bring
# back, and may be the last to do so. Reentrant, since one silence may lie within another.
_FD_2 = threading.RLock()


class VideoFile:
    """A video that is being written. Close it: only then is known whether it holds its frames."""

    def __init__(self, path: Path, fourcc: str, frames_per_s: float, size_px: tuple[int, int]) -> None:
        """Begin the file, for frames of `size_px`, (width, height).

        Raises:
            OSError: the system lets nobody write there.
            ValueError: opencv cannot write such a file.
        """
        self._path, self._num_frames = path, 0
        # A full disk is said once, by us, and not for every frame by opencv.
        self._log_level = cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
        with _silence():
            self._writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*fourcc), frames_per_s, size_px)
        if not self._writer.isOpened():
            cv2.utils.logging.setLogLevel(self._log_level)
            is_new = not path.exists()
            _try_to_write(path)
            if is_new:
                path.unlink()
            raise ValueError(f"{path}: opencv cannot write {fourcc} there")

    def write(self, frame_HWC: np.ndarray) -> None:
        """Add a frame, uint8 [H, W, 3] BGR."""
        self._writer.write(frame_HWC)
        self._num_frames += 1

    def close(self) -> None:
        """Finish the file.

        Raises:
            OSError: it was cut short, with the system's reason; opencv itself says nothing of it. No file is left.
            ValueError: it was cut short, and now the system would write more of it. No file is left.
        """
        with _silence():
            self._writer.release()
            is_whole = _num_readable(self._path) >= self._num_frames
        cv2.utils.logging.setLogLevel(self._log_level)
        if not is_whole:
            try:
                _try_to_write(self._path)
            finally:
                self._path.unlink(missing_ok=True)
            raise ValueError(f"{self._path}: the video was cut short, opencv does not say why; try again")


@functools.cache
def choose_codec(suffix: str | None = None) -> tuple[str, str, str]:
    """Return (fourcc, suffix, MIME type) of the first codec that browsers play and this opencv writes.

    `suffix`, "webm" or "mp4", leaves only codecs of such files; None takes any.

    Raises:
        RuntimeError: none can be written here.
    """
    with tempfile.TemporaryDirectory() as folder:
        for fourcc, codec_suffix, mime in CODECS:
            if suffix not in (None, codec_suffix):
                continue
            with contextlib.suppress(ValueError):
                trial = VideoFile(Path(folder) / f"{fourcc}.{codec_suffix}", fourcc, 5.0, (64, 48))
                trial.write(np.zeros((48, 64, 3), np.uint8))
                trial.close()
                return fourcc, codec_suffix, mime
    raise RuntimeError("opencv writes neither VP8 nor VP9 here; install the wheel with 'pip install opencv-python'")


def _try_to_write(path: Path) -> None:
    """Write beyond the end of a file that opencv failed to write, so that the system says why: as an OSError."""
    try:
        with path.open("ab") as file:
            file.write(bytes(_TRIAL_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(path)  # where it was not the opening that failed, the system names none
        raise


def _num_readable(path: Path) -> int:
    """Return how many frames of a video can be read. What its header says is written before the frames are."""
    reader, num_frames = cv2.VideoCapture(str(path)), 0
    while reader.grab():
        num_frames += 1
    reader.release()
    return num_frames


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep what ffmpeg inside opencv prints straight to the terminal from it: codecs' names, a file's end."""
    with _FD_2:
        kept = os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(null)
