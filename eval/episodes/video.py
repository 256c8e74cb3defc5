"""Episode videos: what the agent sees, with the keys it presses and the way it turns. H W C image."""

import base64
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import cv2
import numpy as np

from eval.episodes.replay import UNFINISHED, Replay
from eval.episodes.video_file import CODECS, VideoFile, choose_codec
from eval.library.task_pictures import jpeg_uri
from worlds.types import BUTTON_INDEX, TICK_S

VIEW_PX = 192
"""Side of the agent's view; a replay at this size is shown pixel by pixel."""
_PANEL_PX = 40
# opencv's VP8 writer takes no bit rate and spends about 1.3 bits a pixel: 7 kB a frame of this size. Longer episodes
# leave out frames, so that a dozen of them stay below 12 MB.
MAX_FRAMES = 120

_INK = (236, 236, 232)
_MUTED = (120, 118, 114)
_BACKGROUND = (24, 22, 20)
_PRESSED = (90, 200, 240)  # BGR
_OUTCOME_COLORS = {"success": (120, 200, 90), "wrong_object": (80, 90, 230), "death": (80, 90, 230)}  # BGR
_OTHER_OUTCOME_COLOR = (90, 180, 235)  # BGR

# Shown name of a key, and where its box is: left and width.
_KEYS = (
    ("forward", "W", 4, 15),
    ("left", "A", 21, 15),
    ("back", "S", 38, 15),
    ("right", "D", 55, 15),
    ("jump", "jump", 4, 33),
    ("sprint", "run", 39, 27),
    ("sneak", "sneak", 68, 40),
    ("attack", "hit", 110, 24),
    ("use", "use", 136, 28),
)
_SECOND_LINE_FROM = 4  # keys from here on stand in the second line
_TURN_PX_PER_DEG = 5.0
_POSTER_QUALITY = 80  # of JPEG


def frame_of(replay: Replay, index: int) -> np.ndarray:
    """Return image `index` of the episode as a frame, uint8 [H, W, 3] BGR; the last one names the outcome."""
    is_decided = index < len(replay.keys)
    return draw_frame(
        replay.images[index],
        ticks=index * replay.ticks_per_decision,
        max_ticks=replay.task.max_ticks,
        buttons_B=replay.actions.buttons_DB[index] if is_decided else None,
        turn_deg_2=replay.actions.camera_deg_D2[index] * replay.ticks_per_decision if is_decided else None,
        outcome="" if is_decided or replay.outcome == UNFINISHED else replay.outcome,
    )


def draw_frame(
    image_HWC: np.ndarray,
    *,
    ticks: int,
    max_ticks: int,
    buttons_B: np.ndarray | None,
    turn_deg_2: np.ndarray | None,
    outcome: str,
) -> np.ndarray:
    """Return a view with a panel above it, uint8 [H, W, 3] BGR.

    Args:
        image_HWC: uint8 RGB, square; drawn VIEW_PX wide.
        ticks: age of the episode.
        max_ticks: its time limit.
        buttons_B: bool [20], what is pressed; None: nothing is decided any more.
        turn_deg_2: (pitch, yaw) turned in the whole decision; None likewise.
        outcome: written large; "" writes none.
    """
    frame_HWC = np.full((_PANEL_PX + VIEW_PX, VIEW_PX, 3), _BACKGROUND, np.uint8)
    view_HWC = np.ascontiguousarray(image_HWC[..., ::-1])
    if view_HWC.shape[0] != VIEW_PX:
        # Nearest neighbour keeps small pictures honest.
        view_HWC = cv2.resize(view_HWC, (VIEW_PX, VIEW_PX), interpolation=cv2.INTER_NEAREST)
    frame_HWC[_PANEL_PX:] = view_HWC
    time = f"{ticks * TICK_S:.1f} / {max_ticks * TICK_S:.0f} s"
    _write(frame_HWC, time, VIEW_PX - 4 - 6 * len(time), 15, _INK, 0.34)
    if buttons_B is not None and turn_deg_2 is not None:
        _draw_keys(frame_HWC, buttons_B)
        _draw_turn(frame_HWC, turn_deg_2)
    elif outcome:
        color = _OUTCOME_COLORS.get(outcome, _OTHER_OUTCOME_COLOR)
        _write(frame_HWC, outcome.replace("_", " ").upper(), 5, 33, color, 0.45)
    return frame_HWC


