"""Where this project keeps what it can make again: compiled kernels, scanned worlds, side environments."""

import os
from pathlib import Path


def cache_home(name: str) -> Path:
    """Return the folder for one kind of thing, which may not exist: $XDG_CACHE_HOME or ~/.cache, mcrl/NAME."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcrl" / name
