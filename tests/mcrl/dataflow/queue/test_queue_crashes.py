"""Producers, consumers and the queue itself die at random; no fragment is trained on twice and none goes uncounted."""

import gc
import weakref

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mcrl.dataflow.queue.rows import FRAGMENT
from mcrl.dataflow.queue.samplers import FIFO, DurationAware, TaskBalanced
from mcrl.dataflow.queue.state import LOST_OWNER, TRAIN, Consumer, QueueSettings
from tests.mcrl.dataflow.queue.dying_server import Clock, make_journalled
from tests.mcrl.fragments import make_row

NUM_ENVS, CAPACITY, TTL_S = 3, 9, 10.0
CONSUMERS = {
    TRAIN: Consumer(needs=(FRAGMENT, "advantage")),
    "advantage": Consumer(completes=("advantage",)),
    "eval_log": Consumer(),
}


class CrashingQueue(RuleBasedStateMachine):
    """The learner owns the queue and learns from what it acks; the readers run beside it. The queue may die anywhere.

    `lineage` is what the weights have seen: a learner that dies goes back to its checkpoint, lineage and all.
    """

    @initialize(max_staleness=st.integers(0, 3))
    def start(self, max_staleness):
        self.clock = Clock()
        self.max_staleness = max_staleness
        queue_settings = QueueSettings(capacity=CAPACITY, max_staleness=max_staleness, consumers=CONSUMERS)
        self.queue, self.server = make_journalled(queue_settings, self.clock)
        self.version = 0
        self.sequences = [0] * NUM_ENVS
        self.lineage, self.consumed_ever = [], 0
        self.lease = None
        self.reader_leases = []
        self.checkpoint = (0, {}, [])
        self.num_put, self.released = 0, []

    # --------------------------------------------------------------------------------------------------- producers

    @rule(env=st.integers(0, NUM_ENVS - 1), lag=st.integers(0, 2), family=st.sampled_from("ab"))
    def hand_in(self, env, lag, family):
        version = max(0, self.version - lag)
        row = make_row(
            env_index=env, sequence=self.sequences[env], min_version=version, max_version=version, families=(family,)
        )
        num_taken = self.queue.put([row])
        self.sequences[env] += num_taken  # a producer that is not let in tries again
        self.num_put += num_taken

    @rule(env=st.integers(0, NUM_ENVS - 1), back=st.integers(1, 3))
    def hand_in_again(self, env, back):
        """A producer that died does not know what it handed in."""
        sequence = max(0, self.sequences[env] - back)
        if sequence < self.sequences[env]:
            self.num_put += self.queue.put([make_row(env_index=env, sequence=sequence, max_version=0)])

    # ----------------------------------------------------------------------------------------------------- learner

    @precondition(lambda self: self.lease is None)
    @rule(num_rows=st.integers(1, 3), sampler=st.sampled_from([FIFO, TaskBalanced(), DurationAware()]))
    def lease_a_batch(self, num_rows, sampler):
        self.lease = self.queue.lease(TRAIN, num_rows, sampler=sampler, ttl_s=TTL_S)
        if self.lease is not None:
            assert all(self.version - row.min_version <= self.max_staleness for row in self.lease.rows)
            assert all({FRAGMENT, "advantage"} <= row.payloads.keys() for row in self.lease.rows)

    @precondition(lambda self: self.lease is None)
    @rule()
    def train_on_what_there_is(self):
        self.readers_catch_up()
        self.lease_a_batch(1, FIFO)
        if self.lease is not None:
            self.learn()

    @precondition(lambda self: self.lease is not None)
    @rule()
    def learn(self):
        if self.queue.ack(self.lease.lease_id):
            self.lineage += [row.row_id for row in self.lease.rows]
            self.consumed_ever += len(self.lease.rows)
            self.version += 1
            self.queue.advance(self.version)
        self.lease = None

    @precondition(lambda self: self.lease is not None)
    @rule(is_lost=st.booleans())
    def give_back(self, is_lost):
        self.queue.nack(self.lease.lease_id, lost=[self.lease.rows[0].row_id] if is_lost else [])
        self.lease = None

    @precondition(lambda self: self.lease is not None)
    @rule()
    def forget_the_batch(self):
        """The part of the learner that held it died; the lease runs out some day."""
        self.lease = None

    @rule()
    def save_a_checkpoint(self):
        self.checkpoint = (self.version, self.queue.high_water_marks(), list(self.lineage))

    @rule()
    def go_back_to_the_checkpoint(self):
        self.version, marks, lineage = self.checkpoint
        self.queue.rewind(self.version, marks)
        self.lineage, self.lease = list(lineage), None

    # ----------------------------------------------------------------------------------------------------- readers

    @rule()
    def readers_catch_up(self):
        for consumer in ("advantage", "eval_log"):
            reader = self.server.reader(consumer)
            while lease := reader.lease(1, ttl_s=TTL_S):
                row_id = lease.rows[0].row_id
                assert reader.ack(lease.lease_id, {name: {row_id: 0.5} for name in CONSUMERS[consumer].completes})

    @rule(consumer=st.sampled_from(["advantage", "eval_log"]), num_rows=st.integers(1, 2))
    def read(self, consumer, num_rows):
        lease = self.server.reader(consumer).lease(num_rows, ttl_s=TTL_S)
        if lease is not None:
            self.reader_leases.append((consumer, lease))

    @precondition(lambda self: self.reader_leases)
    @rule(how=st.sampled_from(["dies", "acks", "finds a payload gone"]))
    def end_reading(self, how):
        consumer, lease = self.reader_leases.pop(0)
        if how == "acks":
            columns = {name: {row.row_id: 0.5 for row in lease.rows} for name in CONSUMERS[consumer].completes}
            self.server.reader(consumer).ack(lease.lease_id, columns)
        elif how == "finds a payload gone":
            self.server.reader(consumer).nack(lease.lease_id, lost=[lease.rows[0].row_id])

    # ------------------------------------------------------------------------------------------- the queue and time

    @rule(num_calls=st.sampled_from([0, 3, 4]), makes_last_call=st.booleans())  # three are those of what holds
    def the_queue_dies_soon(self, num_calls, makes_last_call):
        self.server.die_in(num_calls, makes_last_call=makes_last_call)

    @rule(num_calls=st.integers(0, 1))
    def an_answer_is_lost_soon(self, num_calls):
        self.server.lose_answer_in(num_calls)

    @rule(seconds=st.sampled_from([1.0, 4.0, TTL_S]))
    def time_passes(self, seconds):
        self.clock.now_s += seconds

    @rule(num_lost=st.integers(0, 3))
    def everything_restarts_from_its_state(self, num_lost):
        """The owner too: the payloads of the last rows went down with it."""
        state = self.queue.state()
        saved = state.rows[: max(0, len(state.rows) - num_lost)]
        payloads = {row.row.row_id: dict.fromkeys(row.columns, "pixels") for row in saved}
        num_lost_before = state.num_dropped.get(LOST_OWNER, 0)
        num_gone = sum(TRAIN not in (*row.done, *dict(row.leases)) for row in state.rows[len(saved) :])
        self.queue.restore(state, payloads)
        assert self.queue.counts().dropped.get(LOST_OWNER, 0) == num_lost_before + num_gone

    @rule()
    def settle(self):
        self.released += self.queue.take_released()

    # ------------------------------------------------------------------------------------------------- what holds

    @invariant()
    def no_fragment_is_in_the_lineage_twice(self):
        assert len(set(self.lineage)) == len(self.lineage)

    @invariant()
    def every_fragment_is_accounted_for(self):
        counts = self.queue.counts()
        assert counts.produced == self.num_put
        assert counts.consumed == self.consumed_ever == sum(counts.lags.values())
        assert counts.produced == counts.consumed + sum(counts.dropped.values()) + counts.waiting + counts.leased
        assert counts.held <= CAPACITY
        assert all(lag <= self.max_staleness for lag in counts.lags)

    @invariant()
    def whatever_is_no_longer_held_is_released_once(self):
        counts = self.queue.counts()
        assert counts.produced - counts.held == len(self.released) + len(self.queue.state().released)

    def teardown(self):
        """Whatever happened: with every reader back, what waits can still be trained on, and then nothing is left."""
        if not hasattr(self, "queue"):
            return
        # A death that is still to come would give leases back the time that passes now: let it come first.
        for _ in range(5):
            self.queue.counts()
        self.clock.now_s += TTL_S
        for consumer in ("advantage", "eval_log", TRAIN):
            columns = CONSUMERS[consumer].completes
            while lease := self.queue.lease(consumer, 1, ttl_s=TTL_S):
                assert self.queue.ack(lease.lease_id, {name: {lease.rows[0].row_id: 1.0} for name in columns})
                if consumer == TRAIN:
                    self.lineage.append(lease.rows[0].row_id)
        assert len(set(self.lineage)) == len(self.lineage)
        assert self.queue.counts().held == 0


