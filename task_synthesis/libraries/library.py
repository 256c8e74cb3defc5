"""A library of tasks in a folder: tasks.jsonl or gzipped shards, a task a line, and manifest.json, how it was made."""

import gzip
import hashlib
import os
import secrets
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library_receipt import SHARD_SUFFIX, receipt_file, receipt_from_json
from task_synthesis.playing.curriculum import check_split
from task_synthesis.task import TaskSpec, from_json_line
from worlds.spec import SPLITS, Split

PLAN_FILE, TASKS_FILE, MANIFEST_FILE, SHARDS_FOLDER = "plan.json", "tasks.jsonl", "manifest.json", "shards"


def shard_file(folder: Path, shard_index: int) -> Path:
    """Return the file of one shard."""
    return folder / SHARDS_FOLDER / f"{shard_index:05d}{SHARD_SUFFIX}"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return how a library was made; num_tasks, num_worlds, num_shards and config.image_px are counts of at least 1.

    Raises:
        ValueError: there is no manifest, or what is there is none.
    """
    path = folder / MANIFEST_FILE
    if not path.is_file():
        raise ValueError(f"{folder}: no {MANIFEST_FILE} there; run the `mcrl synth` command that made it again")
    fix = "remove the file and run the `mcrl synth` command that made the library again"
    try:
        manifest = parse_json(path.read_text(encoding="utf-8"))
    except ValueError:
        manifest = None
    config = manifest.get("config") if isinstance(manifest, dict) else None
    if not isinstance(manifest, dict) or not isinstance(config, dict):
        raise ValueError(f"{path}: not a library's manifest; {fix}")
    counts = {name: manifest.get(name) for name in ("num_tasks", "num_worlds", "num_shards")}
    for name, count in (counts | {"config.image_px": config.get("image_px")}).items():
        if type(count) is not int or count < 1:
            raise ValueError(f"{path}: {name} must be a whole number from 1 on, got {count!r}; {fix}")
    if not isinstance(manifest.get("sha256"), str):
        raise ValueError(f"{path}: sha256 must be the hash of the tasks, got {manifest.get('sha256')!r}; {fix}")
    # Tasks made by hand or in another engine were not drawn, so none was rejected.
    if not isinstance(manifest.get("rejections", {}), dict):
        raise ValueError(f"{path}: rejections must be an object, got {manifest['rejections']!r}; {fix}")
    return manifest


def load_tasks(path: Path, *, split: Split) -> list[TaskSpec]:
    """Read the tasks of a library folder or a tasks file; raise ValueError for a wrong line, split or repeated task."""
    if split not in SPLITS:
        raise ValueError(f"split {split!r} is unknown; choose one of {', '.join(SPLITS)}")
    tasks = [from_json_line(line, where=where) for where, line in read_lines(path)]
    if not tasks:
        raise ValueError(f"{path}: holds no task; make some with `mcrl synth`")
    repeated = [task_id for task_id, count in Counter(task.task_id for task in tasks).items() if count > 1]
    if repeated:
        raise ValueError(f"{path}: task {repeated[0]} occurs more than once; remove the repeated line")
    check_split(tasks, split, where=str(path))
    return tasks


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (where, line) for every task of a library folder or a tasks file, unparsed and in order."""
    for file in _task_files(path):
        try:
            # A shard is unpacked whole: what was damaged is known by its checksum, before any of it is read.
            text = file.read_bytes()
            if file.suffix == ".gz":
                # Python takes an empty file for an empty text.
                text = gzip.decompress(text or b"cut short")
                _check_receipt(file, text)
            elif file == path / TASKS_FILE and is_changed(path, text):
                raise ValueError(
                    f"{file}: changed since the library was made, {MANIFEST_FILE} beside it has another checksum; name "
                    "the file itself to take it as it is, or move it away and run the `mcrl synth` command again"
                )
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise ValueError(
                f"{file}: this shard is damaged; run the `mcrl synth` command that made it again"
            ) from None
        try:
            for number, line in enumerate(text.split(b"\n"), 1):
                if line and not line.isspace():
                    yield f"{file}:{number}", line.decode("utf-8").rstrip()
        except UnicodeDecodeError:
            raise ValueError(f"{file}: not a text file; give a library written by `mcrl synth`") from None


def is_changed(folder: Path, text: bytes) -> bool:
    """Tell whether the tasks of a library in one piece are others than its manifest says; without one they are not."""
    if not (folder / MANIFEST_FILE).is_file():
        return False
    return hashlib.sha256(text).hexdigest() != read_manifest(folder)["sha256"]


def _check_receipt(file: Path, text: bytes) -> None:
    """Raise BadGzipFile for a shard, whole in itself, that is not the one whose receipt lies beside it."""
    path = receipt_file(file)
    if not path.is_file():
        return  # a shard that was given alone
    receipt = receipt_from_json(path.read_text(encoding="utf-8", errors="replace"), where=str(path))
    if hashlib.sha256(text).hexdigest() != receipt.sha256:
        raise gzip.BadGzipFile


def _is_begun(folder: Path) -> bool:
    """Tell whether the plan of a library lies there, which is written before its first shard."""
    try:
        return "tasks_per_shard" in parse_json((folder / PLAN_FILE).read_text(encoding="ascii"))
    except (OSError, ValueError, TypeError):
        return False


def _task_files(path: Path) -> list[Path]:
    """Return the files that hold the tasks; a folder is complete when its manifest is there."""
    if path.is_file():
        return [path]
    if (path / TASKS_FILE).is_file():
        return [path / TASKS_FILE]
    if not (path / SHARDS_FOLDER).is_dir() and not _is_begun(path):
        inside = sorted(file.parent for file in path.glob(f"*/{TASKS_FILE}"))
        if inside:
            named = ", ".join(map(str, inside[:3])) + (" ..." if len(inside) > 3 else "")
            raise ValueError(f"{path}: no tasks there but in folders of it; name one of {named}")
        if path.exists():
            raise ValueError(f"{path}: no tasks there; name a library of `mcrl synth`, or a file of its tasks")
        raise ValueError(
            f"{path}: no library or file of tasks there; make some with `mcrl synth -n 1000 --out {quote(str(path))}`"
        )
    if not (path / MANIFEST_FILE).is_file():
        raise ValueError(f"{path}: this library is unfinished; run the `mcrl synth` command that began it again")
    files = []
    for index in range(read_manifest(path)["num_shards"]):
        files.append(shard_file(path, index))
        if not files[-1].is_file():
            raise ValueError(f"{files[-1]}: this shard is missing; run the `mcrl synth` command that made it again")
    return files


def remove_parts(folder: Path) -> None:
    """Remove what `write_whole` leaves in a library where its process is killed; nobody may be writing there.

    Somebody may be in other folders below it: a run, say, whose checkpoint would be lost.
    """
    for place in (folder, folder / SHARDS_FOLDER):
        for part in place.glob(f"*.{'[0-9a-f]' * 8}.part"):
            part.unlink(missing_ok=True)


def write_whole(path: Path, text: str | bytes) -> None:
    """Write a file, and its folder, so that it is there whole or not at all, whatever happens meanwhile.

    Of several that write the same file at a time, the last one to end wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(text.encode("utf-8") if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # a full disk names no file, and nobody asked for the temporary one
        raise
