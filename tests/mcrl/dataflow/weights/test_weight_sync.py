"""Claims about weights that reach a worker while it acts, in its own process and through Ray, whatever dies."""

import dataclasses
import itertools
import math
import os
import signal
import time
from functools import partial

import numpy as np
import pytest

from mcrl.config import RolloutConfig
from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.weights.delayed_update import DelayedUpdate, WeightsLateError
from mcrl.dataflow.weights.param_store import LocalParamStore
from mcrl.rollout.rollout_worker import RolloutWorker
from mcrl.seeding import derive_seed
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.corridor_rings import NUM_STEPS, WORKER, corridor, make_ring
from tests.mcrl.dataflow.corridor_source import BATCH, ENVS, NUM_WORKERS, limits, make_factory, snapshot
from tests.mcrl.dataflow.source_conformance import SourceConformance, are_balanced
from tests.mcrl.dataflow.weights.weight_watch import make_net
from tests.mcrl.ray_processes import actor_processes, needs_proc

WAIT_S = 20.0
HEARD_WITHIN_S = 180.0  # a new worker's process starts in a few seconds, on a busy machine in more than 60
NEW_AT_STEP = 3  # of the second fragment


class Publishing:
    """Envs in whose course new weights arrive: after `at_step` steps they are there, whole, and wait for a swap."""

    def __init__(self, env, store, at_step):
        self.num_envs, self.env, self.store, self.at_step = env.num_envs, env, store, at_step
        self.update = None

    def reset(self):
        return self.env.reset()

    def step(self, actions):
        self.at_step -= 1
        if self.at_step == 0:
            self.store.publish(snapshot(2))
            assert self.update.wait(WAIT_S)
        return self.env.step(actions)


class LoadingHost(PolicyHost):
    """The obvious twin: loads the new weights by hand before the same step. Its casts are made anew every step."""

    num_acts = 0

    def act(self, requests):
        if self.num_acts in (0, NUM_STEPS + NEW_AT_STEP):
            self.load(snapshot(1 if self.num_acts == 0 else 2))
        self.num_acts += 1
        return super().act(requests)


def make_store():
    store = LocalParamStore()
    store.publish(snapshot(1))
    return store


def following_worker(precision, store):
    env = Publishing(corridor(3), store, NUM_STEPS + NEW_AT_STEP)
    worker = RolloutWorker(
        env, CorridorPolicy(0), None, fragment_steps=NUM_STEPS, worker_id=WORKER, seed=0, precision=precision
    )
    env.update = worker.follow(store.reader())
    return worker, env.update


def following_ring(precision, store):
    env = Publishing(corridor(3), store, NUM_STEPS + NEW_AT_STEP)
    host = PolicyHost(CorridorPolicy(0), seed=derive_seed(0, "rollout", WORKER, 0), precision=precision)
    ring = make_ring(num_groups=1, envs_per_group=3, inference=host, make_env=lambda *names: env)
    env.update = ring.follow(store.reader())
    return ring, env.update


def assert_alike(ours, theirs):
    """Weights that lie elsewhere in memory, as views of a buffer, may be multiplied in another order."""
    for field in dataclasses.fields(ours):
        a, b = getattr(ours, field.name), getattr(theirs, field.name)
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(a, b, atol=1e-5, rtol=0, err_msg=field.name)
    assert (ours.min_version, ours.max_version, ours.sequence) == (
        theirs.min_version,
        theirs.max_version,
        theirs.sequence,
    )


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("make", [following_worker, following_ring])
def test_weights_that_arrive_within_a_fragment_act_as_if_loaded_between_its_ticks(make, precision):
    host = LoadingHost(CorridorPolicy(0), seed=derive_seed(0, "rollout", WORKER, 0), precision=precision)
    by_hand = make_ring(num_groups=1, envs_per_group=3, inference=host)
    following, update = make(precision, make_store())
    update.catch_up(1, timeout_s=WAIT_S)
    versions = []
    for _ in range(3):
        for ours, theirs in zip(following.collect(), by_hand.collect(), strict=True):
            assert_alike(ours, theirs)
        versions.append((ours.min_version, ours.max_version))
    assert versions == [(1, 1), (1, 2), (2, 2)]
    update.close()


