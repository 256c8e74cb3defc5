"""Drills of a slow disk: every file of a checkpoint takes a second to reach it, while workers go on."""

import time

import pytest

from tests.mcrl.training.training_runs import (
    LONGEST_WAIT_S,
    RESTART_S,
    assert_sound,
    finish,
    run_command,
    start_command,
    wait_for_iteration,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]

LAST = 8
FILE_S = 1.0
NUM_FILES = 6  # three, their folder, the one above it, and one to spare
# The kernel's answer is late, as that of a disk that is busy or far away; all else is as ever.
SLOW_DISK = f"""
import os, time
fsync = os.fsync
def slow(descriptor):
    time.sleep({FILE_S})
    fsync(descriptor)
os.fsync = slow
"""


def slow_run(run_dir):
    command = start_command(run_dir, "--rollout.weight-sync", "tick", "--checkpoint-every", "4", num_iterations=LAST)
    return run_command(*command, before=SLOW_DISK)


def test_a_slow_disk_holds_up_a_run_for_its_own_time_and_costs_no_fragment(tmp_path):
    run_dir = tmp_path / "run"
    finish(slow_run(run_dir))
    last = assert_sound(run_dir, last=LAST, longest_pause_s=NUM_FILES * FILE_S + RESTART_S)
    assert (last["worker_restarts"], last["fragments_lost"]) == (0, 0)
    assert last["fragments_dropped"] == last.get("dropped/stale", 0.0)


def test_a_run_killed_while_a_checkpoint_is_on_its_way_to_the_disk_resumes_from_the_one_before(tmp_path):
    run_dir = tmp_path / "run"
    process = slow_run(run_dir)
    wait_for_iteration(process, run_dir, LAST)
    partial = run_dir / "checkpoints" / f".iteration_{LAST:06d}.partial"
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not (partial / "state.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert [path.name for path in (run_dir / "checkpoints").glob("iteration_*")] == ["iteration_000004"]
    finish(run_command("train", "--resume", str(run_dir), "--no-report"))
    assert_sound(run_dir, last=LAST, longest_pause_s=LONGEST_WAIT_S)
