"""Whether a result can be written where it is wanted, found out before the work and not after it."""

import os
from pathlib import Path


def check_can_write(path: Path, *, is_folder: bool) -> None:
    """Raise ValueError, naming the way out, where the file or folder `path` cannot be made; nothing is made yet."""
    if path.exists() and path.is_dir() != is_folder:
        has, wants = ("file", "folder") if is_folder else ("folder", "file")
        raise ValueError(f"{path}: a {has} stands where a {wants} is wanted; name another")
    place = path if is_folder else path.parent
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise ValueError(f"{place}: a file stands where a folder is wanted; name another")
    if not os.access(place, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: nothing can be written to {place.resolve()}; name a place in a folder of yours")
