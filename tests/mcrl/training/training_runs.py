"""Runs of the real command with real Ray workers, and what must hold of one whatever befell its parts."""

import json
import subprocess
import sys
import time
from pathlib import Path

LONGEST_WAIT_S = 240
# A dead part is back after the start of a process or two, here on a machine that others keep busy.
RESTART_S = 90.0

RUN_COMMAND = "from mcrl.cli import main; sys.exit(main(sys.argv[1:]))"


def start_command(run_dir: Path, *options: str, num_iterations: int = 40, num_workers: int = 2) -> list[str]:
    """Return the arguments that train with Ray workers beside the learner, one update ahead of it."""
    command = ["train", "smoke", "--run-dir", str(run_dir), "--no-report", "--imitation.num-updates", "10"]
    command += ["--placement", "ray", "--rollout.num-workers", str(num_workers), "--rollout.envs-per-worker", "8"]
    return [*command, "--rollout.max-staleness", "1", "--ppo.num-iterations", str(num_iterations), *options]


def start(run_dir: Path, *options: str, num_iterations: int = 40, num_workers: int = 2) -> subprocess.Popen:
    """Run what `start_command` returns."""
    return run_command(*start_command(run_dir, *options, num_iterations=num_iterations, num_workers=num_workers))


def run_command(*arguments: str, before: str = "") -> subprocess.Popen:
    """Run the command in a process of its own, after the statements `before`."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys\n{before}\n{RUN_COMMAND}", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
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
        if time.monotonic() > deadline:
            process.kill()  # whoever is left would slow down every test after this one
            raise AssertionError(f"no iteration {iteration} within {LONGEST_WAIT_S} s")
        time.sleep(0.2)


def finish(process: subprocess.Popen, expected_code: int = 0) -> str:
    """Wait for the end and return what was printed."""
    try:
        output, _ = process.communicate(timeout=LONGEST_WAIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == expected_code, output
    return output


def assert_sound(run_dir: Path, *, last: int, longest_pause_s: float) -> dict:
    """Every iteration is there once and in order, its books balance, nothing was too stale; return the last line."""
    rows = ppo_rows(run_dir)
    assert [row["step"] for row in rows] == list(range(1, last + 1))
    for row in rows:
        accounted = row["fragments_consumed"] + row["fragments_dropped"] + row["fragments_waiting"]
        assert row["fragments_produced"] == accounted, row
        # Lags that are negative would be versions that went back.
        assert row["lag/0"] + row["lag/1"] == 16, row
    pauses_s = [after["time_s"] - before["time_s"] for before, after in zip(rows, rows[1:], strict=False)]
    assert max(pauses_s) < longest_pause_s
    state = json.loads((run_dir / "checkpoints" / "final" / "state.json").read_text())
    assert (state["iteration"], state["version"]) == (last, last)
    return rows[-1]
