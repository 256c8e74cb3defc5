"""A folder that is there whole or not at all, whatever happens while it is written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to write files into, which takes the place of `folder` when the block is done.

    It lies beside `folder`, reaches the disk, and takes its place by two renames: a crash leaves the old folder or the
    new one, after one between the two under another name, which `settle_folders` takes back. An error in the block
    leaves the old folder and nothing else: a disk that was filled has its room again.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _take_back(folder)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    for path in (*partial.iterdir(), partial):
        _flush_to_disk(path)
    if folder.exists():
        old = _old(folder)
        folder.rename(old)
        partial.rename(folder)
        shutil.rmtree(old)
    else:
        partial.rename(folder)
    _flush_to_disk(folder.parent)


def settle_folders(parent: Path) -> None:
    """Take back what a crash left in `parent` under another name, before anybody looks for it. Nobody may write there.

    What it left half written goes: nobody may ever write under that name again. Raises nothing where there is no such
    folder.
    """
    for old in parent.glob(".*.old"):
        _take_back(parent / old.name.removeprefix(".").removesuffix(".old"))
    for partial in parent.glob(".*.partial"):
        shutil.rmtree(partial, ignore_errors=True)


def _take_back(folder: Path) -> None:
    """Give `folder` its old place back where a crash left none, and else delete what is left of the old one."""
    old = _old(folder)
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _old(folder: Path) -> Path:
    """Return where a folder lies while another one takes its place."""
    return folder.with_name(f".{folder.name}.old")


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
