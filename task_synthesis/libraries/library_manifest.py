"""The manifest.json of a library that is one file of tasks: how many, of which kinds, and the hash of the file."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from task_synthesis.task import TaskSpec
from worlds.spec import GENERATOR_VERSION, Split


def one_file_manifest(tasks: Sequence[TaskSpec], text: str, *, split: Split, image_px: int) -> dict[str, Any]:
    """Return what manifest.json says of `tasks`; the caller adds where they come from.

    Args:
        tasks: in the order of the file.
        text: of the file, which is hashed.
        split: of all their worlds.
        image_px: side of the square picture in which goal views were measured.
    """
    counted = {
        "skill": Counter(task.skill for task in tasks),
        "family": Counter(task.family for task in tasks),
        "band": Counter(task.band for task in tasks),
        "biome": Counter(task.world.biome for task in tasks),
    }
    return {
        "num_tasks": len(tasks),
        "num_worlds": len({(task.world.source, task.world.seed) for task in tasks}),
        "num_shards": 1,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "counts": {name: dict(sorted(counter.items())) for name, counter in counted.items()},
        "split": split,
        "generator_version": GENERATOR_VERSION,
        "config": {"image_px": image_px},
    }
