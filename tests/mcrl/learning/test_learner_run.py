"""Whole runs whose learner is several processes, repeatable, or averaging."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mcrl import checkpoint
from mcrl.config import LearnerConfig, RolloutConfig
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import ROLLOUT, StopIn, make_config, weights
from tests.mcrl.training.clocks import CLOCKED
from tests.mcrl.watched_process import is_running, wait_until, workers_of

_HEARD = "mcrl: stopping; what is under way ends first, and the run can be continued"

TWO = LearnerConfig(num_processes=2)
# Said of the machine or of the number of processes, not of what was learned.

# A run in the corridor as a process of its own; it says nothing but its exit code.
_PROGRAM = """
import dataclasses, json, sys
from pathlib import Path
from mcrl.config import LearnerConfig
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config
config = make_config(Path(sys.argv[1]), learner=LearnerConfig(num_processes=2))
config = dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, num_iterations=2000))
sys.exit(train(config, parts=CORRIDOR).exit_code)
"""


def ppo_rows(run_dir: Path) -> list[dict]:
    lines = (run_dir / "metrics.jsonl").read_text().splitlines() if (run_dir / "metrics.jsonl").exists() else []
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    is_of_ppo = [row for row in rows if row.pop("stage") == "ppo"]
    return [{name: x for name, x in row.items() if name not in {*CLOCKED, "learner_restarts"}} for row in is_of_ppo]


@pytest.fixture
def _any_algorithm():
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("_any_algorithm")
def test_two_deterministic_runs_end_in_the_same_bytes(tmp_path):
    contents = []
    for name in ("a", "b"):
        result = train(make_config(tmp_path / name, deterministic=True), parts=CORRIDOR)
        assert torch.are_deterministic_algorithms_enabled()
        files = [(result.checkpoint / file).read_bytes() for file in ("model.safetensors", "optimizer.safetensors")]
        contents.append((files, ppo_rows(result.run_dir)))
    assert contents[0] == contents[1]


@pytest.mark.parametrize("rollout", [{"max_staleness": 1}, {"num_workers": 2}])
def test_a_deterministic_run_refuses_to_depend_on_who_is_faster(tmp_path, rollout):
    options = RolloutConfig(placement="ray", envs_per_worker=8, **rollout)
    with pytest.raises(ValueError, match=r"deterministic: .*rollout.max_staleness to 0"):
        make_config(tmp_path, deterministic=True, rollout=options)


def test_averaged_weights_end_in_a_checkpoint_of_their_own(tmp_path):
    stopper = StopIn(ROLLOUT, num_tasks=20)
    config = make_config(tmp_path, learner=LearnerConfig(ema_decay=0.9))
    train(config, parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env))
    stopped = resume(tmp_path / "run", parts=CORRIDOR)
    whole = train(dataclasses.replace(config, run_dir=str(tmp_path / "whole")), parts=CORRIDOR)
    assert stopped.checkpoint.name == whole.checkpoint.name == "final"
    averaged, last = (weights(whole.checkpoint.with_name(name)) for name in ("ema", "final"))
    assert averaged.keys() == last.keys()
    assert any(not torch.equal(tensor, last[name]) for name, tensor in averaged.items())
    assert checkpoint.load_state(whole.checkpoint.with_name("ema")).iteration == 6


def test_processes_and_passes_with_nothing_to_do_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"learner.num_processes 5 must be at most ppo.minibatch_sequences 4"):
        make_config(tmp_path, learner=LearnerConfig(num_processes=5))
    with pytest.raises(ValueError, match=r"learner.pass_sequences 4 does nothing with ppo.minibatch_sequences 4"):
        make_config(tmp_path, learner=LearnerConfig(pass_sequences=4))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_is_the_same_with_two_learners_and_may_change_their_number_at_a_resume(tmp_path):
    one = train(make_config(tmp_path / "one"), parts=CORRIDOR)
    two = train(make_config(tmp_path / "two", learner=TWO), parts=CORRIDOR)
    stopper = StopIn(ROLLOUT, num_tasks=20)
    parts = dataclasses.replace(CORRIDOR, make_env=stopper.make_env)
    stopped = train(make_config(tmp_path / "half", learner=TWO), parts=parts)
    assert stopped.exit_code == 130
    num_before = checkpoint.load_state(stopped.checkpoint).iteration
    half = resume(tmp_path / "half" / "run", parts=CORRIDOR, num_learners=1)
    done = ppo_rows(half.run_dir)
    assert [row["step"] for row in done] == [1, 2, 3, 4, 5, 6]
    for row, wanted in zip(ppo_rows(two.run_dir), ppo_rows(one.run_dir), strict=True):
        assert row == pytest.approx(wanted, rel=1e-3, abs=1e-5)
    # A resume begins its environments afresh: the same up to the stop.
    for row, wanted in zip(done[:num_before], ppo_rows(one.run_dir), strict=False):
        assert row == pytest.approx(wanted, rel=1e-3, abs=1e-5)
    assert {line.get("learner_restarts") for line in read_metrics(two.run_dir / "metrics.jsonl")} == {None, 0.0}


def started(run_dir: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(run_dir)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def step_of(run_dir: Path) -> int:
    rows = ppo_rows(run_dir)
    return rows[-1]["step"] if rows else 0


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the learners through /proc, which this system lacks")
def test_a_killed_learner_is_replaced_and_one_asked_to_stop_stops_the_run(tmp_path):
    process, run_dir = started(tmp_path), tmp_path / "run"
    wait_until(lambda: step_of(run_dir) >= 3, "three updates")
    (victim,) = workers_of(process.pid)
    os.kill(victim, signal.SIGKILL)
    killed_at = step_of(run_dir)
    wait_until(lambda: step_of(run_dir) >= killed_at + 5, "updates after the loss")
    (helper,) = workers_of(process.pid)
    assert helper != victim
    os.kill(helper, signal.SIGTERM)
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 143, output
    assert not is_running(helper)
    last = read_metrics(run_dir / "metrics.jsonl")[-1]
    assert last["learner_restarts"] == 1
    # Stopped after a whole update, and saved once.
    assert checkpoint.newest(run_dir / "checkpoints").name == f"iteration_{last['step']:06d}"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the learners through /proc, which this system lacks")
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_ctrl_c_ends_all_learners_and_so_does_the_death_of_the_leader(tmp_path, number, exit_code):
    process, run_dir = started(tmp_path), tmp_path / "run"
    wait_until(lambda: step_of(run_dir) >= 3, "three updates")
    (helper,) = workers_of(process.pid)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: to every process of the group
    else:
        process.kill()
    output, _ = process.communicate(timeout=200)
    assert process.returncode == exit_code, output
    assert "Traceback" not in output
    # The leader says once that it was heard; helpers end in silence where it is well.
    assert number == signal.SIGKILL or output.strip() == _HEARD, output
    wait_until(lambda: not is_running(helper), "the helper's end")
