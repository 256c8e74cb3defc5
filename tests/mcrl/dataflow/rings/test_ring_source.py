"""Rings as sources of a learner: in turns with it, and beside it in a thread."""

import dataclasses
import threading
import time
from functools import partial

import pytest

from mcrl.config import RolloutConfig
from mcrl.dataflow.flow import FlowLimits
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.rings.latency import LatencyModel
from mcrl.dataflow.rings.source import RingSource
from mcrl.dataflow.rings.step_runner import ThreadRunner
from mcrl.ring_assembly import build_ring
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import train
from tests.mcrl import corridor_run
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_rings import NUM_STEPS, make_ring
from tests.mcrl.dataflow.corridor_source import BATCH, ENVS, NUM_WORKERS, limits, make_config, snapshot
from tests.mcrl.dataflow.source_conformance import SourceConformance, are_balanced


def make_factory(*, num_workers, num_groups):
    """Return what builds rings of `num_groups` engines, so that all workers have NUM_WORKERS * ENVS environments."""
    config = make_config()
    envs = NUM_WORKERS * ENVS // num_workers
    rollout = dataclasses.replace(
        config.rollout, num_workers=num_workers, envs_per_worker=envs, ring_groups=num_groups, step_limit_s=30.0
    )
    config = dataclasses.replace(config, rollout=rollout)
    return partial(build_ring, config, CORRIDOR, [make_task(index) for index in range(4)], None)


class TestLocalSourceOfRings(SourceConformance):
    @classmethod
    def make(cls, start=None, max_staleness=0):
        return LocalSource(make_factory(num_workers=NUM_WORKERS, num_groups=ENVS), limits(max_staleness), start)


class TestRingSource(SourceConformance):
    @classmethod
    def make(cls, start=None, max_staleness=0):
        factory = make_factory(num_workers=1, num_groups=NUM_WORKERS)
        return RingSource(partial(factory, 0), limits(max_staleness), start)

    def test_the_ring_runs_ahead_by_no_more_than_allowed(self):
        source = self.make(max_staleness=1)
        try:
            for version in range(4):
                source.publish(snapshot(version))
                assert all(version - f.min_version <= 1 for f in source.take(BATCH))
            deadline_s = time.monotonic() + 20
            while source.counts().started <= source.counts().consumed and time.monotonic() < deadline_s:
                time.sleep(0.01)
            counts = source.counts()
            assert counts.started > counts.consumed
            assert are_balanced(counts)
        finally:
            source.close()


def test_an_engine_that_keeps_dying_stops_the_run_where_batches_are_taken():
    def make(first_sequence):
        model = LatencyModel(step_s=0.0, crash_probability=1.0)
        return make_ring(model, num_groups=2, runner=_threads(), first_sequence=first_sequence)

    source = RingSource(make, FlowLimits(num_workers=2, envs_per_worker=1, fragments_per_batch=2, max_staleness=0))
    try:
        source.publish(snapshot(0))
        with pytest.raises(RuntimeError, match="failed 3 times"):
            source.take(2)
    finally:
        source.close()


def test_engines_that_crash_now_and_then_keep_the_books_balanced_and_the_numbers_gap_free():
    def make(first_sequence):
        model = LatencyModel(step_s=0.0005, sigma=1.0, crash_probability=0.03)
        return make_ring(model, num_groups=4, runner=_threads(), first_sequence=first_sequence)

    source = RingSource(make, FlowLimits(num_workers=4, envs_per_worker=1, fragments_per_batch=4, max_staleness=20))
    seen = {}
    try:
        for version in range(8):
            source.publish(snapshot(version))
            for fragment in source.take(4):
                seen.setdefault((fragment.worker_id, fragment.env_index), []).append(fragment.sequence)
                assert fragment.num_steps == NUM_STEPS
        assert are_balanced(source.counts())
    finally:
        source.close()
    assert all(sequences == list(range(len(sequences))) for sequences in seen.values())


def test_what_was_too_stale_makes_room_for_what_a_batch_lacks():
    def make(first_sequence):
        return make_ring(num_groups=1, runner=ThreadRunner(1), first_sequence=first_sequence)

    source = RingSource(make, FlowLimits(num_workers=1, envs_per_worker=1, fragments_per_batch=2, max_staleness=1))

    def wait_for(num_waiting):
        deadline_s = time.monotonic() + 20
        while source.counts().waiting < num_waiting and time.monotonic() < deadline_s:
            time.sleep(0.01)
        assert source.counts().waiting == num_waiting

    taken = []
    try:
        source.publish(snapshot(0))
        wait_for(4)  # all that the gate admits
        source.publish(snapshot(1))
        wait_for(5)  # all that the queue holds
        source.publish(snapshot(2))
        time.sleep(0.3)  # the ring looks, finds no room and waits
        taker = threading.Thread(target=lambda: taken.extend(source.take(2)), daemon=True)
        taker.start()
        taker.join(20)
        assert [fragment.min_version for fragment in taken] == [1, 2]
    finally:
        source.close()


def _threads():
    """Return lanes in real threads whose clock also serves the engines."""
    runner = ThreadRunner(4)
    runner.sleep = time.sleep
    return runner


def ring_config(tmp_path, **changes):
    return corridor_run.make_config(
        tmp_path, rollout=RolloutConfig(envs_per_worker=8, ring_groups=4, step_limit_s=60.0, **changes)
    )


@pytest.mark.parametrize("max_staleness", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_run_with_a_ring_ends_and_leaves_a_checkpoint(tmp_path, max_staleness):
    result = train(ring_config(tmp_path, max_staleness=max_staleness), parts=CORRIDOR)
    assert result.exit_code == 0
    assert result.checkpoint is not None
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert sum(line["stage"] == "ppo" for line in lines) == 6


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ring_groups": 3, "envs_per_worker": 8}, "must be a multiple of rollout.ring_groups 3"),
        ({"ring_groups": 0}, "rollout.ring_groups must be at least 1"),
        ({"step_limit_s": 0.0}, "rollout.step_limit_s must be positive and finite"),
        ({"ring_groups": 2, "num_workers": 2, "max_staleness": 1}, "is one worker"),
        ({"inference": "remote"}, 'set rollout.placement to "ray"'),
        ({"inference_replicas": 2}, "does nothing where inference is inline"),
    ],
)
def test_a_ring_that_cannot_be_is_refused_in_one_sentence(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        RolloutConfig(**changes)