def test_a_version_that_waits_for_a_tick_is_not_replaced_before_somebody_had_a_tick_to_act_with_it():
    store = LocalParamStore()
    update = DelayedUpdate(CorridorPolicy(0), store.reader(), patience_s=WAIT_S)
    store.publish(snapshot(1))
    assert update.wait(WAIT_S)
    store.publish(snapshot(2))
    time.sleep(0.3)
    assert update.swap().version == 1
    update.catch_up(2, timeout_s=WAIT_S)
    update.close()


def test_who_waits_for_weights_that_never_come_hears_of_it_in_time():
    update = DelayedUpdate(make_net(-1), LocalParamStore().reader())
    begin_s = time.monotonic()
    with pytest.raises(WeightsLateError, match="version 3 did not arrive within 0.3 s, None act"):
        update.catch_up(3, timeout_s=0.3)
    assert time.monotonic() - begin_s < 5.0
    update.close()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"placement": "ray"}, "does nothing with rollout.max_staleness 0"),
        ({"ring_groups": 2, "max_staleness": 1, "envs_per_worker": 2}, "workers in processes of their own"),
        ({"placement": "ray", "max_staleness": 1, "inference": "remote"}, "workers that have a policy"),
        (
            {"placement": "ray", "max_staleness": 1, "weight_sync": "fragment", "weight_format": "delta"},
            'needs rollout.weight_sync "tick"',
        ),
    ],
)
def test_a_way_of_the_weights_on_which_nothing_would_travel_is_refused(changes, expected):
    with pytest.raises(ValueError, match=expected):
        RolloutConfig(**({"weight_sync": "tick"} | changes))


def make_source(start=None, max_staleness=0, weight_format="whole"):
    from mcrl.dataflow.ray.source import RaySource
    from mcrl.dataflow.ray.weight_sync import AtTicks

    make_sync = partial(AtTicks, weight_format=weight_format)
    return RaySource(make_factory(), limits(max_staleness), start, make_sync=make_sync)


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRaySourceAtTicks(SourceConformance):
    """At staleness 0 nothing is new while anyone acts: the very fragments of every other source."""

    @classmethod
    def make(cls, start=None, max_staleness=0):
        return make_source(start, max_staleness)

    @pytest.mark.parametrize("weight_format", ["whole", "delta"])
    def test_no_fragment_is_staler_than_allowed_though_workers_run_ahead(self, weight_format):
        source = make_source(max_staleness=1, weight_format=weight_format)
        try:
            for version in range(6):
                source.publish(snapshot(version))
                fragments = source.take(BATCH)
                assert all(0 <= version - f.min_version <= 1 for f in fragments)
                assert all(f.min_version <= f.max_version <= version for f in fragments)
            counts = source.counts()
            assert are_balanced(counts)
            # Stale is what a worker hands in late, on a busy machine, after the other has filled two batches.
            assert (counts.dropped.keys() <= {"stale"}, counts.lost) == (True, 0)
        finally:
            source.close()

    @needs_proc
    def test_a_board_and_a_worker_that_are_killed_stop_nobody(self):
        source = make_source(max_staleness=1)
        try:
            newest, deadline_s = {}, math.inf
            # Six are enough, unless the other worker fills every batch while the dead one is missed and made anew.
            for version in itertools.count():
                has_heard_all = len(newest) == NUM_WORKERS * ENVS and source.counts().num_restarts
                if (version >= 6 and has_heard_all) or time.monotonic() > deadline_s:
                    break
                if version == 2:
                    boards = actor_processes("WeightBoard", os.getpid())
                    assert boards
                    for board in boards:
                        os.kill(board, signal.SIGKILL)
                if version == 4:
                    deadline_s = time.monotonic() + HEARD_WITHIN_S
                    os.kill(source.process_ids()[0], signal.SIGKILL)
                source.publish(snapshot(version))
                for fragment in source.take(BATCH):
                    assert version - fragment.min_version <= 1
                    # Of each env: the weights that act never go back, whatever died.
                    key = (fragment.worker_id, fragment.env_index)
                    assert fragment.min_version >= newest.get(key, 0)
                    newest[key] = fragment.max_version
            counts = source.counts()
            assert are_balanced(counts)
            assert counts.lost == counts.num_restarts * ENVS
            assert counts.num_restarts == 1
            assert len(newest) == NUM_WORKERS * ENVS
        finally:
            source.close()
