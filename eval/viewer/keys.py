"""What a person presses in the page, and what that makes an agent do."""

from collections.abc import Iterable

import numpy as np

from worlds.types import BUTTON_INDEX, ActionBatch

_MOST_DEG = 180.0  # of one movement of the mouse; more is a broken message


class HeldButtons:
    """Buttons that are down, and how far the view was turned since it was last asked."""

    def __init__(self) -> None:
        """Begin with nothing pressed."""
        self._held: frozenset[str] = frozenset()
        self._tapped: set[str] = set()
        self._turn_deg_2 = np.zeros(2)  # pitch, yaw

    def hold(self, buttons: Iterable[str]) -> None:
        """Hear which buttons are down now; names as in worlds.types.BUTTONS. ValueError: one is none."""
        wanted = frozenset(buttons)
        unknown = sorted(wanted - BUTTON_INDEX.keys())
        if unknown:
            raise ValueError(f"keys: {unknown[0]!r} is no button; the buttons are {', '.join(BUTTON_INDEX)}")
        # A key that went down and up between two decisions counts once.
        self._tapped |= wanted - self._held
        self._held = wanted

    def turn(self, right_deg: float, down_deg: float) -> None:
        """Hear that the view was turned. ValueError: by no number of degrees, or by more than half a turn."""
        turn_2 = np.array([down_deg, right_deg], np.float64)
        if not (np.abs(turn_2) <= _MOST_DEG).all():
            raise ValueError(
                f"keys: a turn must be within {_MOST_DEG:g} degrees, got {right_deg} right, {down_deg} down"
            )
        self._turn_deg_2 += turn_2

    def take(self, num_ticks: int) -> ActionBatch:
        """Return the action for the next `num_ticks` ticks; the turn is spread over them and used up."""
        actions = ActionBatch.noop(1)
        for button in self._held | self._tapped:
            actions.buttons_EB[0, BUTTON_INDEX[button]] = True
        actions.camera_deg_E2[0] = self._turn_deg_2 / num_ticks
        self._tapped.clear()
        self._turn_deg_2[:] = 0.0
        return actions

    def release(self) -> None:
        """Let everything go."""
        self._held = frozenset()
        self._tapped.clear()
        self._turn_deg_2[:] = 0.0
