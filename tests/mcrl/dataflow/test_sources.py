"""One conformance suite for every fragment source, then what only the Ray one can do."""

import dataclasses
import os
import signal
import time
from functools import partial

import pytest

from mcrl.assembly import build_worker
from mcrl.config import PPOConfig, RolloutConfig, TrainConfig
from mcrl.dataflow.flow import FlowLimits, FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.weights.params import ParamLayout
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.fragments import make_fragment

NUM_WORKERS, ENVS, BATCH, STEPS = 2, 3, 6, 4
HANG_LIMIT_S = 30.0


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

    def test_a_killed_queue_is_replaced_and_not_a_fragment_is_missing(self):
        source = self.make(max_staleness=1)
        try:
            source.publish(snapshot(0))
            seen = [(f.worker_id, f.env_index, f.sequence) for f in source.take(BATCH)]
            victim = source.queue_process_id()
            os.kill(victim, signal.SIGKILL)
            for version in range(1, 4):
                source.publish(snapshot(version))
                seen += [(f.worker_id, f.env_index, f.sequence) for f in source.take(BATCH)]
            counts = source.counts()
            assert source.queue_process_id() != victim
            assert are_balanced(counts)
            assert (counts.dropped, counts.lost, counts.consumed) == ({}, 0, 4 * BATCH)
            assert len(set(seen)) == len(seen)
            for worker, env in source.high_water_marks():
                mine = [sequence for w, e, sequence in seen if (w, e) == (worker, env)]
                assert mine == list(range(len(mine)))
        finally:
            source.close()

    def test_workers_come_and_go_while_training_goes_on_and_keep_their_numbers(self):
        source = self.make()
        try:
            seen = []
            for version, num_workers in enumerate([2, 1, 3, 1, 2]):
                source.set_num_workers(num_workers)
                source.publish(snapshot(version))
                seen += [(f.worker_id, f.env_index, f.sequence) for f in source.take(BATCH)]
                assert len(source.process_ids()) == num_workers
                assert source.counts().num_workers == num_workers
            counts = source.counts()
            assert are_balanced(counts)
            assert (counts.dropped, counts.lost, counts.num_restarts) == ({}, 0, 0)
            for worker in {w for w, _, _ in seen}:
                mine = [sequence for w, e, sequence in seen if (w, e) == (worker, 0)]
                assert mine == list(range(len(mine)))
            with pytest.raises(ValueError, match="at least 1"):
                source.set_num_workers(0)
            with pytest.raises(ValueError, match="CPUs of the Ray cluster"):
                source.set_num_workers(100)
        finally:
            source.close()

    def test_a_worker_that_hangs_is_replaced_within_its_limit(self, tmp_path):
        from mcrl.dataflow.ray.source import RaySource

        one_worker = dataclasses.replace(limits(), num_workers=1)
        source = RaySource(partial(_hanging_once_factory, tmp_path), one_worker, collect_limit_s=HANG_LIMIT_S)
        try:
            source.publish(snapshot(0))
            begin_s = time.monotonic()
            fragments = source.take(BATCH)
            # One limit for the worker that hangs; the others start and collect in less than theirs, or would be ended.
            assert time.monotonic() - begin_s < 4 * HANG_LIMIT_S
            counts = source.counts()
            assert are_balanced(counts)
            assert counts.lost == counts.num_restarts * ENVS > 0
            assert sorted({f.sequence for f in fragments}) == [0, 1]
        finally:
            source.close()

    def test_a_store_too_small_for_the_fragments_is_refused_before_anything_starts(self):
        from mcrl.dataflow.ray.source import RaySource

        with pytest.raises(ValueError, match="object store has 128 MiB and the run's fragments may take 480"):
            RaySource(make_factory(), limits(), fragment_bytes=32 * 2**20)

    def test_fragments_that_fill_the_store_wait_on_disk_and_none_is_missing(self):
        from mcrl.dataflow.ray.source import RaySource

        ahead = dataclasses.replace(limits(max_staleness=1), num_workers=1)
        source = RaySource(_bulky_factory, ahead)  # of 13 MiB each, where 1 was announced
        try:
            num_taken = 0
            for version in range(3):
                source.publish(snapshot(version))
                num_taken += len(source.take(BATCH))
            counts = source.counts()
            assert are_balanced(counts)
            assert (num_taken, counts.consumed, counts.dropped) == (3 * BATCH, 3 * BATCH, {})
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


def _hanging_once_factory(folder, worker_id, first_sequence):
    return _HangingOnce(folder / "has_hung", first_sequence)


class _Numbered(_Broken):
    """Hands over fragments of zeros, numbered as they should be."""

    image_px = 8

    def __init__(self, first_sequence):
        self.sequence = first_sequence
        self.version = 0

    def load(self, snapshot):
        self.version = snapshot.version

    def collect(self):
        fragments = [
            make_fragment(
                num_steps=STEPS,
                image_px=self.image_px,
                env_index=env,
                sequence=self.sequence,
                min_version=self.version,
                max_version=self.version,
            )
            for env in range(ENVS)
        ]
        self.sequence += 1
        return fragments


class _HangingOnce(_Numbered):
    def __init__(self, mark, first_sequence):
        super().__init__(first_sequence)
        self.mark = mark

    def collect(self):
        if not self.mark.exists():
            self.mark.touch()
            time.sleep(10_000)
        return super().collect()


def _bulky_factory(worker_id, first_sequence):
    return _Bulky(first_sequence)


class _Bulky(_Numbered):
    image_px = 936


def _dying_factory(worker_id, first_sequence):
    return _Dying()


class _Dying(_Broken):
    def collect(self):
        os._exit(1)
