"""A library of tasks in worlds of another engine: tasks.jsonl and a manifest.json that names the engine."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from task_synthesis.library import MANIFEST_FILE, TASKS_FILE, write_whole
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import GENERATOR_VERSION, Split

_IMAGE_PX = 128  # in which goal views were measured


def check_folder(folder: Path) -> None:
    """Raise ValueError where a folder holds tasks already: they cost an engine's time, and are not made again."""
    if any((folder / name).exists() for name in (MANIFEST_FILE, TASKS_FILE)):
        raise ValueError(f"{folder} holds tasks already; choose another --out, or delete that folder")


def write_foreign_library(folder: Path, tasks: Sequence[TaskSpec], *, split: Split, backend: str) -> dict[str, Any]:
    """Write `tasks`, all of worlds of `split` of the engine `backend`, into `folder`; return the manifest."""
    check_folder(folder)
    text = "".join(to_json_line(task) + "\n" for task in tasks)
    counted = {
        "skill": Counter(task.skill for task in tasks),
        "family": Counter(task.family for task in tasks),
        "band": Counter(task.band for task in tasks),
        "biome": Counter(task.world.biome for task in tasks),
    }
    manifest = {
        "num_tasks": len(tasks),
        "num_worlds": len({(task.world.source, task.world.seed) for task in tasks}),
        "num_shards": 1,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "counts": {name: dict(sorted(counter.items())) for name, counter in counted.items()},
        "split": split,
        "generator_version": GENERATOR_VERSION,
        "config": {"image_px": _IMAGE_PX},
        "backend": backend,
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / TASKS_FILE, text)
    write_whole(folder / MANIFEST_FILE, json.dumps(manifest, indent=2) + "\n")
    return manifest
