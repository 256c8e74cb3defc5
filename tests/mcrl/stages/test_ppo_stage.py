"""Claims about the second stage of a run."""

import pytest

from mcrl.config import RolloutConfig
from mcrl.stages import ppo_stage
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config


@pytest.mark.parametrize(("learner_threads", "used"), [(3, [3, 1]), (None, [1, 1])])
def test_the_learner_has_its_own_threads_while_it_learns(tmp_path, monkeypatch, learner_threads, used):
    threads = []
    monkeypatch.setattr(ppo_stage, "use_threads", threads.append)
    rollout = RolloutConfig(envs_per_worker=8, learner_threads=learner_threads)
    train(make_config(tmp_path, rollout=rollout), parts=CORRIDOR)
    assert threads == used
