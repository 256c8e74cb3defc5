"""A folder that is there whole or not at all, whatever happens while it is written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to write files into, which takes the place of `folder` when the block is done.

    It lies beside `folder`, reaches the disk, and appears by one rename; a crash leaves the old folder or the new one.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    yield partial
    for path in (*partial.iterdir(), partial):
        _flush_to_disk(path)
    if folder.exists():
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        partial.rename(folder)
        shutil.rmtree(old)
    else:
        partial.rename(folder)
    _flush_to_disk(folder.parent)


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