def _draw_keys(frame_HWC: np.ndarray, buttons_B: np.ndarray) -> None:
    """Draw the keys that are pressed in colour and the others faintly; a hotbar key as its number."""
    for place, (button, name, left, width) in enumerate(_KEYS):
        is_pressed = bool(buttons_B[BUTTON_INDEX[button]])
        top = 4 if place < _SECOND_LINE_FROM else 21
        cv2.rectangle(
            frame_HWC,
            (left, top),
            (left + width, top + 14),
            _PRESSED if is_pressed else _MUTED,
            -1 if is_pressed else 1,
        )
        _write(frame_HWC, name, left + 3, top + 11, _BACKGROUND if is_pressed else _MUTED, 0.34)
    slots = [slot for slot in range(1, 10) if buttons_B[BUTTON_INDEX[f"hotbar.{slot}"]]]
    if slots:
        _write(frame_HWC, f"[{slots[0]}]", 168, 32, _PRESSED, 0.34)


def _draw_turn(frame_HWC: np.ndarray, turn_deg_2: np.ndarray) -> None:
    """Draw how the camera turns in this decision as an arrow from the middle of the view."""
    pitch_deg, yaw_deg = (float(value) for value in turn_deg_2)
    if math.hypot(pitch_deg, yaw_deg) < 0.5:
        return
    middle = np.array([VIEW_PX / 2, _PANEL_PX + VIEW_PX / 2])
    reach = np.clip(np.array([yaw_deg, pitch_deg]) * _TURN_PX_PER_DEG, -80, 80)
    start, end = (tuple(int(value) for value in place) for place in (middle, middle + reach))
    cv2.arrowedLine(frame_HWC, start, end, _INK, 1, cv2.LINE_AA, tipLength=0.3)


def _write(frame_HWC: np.ndarray, text: str, x: int, y: int, color: Sequence[int], scale: float) -> None:
    cv2.putText(frame_HWC, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, tuple(color), 1, cv2.LINE_AA)


def speed_up(replay: Replay) -> int:
    """Return how many times faster than life the video of an episode plays."""
    return max(1, math.ceil(len(replay.images) / MAX_FRAMES))


def write_video(replay: Replay, stem: Path, *, hold_last_s: float = 1.5) -> Path:
    """Write the episode to `stem` plus the codec's suffix; the last frame stays for a while.

    It plays at its real speed, or `speed_up(replay)` times as fast where it is long.
    """
    frames_per_s = 1 / (TICK_S * replay.ticks_per_decision)
    last = len(replay.images) - 1
    frames = [frame_of(replay, index) for index in [*range(0, last, speed_up(replay)), last]]
    return write_frames(frames, stem, frames_per_s=frames_per_s, hold_last_s=hold_last_s)


def write_frames(frames: Iterable[np.ndarray], stem: Path, *, frames_per_s: float, hold_last_s: float = 1.5) -> Path:
    """Write frames, uint8 [H, W, 3] BGR of one size, to `stem` plus the codec's suffix; the last one stays a while.

    Raises:
        OSError: the system does not let it be written: no right to, no room.
        ValueError: opencv cannot write it.
    """
    fourcc, suffix, _ = choose_codec()
    path = stem.with_name(f"{stem.name}.{suffix}")
    file: VideoFile | None = None
    last_HWC: np.ndarray | None = None
    try:
        for last_HWC in frames:
            if file is None:
                file = VideoFile(path, fourcc, frames_per_s, (last_HWC.shape[1], last_HWC.shape[0]))
            file.write(last_HWC)
        if file is not None and last_HWC is not None:
            for _ in range(round(hold_last_s * frames_per_s)):
                file.write(last_HWC)
    finally:
        if file is not None:
            file.close()
    return path


def data_uri(path: Path) -> str:
    """Return a video file as a data URI, for a page that needs nothing beside it."""
    mime = next(mime for _, suffix, mime in CODECS if path.suffix == f".{suffix}")
    return f"data:{mime};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def poster_uri(replay: Replay) -> str:
    """Return the middle frame as a JPEG data URI: what a page shows before the video plays."""
    middle_HWC = frame_of(replay, len(replay.images) // 2)
    return jpeg_uri(middle_HWC[..., ::-1], quality=_POSTER_QUALITY)
