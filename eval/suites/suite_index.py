"""Which suites were frozen, and the hash of each: eval/suite_tasks/index.json."""

import functools
import json
from pathlib import Path

from task_synthesis.libraries.library import write_whole

FOLDER = Path(__file__).parents[1] / "suite_tasks"
_FILE = FOLDER / "index.json"


@functools.cache
def read_index() -> dict[str, str]:
    """Return the sha256 of every frozen suite's lines, by its label. Read-only. ValueError for a broken file."""
    if not _FILE.is_file():
        return {}
    try:
        index: dict[str, str] = json.loads(_FILE.read_text(encoding="ascii"))
        if not all(isinstance(sha256, str) for sha256 in index.values()):
            raise ValueError("not hashes")
    except (ValueError, AttributeError):
        raise ValueError(f"{_FILE}: broken; get the file again, it comes with the package") from None
    return index


def enter(label: str, sha256: str) -> None:
    """Write the hash of a suite that was frozen just now."""
    read_index.cache_clear()  # another process may have frozen another suite
    index = dict(sorted({**read_index(), label: sha256}.items()))
    write_whole(_FILE, json.dumps(index, indent=2) + "\n")
    read_index.cache_clear()
