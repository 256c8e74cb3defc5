"""Episode videos: the goal view with its target beside what the agent sees, playable in a browser. H W C image."""

import base64
import functools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from eval.replay import UNFINISHED, Replay
from task_synthesis.goal import CrossViewGoal
from worlds.types import TICK_S

PANEL_PX = 240
"""Side of each panel; a replay at this size is shown pixel by pixel."""
_GAP_PX = 12
_TITLE_PX = 76
# Left empty: a browser lays its controls over the bottom of the frame.
_CONTROLS_PX = 42

# What browsers play and the wheel of opencv writes (it has no H.264 encoder). VP8 first: on 800 x 320 frames of noise
# it took 0.05 CPU-s a frame, VP9 0.24, and nobody should wait for the videos of a report.
_CODECS = (("VP80", "webm", "video/webm"), ("VP90", "webm", "video/webm"), ("vp09", "mp4", "video/mp4"))

_PANELS = ("GOAL VIEW, TARGET MARKED", "AGENT VIEW")
_INK = (236, 236, 232)
_MUTED = (150, 150, 145)
_BACKGROUND = (24, 22, 20)
_OUTCOME_COLORS = {"success": (120, 200, 90), "wrong_object": (80, 90, 230), "death": (80, 90, 230)}  # BGR
_OTHER_OUTCOME_COLOR = (90, 180, 235)  # BGR
_TARGET_TINT = np.array((220, 0, 255), np.float32)  # BGR
_TINT_SHARE = 0.45


def frame_of(replay: Replay, index: int) -> np.ndarray:
    """Return image `index` of the episode as a frame, uint8 [H, W, 3] BGR; the last one names the outcome."""
    panels = (_marked(replay.goal), _panel(replay.images[index][..., ::-1]))
    width = len(panels) * (PANEL_PX + _GAP_PX) + _GAP_PX
    frame_HWC = np.full((_TITLE_PX + PANEL_PX + _CONTROLS_PX, width, 3), _BACKGROUND, np.uint8)
    for column, (title, panel_HWC) in enumerate(zip(_PANELS, panels, strict=True)):
        left = _GAP_PX + column * (PANEL_PX + _GAP_PX)
        frame_HWC[_TITLE_PX : _TITLE_PX + PANEL_PX, left : left + PANEL_PX] = panel_HWC
        _write(frame_HWC, title, left, _TITLE_PX - 9, _MUTED, 0.4)
    _write(frame_HWC, replay.task.family.replace("_", " "), _GAP_PX, 22, _INK, 0.55)
    seconds = f"{index * replay.ticks_per_decision * TICK_S:.1f} / {replay.task.max_ticks * TICK_S:.0f} s"
    _write(frame_HWC, seconds, left + PANEL_PX - 9 * len(seconds), 22, _INK, 0.5)
    if index == len(replay.images) - 1 and replay.outcome != UNFINISHED:
        color = _OUTCOME_COLORS.get(replay.outcome, _OTHER_OUTCOME_COLOR)
        _write(frame_HWC, replay.outcome.replace("_", " ").upper(), _GAP_PX, 45, color, 0.55, thickness=2)
    elif index < len(replay.keys):
        _write(frame_HWC, f"keys: {replay.keys[index]}", _GAP_PX, 45, _INK, 0.45)
    return frame_HWC


def _panel(image_HWC: np.ndarray) -> np.ndarray:
    """Return a BGR picture as a panel; nearest neighbour keeps small pictures honest."""
    return cv2.resize(np.ascontiguousarray(image_HWC), (PANEL_PX, PANEL_PX), interpolation=cv2.INTER_NEAREST)


def _marked(goal: CrossViewGoal) -> np.ndarray:
    """Return the goal view as a panel, the target tinted and outlined."""
    shown_HWC = goal.image_HWC[..., ::-1].astype(np.float32)
    shown_HWC[goal.mask_HW] = (1 - _TINT_SHARE) * shown_HWC[goal.mask_HW] + _TINT_SHARE * _TARGET_TINT
    panel_HWC = _panel(shown_HWC.astype(np.uint8))
    mask_HW = _panel(np.repeat(goal.mask_HW[..., None].astype(np.uint8), 3, axis=2))[..., 0]
    line_HW = cv2.dilate(mask_HW, np.ones((5, 5), np.uint8)) - mask_HW
    panel_HWC[line_HW > 0] = _TARGET_TINT
    return panel_HWC


def _write(
    frame_HWC: np.ndarray, text: str, x: int, y: int, color: Sequence[int], scale: float, *, thickness: int = 1
) -> None:
    cv2.putText(frame_HWC, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, tuple(color), thickness, cv2.LINE_AA)


@functools.cache
def choose_codec(suffix: str | None = None) -> tuple[str, str, str]:
    """Return (fourcc, suffix, MIME type) of the first codec that browsers play and this opencv writes.

    `suffix`, "webm" or "mp4", leaves only codecs of such files; None takes any.

    Raises:
        RuntimeError: none can be written here.
    """
    with tempfile.TemporaryDirectory() as folder:
        for fourcc, codec_suffix, mime in _CODECS:
            if suffix not in (None, codec_suffix):
                continue
            path = Path(folder) / f"{fourcc}.{codec_suffix}"
            writer = open_writer(path, fourcc, 5.0, (64, 48))
            if writer.isOpened():
                writer.write(np.zeros((48, 64, 3), np.uint8))
            writer.release()
            if path.exists() and path.stat().st_size > 0:
                return fourcc, codec_suffix, mime
    raise RuntimeError("opencv writes neither VP8 nor VP9 here; install the wheel with 'pip install opencv-python'")


def open_writer(path: Path, fourcc: str, frames_per_s: float, size_px: tuple[int, int]) -> cv2.VideoWriter:
    """Return a writer to `path`; ask isOpened() before the first frame."""
    # ffmpeg inside opencv prints straight to the terminal that it would have named the codec otherwise.
    kept = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        return cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*fourcc), frames_per_s, size_px)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def write_video(replay: Replay, stem: Path, *, hold_last_s: float = 1.5) -> Path:
    """Write the episode at its real speed to `stem` plus the codec's suffix; the last frame stays for a while."""
    fourcc, suffix, _ = choose_codec()
    path = stem.with_name(f"{stem.name}.{suffix}")
    frames_per_s = 1 / (TICK_S * replay.ticks_per_decision)
    frames = [frame_of(replay, index) for index in range(len(replay.images))]
    frames += [frames[-1]] * round(hold_last_s * frames_per_s)
    writer = open_writer(path, fourcc, frames_per_s, (frames[0].shape[1], frames[0].shape[0]))
    if not writer.isOpened():
        raise RuntimeError(f"opencv cannot write {path}; is the folder writable?")
    for frame_HWC in frames:
        writer.write(frame_HWC)
    writer.release()
    return path


def data_uri(path: Path) -> str:
    """Return a video file as a data URI, for a page that needs nothing beside it."""
    mime = next(mime for _, suffix, mime in _CODECS if path.suffix == f".{suffix}")
    return f"data:{mime};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def poster_uri(replay: Replay) -> str:
    """Return the middle frame as a JPEG data URI: what a page shows before the video plays."""
    middle_HWC = frame_of(replay, len(replay.images) // 2)
    is_written, encoded = cv2.imencode(".jpg", middle_HWC, [cv2.IMWRITE_JPEG_QUALITY, 80])
    if not is_written:
        raise RuntimeError("opencv cannot encode JPEG here")
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.tobytes()).decode('ascii')}"