CrashingQueue.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestCrashingQueue = CrashingQueue.TestCase


def test_a_row_that_was_lost_in_a_restart_and_comes_again_survives_the_next_death():
    queue, server = make_journalled(QueueSettings(capacity=CAPACITY, max_staleness=0), Clock())
    queue.put([make_row()])
    queue.restore(queue.state(), {})
    assert queue.counts().dropped == {LOST_OWNER: 1}
    queue.put([make_row()])
    server.die()
    assert queue.counts().waiting == 1
    lease = queue.lease(TRAIN, 1, ttl_s=TTL_S)
    assert FRAGMENT in lease.rows[0].payloads


def test_a_duplicate_that_leaves_after_a_restart_takes_no_payload_of_the_row_with_it():
    queue, server = make_journalled(QueueSettings(capacity=CAPACITY, max_staleness=0), Clock())
    queue.put([make_row()])
    queue.put([make_row()])
    state = queue.state()
    queue.restore(state, {saved.row.row_id: dict.fromkeys(saved.columns, "pixels") for saved in state.rows})
    assert [reason for _, reason in queue.take_released()] == ["duplicate"]
    server.die()
    assert queue.counts().waiting == 1


def test_an_answer_that_came_too_late_is_too_late_for_the_next_server_as_well():
    clock = Clock()
    queue, server = make_journalled(QueueSettings(capacity=CAPACITY, max_staleness=0), clock)
    queue.put([make_row()])
    lease = queue.lease(TRAIN, 1, ttl_s=TTL_S)
    clock.now_s += TTL_S
    assert not queue.ack(lease.lease_id)
    server.die()
    assert (queue.counts().consumed, queue.counts().waiting, queue.counts().num_expired) == (0, 1, 1)


class Payload:
    """Stands for megabytes."""


def test_a_journal_is_short_and_keeps_no_fragment_that_was_let_go_of():
    queue, _ = make_journalled(QueueSettings(capacity=CAPACITY, max_staleness=0), Clock())
    payload = Payload()
    left = weakref.ref(payload)
    queue.put([make_row(payload)])
    del payload
    assert queue.ack(queue.lease(TRAIN, 1, ttl_s=TTL_S).lease_id)
    assert queue.take_released()
    queue.counts()  # until then the last answer is kept, in case that it is asked for again
    gc.collect()
    assert left() is None
    for version in range(1, 2000):
        queue.advance(version)
    assert len(queue._calls) < 1000
