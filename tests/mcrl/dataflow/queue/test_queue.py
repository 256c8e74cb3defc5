"""Fragment queues in all their homes: in process, over a server that dies, and in a Ray actor."""

import os
import signal
import time

import pytest

from mcrl.dataflow.queue.local_queue import LocalQueue
from mcrl.dataflow.queue.rows import FRAGMENT
from mcrl.dataflow.queue.state import TRAIN, Consumer, QueueSettings
from tests.mcrl.dataflow.queue.dying_server import Clock, make_journalled
from tests.mcrl.dataflow.queue.queue_conformance import HOUR_S, QueueConformance
from tests.mcrl.fragments import make_row


class TestLocalQueue(QueueConformance):
    def make(self, *, capacity=8, max_staleness=9, **settings):
        self.clock = Clock()
        return LocalQueue(QueueSettings(capacity=capacity, max_staleness=max_staleness, **settings), clock=self.clock)

    def wait(self, seconds):
        self.clock.now_s += seconds


class TestJournalledQueue(QueueConformance):
    def make(self, *, capacity=8, max_staleness=9, **settings):
        self.clock = Clock()
        queue_settings = QueueSettings(capacity=capacity, max_staleness=max_staleness, **settings)
        queue, self.server = make_journalled(queue_settings, self.clock)
        return queue

    def wait(self, seconds):
        self.clock.now_s += seconds


class TestJournalledQueueWhoseServerDiesAtEveryFifthCall(TestJournalledQueue):
    def make(self, **settings):
        queue = super().make(**settings)
        through, num_calls = self.server._through, 0

        def dying(act):
            nonlocal num_calls
            num_calls += 1
            if num_calls % 5 == 0:
                self.server.die_in(0, makes_last_call=num_calls % 2 == 0)
            return through(act)

        self.server._through = dying
        return queue


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRayQueue(QueueConformance):
    @pytest.fixture(autouse=True)
    def _close(self):
        """End the actors of a test."""
        self.queues = []
        yield
        for queue in self.queues:
            queue.close()

    def make(self, *, capacity=8, max_staleness=9, **settings):
        from mcrl.dataflow.ray.queue_actor import RayQueue

        queue = RayQueue(QueueSettings(capacity=capacity, max_staleness=max_staleness, **settings))
        self.queues.append(queue)
        return queue

    def wait(self, seconds):
        time.sleep(seconds)

    def test_references_come_back_from_a_killed_queue_with_leases_and_books(self):
        import ray

        queue = self.make(consumers={TRAIN: Consumer(), "eval_log": Consumer()})
        queue.put([make_row([ray.put(f"pixels {s}")], sequence=s) for s in range(3)])
        lease = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        victim = queue.process_id()
        os.kill(victim, signal.SIGKILL)
        assert queue.ack(lease.lease_id)
        assert queue.process_id() != victim
        assert queue.num_recoveries == 1
        reader = queue.reader("eval_log")
        rows = reader.lease(3, ttl_s=HOUR_S).rows
        assert [ray.get(row.payloads[FRAGMENT][0]) for row in rows] == ["pixels 0", "pixels 1", "pixels 2"]
        counts = queue.counts()
        assert (counts.produced, counts.consumed, counts.waiting, counts.dropped) == (3, 1, 2, {})
        assert counts.num_recoveries == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"capacity": 0, "max_staleness": 0}, "capacity"),
        ({"capacity": 1, "max_staleness": -1}, "max_staleness"),
        ({"capacity": 1, "max_staleness": 0, "consumers": {"log": Consumer()}}, "must include 'train'"),
        ({"capacity": 1, "max_staleness": 0, "consumers": {TRAIN: Consumer(needs=("x",))}}, "nobody fills in"),
        ({"capacity": 1, "max_staleness": 0, "consumers": {TRAIN: Consumer(completes=(FRAGMENT,))}}, "one each"),
        (
            {"capacity": 1, "max_staleness": 0, "consumers": {TRAIN: Consumer(needs=("x",), completes=("x",))}},
            "wait for each other",
        ),
    ],
)
def test_a_queue_that_could_never_work_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        QueueSettings(**settings)


def test_leases_keep_their_remaining_time_over_a_restart():
    clock = Clock()
    queue, server = make_journalled(QueueSettings(capacity=4, max_staleness=0), clock)
    queue.put([make_row()])
    lease = queue.lease(TRAIN, 1, ttl_s=10)
    clock.now_s -= 90.0  # another machine's clock
    server.die()
    clock.now_s += 9.0
    assert queue.counts().leased == 1  # the new server learns of the lease now
    clock.now_s += 9.0
    assert queue.ack(lease.lease_id)
    assert queue.num_recoveries == 1


def test_an_answer_lost_on_the_way_does_not_make_the_call_twice():
    queue, server = make_journalled(QueueSettings(capacity=4, max_staleness=0), Clock())
    server.lose_answer_in(0)
    assert queue.put([make_row()]) == 1
    counts = queue.counts()
    assert (counts.produced, counts.dropped) == (1, {})


def test_a_column_without_payload_that_a_reader_filled_in_outlives_the_server():
    consumers = {TRAIN: Consumer(needs=(FRAGMENT, "looked_at")), "log": Consumer(completes=("looked_at",))}
    queue, server = make_journalled(QueueSettings(capacity=4, max_staleness=0, consumers=consumers), Clock())
    queue.put([make_row()])
    reader = server.reader("log")
    lease = reader.lease(1, ttl_s=10)
    assert reader.ack(lease.lease_id, {"looked_at": {lease.rows[0].row_id: None}})
    assert queue.counts().consumed_by == {"log": 1}  # the owner hears of it
    server.die()
    assert queue.lease(TRAIN, 1, ttl_s=10) is not None
