"""Actions in words, for captions and panels."""

import numpy as np

from worlds.types import BUTTONS

_STILL_DEG = 0.05  # turns smaller than this are not worth a word


def keys_text(buttons_B: np.ndarray, camera_deg_2: np.ndarray) -> str:
    """Return an action in words: pressed keys, then the turn of the camera in degrees a tick."""
    parts = [name for name, is_pressed in zip(BUTTONS, buttons_B, strict=True) if is_pressed]
    pitch_deg, yaw_deg = (float(value) for value in camera_deg_2)
    if abs(yaw_deg) > _STILL_DEG:
        parts.append(f"turn {'right' if yaw_deg > 0 else 'left'} {abs(yaw_deg):.0f} deg")
    if abs(pitch_deg) > _STILL_DEG:
        parts.append(f"look {'down' if pitch_deg > 0 else 'up'} {abs(pitch_deg):.0f} deg")
    return " + ".join(parts) or "nothing"
