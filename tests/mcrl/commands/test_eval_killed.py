"""Claims about `mcrl eval` that is killed: nobody stays behind, and the same command makes the same table."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from mcrl.cli import main
from tests.eval.suite_fixtures import save_checkpoint
from tests.mcrl.watched_process import PATIENCE_S, is_running, started, wait_until, workers_of

NUM_ROWS = 6

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def argv(tmp_path_factory) -> list[str]:
    """The command but for --out and --num-workers: an untrained policy on six tasks, six rows of one unit each."""
    tasks = tmp_path_factory.mktemp("tasks")
    making = ["synth", "-n", "6", "--out", str(tasks), "--split", "held_out", "--size", "32", "--bands", "near"]
    assert main(making) == 0
    checkpoint = save_checkpoint(tmp_path_factory.mktemp("run") / "checkpoints" / "imitation")
    return ["eval", str(checkpoint), "--tasks", str(tasks), "--rows", "noop,blank_goal", "--videos", "0"]


@pytest.fixture(scope="module")
def unbroken(argv, tmp_path_factory) -> bytes:
    """The table of a run that nobody disturbs."""
    folder = tmp_path_factory.mktemp("unbroken")
    assert main([*argv, "--out", str(folder), "--num-workers", "1"]) == 0
    return (folder / "episodes.jsonl").read_bytes()


def begun(argv: list[str], out: Path) -> tuple[subprocess.Popen, list[int]]:
    """Start the command in a process group of its own; return it with its workers once a part is there."""
    process = started([*argv, "--out", str(out), "--num-workers", "2"])
    wait_until(lambda: process.poll() is not None or any(out.glob("parts/*.jsonl")), "the first part")
    assert process.poll() is None, process.stderr.read()
    workers = workers_of(process.pid)
    assert len(workers) == 2
    return process, workers


def resumed(argv: list[str], out: Path) -> bytes:
    """Check that something is left to do, run the command to its end and return the table."""
    assert 0 < len(list(out.glob("parts/*.jsonl"))) < NUM_ROWS
    assert not (out / "episodes.jsonl").exists()
    assert main([*argv, "--out", str(out), "--num-workers", "1"]) == 0
    return (out / "episodes.jsonl").read_bytes()


def test_a_killed_evaluation_leaves_nobody_behind_and_goes_on(argv, unbroken, tmp_path):
    process, workers = begun(argv, tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(PATIENCE_S)
    wait_until(lambda: not any(map(is_running, workers)), "the workers to end")
    assert resumed(argv, tmp_path) == unbroken


def test_a_killed_worker_is_said_in_one_sentence_and_the_rest_is_kept(argv, unbroken, tmp_path):
    process, workers = begun(argv, tmp_path)
    os.kill(workers[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "a process died (out of memory?); the finished parts are kept" in errors
    assert "Traceback" not in errors
    wait_until(lambda: not any(map(is_running, workers)), "the workers to end")
    assert resumed(argv, tmp_path) == unbroken


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_or_sigterm_ends_it_and_the_same_command_goes_on(argv, unbroken, tmp_path, number):
    process, workers = begun(argv, tmp_path)
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert "mcrl: interrupted; run the same command again; it goes on from what is finished" in errors
    wait_until(lambda: not any(map(is_running, workers)), "the workers to end")
    assert resumed(argv, tmp_path) == unbroken
