"""Tasks that were made in the viewer, on disk: a file of tasks as `mcrl synth` writes them, own pictures beside it.

A picture that a person painted in or uploaded has no place in a task: it lies in NAME.pictures/TASK_ID.png beside
NAME.jsonl, its mask as the alpha channel. Whoever does not look there plays the task with the engine's own picture.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import cv2
import numpy as np

from eval.suites.task_place import read_task
from eval.viewer.draft import OwnPicture
from eval.viewer.upload import MAX_BYTES, check_size
from task_synthesis.libraries.library import TASKS_FILE, write_whole
from task_synthesis.task import TaskSpec, from_json_line, to_json_line

SUFFIX = ".jsonl"
_ADDING = threading.Lock()


def save_task(path: Path, task: TaskSpec, picture: OwnPicture | None) -> int:
    """Add a task to a file, made where it is not there; return its number, 1 the first. Twice the same is once.

    Pages have threads of their own and, unless told otherwise, one file, as have two viewers that were started in one
    folder: one at a time adds to it.

    Raises:
        ValueError: the file holds something else than tasks, or cannot be written; it stays as it was.
    """
    if path.suffix != SUFFIX:
        raise ValueError(f"save: {path} must end in {SUFFIX}, one task a line; choose another name")
    try:
        with _ADDING, _held(path.parent):
            return _added(path, task, picture)
    except UnicodeDecodeError:
        raise ValueError(f"save: {path} is not a text file; choose another name") from None
    except OSError as error:
        raise ValueError(f"save: {path} cannot be written ({error.strerror}); choose another name") from None


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other viewers from adding to a folder, made if need be, while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems of clusters know no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replaces_picture(path: Path, task: TaskSpec, picture: OwnPicture | None) -> bool:
    """Return whether to save so gives a task that is in the file already another goal picture than it has there."""
    try:
        is_there = task.task_id in _ids_of(path, path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return False  # there is no such file yet, or save_task says what is wrong with it
    if not is_there:
        return False
    try:
        kept = own_picture(path, task)
    except ValueError:
        return True  # what is there cannot be read
    if kept is None or picture is None:
        return kept is not picture
    is_same = np.array_equal(kept.image_HWC, picture.image_HWC) and np.array_equal(kept.mask_HW, picture.mask_HW)
    return not is_same or kept.is_foreign != picture.is_foreign


def _ids_of(path: Path, lines: list[str]) -> list[str]:
    return [from_json_line(line, where=f"{path}:{number}").task_id for number, line in enumerate(lines, 1)]


def _added(path: Path, task: TaskSpec, picture: OwnPicture | None) -> int:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    ids = _ids_of(path, lines)
    if picture is not None:
        write_whole(_picture_file(path, task, is_foreign=picture.is_foreign), _to_png(picture))
    if task.task_id not in ids:
        ids.append(task.task_id)
        write_whole(path, "".join(line + "\n" for line in [*lines, to_json_line(task)]))
    # Last: a full disk above must not cost the task the picture it had.
    for is_foreign in (False, True):
        if picture is None or picture.is_foreign != is_foreign:
            _picture_file(path, task, is_foreign=is_foreign).unlink(missing_ok=True)
    return ids.index(task.task_id) + 1


def load_task(place: str) -> tuple[TaskSpec, OwnPicture | None]:
    """Return the task that PATH:NUMBER or SUITE:NUMBER names, and what was painted for it. ValueError: none."""
    task = read_task(place, where="open")
    return task, own_picture(Path(place.rpartition(":")[0]), task)


def own_picture(path: Path, task: TaskSpec) -> OwnPicture | None:
    """Return what was painted for a task of `path`, None where nothing was, or it is no file of one's own tasks.

    ValueError: it is no picture.
    """
    path = path / TASKS_FILE if path.is_dir() else path
    if path.suffix != SUFFIX:
        return None
    for is_foreign in (False, True):
        file = _picture_file(path, task, is_foreign=is_foreign)
        if file.is_file():
            return _from_png(file, is_foreign=is_foreign)
    return None


def _picture_file(path: Path, task: TaskSpec, *, is_foreign: bool) -> Path:
    return path.with_suffix(".pictures") / f"{task.task_id}{'.foreign' if is_foreign else ''}.png"


def _to_png(picture: OwnPicture) -> bytes:
    alpha_HW1 = np.where(picture.mask_HW, 255, 0).astype(np.uint8)[..., None]
    bgra_HWC = np.concatenate([picture.image_HWC[..., ::-1], alpha_HW1], axis=2)
    is_written, encoded = cv2.imencode(".png", bgra_HWC)
    if not is_written:
        raise RuntimeError("opencv cannot encode PNG here")
    return encoded.tobytes()


def _from_png(file: Path, *, is_foreign: bool) -> OwnPicture:
    content = file.read_bytes() if file.stat().st_size <= MAX_BYTES else b""
    try:
        check_size(content)
        bgra_HWC = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    except ValueError:
        bgra_HWC = None
    if bgra_HWC is None or bgra_HWC.ndim != 3 or bgra_HWC.shape[2] != 4 or bgra_HWC.dtype != np.uint8:
        raise ValueError(f"{file}: no picture with a mask that the viewer wrote; delete it to see the engine's own")
    return OwnPicture(np.ascontiguousarray(bgra_HWC[..., 2::-1]), bgra_HWC[..., 3] > 127, is_foreign)
