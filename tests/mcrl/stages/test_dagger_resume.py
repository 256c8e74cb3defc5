"""Claims about a run that is stopped in DAgger: it goes on in its round, and ends as an unbroken one."""

import dataclasses
import logging

import pytest
import torch

from mcrl.config import PPOConfig
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import StopIn, are_same, make_config, weights, with_rounds
from tests.mcrl.stages.test_dagger import ROUND_1, dagger_weights
from tests.mcrl.training.interrupted_runs import StopAt


@pytest.mark.parametrize("which_env", [ROUND_1, ROUND_1 + 2, ROUND_1 + 3])
def test_a_run_stopped_in_dagger_goes_on_in_its_rounds_and_ends_as_an_unbroken_one(tmp_path, caplog, which_env):
    caplog.set_level(logging.INFO)
    config = with_rounds(make_config(tmp_path / "a", ppo=PPOConfig(num_iterations=0)))
    stopper = StopIn(which_env, num_tasks=12 if which_env != ROUND_1 + 2 else 4)
    stopped = train(config, parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env))
    assert (stopped.exit_code, stopped.checkpoint) == (130, None)
    assert not (tmp_path / "a" / "run" / "checkpoints" / "dagger").exists()
    resumed = resume(tmp_path / "a" / "run", parts=CORRIDOR)
    goes_on = {ROUND_1 + 2: "with the success check of round 1", ROUND_1 + 3: "after round 1; what was played"}
    assert f"dagger goes on {goes_on.get(which_env, '')}" in caplog.text or which_env == ROUND_1
    train(dataclasses.replace(config, run_dir=str(tmp_path / "b" / "run")), parts=CORRIDOR)
    unbroken = dagger_weights(tmp_path / "b")
    assert are_same(weights(resumed.checkpoint), unbroken)
    lines, unbroken_lines = (read_metrics(tmp_path / name / "run" / "metrics.jsonl") for name in "ab")
    assert [line["round"] for line in lines if line.get("round")] == [1, 2]
    assert [(line["stage"], line["step"]) for line in lines] == [
        (line["stage"], line["step"]) for line in unbroken_lines
    ]
    assert not list((tmp_path / "a" / "run" / "checkpoints").glob("dagger.*"))


@pytest.mark.parametrize(("update", "num_left"), [(5, 15), (15, 5), (20, 0)])
def test_no_update_of_a_round_is_taken_twice(tmp_path, monkeypatch, update, num_left):
    config = with_rounds(
        make_config(tmp_path / "a", ppo=PPOConfig(num_iterations=0)), dagger_keep_steps=100, val_every_updates=5
    )
    whole = weights(train(config, parts=CORRIDOR).checkpoint)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "b" / "run"))
    StopAt(monkeypatch, "dagger", update)
    assert train(broken, parts=CORRIDOR).exit_code == 143
    steps = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda optimizer: (steps.append(optimizer), step(optimizer)))
    resumed = resume(tmp_path / "b" / "run", parts=CORRIDOR)
    assert len(steps) == num_left
    assert are_same(weights(resumed.checkpoint), whole)
    one, other = (read_metrics(tmp_path / name / "run" / "metrics.jsonl") for name in "ab")
    assert [(line["stage"], line["step"]) for line in one] == [(line["stage"], line["step"]) for line in other]


def test_where_the_last_success_check_is_left_nobody_plays_again(tmp_path):
    config = with_rounds(make_config(tmp_path / "a", ppo=PPOConfig(num_iterations=0)))
    whole = weights(train(config, parts=CORRIDOR).checkpoint)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "b" / "run"))
    stopper = StopIn(ROUND_1 + 5, num_tasks=4)
    assert train(broken, parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env)).exit_code == 130

    def make_expert(env):
        raise AssertionError("the success check alone was left")

    resumed = resume(tmp_path / "b" / "run", parts=dataclasses.replace(CORRIDOR, make_expert=make_expert))
    assert are_same(weights(resumed.checkpoint), whole)
