"""Watching a command of the product in a process of its own, for tests that kill it."""

import time
from collections.abc import Callable
from pathlib import Path

PROGRAM = "import sys; from mcrl.cli import main; sys.exit(main(sys.argv[1:]))"
PATIENCE_S = 200


def workers_of(pid: int) -> list[int]:
    """Return the working processes: children of `pid` that are not multiprocessing's own tracker."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def is_running(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"  # whoever adopts orphans here may not have looked yet


def wait_until(is_met: Callable[[], object], what: str) -> None:
    """Wait for a condition; fail, saying what was waited for, where it does not come."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_met():
        assert time.monotonic() < deadline_s, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.02)
