"""Processes of Ray actors, found by their titles, so that one of them can be killed as the kernel would."""

from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(
    not Path("/proc").is_dir(), reason="finds Ray's actors through /proc, which this system lacks"
)


def actor_processes(kind: str, ancestor: int) -> list[int]:
    """Process ids of the actors of class `kind` that descend from `ancestor`; other runs are left in peace."""
    parent_of, actors = {}, []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                title = (folder / "cmdline").read_bytes()
                parent_of[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if title.startswith(f"ray::{kind}".encode()):
                actors.append(int(folder.name))
    return [process for process in actors if ancestor in _ancestors(process, parent_of)]


def _ancestors(process: int, parent_of: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while process in parent_of and process not in found:
        found.add(process)
        process = parent_of[process]
    return found
