"""The first use of the engine's sources is announced, and later ones are not; progress reaches a log file."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = """
import time
from mcrl.commands.progress import counted_progress
with counted_progress("things", 3) as on_progress:
    on_progress(1)
    time.sleep({work_s})
    on_progress(3)
    on_progress(3)
"""


COMPILING = """
import numba
from mcrl.commands.first_use import announce_compiling_once_it_begins
announce_compiling_once_it_begins()
print("ready", file=__import__("sys").stderr)
numba.njit(lambda x: x + 1)(1)
numba.njit(lambda x: x + 2)(1)
"""


def said(cache: Path, script: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**kept, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stderr


def test_compiling_is_announced_once_and_the_end_of_a_stage_told_in_a_log(tmp_path):
    first = said(tmp_path, SCRIPT.format(work_s=1.5))
    assert "the engine is compiled, once" in first
    assert first.count("things: 3 / 3 after") == 1
    (kernels,) = (tmp_path / "mcrl" / "kernels").glob("worlds_*")
    (kernels / "field").mkdir()
    (kernels / "field" / "a.nbi").touch()
    assert "compiled" not in said(tmp_path, SCRIPT.format(work_s=1.5))


def test_what_is_over_at_once_was_a_refusal_and_hears_nothing_of_it(tmp_path):
    assert said(tmp_path, SCRIPT.format(work_s=0)).splitlines() == ["things: 3 / 3 after 0 s"]


def test_it_can_be_announced_when_it_begins_and_not_before(tmp_path):
    ready, announced = said(tmp_path, COMPILING).splitlines()
    assert (ready, "the engine is compiled, once" in announced) == ("ready", True)
