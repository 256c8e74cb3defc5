"""Frames of play as pictures: the view scaled up, a hotbar and a line of words, the goal in a corner. H W C image."""

import functools
from pathlib import Path

import cv2
import numpy as np

from eval.episodes.picture_file import write_picture
from eval.episodes.video_file import VideoFile, choose_codec
from eval.play.play_session import PlayFrame
from task_synthesis.goal import CrossViewGoal
from worlds.blocks import BLOCK_ID, BLOCKS
from worlds.items import ITEMS
from worlds.textures.procedural import build_textures

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_WHITE, _SHADOW, _HEART, _EMPTY = (255, 255, 255), (0, 0, 0), (40, 40, 225), (70, 70, 70)  # BGR
_TARGET_BGR = np.array((60, 60, 255), np.float32)
_MIN_HEIGHT_PX = 360
_LINE_PX = 18
_TEXT_SCALE = 0.45
_SLOT_PX, _SLOT_GAP_PX = 44, 4


def draw_frame(frame: PlayFrame, *, with_hud: bool) -> np.ndarray:
    """Return the frame as shown, uint8 [H, W, 3] BGR; both sides are even, as video codecs want them."""
    image_HWC = np.ascontiguousarray(frame.image_HWC[..., ::-1])
    scale = max(1, -(-_MIN_HEIGHT_PX // image_HWC.shape[0]))
    size_px = (image_HWC.shape[1] * scale, image_HWC.shape[0] * scale)
    picture_HWC = cv2.resize(image_HWC, size_px, interpolation=cv2.INTER_NEAREST)
    top_px = 0
    if with_hud:
        _draw_crosshair(picture_HWC)
        _draw_hotbar(picture_HWC, frame)
        _draw_health(picture_HWC, frame.health)
        x, y, z = frame.position
        free_px = picture_HWC.shape[1]
        if frame.goal is not None:
            free_px = _draw_goal(picture_HWC, frame.goal)
        lines = _fitted([f"tick {frame.tick}", f"({x:.1f}, {y:.1f}, {z:.1f})", *frame.keys.split(" ")], free_px - 16)
        for line in lines:
            top_px += _LINE_PX
            _write(picture_HWC, line, 8, top_px)
    if frame.outcome:
        _write(picture_HWC, frame.outcome.upper(), 8, top_px + _LINE_PX + 8, scale=0.8)
    return picture_HWC


def _write(picture_HWC: np.ndarray, text: str, x: int, y: int, *, scale: float = _TEXT_SCALE) -> None:
    for offset, color in ((1, _SHADOW), (0, _WHITE)):
        cv2.putText(picture_HWC, text, (x + offset, y + offset), _FONT, scale, color, 1, cv2.LINE_AA)


def _fitted(words: list[str], width_px: int) -> list[str]:
    """Return words as lines that are no wider than this, one word at least in each."""
    lines = words[:1]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if cv2.getTextSize(longer, _FONT, _TEXT_SCALE, 1)[0][0] <= width_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _draw_crosshair(picture_HWC: np.ndarray) -> None:
    y, x = picture_HWC.shape[0] // 2, picture_HWC.shape[1] // 2
    for part in (picture_HWC[y : y + 1, x - 7 : x + 8], picture_HWC[y - 7 : y + 8, x : x + 1]):
        part[:] = 255 - part  # visible on any ground


def _draw_hotbar(picture_HWC: np.ndarray, frame: PlayFrame) -> None:
    """Draw nine slots with what is in them, and the name of what is in hand above."""
    height, width = picture_HWC.shape[:2]
    slot_px = min(_SLOT_PX, (width - 16) // len(frame.hotbar) - _SLOT_GAP_PX)
    left = (width - len(frame.hotbar) * (slot_px + _SLOT_GAP_PX)) // 2
    top = height - slot_px - 6
    for slot, (item, count) in enumerate(frame.hotbar):
        x = left + slot * (slot_px + _SLOT_GAP_PX)
        box_HWC = picture_HWC[top : top + slot_px, x : x + slot_px]
        box_HWC[:] = box_HWC // 2
        is_held = slot == frame.selected
        color = _WHITE if is_held else (130, 130, 130)
        cv2.rectangle(picture_HWC, (x, top), (x + slot_px, top + slot_px), color, 2 if is_held else 1)
        if item:
            _draw_icon(box_HWC, _icons()[item])
            if count > 1:
                _write(picture_HWC, str(count), x + 4, top + slot_px - 5, scale=0.35)
    held, count = frame.hotbar[frame.selected] if frame.selected < len(frame.hotbar) else ("", 0)
    if held:
        _write(picture_HWC, held.replace("_", " ") + (f" x {count}" if count > 1 else ""), left, top - 24)


@functools.cache
def _icons() -> dict[str, np.ndarray]:
    """Return a picture of every item, uint8 [16, 16, 4] RGBA: its sprite, or a side of the block that it places."""
    textures = build_textures()
    nothing_HWC = np.zeros_like(textures["stone"])
    icons = {}
    for item in ITEMS:
        names = [item.sprite]
        if item.block:
            kind = BLOCKS[BLOCK_ID[item.block]]
            names += [kind.front, *kind.textures]
        icons[item.name] = next((textures[name] for name in names if name), nothing_HWC)
    return icons


def _draw_icon(box_HWC: np.ndarray, icon_HWC: np.ndarray) -> None:
    """Draw an item into the middle of its slot."""
    side_px = max(1, box_HWC.shape[0] * 3 // 4)
    scaled_HWC = cv2.resize(icon_HWC, (side_px, side_px), interpolation=cv2.INTER_NEAREST)
    margin = (box_HWC.shape[0] - side_px) // 2
    inner_HWC = box_HWC[margin : margin + side_px, margin : margin + side_px]
    inner_HWC[:] = np.where(scaled_HWC[..., 3:] >= 128, scaled_HWC[..., 2::-1], inner_HWC)


def _draw_health(picture_HWC: np.ndarray, health: float) -> None:
    """Draw ten hearts as boxes, half ones half filled."""
    top = picture_HWC.shape[0] - min(_SLOT_PX, picture_HWC.shape[1] // 10) - 22
    for heart in range(10):
        left = picture_HWC.shape[1] // 2 + 12 * heart - 60
        share = min(1.0, max(0.0, health / 2.0 - heart))
        cv2.rectangle(picture_HWC, (left, top), (left + 9, top + 9), _EMPTY, -1)
        if share > 0:
            cv2.rectangle(picture_HWC, (left, top), (left + round(9 * share), top + 9), _HEART, -1)
        cv2.rectangle(picture_HWC, (left, top), (left + 9, top + 9), _SHADOW, 1)


def _draw_goal(picture_HWC: np.ndarray, goal: CrossViewGoal) -> int:
    """Draw the goal view into the upper right corner, its target in red; return how many columns it leaves free."""
    shown_HWC = goal.image_HWC[..., ::-1].astype(np.float32)
    shown_HWC[goal.mask_HW] = 0.35 * shown_HWC[goal.mask_HW] + 0.65 * _TARGET_BGR
    side_px = picture_HWC.shape[0] // 3
    size_px = (side_px * goal.image_HWC.shape[1] // goal.image_HWC.shape[0], side_px)
    inset_HWC = cv2.resize(shown_HWC.astype(np.uint8), size_px, interpolation=cv2.INTER_AREA)
    left = picture_HWC.shape[1] - inset_HWC.shape[1] - 8
    picture_HWC[8 : 8 + inset_HWC.shape[0], left : left + inset_HWC.shape[1]] = inset_HWC
    cv2.rectangle(picture_HWC, (left, 8), (left + inset_HWC.shape[1], 8 + inset_HWC.shape[0]), _WHITE, 1)
    _write(picture_HWC, "goal", left + 4, 8 + _LINE_PX, scale=0.4)
    return left


class PlayWriter:
    """Writes frames to a video, or the last one to a picture, as the file's suffix says."""

    SUFFIXES = (".webm", ".mp4", ".png")

    def __init__(self, path: Path, *, ticks_per_frame: int, with_hud: bool) -> None:
        """Write to `path`; its folder is made."""
        if path.suffix not in self.SUFFIXES:
            raise ValueError(f"--out {path}: the file must end in {', '.join(self.SUFFIXES)}")
        self.path, self._with_hud = path, with_hud
        self._frames_per_s = 20.0 / ticks_per_frame
        self._file: VideoFile | None = None
        self._last_HWC: np.ndarray | None = None
        path.parent.mkdir(parents=True, exist_ok=True)

    def show(self, frame: PlayFrame) -> None:
        """Add a frame."""
        self._last_HWC = draw_frame(frame, with_hud=self._with_hud)
        if self.path.suffix == ".png":
            return
        if self._file is None:
            fourcc, _, _ = choose_codec(self.path.suffix.removeprefix("."))
            size_px = (self._last_HWC.shape[1], self._last_HWC.shape[0])
            self._file = VideoFile(self.path, fourcc, self._frames_per_s, size_px)
        self._file.write(self._last_HWC)

    is_ended = False  # a file never asks for an end

    def act(self, frame: PlayFrame) -> None:
        """Return nothing: in front of a file sits nobody."""

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
        elif self._last_HWC is not None and self.path.suffix == ".png":  # else a video that could not be begun
            write_picture(self.path, self._last_HWC)
