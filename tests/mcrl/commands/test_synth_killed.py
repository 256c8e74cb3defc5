"""Claims about `mcrl synth` that is killed: nobody stays behind, and the same command makes the same library."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcrl.cli import main
from tests.mcrl.watched_process import PATIENCE_S, is_running, started, wait_until, workers_of

# Long enough that a run is caught in the middle on a machine that has other things to do.
NUM_SHARDS = 40
ARGV = ["-n", str(20 * NUM_SHARDS), "--tasks-per-shard", "20", "--size", "32", "--bands", "near", "--seed", "11"]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> dict[str, bytes]:
    """What a run that nobody disturbs leaves."""
    folder = tmp_path_factory.mktemp("unbroken")
    assert main(["synth", *ARGV, "--out", str(folder), "--num-workers", "1"]) == 0
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def synth(folder: Path) -> subprocess.Popen:
    return started(["synth", *ARGV, "--out", str(folder), "--num-workers", "2"])


@pytest.fixture
def to_end() -> Iterator[list[int]]:
    """Processes that must not outlive a test that fails."""
    pids: list[int] = []
    yield pids
    for pid in filter(is_running, pids):
        os.kill(pid, signal.SIGKILL)


def begun(folder: Path, to_end: list[int]) -> tuple[subprocess.Popen, list[int]]:
    """Start a run; return it with its workers once it has finished a shard."""
    process = synth(folder)
    to_end.append(process.pid)
    wait_until(lambda: process.poll() is not None or any(folder.glob("shards/*.json")), "the first shard")
    assert process.poll() is None, process.stderr.read()
    workers = workers_of(process.pid)
    to_end += workers
    assert len(workers) == 2
    return process, workers


def finish(folder: Path, unbroken: dict[str, bytes]) -> None:
    """Run the command to its end, twice, and compare with the undisturbed run."""
    num_before = len(list(folder.glob("shards/*.json")))
    assert 0 < num_before < NUM_SHARDS
    for said in ("made ", "complete before; nothing was made"):
        process = synth(folder)
        printed, warned = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, warned
        assert said in printed
        assert {name: held for name, held in contents(folder).items() if not name.endswith(".part")} == unbroken
    assert not list(folder.rglob("*.part"))


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers through /proc"),
]


def test_a_killed_parent_leaves_no_worker_and_the_command_resumes(tmp_path, unbroken, to_end):
    process, workers = begun(tmp_path, to_end)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    begin_s = time.monotonic()
    wait_until(lambda: not any(map(is_running, workers)), "the workers to end")
    assert time.monotonic() - begin_s < 10
    finish(tmp_path, unbroken)


def test_a_killed_worker_is_said_in_one_sentence_and_the_command_resumes(tmp_path, unbroken, to_end):
    process, workers = begun(tmp_path, to_end)
    os.kill(workers[0], signal.SIGKILL)
    _, warned = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "a synthesis process died (out of memory?); the finished shards are kept" in warned
    assert "Traceback" not in warned
    wait_until(lambda: not any(map(is_running, workers)), "the other worker to end")
    finish(tmp_path, unbroken)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_worker_and_the_command_resumes(tmp_path, unbroken, to_end, kind):
    process, workers = begun(tmp_path, to_end)
    process.send_signal(kind)
    _, warned = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + kind, warned
    assert "Traceback" not in warned
    assert re.search(r"interrupted; the [1-9]\d* tasks of finished shards are kept; run the same", warned), warned
    wait_until(lambda: not any(map(is_running, workers)), "the workers to end")
    finish(tmp_path, unbroken)
