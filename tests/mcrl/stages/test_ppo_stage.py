"""Claims about the second stage of a run."""

import shutil

import pytest

from mcrl.config import RolloutConfig
from mcrl.stages import ppo_stage
from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import are_same, make_config, weights


@pytest.mark.parametrize(("learner_threads", "used"), [(3, [3, 1]), (None, [1, 1])])
def test_the_learner_has_its_own_threads_while_it_learns(tmp_path, monkeypatch, learner_threads, used):
    threads = []
    monkeypatch.setattr(ppo_stage, "use_threads", threads.append)
    rollout = RolloutConfig(envs_per_worker=8, learner_threads=learner_threads)
    train(make_config(tmp_path, rollout=rollout), parts=CORRIDOR)
    assert threads == used


def test_a_run_killed_before_its_final_checkpoint_is_not_checked_a_second_time(tmp_path):
    run_dir = tmp_path / "run"
    train(make_config(tmp_path), parts=CORRIDOR)
    log, final = (run_dir / "metrics.jsonl").read_bytes(), weights(run_dir / "checkpoints" / "final")
    shutil.rmtree(run_dir / "checkpoints" / "final")
    resumed = resume(run_dir, parts=CORRIDOR)
    assert (run_dir / "metrics.jsonl").read_bytes() == log
    assert are_same(weights(resumed.checkpoint), final)
