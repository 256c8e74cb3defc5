"""What is said of a full disk, and which one it is: what fails inside a library often names no file."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from worlds.cache_home import cache_home

# A disk with less than this left is called full: what did not fit was larger, or left some.
_FULL_BYTES = 1 << 20
# Where Linux keeps what processes share: pictures, and the locks of their queues.
_SHARED_MEMORY = Path("/dev/shm")


def full_disk_text(error: OSError, args: Sequence[str], then: str) -> str:
    """Return the sentence for an error of a command with these arguments; `then` is what to do once there is room."""
    places = [error.filename] if error.filename else full_folders(args)
    where = f"{' and '.join(map(str, places))}: " if places else ""
    return f"{where}the disk is full; free some of it, then {then}"


def full_folders(args: Sequence[str]) -> list[Path]:
    """Return the folders on full disks, one a disk, among those that a command with these arguments writes to."""
    found: dict[int, Path] = {}
    for folder in _written(args):
        try:
            if shutil.disk_usage(folder).free < _FULL_BYTES:
                found.setdefault(folder.stat().st_dev, folder)
        except OSError:
            continue  # what cannot be looked at is not named
    return list(found.values())


def _written(args: Sequence[str]) -> Iterator[Path]:
    """Yield folders that exist: of paths among the arguments, of runs, of temporary and shared things, our cache."""
    paths = [Path(arg.rpartition("=")[2]) for arg in args if not arg.startswith("-") or "=" in arg]
    for path in [*paths, Path("runs"), Path(tempfile.gettempdir()), cache_home("")]:
        # Not Path.is_dir, which raises where a name is too long: not every argument is a path.
        yield next(parent for parent in (path.absolute(), *path.absolute().parents) if os.path.isdir(parent))
    if _SHARED_MEMORY.is_dir():
        yield _SHARED_MEMORY
