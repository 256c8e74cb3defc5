"""A library of tasks in worlds of another engine: tasks.jsonl and a manifest.json that names the engine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from task_synthesis.libraries.library import MANIFEST_FILE, TASKS_FILE, write_whole
from task_synthesis.libraries.library_manifest import one_file_manifest
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import Split

# By which a folder is known as such a library.
LIBRARY_FILES = (MANIFEST_FILE, TASKS_FILE)


def check_folder(folder: Path) -> None:
    """Raise ValueError where a folder holds tasks already: they cost an engine's time, and are not made again."""
    if any((folder / name).exists() for name in LIBRARY_FILES):
        raise ValueError(f"{folder} holds tasks already; choose another --out, or delete that folder")


def write_foreign_library(
    folder: Path, tasks: Sequence[TaskSpec], *, split: Split, backend: str, image_px: int
) -> dict[str, Any]:
    """Write `tasks`, all of worlds of `split` of the engine `backend`, into `folder`; return the manifest.

    `image_px` is the side of the square picture in which goal views were measured.
    """
    check_folder(folder)
    text = "".join(to_json_line(task) + "\n" for task in tasks)
    manifest = one_file_manifest(tasks, text, split=split, image_px=image_px) | {"backend": backend}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / TASKS_FILE, text)
    write_whole(folder / MANIFEST_FILE, json.dumps(manifest, indent=2) + "\n")
    return manifest
