"""One conformance suite for every home of a group's workers, then what only processes can do."""

import os
import signal
import time

import pytest

from mcrl.dataflow.groups.dispatch import DP_SPLIT, ONE_TO_ALL, RANK_ZERO, dispatch
from mcrl.dataflow.groups.worker_group import LocalWorkers, WorkerGroup, WorkerLostError

NUM_WORKERS = 2


class Adder:
    """Adds its number, and what it was told to, to every row."""

    def __init__(self, number):
        self.number, self.amount = number, 0

    @dispatch(ONE_TO_ALL)
    def set_amount(self, amount):
        self.amount = amount
        return self.number

    @dispatch(DP_SPLIT)
    def add(self, rows):
        return [(row + self.amount, self.number) for row in rows]

    @dispatch(RANK_ZERO)
    def fail(self, text):
        raise ValueError(text)

    @dispatch(RANK_ZERO)
    def run_out_of_memory(self, _):
        from ray.exceptions import OutOfMemoryError

        raise OutOfMemoryError("1 worker(s) were killed due to the node running low on memory")

    @dispatch(ONE_TO_ALL)
    def process_id(self, _):
        return os.getpid()

    @dispatch(ONE_TO_ALL)
    def sleep(self, seconds):
        time.sleep(seconds)


class GroupConformance:
    @classmethod
    def make(cls):
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def group(cls):
        group = WorkerGroup(Adder, cls.make())
        yield group
        group.close()
        group.close()

    def test_everybody_hears_a_broadcast_and_calls_keep_their_order(self, group):
        first = group.start("set_amount", 100)
        second = group.start("add", [1, 2, 3])
        assert second.result() == [(101, 0), (102, 0), (103, 1)]
        assert first.result() == [0, 1]

    def test_nothing_to_do_is_done(self, group):
        call = group.start("add", [])
        assert call.is_done()
        assert call.result() == []

    def test_what_a_worker_raises_is_raised_here(self, group):
        with pytest.raises(ValueError, match="no such block"):
            group.call("fail", "no such block")

    def test_an_unmarked_method_is_refused(self, group):
        with pytest.raises(ValueError, match="is not dispatched"):
            group.call("amount", None)


class TestLocalWorkers(GroupConformance):
    @classmethod
    def make(cls):
        return LocalWorkers(Adder, NUM_WORKERS)


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRayWorkers(GroupConformance):
    @classmethod
    def make(cls):
        from mcrl.dataflow.ray.worker_group import RayWorkers

        return RayWorkers(Adder, NUM_WORKERS)

    def test_a_call_does_not_wait_for_its_workers(self, group):
        group.call("set_amount", 0)  # they run
        begin_s = time.monotonic()
        call = group.start("sleep", 2.0)
        assert not call.is_done()
        assert time.monotonic() - begin_s < 2.0
        call.result()
        assert call.is_done()

    def test_a_worker_that_ray_ended_for_want_of_memory_is_lost_as_well(self, group):
        with pytest.raises(WorkerLostError, match="a worker of the group died"):
            group.call("run_out_of_memory", None)

    def test_a_dead_worker_is_one_error_and_then_there_again(self, group):
        processes = group.call("process_id", None)
        assert len(set(processes)) == NUM_WORKERS
        call = group.start("sleep", 60.0)
        os.kill(processes[0], signal.SIGKILL)
        with pytest.raises(WorkerLostError, match="a worker of the group died"):
            call.result()
        os.kill(processes[1], signal.SIGKILL)  # it sleeps still
        for _ in range(100):
            try:
                again = group.call("process_id", None)
                break
            except WorkerLostError:
                time.sleep(0.2)
        assert not set(again) & set(processes)
