"""The bow in the agent's hand, and how far it is drawn. Constants of Minecraft's BowItem."""

from __future__ import annotations

_FULL_TICKS = 20.0


class DrawnBow:
    """Counts the ticks of a draw. They are kept until its shot, of which a game may tell some ticks late."""

    def __init__(self) -> None:
        """Begin with a bow at rest."""
        self._ticks = 0

    def shoot(self) -> int:
        """Return the charge of the arrow that has left, in percent; the bow is at rest again."""
        drawn = min(1.0, self._ticks / _FULL_TICKS)
        self._ticks = 0
        return int(100.0 * (drawn * drawn + 2.0 * drawn) / 3.0 + 0.5)

    def hold(self, *, is_using: bool, in_hand: str) -> None:
        """Let a tick pass with the use key down or not, and an item in the hand."""
        if is_using:
            self._ticks = self._ticks + 1 if in_hand == "bow" else 0
