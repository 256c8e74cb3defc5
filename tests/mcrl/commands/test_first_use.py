"""Compiling the engine is announced wherever it happens, and never without; progress reaches a log file."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mcrl.commands.first_use import compiling_announced

ROOT = Path(__file__).parents[3]
# A kernel of ours that is compiled in a second or two; in another process too, as the commands' workers are.
SCRIPT = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from mcrl.commands.progress import counted_progress

def work(compiles):
    if compiles:
        from task_synthesis.placement.reachability import feet_distance
        feet_distance(0.0, 0, 0.0, 1, 2, 3)

if __name__ == "__main__":
    where, work_s = sys.argv[1], float(sys.argv[2])
    with counted_progress("outer", 1), counted_progress("things", 3) as on_progress:
        on_progress(1)
        work(where == "here")
        if where == "worker":
            with ProcessPoolExecutor(1) as pool:
                pool.submit(work, True).result()
        time.sleep(work_s)
        on_progress(3)
        on_progress(3)
"""
LIBRARY = """
import sys
import numba
import worlds
@numba.njit
def of_the_user(number):
    return number + 1
of_the_user(1)
print("ready", file=sys.stderr)
from task_synthesis.placement.reachability import feet_distance
feet_distance(0.0, 0, 0.0, 1, 2, 3)
"""
WORD = "the engine is compiled, each part once"


def said(home: Path, text: str, *args: str) -> str:
    script = home / "script.py"
    script.write_text(text)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_CACHE", "MCRL_"))}
    return subprocess.run(
        [sys.executable, str(script), *args],
        env={**kept, "XDG_CACHE_HOME": str(home), "PYTHONPATH": str(ROOT), "TMPDIR": str(home)},
        capture_output=True,
        text=True,
        check=True,
    ).stderr


@pytest.mark.parametrize("where", ["here", "worker"])
def test_compiling_is_announced_once_and_not_again_where_the_kernel_is_kept(tmp_path, where):
    first = said(tmp_path, SCRIPT, where, "2")
    assert first.count(WORD) == 1
    assert first.count("things: 3 / 3 after") == 1
    assert WORD not in said(tmp_path, SCRIPT, where, "2")
    assert not list(tmp_path.glob("mcrl-compiling-*"))  # of the sign nothing is left


def test_a_kernel_that_is_not_kept_is_announced_though_others_are(tmp_path):
    """As after a first use that was interrupted, or beside one that goes on."""
    said(tmp_path, SCRIPT, "nowhere", "0")
    (tmp_path / "mcrl" / "kernels" / "worlds_0" / "field").mkdir(parents=True)
    (tmp_path / "mcrl" / "kernels" / "worlds_0" / "field" / "a.nbi").touch()
    assert WORD in said(tmp_path, SCRIPT, "here", "2")


def test_nothing_is_said_of_slow_work_that_compiles_nothing(tmp_path):
    assert WORD not in said(tmp_path, SCRIPT, "nowhere", "2")


def test_what_is_over_at_once_was_a_refusal_and_hears_nothing_of_it(capsys):
    with compiling_announced():
        Path(os.environ["MCRL_COMPILE_SIGN"]).touch()
    assert capsys.readouterr().err == ""


def test_who_is_killed_outright_leaves_no_sign_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with compiling_announced():
        assert Path(os.environ["MCRL_COMPILE_SIGN"]).parent == tmp_path
        assert not list(tmp_path.iterdir())


def test_a_disk_without_room_for_the_sign_is_no_error(monkeypatch):
    def no_room():
        raise FileNotFoundError("no usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", no_room)
    with compiling_announced():
        assert "MCRL_COMPILE_SIGN" not in os.environ


def test_a_script_that_is_no_command_hears_it_once_when_it_begins_and_not_before(tmp_path):
    ready, announced = said(tmp_path, LIBRARY).splitlines()
    assert (ready, WORD in announced) == ("ready", True)
    assert said(tmp_path, LIBRARY).splitlines() == ["ready"]
