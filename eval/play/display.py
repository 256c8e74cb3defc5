"""Whether a window can be opened here, known without loading what would draw in it."""

import os
import sys


def check_display() -> None:
    """Raise ValueError with the way out where no window can be opened."""
    has_display = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_display:
        raise ValueError(
            "mcrl play: there is no display here; write a file with --out play.webm, where a person plays by "
            "--keys 'w*40'"
        )
