"""Drills: a part of a run of the real command dies or hangs, and the run goes on, or resumes by `mcrl train --resume`.

What is killed or held up, where, and the longest that a run may stand still for it (process starts on a busy machine
included; RESTART_S is 90 s):

    a rollout worker        here                       RESTART_S
    an inference worker     here                       RESTART_S
    the learner             here (the lead: resumed)   -
                            test_learner_run (a helper) 60 s, the time-out of its group
    the queue's actor       here                       RESTART_S
    a whole node            test_cluster_drills        RESTART_S
    a hung environment      here                       collect_limit_s + RESTART_S
    a full object store     test_cluster_drills        RESTART_S
    a slow disk             test_checkpoint_drills     the disk's own time; resumed when killed meanwhile
    (workers come and go    here                       RESTART_S)
"""

import os
import signal

import pytest

from tests.mcrl.ray_processes import actor_processes, needs_proc
from tests.mcrl.training.training_runs import (
    RESTART_S,
    assert_sound,
    finish,
    ppo_rows,
    run_command,
    start,
    wait_for_iteration,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]

LAST = 40
AT_TICKS = ("--rollout.weight-sync", "tick")
COLLECT_LIMIT_S = 20.0


def hit(process, kind: str, number: signal.Signals) -> None:
    """Send a signal to one actor of that class."""
    victims = actor_processes(kind, process.pid)
    assert victims, f"no {kind} found"
    os.kill(victims[0], number)


@needs_proc
def test_a_killed_rollout_worker_is_replaced_and_the_loss_is_counted(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir)
    wait_for_iteration(process, run_dir, 3)
    hit(process, "RolloutActor", signal.SIGKILL)
    finish(process)
    last = assert_sound(run_dir, last=LAST, longest_pause_s=RESTART_S)
    assert last["worker_restarts"] == 1
    assert last["fragments_lost"] == 8


@needs_proc
def test_a_killed_inference_worker_is_replaced_and_loses_no_fragment(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir, "--rollout.inference", "remote", num_iterations=10)
    wait_for_iteration(process, run_dir, 3)
    hit(process, "InferenceActor", signal.SIGKILL)
    finish(process)
    last = assert_sound(run_dir, last=10, longest_pause_s=RESTART_S)
    # Its groups' memories are gone and their fragments begin again, under the same numbers.
    assert (last["worker_restarts"], last["fragments_lost"]) == (0, 0)


@needs_proc
def test_a_killed_queue_is_replaced_and_loses_no_fragment(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir, *AT_TICKS)
    wait_for_iteration(process, run_dir, 3)
    hit(process, "QueueActor", signal.SIGKILL)
    finish(process)
    last = assert_sound(run_dir, last=LAST, longest_pause_s=RESTART_S)
    assert last["queue_restarts"] == 1
    # Some may have been too old by then, which is counted as such and in no other way.
    assert (last["worker_restarts"], last["fragments_lost"]) == (0, 0)
    assert last["fragments_dropped"] == last.get("dropped/stale", 0.0)


@needs_proc
def test_a_worker_that_hangs_is_replaced_after_its_limit(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir, *AT_TICKS, "--rollout.collect-limit-s", str(COLLECT_LIMIT_S), num_iterations=120)
    wait_for_iteration(process, run_dir, 3)
    hit(process, "RolloutActor", signal.SIGSTOP)
    finish(process)
    last = assert_sound(run_dir, last=120, longest_pause_s=COLLECT_LIMIT_S + RESTART_S)
    assert last["worker_restarts"] >= 1
    assert last["fragments_lost"] == 8 * last["worker_restarts"]


@needs_proc
def test_workers_come_and_go_while_a_run_trains(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir, *AT_TICKS, num_iterations=120)
    for num_workers in (3, 1):
        wait_for_iteration(process, run_dir, len(ppo_rows(run_dir)) + 3)
        finish(run_command("scale", str(run_dir), "--num-workers", str(num_workers)))
        wait_for_iteration(process, run_dir, len(ppo_rows(run_dir)) + 2)
        assert ppo_rows(run_dir)[-1]["rollout_workers"] == num_workers
    finish(process)
    last = assert_sound(run_dir, last=120, longest_pause_s=RESTART_S)
    assert (last["worker_restarts"], last["fragments_lost"]) == (0, 0)


def test_a_run_ended_by_sigterm_saves_first_and_resumes_where_it_was(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir)
    wait_for_iteration(process, run_dir, 3)
    process.send_signal(signal.SIGTERM)
    finish(process, expected_code=143)
    stopped_at = ppo_rows(run_dir)[-1]["step"]
    assert 3 <= stopped_at < LAST
    saved = sorted(path.name for path in (run_dir / "checkpoints").glob("iteration_*"))
    assert saved[-1] == f"iteration_{stopped_at:06d}"

    finish(run_command("train", "--resume", str(run_dir)))
    assert not (run_dir / "report.html").exists()  # the run was started without one
    assert f"; since iteration {stopped_at}" in finish(run_command("status", str(run_dir)))
    assert [row["step"] for row in ppo_rows(run_dir)] == list(range(1, LAST + 1))
    assert (run_dir / "checkpoints" / "final" / "model.safetensors").is_file()


def test_a_run_killed_outright_resumes_from_its_last_checkpoint(tmp_path):
    run_dir = tmp_path / "run"
    process = start(run_dir, *AT_TICKS)
    wait_for_iteration(process, run_dir, 5)
    process.kill()
    process.communicate()
    newest = max((run_dir / "checkpoints").glob("iteration_*")).name
    assert int(newest.removeprefix("iteration_")) >= 2
    said = finish(run_command("train", "--resume", str(run_dir), "--no-report"))
    assert "retries remaining" not in said  # of questions to the board that was ended with them
    rows = ppo_rows(run_dir)
    assert [row["step"] for row in rows] == list(range(1, LAST + 1))
    assert all(0 <= row["lag_mean"] <= 1 for row in rows)
