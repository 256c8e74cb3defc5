"""A library of hand-made tasks: tasks.jsonl and a manifest.json that names the file they come from."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from task_synthesis.by_hand.user_tasks import IMAGE_PX, read_user_tasks
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import MANIFEST_FILE, PLAN_FILE, TASKS_FILE, write_whole
from task_synthesis.libraries.library_manifest import one_file_manifest
from task_synthesis.playing.curriculum import check_split
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import Split, seed_after

_HAND_MADE = "hand_made"


def write_user_library(
    folder: Path, source: Path, *, on_warning: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Make `folder` hold the tasks of the file `source`, in its order, and return the manifest.

    What an earlier version of the file gave is replaced; the same file again changes no byte.

    Raises:
        ValueError: a mistake in the file, tasks of different splits, a repeated task, or a folder with other tasks.
    """
    _check_folder(folder)
    tasks = read_user_tasks(source, on_warning=on_warning)
    split = _common_split(tasks, source)
    check_split(tasks, split, where=str(source))
    first: dict[str, int] = {}
    for number, task in enumerate(tasks):
        if first.setdefault(task.task_id, number) != number:
            raise ValueError(
                f"{source}: tasks[{number}] is tasks[{first[task.task_id]}] again; take one out, or give it another "
                "episode_seed"
            )
    text = "".join(to_json_line(task) + "\n" for task in tasks)
    manifest = _manifest(tasks, split, text, source)
    # The manifest first: it says whose folder this is, and its hash that the tasks are not there yet.
    write_whole(folder / MANIFEST_FILE, json.dumps(manifest, indent=2) + "\n")
    write_whole(folder / TASKS_FILE, text)
    return manifest


def other_file_of(folder: Path, source: Path) -> str:
    """Return the name of the file whose tasks `folder` holds, "" where it is named as `source` or there are none."""
    try:
        name = parse_json((folder / MANIFEST_FILE).read_text(encoding="ascii"))[_HAND_MADE]["file"]
    except (OSError, ValueError, TypeError, KeyError):
        return ""
    return name if isinstance(name, str) and name != source.name else ""


def _check_folder(folder: Path) -> None:
    """Refuse a folder whose tasks nobody wrote by hand."""
    path = folder / MANIFEST_FILE
    is_other = (folder / PLAN_FILE).exists() or ((folder / TASKS_FILE).exists() and not path.exists())
    if path.is_file():
        try:
            is_other = is_other or _HAND_MADE not in parse_json(path.read_text(encoding="ascii"))
        except (ValueError, TypeError):
            is_other = True
    if is_other:
        raise ValueError(f"{folder} holds tasks that no hand-made file gave; choose another --out")


def _common_split(tasks: list[TaskSpec], source: Path) -> Split:
    split = tasks[0].split
    for number, task in enumerate(tasks):
        if task.split != split:
            seed = seed_after(task.world.source, task.world.seed, split)
            raise ValueError(
                f"{source}: tasks[{number}].world.seed {task.world.seed} is in split {task.split!r}, tasks[0] is in "
                f"{split!r}, and a library is of one split; take seed {seed}, or give the task a file of its own"
            )
    return split


def _manifest(tasks: list[TaskSpec], split: Split, text: str, source: Path) -> dict[str, Any]:
    return one_file_manifest(tasks, text, split=split, image_px=IMAGE_PX) | {
        _HAND_MADE: {"file": source.name, "sha256": hashlib.sha256(source.read_bytes()).hexdigest()},
    }
