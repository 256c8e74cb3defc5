"""A library of tasks in a folder: tasks.jsonl, a task a line, and manifest.json, how it was made."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from task_synthesis.curriculum import check_split
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import TaskSpec, from_json_line, to_json_line
from worlds.spec import GENERATOR_VERSION, SPLITS, Split

TASKS_FILE, MANIFEST_FILE = "tasks.jsonl", "manifest.json"


def save_library(
    folder: Path,
    tasks: Sequence[TaskSpec],
    *,
    split: Split,
    seed: int,
    config: SynthesisConfig,
    rejections: Counter[str],
) -> Path:
    """Write the tasks and their manifest; files appear whole or not at all. Returns the tasks file."""
    check_split(tasks, split)
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(to_json_line(task) + "\n" for task in tasks)
    manifest = {
        "num_tasks": len(tasks),
        "num_worlds": len({task.world.seed for task in tasks}),
        "split": split,
        "seed": seed,
        "generator_version": GENERATOR_VERSION,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "counts": {
            "family": dict(sorted(Counter(task.family for task in tasks).items())),
            "band": dict(sorted(Counter(task.band for task in tasks).items())),
            "biome": dict(sorted(Counter(task.world.biome for task in tasks).items())),
        },
        "rejections": dict(rejections.most_common()),
        "config": asdict(config),
    }
    write_whole(folder / TASKS_FILE, text)
    write_whole(folder / MANIFEST_FILE, json.dumps(manifest, indent=2) + "\n")
    return folder / TASKS_FILE


def load_tasks(path: Path, *, split: Split) -> list[TaskSpec]:
    """Read the tasks of a library folder or a tasks file; raise ValueError for a wrong line, split or repeated task."""
    file = path / TASKS_FILE if path.is_dir() else path
    if not file.is_file():
        raise ValueError(f"{path}: no tasks there; make some with `mcrl synth -n 1000 --out {path}`")
    if split not in SPLITS:
        raise ValueError(f"split {split!r} is unknown; choose one of {', '.join(SPLITS)}")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not a text file; give a tasks.jsonl written by `mcrl synth`") from None
    tasks = [from_json_line(line, where=f"{file}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not tasks:
        raise ValueError(f"{file}: holds no task; make some with `mcrl synth`")
    repeated = [task_id for task_id, count in Counter(task.task_id for task in tasks).items() if count > 1]
    if repeated:
        raise ValueError(f"{file}: task {repeated[0]} occurs more than once; remove the repeated line")
    check_split(tasks, split, where=str(file))
    return tasks


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, whatever happens meanwhile."""
    temporary = path.with_suffix(path.suffix + ".part")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
