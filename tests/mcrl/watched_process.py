"""Watching a command of the product in a process of its own, for tests that kill it."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PATIENCE_S = 200
_PROGRAM = "import sys; from mcrl.cli import main; sys.exit(main(sys.argv[1:]))"


def started(argv: Sequence[str]) -> subprocess.Popen:
    """Start the product with these arguments in a process group of its own, its output captured."""
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_hear_ctrl_c,
    )


def _hear_ctrl_c() -> None:
    # A shell starts background jobs deaf to Ctrl-C, and children inherit that: tests must not depend on it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
