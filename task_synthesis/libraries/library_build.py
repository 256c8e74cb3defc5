"""Making a library in a folder: what is finished is kept, what is missing is made, and the whole is checked.

A library of one shard is tasks.jsonl; a larger one is shards/00000.jsonl.gz and so on, each with a receipt beside it.
manifest.json is written last, when everything is there. plan.json says from the start what the folder is for.
"""

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from task_synthesis.json_text import parse_json
from task_synthesis.libraries.folder_lock import locked
from task_synthesis.libraries.library import (
    MANIFEST_FILE,
    PLAN_FILE,
    SHARDS_FOLDER,
    TASKS_FILE,
    is_changed,
    read_manifest,
    remove_parts,
    shard_file,
    write_whole,
)
from task_synthesis.libraries.library_plan import LibraryPlan, difference
from task_synthesis.libraries.library_processes import ShardMaker, shards_here
from task_synthesis.libraries.library_receipt import Receipt, receipt_file, receipt_from_json, receipt_to_json
from task_synthesis.libraries.library_shard import make_shard
from worlds.spec import split_of

# By which a folder is known as a library, be it whole or begun.
LIBRARY_FILES = (PLAN_FILE, MANIFEST_FILE, TASKS_FILE, SHARDS_FOLDER)


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltLibrary:
    """What a build did."""

    manifest: dict[str, Any]
    num_made: int
    """Tasks made by this run; 0 when the library was complete before."""


def build_library(
    folder: Path,
    plan: LibraryPlan,
    *,
    make_shards: ShardMaker = shards_here,
    num_threads: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> BuiltLibrary:
    """Make `folder` hold the library of `plan`. The same call again makes nothing and changes nothing.

    A folder that was begun is finished; one with fewer tasks of the same plan is extended, full shards are kept.

    Raises:
        ValueError: the folder holds a library of another plan or another process makes it, or the result would have a
            repeated task.
    """
    complete = _complete_library(folder, plan)
    if complete is not None:
        return BuiltLibrary(manifest=complete, num_made=0)
    with locked(folder, other="makes this library"):
        complete = _complete_library(folder, plan)  # another may have made it, or another one, until here
        if complete is not None:
            return BuiltLibrary(manifest=complete, num_made=0)
        return _build(folder, plan, make_shards, num_threads, on_progress)


def _build(
    folder: Path,
    plan: LibraryPlan,
    make_shards: ShardMaker,
    num_threads: int,
    on_progress: Callable[[int], None] | None,
) -> BuiltLibrary:
    """Make what is missing of a library whose folder belongs to `plan`."""
    # Of fewer tasks: until all are there the folder is unfinished, and says so.
    for name in (MANIFEST_FILE, TASKS_FILE):
        (folder / name).unlink(missing_ok=True)
    remove_parts(folder)  # of writers that were killed; whoever writes here now holds the lock
    write_whole(folder / PLAN_FILE, json.dumps({"num_tasks": plan.num_tasks, **plan.header()}, indent=2) + "\n")
    if plan.num_shards == 1:
        shard = make_shard(plan, 0, num_threads=num_threads, on_progress=on_progress)
        receipts = [shard.receipt]
        text = gzip.decompress(shard.packed)
        books = _Books(plan)
        books.add(text)
        write_whole(folder / TASKS_FILE, text)
        num_made = plan.num_tasks
    else:
        receipts, num_made = _finish_shards(folder, plan, make_shards, on_progress)
        books = _Books(plan)
        for shard_index in range(plan.num_shards):
            books.add(gzip.decompress(shard_file(folder, shard_index).read_bytes()))
    manifest = books.manifest(receipts)
    write_whole(folder / MANIFEST_FILE, json.dumps(manifest, indent=2) + "\n")
    return BuiltLibrary(manifest=manifest, num_made=num_made)


def _complete_library(folder: Path, plan: LibraryPlan) -> dict[str, Any] | None:
    """Return the manifest when all is there; raise ValueError when the folder belongs to something else."""
    path = folder / PLAN_FILE
    if not path.is_file():
        if any((folder / name).exists() for name in LIBRARY_FILES):
            raise ValueError(
                f"{folder} holds tasks made in another way (by hand, in another engine, by an earlier version); "
                "choose another --out"
            )
        return None
    try:
        known = parse_json(path.read_text(encoding="ascii"))
        num_known = int(known.pop("num_tasks"))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ValueError(f"{path}: not a library's plan; choose another --out") from None
    differs = difference(known, plan.header())
    if differs:
        raise ValueError(f"{folder} holds a library with {differs}; choose another --out or the same options")
    tasks_file = folder / TASKS_FILE
    if tasks_file.is_file() and is_changed(folder, tasks_file.read_bytes()):
        raise ValueError(
            f"{tasks_file}: changed since the library was made, and would be lost; move it away, and the same command "
            "makes it again"
        )
    if num_known <= plan.tasks_per_shard < plan.num_tasks:
        raise ValueError(f"{folder} holds a library of one piece, which cannot grow into shards; choose another --out")
    if num_known > plan.num_tasks:
        holds = "holds" if (folder / MANIFEST_FILE).is_file() else "was begun for"
        raise ValueError(
            f"{folder} {holds} {num_known} tasks, more than {plan.num_tasks}; give -n {num_known}, or choose another "
            "--out"
        )
    if num_known < plan.num_tasks or not (folder / MANIFEST_FILE).is_file():
        return None
    manifest = read_manifest(folder)
    if plan.num_shards == 1:
        return manifest if tasks_file.is_file() else None
    is_whole = all(_finished_shard(folder, plan, index) is not None for index in range(plan.num_shards))
    return manifest if is_whole else None


def _finish_shards(
    folder: Path, plan: LibraryPlan, make_shards: ShardMaker, on_progress: Callable[[int], None] | None
) -> tuple[list[Receipt], int]:
    """Make the shards that are missing; return all receipts and how many tasks were made now."""
    receipts = {
        index: receipt
        for index in range(plan.num_shards)
        if (receipt := _finished_shard(folder, plan, index)) is not None
    }
    num_kept = sum(receipt.num_tasks for receipt in receipts.values())
    num_made = 0

    def tell(num_tasks: int) -> None:
        if on_progress:
            on_progress(num_kept + num_tasks)

    tell(0)
    missing = [index for index in range(plan.num_shards) if index not in receipts]
    for shard in make_shards(plan, missing, tell):
        file = shard_file(folder, shard.index)
        write_whole(file, shard.packed)
        write_whole(receipt_file(file), receipt_to_json(shard.receipt))
        receipts[shard.index] = shard.receipt
        num_made += shard.receipt.num_tasks
    tell(num_made)
    return [receipts[index] for index in range(plan.num_shards)], num_made


def num_finished(folder: Path, plan: LibraryPlan) -> int:
    """Return how many tasks are in the finished shards of a library that was begun."""
    receipts = [_finished_shard(folder, plan, index) for index in range(plan.num_shards)]
    return sum(receipt.num_tasks for receipt in receipts if receipt is not None)


def _finished_shard(folder: Path, plan: LibraryPlan, shard_index: int) -> Receipt | None:
    """Return the receipt of a shard that is there and unharmed, else None: it is made (again)."""
    file = shard_file(folder, shard_index)
    path = receipt_file(file)
    if not path.is_file() or not file.is_file():
        return None
    receipt = receipt_from_json(path.read_text(encoding="ascii"), where=str(path))
    if receipt.num_tasks != plan.tasks_of_shard(shard_index):
        return None
    try:
        text = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error):
        return None
    return receipt if hashlib.sha256(text).hexdigest() == receipt.sha256 else None


