"""Sources of fragments: in process and over Ray workers, and what only the Ray one can do."""

import dataclasses
import os
import signal
import time
from functools import partial

import pytest

from mcrl.dataflow.local import LocalSource
from tests.mcrl.dataflow.corridor_source import BATCH, ENVS, NUM_WORKERS, limits, make_factory, snapshot
from tests.mcrl.dataflow.faulty_workers import (
    broken_factory,
    bulky_factory,
    dying_factory,
    hanging_once_factory,
    short_of_memory_factory,
)
from tests.mcrl.dataflow.source_conformance import SourceConformance, are_balanced, next_versions

HANG_LIMIT_S = 30.0
CATCHES_UP_WITHIN_S = 60.0


class TestLocalSource(SourceConformance):
    @classmethod
    def make(cls, start=None, max_staleness=0):
        return LocalSource(make_factory(), limits(max_staleness), start)

    @pytest.mark.parametrize("max_staleness", [0, 1, 3])
    def test_batches_lag_by_exactly_what_is_allowed_and_nothing_is_dropped(self, max_staleness):
        source = self.make(max_staleness=max_staleness)
        for version in range(6):
            source.publish(snapshot(version))
            fragments = source.take(BATCH)
            assert {version - f.min_version for f in fragments} == {min(version, max_staleness)}
            assert {f.sequence for f in fragments} == {version}
            counts = source.counts()
            assert are_balanced(counts)
            assert (counts.waiting, counts.dropped) == (max_staleness * BATCH, {})


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

    def test_a_worker_that_falls_behind_hands_in_stale_fragments_which_are_dropped_and_counted(self):
        source = self.make(max_staleness=1)
        try:
            late_id = 0
            late_pid = source.process_ids()[late_id]
            os.kill(late_pid, signal.SIGSTOP)
            for version in range(3):
                source.publish(snapshot(version))
                assert {f.worker_id for f in source.take(BATCH)} == {1 - late_id}
            os.kill(late_pid, signal.SIGCONT)
            deadline_s = time.monotonic() + CATCHES_UP_WITHIN_S
            seen = set()
            version = 2
            while not seen and time.monotonic() < deadline_s:
                version += 1
                source.publish(snapshot(version))
                fragments = source.take(BATCH)
                assert all(version - f.min_version <= 1 for f in fragments)
                seen = {f.sequence for f in fragments if f.worker_id == late_id}
            counts = source.counts()
            assert are_balanced(counts)
            num_dropped = counts.dropped["stale"]
            assert counts.dropped == {"stale": num_dropped}
            # Its first collect is late for sure, and on a busy machine some more may be; then one comes in time.
            assert num_dropped >= ENVS
            assert (min(seen), counts.lost, counts.num_restarts) == (num_dropped // ENVS, 0, 0)
        finally:
            source.close()

    def test_a_killed_queue_is_replaced_and_not_a_fragment_is_missing(self):
        from mcrl.dataflow.ray.source import RaySource

        # Of two workers one may fall behind, and its fragments be dropped as stale.
        source = RaySource(make_factory(), dataclasses.replace(limits(max_staleness=1), num_workers=1))
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
        source = RaySource(partial(hanging_once_factory, tmp_path), one_worker, collect_limit_s=HANG_LIMIT_S)
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

    def test_a_worker_that_ray_ended_for_want_of_memory_is_replaced_as_often_as_one_that_dies(self, tmp_path):
        from mcrl.dataflow.ray.source import RaySource

        for num_times in (1, 3):
            (folder := tmp_path / str(num_times)).mkdir()
            factory = partial(short_of_memory_factory, folder, num_times)
            source = RaySource(factory, dataclasses.replace(limits(), num_workers=1))
            try:
                source.publish(snapshot(0))
                if num_times == 1:
                    assert sorted({f.sequence for f in source.take(BATCH)}) == [0, 1]
                    assert (source.counts().lost, source.counts().num_restarts) == (ENVS, 1)
                else:
                    with pytest.raises(RuntimeError, match=r"memory .* all but full, 3 times .* lower rollout\."):
                        source.take(BATCH)
            finally:
                source.close()

    def test_a_store_too_small_for_the_fragments_is_refused_before_anything_starts(self):
        from mcrl.dataflow.ray.source import RaySource

        with pytest.raises(ValueError, match="object store has 128 MiB and the run's fragments may take 480"):
            RaySource(make_factory(), limits(), fragment_bytes=32 * 2**20)

    def test_fragments_that_fill_the_store_wait_on_disk_and_none_is_missing(self):
        from mcrl.dataflow.ray.source import RaySource

        ahead = dataclasses.replace(limits(max_staleness=1), num_workers=1)
        source = RaySource(bulky_factory, ahead)  # of 13 MiB each, where 1 was announced
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

        source = RaySource(broken_factory, dataclasses.replace(limits(), num_workers=1))
        try:
            source.publish(snapshot(0))
            with pytest.raises(Exception, match="no such block"):
                source.take(BATCH)
        finally:
            source.close()

    def test_a_worker_that_keeps_dying_stops_the_run_and_says_where_to_look(self):
        from mcrl.dataflow.ray.source import RaySource

        source = RaySource(dying_factory, dataclasses.replace(limits(), num_workers=1))
        try:
            source.publish(snapshot(0))
            with pytest.raises(RuntimeError, match="died 3 times"):
                source.take(BATCH)
        finally:
            source.close()
