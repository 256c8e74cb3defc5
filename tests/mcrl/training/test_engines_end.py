"""Claims about the engines behind a run's environments: whatever becomes of the run, it ends every one that it began.

An engine of somebody else is a process of its own, which nothing else would end.
"""

import dataclasses
import signal
import time

import pytest

from mcrl.config import RolloutConfig
from mcrl.dataflow.rings.group import Backend
from mcrl.dataflow.rings.ring import EnvRing
from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_rings import make_host
from tests.mcrl.corridor_run import ROLLOUT, TRAIN_DEMOS, VALIDATION, Engines, StopIn, make_config
from tests.mcrl.dataflow.corridor_source import STEPS


@pytest.mark.parametrize(
    "rollout",
    [
        RolloutConfig(envs_per_worker=8),
        RolloutConfig(envs_per_worker=4, num_workers=2),
        RolloutConfig(envs_per_worker=8, ring_groups=2, max_staleness=1),
    ],
    ids=["a worker", "two workers", "a ring"],
)
def test_a_run_ends_every_engine(tmp_path, rollout):
    engines = Engines()
    config = make_config(tmp_path, rollout=rollout, val_every=2)
    imitation = dataclasses.replace(config.imitation, dagger_rounds=1, dagger_steps=64, dagger_updates=2)
    train(dataclasses.replace(config, imitation=imitation), parts=engines.parts())
    assert engines.num_begun >= 6  # of demonstrations, rounds of DAgger, checks and rollout
    assert not engines.alive


@pytest.mark.parametrize("stage", [TRAIN_DEMOS, VALIDATION, ROLLOUT])
def test_a_run_that_is_stopped_ends_its_engines(tmp_path, stage):
    engines = Engines(StopIn(stage, 4, signal.SIGTERM).make_env)
    train(make_config(tmp_path), parts=engines.parts())
    assert not engines.alive
    later = Engines()
    resume(tmp_path / "run", parts=later.parts())
    assert later.num_begun
    assert not later.alive


def test_a_run_that_fails_ends_its_engines(tmp_path):
    engines = Engines()
    parts = dataclasses.replace(engines.parts(), make_sampler=_breaking)
    with pytest.raises(RuntimeError, match="no more tasks"):
        train(make_config(tmp_path), parts=parts)
    assert engines.num_begun == 4
    assert not engines.alive


def _breaking(config, tasks, seed):
    sampler = CORRIDOR.make_sampler(config, tasks, seed)

    def draw():
        raise RuntimeError("no more tasks")

    sampler.draw = draw
    return sampler


def test_an_engine_that_cannot_begin_an_episode_is_ended():
    begun, ended = [], []

    class Broken:
        num_envs = 1

        def __init__(self):
            begun.append(self)

        def reset(self):
            raise RuntimeError("no world")

        def close(self):
            ended.append(self)

    ring = EnvRing(
        lambda group, life: Backend(env=Broken()),
        make_host(),
        num_groups=1,
        envs_per_group=1,
        fragment_steps=STEPS,
        worker_id=0,
        step_limit_s=10.0,
    )
    with pytest.raises(RuntimeError, match="no world"):
        ring.collect()
    ring.close()
    limit_s = time.monotonic() + 10.0
    while len(ended) < len(begun) and time.monotonic() < limit_s:
        time.sleep(0.01)  # each ends in a thread of its own
    assert begun
    assert set(begun) == set(ended)