class _Books:
    """Counts the tasks of a library, line by line, and refuses what must not be in it."""

    def __init__(self, plan: LibraryPlan) -> None:
        self._plan = plan
        self._sha256 = hashlib.sha256()
        self._ids: set[str] = set()
        self._worlds: set[tuple[str, int]] = set()
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("skill", "family", "band", "biome")}

    def add(self, text: bytes) -> None:
        """Enter the lines of the next shard."""
        self._sha256.update(text)
        for line in text.splitlines():
            task = json.loads(line)
            if task["task_id"] in self._ids:
                raise ValueError(f"library: task {task['task_id']} was made twice; choose another --seed")
            self._ids.add(task["task_id"])
            world = task["world"]
            self._worlds.add((world["source"], world["seed"]))
            for name, value in (
                ("skill", task["family"].partition("/")[0]),
                ("family", task["family"]),
                ("band", task["band"]),
                ("biome", world["biome"]),
            ):
                self._counts[name][value] += 1

    def manifest(self, receipts: list[Receipt]) -> dict[str, Any]:
        """Return the manifest of all that was entered."""
        plan = self._plan
        strayed = [world for world in self._worlds if split_of(*world) != plan.split]
        assert not strayed, f"worlds {strayed[:3]} are not of split {plan.split}"
        assert len(self._ids) == plan.num_tasks, f"{len(self._ids)} tasks made, {plan.num_tasks} wanted"
        rejections: Counter[str] = Counter()
        for receipt in receipts:
            rejections.update(receipt.rejections)
        return {
            "num_tasks": plan.num_tasks,
            "num_worlds": len(self._worlds),
            "num_shards": plan.num_shards,
            "sha256": self._sha256.hexdigest(),
            "counts": {name: dict(sorted(counter.items())) for name, counter in self._counts.items()},
            "rejections": dict(rejections.most_common()),
            **plan.header(),
            "shards": [{"num_tasks": receipt.num_tasks, "sha256": receipt.sha256} for receipt in receipts]
            if plan.num_shards > 1
            else [],
        }
