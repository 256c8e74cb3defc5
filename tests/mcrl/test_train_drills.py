"""Claims about a run of the real command with real Ray workers: it survives what kills a part of it, and resumes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.mcrl.ray_processes import actor_processes, needs_proc

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]

LONGEST_WAIT_S = 240


def start(run_dir: Path, *options: str) -> subprocess.Popen:
    command = ["train", "smoke", "--run-dir", str(run_dir), "--no-report", "--placement", "ray"]
    command += ["--rollout.num-workers", "2", "--rollout.envs-per-worker", "8", "--rollout.max-staleness", "1"]
    return run_command(*command, "--ppo.num-iterations", "40", *options)


def run_command(*arguments: str) -> subprocess.Popen:
    code = "import sys; from mcrl.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ppo_rows(run_dir: Path) -> list[dict]:
    path = run_dir / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    return [row for row in rows if row["stage"] == "ppo"]


def wait_for_iteration(process: subprocess.Popen, run_dir: Path, iteration: int) -> None:
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not any(row["step"] >= iteration for row in ppo_rows(run_dir)):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline, f"no iteration {iteration} within {LONGEST_WAIT_S} s"
        time.sleep(0.2)


@needs_proc
def test_killing_a_rollout_worker_mid_run_does_not_stop_training_and_the_loss_is_counted(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir)
    wait_for_iteration(process, run_dir, 3)
    victims = actor_processes("RolloutActor", process.pid)
    assert victims, "no rollout actor found"
    os.kill(victims[0], signal.SIGKILL)
    output, _ = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 0, output
    last = ppo_rows(run_dir)[-1]
    assert last["step"] == 40
    assert last["worker_restarts"] == 1
    assert last["fragments_lost"] == 8
    accounted = last["fragments_consumed"] + last["fragments_dropped"] + last["fragments_waiting"]
    assert last["fragments_produced"] == accounted


def test_a_run_ended_by_sigterm_saves_first_and_resumes_where_it_was(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir)
    wait_for_iteration(process, run_dir, 3)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 143, output
    stopped_at = ppo_rows(run_dir)[-1]["step"]
    assert 3 <= stopped_at < 40
    saved = sorted(path.name for path in (run_dir / "checkpoints").glob("iteration_*"))
    assert saved[-1] == f"iteration_{stopped_at:06d}"

    resumed = run_command("train", "--resume", str(run_dir), "--no-report")
    output, _ = resumed.communicate(timeout=LONGEST_WAIT_S)
    assert resumed.returncode == 0, output
    steps = [row["step"] for row in ppo_rows(run_dir)]
    assert steps == list(range(1, 41))
    assert (run_dir / "checkpoints" / "final" / "model.safetensors").is_file()


def test_a_run_killed_outright_resumes_from_its_last_checkpoint(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir)
    wait_for_iteration(process, run_dir, 5)
    process.kill()
    process.communicate(timeout=LONGEST_WAIT_S)
    newest = max((run_dir / "checkpoints").glob("iteration_*")).name
    resumed = run_command("train", "--resume", str(run_dir), "--no-report")
    output, _ = resumed.communicate(timeout=LONGEST_WAIT_S)
    assert resumed.returncode == 0, output
    steps = [row["step"] for row in ppo_rows(run_dir)]
    assert steps == list(range(1, 41))
    assert int(newest.removeprefix("iteration_")) >= 2
