"""Whether a result can be written where it is wanted, found out before the work and not after it."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from task_synthesis.libraries import folder_lock


def check_can_write(path: Path, *, is_folder: bool) -> None:
    """Raise ValueError, naming the way out, where the file or folder `path` cannot be made; nothing is made yet."""
    place, wants_folder = path, is_folder
    while not place.exists():
        place, wants_folder = place.parent, True
    if place.is_dir() != wants_folder:
        has, wants = ("file", "folder") if wants_folder else ("folder", "file")
        raise ValueError(f"{place}: a {has} stands where a {wants} is wanted; name another")
    folder = place if wants_folder else place.parent
    if not wants_folder:
        if not os.access(place, os.W_OK):
            raise ValueError(f"{place}: this file cannot be written; name another, or make it writable")
        if not place.is_file():
            return  # a pipe or a device, /dev/stdout for one: nothing is made in its folder
    try:
        tempfile.TemporaryFile(dir=folder).close()  # without a name: what asking for permissions says, root ignores
    except OSError:
        raise ValueError(
            f"{path}: nothing can be written to {folder.resolve()}; name a place in a folder of yours"
        ) from None


def check_result_file(path: Path | None) -> None:
    """Refuse a file of `--json` or its like that cannot be written; None is no file, "-" is stdout."""
    if path is not None and str(path) != "-":
        check_can_write(path, is_folder=False)


def check_out_folder(out: Path, *, ours: Sequence[str], what: str, holds_several: bool = False) -> None:
    """Refuse an --out that cannot be written, or that holds things but none of the files `ours` of `what`.

    `holds_several`: its folders may each be one of those.
    """
    check_can_write(out, is_folder=True)
    if not out.is_dir() or all(path.name == folder_lock.FILE_NAME for path in out.iterdir()):
        return
    places = [out, *(path for path in out.iterdir() if path.is_dir() and holds_several)]
    if not any((place / name).exists() for place in places for name in ours):
        raise ValueError(f"--out {out}: holds other things than {what}; name a new folder")
