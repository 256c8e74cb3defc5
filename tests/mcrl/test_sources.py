"""One conformance suite for every fragment source, then what only the Ray one can do."""

import dataclasses
import os
import signal
from functools import partial

import pytest

from mcrl.assembly import build_worker
from mcrl.config import PPOConfig, RolloutConfig, TrainConfig
from mcrl.dataflow.flow import FlowLimits, FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.params import ParamLayout
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy

NUM_WORKERS, ENVS, BATCH, STEPS = 2, 3, 6, 4


def make_config():
    return TrainConfig(
        recipe="test",
        ppo=PPOConfig(fragment_steps=STEPS, fragments_per_batch=BATCH),
        rollout=RolloutConfig(num_workers=NUM_WORKERS, envs_per_worker=ENVS),
        precision="fp32",
    )


def make_factory():
    tasks = [make_task(index) for index in range(4)]
    return partial(build_worker, make_config(), CORRIDOR, tasks, None)


def snapshot(version):
    policy = CorridorPolicy(seed=version)
    return ParamLayout(policy).snapshot(policy, version)


def limits(max_staleness=0):
    return FlowLimits(
        num_workers=NUM_WORKERS, envs_per_worker=ENVS, fragments_per_batch=BATCH, max_staleness=max_staleness
    )


def are_balanced(counts):
    return (
        counts.started == counts.produced + counts.lost + counts.running
        and counts.produced == counts.consumed + sum(counts.dropped.values()) + counts.waiting + counts.leased
    )


def next_versions(source, num_versions):
    first = source.counts().consumed // BATCH
    return range(first, first + num_versions)


class SourceConformance:
    """What the learner may rely on, wherever its fragments come from."""

    @classmethod
    def make(cls, start=None, max_staleness=0):
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls):
        """Return one synchronous source for all tests of the class: starting Ray workers takes seconds."""
        source = cls.make()
        yield source
        source.close()

    def test_a_batch_is_complete_and_made_with_the_published_weights(self, source):
        for version in next_versions(source, 2):
            source.publish(snapshot(version))
            fragments = source.take(BATCH)
            assert len(fragments) == BATCH
            assert {(f.min_version, f.max_version) for f in fragments} == {(version, version)}
            assert all(f.num_steps == STEPS for f in fragments)

    def test_each_env_counts_its_fragments_without_gaps(self, source):
        versions = next_versions(source, 3)
        seen = {}
        for version in versions:
            source.publish(snapshot(version))
            for fragment in source.take(BATCH):
                seen.setdefault((fragment.worker_id, fragment.env_index), []).append(fragment.sequence)
        assert len(seen) == NUM_WORKERS * ENVS
        assert all(sequences == list(versions) for sequences in seen.values())
        assert source.high_water_marks() == dict.fromkeys(seen, versions[-1])

    def test_the_books_balance_and_synchronous_means_no_work_ahead(self, source):
        for version in next_versions(source, 2):
            source.publish(snapshot(version))
            source.take(BATCH)
            counts = source.counts()
            assert are_balanced(counts)
            assert counts.consumed == counts.started == (version + 1) * BATCH
            assert counts.dropped == {}

    def test_a_restored_source_goes_on_where_it_stopped(self):
        marks = {(worker, env): 6 for worker in range(NUM_WORKERS) for env in range(ENVS)}
        source = self.make(start=FlowStart(version=7, high_water_marks=marks))
        try:
            source.publish(snapshot(7))
            assert {f.sequence for f in source.take(BATCH)} == {7}
            assert source.counts().consumed == BATCH
        finally:
            source.close()

    def test_closing_twice_is_fine(self):
        source = self.make()
        source.close()
        source.close()


class TestLocalSource(SourceConformance):
    @classmethod
    def make(cls, start=None, max_staleness=0):
        return LocalSource(make_factory(), limits(max_staleness), start)


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRaySource(SourceConformance):
    @classmethod
    def make(cls, start=None, max_staleness=0):
        from mcrl.dataflow.ray.source import RaySource

        return RaySource(make_factory(), limits(max_staleness), start)

    def test_fragments_are_bit_for_bit_those_of_the_local_source(self, source):
        # Both have gone on from the same start with the same weights, whatever ran before.
        local, versions = LocalSource(make_factory(), limits()), next_versions(source, 2)
        for version in range(versions.start):
            local.publish(snapshot(version))
            local.take(BATCH)

        def in_order(fragments):
            return sorted(fragments, key=lambda f: (f.worker_id, f.env_index))

        for version in versions:
            for one in (source, local):
                one.publish(snapshot(version))
            for ours, theirs in zip(in_order(source.take(BATCH)), in_order(local.take(BATCH)), strict=True):
                assert ours.action_TA.tobytes() == theirs.action_TA.tobytes()
                assert ours.log_prob_T.tobytes() == theirs.log_prob_T.tobytes()
                assert ours.image_THWC.tobytes() == theirs.image_THWC.tobytes()

    def test_workers_run_ahead_by_no_more_than_allowed(self):
        source = self.make(max_staleness=1)
        try:
            for version in range(4):
                source.publish(snapshot(version))
                assert all(version - f.min_version <= 1 for f in source.take(BATCH))
            counts = source.counts()
            assert counts.started > counts.consumed
            assert are_balanced(counts)
        finally:
            source.close()

    def test_a_killed_worker_is_replaced_and_training_goes_on(self):
        source = self.make()
        try:
            source.publish(snapshot(0))
            source.take(BATCH)
            victim = source.process_ids()[0]
            os.kill(victim, signal.SIGKILL)
            seen = []
            for version in range(1, 4):
                source.publish(snapshot(version))
                seen += [(f.worker_id, f.env_index, f.sequence) for f in source.take(BATCH)]
            counts = source.counts()
            assert counts.num_restarts == 1
            assert counts.lost == ENVS
            assert are_balanced(counts)
            assert sorted(seen) == [(w, e, s) for w in range(NUM_WORKERS) for e in range(ENVS) for s in (1, 2, 3)]
            assert victim not in source.process_ids()
        finally:
            source.close()

    def test_a_bug_in_a_worker_stops_the_run_with_its_own_message(self):
        from mcrl.dataflow.ray.source import RaySource

        source = RaySource(_broken_factory, dataclasses.replace(limits(), num_workers=1))
        try:
            source.publish(snapshot(0))
            with pytest.raises(Exception, match="no such block"):
                source.take(BATCH)
        finally:
            source.close()

    def test_a_worker_that_keeps_dying_stops_the_run_and_says_where_to_look(self):
        from mcrl.dataflow.ray.source import RaySource

        source = RaySource(_dying_factory, dataclasses.replace(limits(), num_workers=1))
        try:
            source.publish(snapshot(0))
            with pytest.raises(RuntimeError, match="died 3 times"):
                source.take(BATCH)
        finally:
            source.close()


def _broken_factory(worker_id, first_sequence):
    return _Broken()


class _Broken:
    num_envs = ENVS

    def load(self, snapshot):
        pass

    def collect(self):
        raise ValueError("no such block")


def _dying_factory(worker_id, first_sequence):
    return _Dying()


class _Dying(_Broken):
    def collect(self):
        os._exit(1)
