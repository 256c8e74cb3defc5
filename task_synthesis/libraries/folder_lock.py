"""A folder held by one process at a time, so that two commands never write into it side by side."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILE_NAME = "lock"

_LOG = logging.getLogger(__name__)


@contextmanager
def locked(folder: Path, *, other: str) -> Iterator[None]:
    """Hold a folder, made if need be, while the block runs.

    The lock goes with the process, however it ends. The file stays: empty, so that the same command leaves the same
    bytes, or with the number of a process that was killed.

    Args:
        folder: what is held.
        other: what another process that holds it does, in words.

    Raises:
        ValueError: another process holds the folder, or it is a file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(f"{error.filename}: a file stands where a folder is wanted; name another") from None
    with (folder / FILE_NAME).open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(20).strip()
            number = f" (process {holder})" if holder.isdecimal() else ""
            raise ValueError(f"{folder}: another process {other}; wait for it, or end it first{number}") from None
        except OSError as error:
            # Some file systems of clusters know no locks; work there goes on as it would without this module.
            _LOG.warning("%s: cannot be locked (%s); let no other command write there", folder, error.strerror)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)
