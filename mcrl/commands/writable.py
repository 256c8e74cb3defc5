"""Whether a result can be written where it is wanted, found out before the work and not after it."""

import os
from pathlib import Path


def check_can_write(path: Path, *, is_folder: bool) -> None:
    """Raise ValueError, naming the way out, where the file or folder `path` cannot be made; nothing is made yet."""
    place, wants_folder = path, is_folder
    while not place.exists():
        place, wants_folder = place.parent, True
    if place.is_dir() != wants_folder:
        has, wants = ("file", "folder") if wants_folder else ("folder", "file")
        raise ValueError(f"{place}: a {has} stands where a {wants} is wanted; name another")
    folder = place if wants_folder else place.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: nothing can be written to {folder.resolve()}; name a place in a folder of yours")
