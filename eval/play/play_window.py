"""A window in which a person plays: keyboard and mouse in, pictures out, 20 ticks a second.

OpenCV tells of keys that go down and repeat but never of keys that come up, so a key counts as held for a while after
it was last heard of. Mouse buttons are told exactly.
"""

import time
from dataclasses import dataclass, field

import cv2
import numpy as np

from eval.play.display import check_display
from eval.play.play_keys import KEYS
from eval.play.play_picture import draw_frame
from eval.play.play_session import PlayFrame
from worlds.types import BUTTON_INDEX, TICK_S, ActionBatch

TITLE = "mcrl play: WASD space, mouse or arrows to look, left click mine, right click use, 1-9, Q drop, Esc ends"
# A keyboard repeats first after half a second (0.66 s under X11), then some 25 times a second.
_FIRST_HOLD_TICKS, _REPEAT_HOLD_TICKS = 13, 3
_DEG_PER_PX = 0.25
_EDGE_SHARE, _EDGE_DEG_PER_TICK = 0.06, 6.0  # a pointer at the window's edge keeps turning
_ARROW_DEG = 6.0
_ESCAPE, _WAIT_MS = 27, 1
# Letters of keys that are pressed once rather than held.
_PRESSED_ONCE = frozenset("eq123456789")
_LETTERS: dict[str, str] = {letter: button for letter, button in KEYS.items() if len(letter) == 1} | {" ": "jump"}
# Pressed once to hold, once more to let go: shift and control do not repeat, and not every window system tells of them.
_TOGGLES: dict[int, str] = {
    **{ord("c"): "sneak", 65505: "sneak", 65506: "sneak"},
    **{ord("r"): "sprint", 65507: "sprint", 65508: "sprint"},
}
_SPECIAL = 0xFF00  # codes of X11 from here on are no letters
# Codes of waitKeyEx for left, up, right, down: X11 and Qt, Windows, macOS; as (yaw, pitch) directions.
_ARROWS: dict[int, tuple[int, int]] = {
    code: direction
    for codes in ((65361, 65362, 65363, 65364), (2424832, 2490368, 2555904, 2621440), (63234, 63232, 63235, 63233))
    for code, direction in zip(codes, ((-1, 0), (0, -1), (1, 0), (0, 1)), strict=True)
}


@dataclass(slots=True)
class HeldKeys:
    """Which buttons are down, from what keyboard and mouse tell; the part of the window that needs no window."""

    size_px: tuple[int, int]  # width, height of the picture
    ticks_left: dict[str, int] = field(default_factory=dict)  # of each button
    toggled: set[str] = field(default_factory=set)
    mouse_buttons: set[str] = field(default_factory=set)
    pointer_px: tuple[int, int] | None = None
    turn_deg: np.ndarray = field(default_factory=lambda: np.zeros(2, np.float32))  # (pitch, yaw) since the last tick

    def on_key(self, code: int) -> bool:
        """Hear of a key; return whether it ends the play."""
        if code == _ESCAPE:
            return True
        arrow = _ARROWS.get(code, _ARROWS.get(code & 0xFFFF))
        if arrow is not None:
            yaw, pitch = arrow
            self.turn_deg += np.array((pitch, yaw), np.float32) * _ARROW_DEG
            return False
        symbol = code & 0xFFFF  # without the bits of modifier keys
        letter = chr(symbol & 0xFF).lower() if symbol < _SPECIAL else ""
        toggle = _TOGGLES.get(ord(letter) if letter else symbol)
        if toggle:
            self.toggled ^= {toggle}
        elif letter in _LETTERS:
            button = _LETTERS[letter]
            hold = _REPEAT_HOLD_TICKS if button in self.ticks_left else _FIRST_HOLD_TICKS
            self.ticks_left[button] = 1 if letter in _PRESSED_ONCE else max(hold, self.ticks_left.get(button, 0))
        return False

    def on_mouse(self, event: int, x: int, y: int) -> None:
        """Hear of the mouse, as cv2.setMouseCallback tells it."""
        if self.pointer_px is not None:
            self.turn_deg += np.array((y - self.pointer_px[1], x - self.pointer_px[0]), np.float32) * _DEG_PER_PX
        self.pointer_px = (x, y)
        for button, down, up in (
            ("attack", cv2.EVENT_LBUTTONDOWN, cv2.EVENT_LBUTTONUP),
            ("use", cv2.EVENT_RBUTTONDOWN, cv2.EVENT_RBUTTONUP),
        ):
            if event == down:
                self.mouse_buttons.add(button)
            elif event == up:
                self.mouse_buttons.discard(button)

    def take_action(self) -> ActionBatch:
        """Return what is pressed in this tick, and let the tick pass."""
        action = ActionBatch.noop(1)
        for button in (*self.ticks_left, *self.toggled, *self.mouse_buttons):
            action.buttons_EB[0, BUTTON_INDEX[button]] = True
        action.camera_deg_E2[0] = self.turn_deg + self._edge_turn()
        self.turn_deg[:] = 0.0
        self.ticks_left = {button: left - 1 for button, left in self.ticks_left.items() if left > 1}
        return action

    def _edge_turn(self) -> np.ndarray:
        """Return (pitch, yaw) a tick of a pointer that rests at the window's edge."""
        if self.pointer_px is None:
            return np.zeros(2, np.float32)
        share_2 = np.array(self.pointer_px[::-1], np.float32) / np.array(self.size_px[::-1], np.float32)
        return ((share_2 > 1 - _EDGE_SHARE).astype(np.float32) - (share_2 < _EDGE_SHARE)) * _EDGE_DEG_PER_TICK


class PlayWindow:
    """Shows frames and, asked for an action, says what the person does; keeps to 20 ticks a second."""

    def __init__(self, *, ticks_per_frame: int, with_hud: bool) -> None:
        """Open the window with the first frame."""
        check_display()
        self._with_hud = with_hud
        self._frame_s = TICK_S * ticks_per_frame
        self._held: HeldKeys | None = None
        self._next_s = 0.0
        self._is_ended = False

    def show(self, frame: PlayFrame) -> None:
        """Show a frame and hear what is pressed until the next one is due."""
        picture_HWC = draw_frame(frame, with_hud=self._with_hud)
        if self._held is None:
            cv2.namedWindow(TITLE, cv2.WINDOW_AUTOSIZE | cv2.WINDOW_GUI_NORMAL)
            self._held = HeldKeys((picture_HWC.shape[1], picture_HWC.shape[0]))
            cv2.setMouseCallback(TITLE, lambda event, x, y, *_: self._held.on_mouse(event, x, y))  # type: ignore[union-attr]
            self._next_s = time.perf_counter()
        cv2.imshow(TITLE, picture_HWC)
        self._next_s = max(self._next_s + self._frame_s, time.perf_counter())
        while True:
            code = cv2.waitKeyEx(_WAIT_MS)
            if code >= 0:
                self._is_ended |= self._held.on_key(code)
            if time.perf_counter() >= self._next_s:
                break
        self._is_ended |= cv2.getWindowProperty(TITLE, cv2.WND_PROP_VISIBLE) < 1

    def act(self, frame: PlayFrame) -> ActionBatch | None:
        """Return what the person does, None when the window was closed."""
        if self._is_ended or self._held is None:
            return None
        return self._held.take_action()

    @property
    def is_ended(self) -> bool:
        """Return whether the person closed the window or pressed Esc."""
        return self._is_ended

    def close(self) -> None:
        """Close the window."""
        if self._held is not None:
            cv2.destroyWindow(TITLE)
