"""What producers and consumers may rely on, wherever a fragment queue lives: one suite for all of its homes."""

import pytest

from mcrl.dataflow.queue.rows import FRAGMENT, RowId
from mcrl.dataflow.queue.samplers import StalenessBounded, TaskBalanced
from mcrl.dataflow.queue.state import LOST_OWNER, TRAIN, Consumer
from tests.mcrl.fragments import make_row

HOUR_S = 3600.0
PIPELINE = {
    TRAIN: Consumer(needs=(FRAGMENT, "advantage", "reference_log_prob")),
    "advantage": Consumer(completes=("advantage",)),
    "reference": Consumer(completes=("reference_log_prob",)),
    "eval_log": Consumer(),
}


def is_balanced(counts):
    return counts.produced == counts.consumed + sum(counts.dropped.values()) + counts.waiting + counts.leased


def take(queue, num_rows, consumer=TRAIN, columns=None, **options):
    """Lease and ack; return (env, sequence) of each row."""
    lease = queue.lease(consumer, num_rows, ttl_s=HOUR_S, **options)
    if lease is None:
        return []
    assert queue.ack(lease.lease_id, columns and {name: {r.row_id: name for r in lease.rows} for name in columns})
    return [(row.row_id.env_index, row.row_id.sequence) for row in lease.rows]


class QueueConformance:
    """What producers and consumers may rely on, wherever the queue lives."""

    def make(self, *, capacity=8, max_staleness=9, **settings):
        raise NotImplementedError

    def wait(self, seconds):
        """Let the time of leases go on by `seconds` or more."""
        raise NotImplementedError

    def test_oldest_weights_leave_first_and_those_alike_as_they_came(self):
        queue = self.make()
        queue.put([make_row(min_version=version, env_index=env) for env, version in enumerate([1, 0, 1, 0])])
        queue.advance(1)
        assert [env for env, _ in take(queue, 4)] == [1, 3, 0, 2]
        assert queue.counts().lags == {0: 2, 1: 2}

    def test_a_batch_is_handed_out_whole_or_not_at_all(self):
        queue = self.make()
        queue.put([make_row(sequence=0)])
        assert queue.lease(TRAIN, 2, ttl_s=HOUR_S) is None
        assert queue.counts().waiting == 1

    def test_a_lease_carries_the_payloads_and_is_nobody_elses(self):
        queue = self.make()
        queue.put([make_row("pixels", sequence=0)])
        lease = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        assert [dict(row.payloads) for row in lease.rows] == [{FRAGMENT: "pixels"}]
        assert queue.lease(TRAIN, 1, ttl_s=HOUR_S) is None
        assert (queue.counts().leased, queue.counts().waiting) == (1, 0)

    def test_what_is_nacked_comes_back_at_its_old_place(self):
        queue = self.make()
        queue.put([make_row(sequence=s) for s in range(3)])
        lease = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        assert queue.nack(lease.lease_id)
        assert not queue.ack(lease.lease_id)
        assert take(queue, 3) == [(0, 0), (0, 1), (0, 2)]

    def test_a_lease_that_runs_out_returns_its_rows_and_can_no_longer_be_acked(self):
        queue = self.make()
        queue.put([make_row(sequence=0)])
        lost = queue.lease(TRAIN, 1, ttl_s=0.1)
        self.wait(0.2)
        again = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        if again is None:  # while a queue is down its leases do not run out
            self.wait(0.2)
            again = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        assert again.rows[0].row_id == lost.rows[0].row_id
        assert not queue.ack(lost.lease_id)
        assert queue.ack(again.lease_id)
        counts = queue.counts()
        assert (counts.consumed, counts.num_expired) == (1, 1)

    def test_a_fragment_too_stale_is_dropped_and_counted(self):
        queue = self.make(max_staleness=1)
        queue.put([make_row(min_version=0)])
        queue.advance(2)
        assert take(queue, 1) == []
        assert queue.counts().dropped == {"stale": 1}
        assert queue.take_released() == [(RowId(0, 0, 0), "stale")]

    def test_no_fragment_is_consumed_twice(self):
        queue = self.make()
        assert queue.put([make_row(sequence=0), make_row(sequence=0)]) == 2
        assert take(queue, 1) == [(0, 0)]
        queue.put([make_row(sequence=0)])
        assert take(queue, 1) == []
        assert queue.counts().dropped == {"duplicate": 2}
        assert queue.high_water_marks() == {(0, 0): 0}

    def test_the_payload_of_a_duplicate_takes_no_place(self):
        queue = self.make()
        queue.put([make_row("first")])
        queue.put([make_row("second")])
        for _ in range(4):  # a server that dies now and then is given back what it had
            assert queue.counts().dropped == {"duplicate": 1}
        assert queue.lease(TRAIN, 1, ttl_s=HOUR_S).rows[0].payloads == {FRAGMENT: "first"}

    def test_a_full_queue_says_how_much_it_took_and_a_consumed_row_makes_room(self):
        queue = self.make(capacity=2)
        rows = [make_row(sequence=s) for s in range(3)]
        assert queue.put(rows) == 2
        assert queue.put(rows[2:]) == 0
        assert take(queue, 1) == [(0, 0)]
        assert queue.put(rows[2:]) == 1
        assert is_balanced(queue.counts())

    def test_every_consumer_reads_every_row_and_none_waits_for_another(self):
        queue = self.make(consumers={TRAIN: Consumer(), "eval_log": Consumer()})
        queue.put([make_row(sequence=s) for s in range(2)])
        assert take(queue, 2) == [(0, 0), (0, 1)]
        assert queue.take_released() == []
        assert take(queue, 1, "eval_log") == [(0, 0)]
        assert queue.take_released() == [(RowId(0, 0, 0), "consumed")]
        assert queue.counts().held == 1
        assert queue.counts().consumed_by == {TRAIN: 2, "eval_log": 1}

    def test_a_row_is_ready_when_the_columns_it_needs_are_filled_in_whatever_their_order(self):
        queue = self.make(consumers=PIPELINE)
        queue.put([make_row(sequence=s) for s in range(2)])
        assert take(queue, 1) == []
        take(queue, 2, "reference", ["reference_log_prob"])
        assert take(queue, 1) == []
        take(queue, 1, "advantage", ["advantage"])
        lease = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        assert set(lease.rows[0].payloads) == {FRAGMENT, "advantage", "reference_log_prob"}
        assert queue.lease(TRAIN, 1, ttl_s=HOUR_S) is None

    def test_a_consumer_that_owes_a_column_is_refused_and_keeps_its_lease(self):
        queue = self.make(consumers=PIPELINE)
        queue.put([make_row()])
        lease = queue.lease("advantage", 1, ttl_s=HOUR_S)
        with pytest.raises(ValueError, match="fills in"):
            queue.ack(lease.lease_id)
        assert queue.ack(lease.lease_id, {"advantage": {lease.rows[0].row_id: 0.5}})

    def test_an_unknown_consumer_and_an_empty_lease_are_refused(self):
        queue = self.make()
        with pytest.raises(ValueError, match="no consumer 'learn'; there are train"):
            queue.lease("learn", 1, ttl_s=HOUR_S)
        with pytest.raises(ValueError, match="num_rows 0"):
            queue.lease(TRAIN, 0, ttl_s=HOUR_S)

    def test_a_payload_that_is_gone_is_counted_lost_and_the_rest_comes_back(self):
        queue = self.make()
        queue.put([make_row(sequence=s) for s in range(2)])
        lease = queue.lease(TRAIN, 2, ttl_s=HOUR_S)
        assert queue.nack(lease.lease_id, lost=[lease.rows[0].row_id])
        assert take(queue, 1) == [(0, 1)]
        assert queue.counts().dropped == {LOST_OWNER: 1}

    def test_what_training_has_in_hand_is_lost_only_if_it_comes_back(self):
        for is_trained_on in (True, False):
            queue = self.make(consumers={TRAIN: Consumer(), "eval_log": Consumer()})
            queue.put([make_row()])
            held, read = (queue.lease(consumer, 1, ttl_s=HOUR_S) for consumer in (TRAIN, "eval_log"))
            queue.nack(read.lease_id, lost=[read.rows[0].row_id])
            queue.restore(queue.state(), {})
            assert (queue.counts().leased, queue.counts().dropped) == (1, {})
            assert queue.lease("eval_log", 1, ttl_s=HOUR_S) is None
            assert queue.ack(held.lease_id) if is_trained_on else queue.nack(held.lease_id)
            counts = queue.counts()
            assert is_balanced(counts)
            assert (counts.consumed, counts.held) == (int(is_trained_on), 0)
            assert counts.dropped == ({} if is_trained_on else {LOST_OWNER: 1})

    def test_what_waits_can_be_thrown_away_and_what_is_leased_not(self):
        queue = self.make()
        queue.put([make_row(sequence=s) for s in range(3)])
        lease = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        assert queue.drop("shutdown") == 2
        assert queue.ack(lease.lease_id)
        counts = queue.counts()
        assert (counts.dropped, counts.consumed) == ({"shutdown": 2}, 1)

    def test_samplers_choose_where_the_queue_lives(self):
        queue = self.make()
        queue.put([make_row(sequence=s, families=("a",)) for s in range(3)])
        queue.put([make_row(env_index=1, families=("b",))])
        assert take(queue, 2, sampler=TaskBalanced()) == [(0, 0), (1, 0)]
        queue.advance(1)
        assert take(queue, 1, sampler=StalenessBounded(0)) == []
        assert take(queue, 1, sampler=StalenessBounded(1)) == [(0, 1)]

    def test_a_new_queue_goes_on_where_the_state_of_another_left_it(self):
        settings = {"consumers": {TRAIN: Consumer(), "eval_log": Consumer()}, "max_staleness": 2}
        first, second = self.make(**settings), self.make(**settings)
        first.put([make_row(sequence=s) for s in range(5)])
        take(first, 1)
        first.advance(1)
        lease = first.lease(TRAIN, 2, ttl_s=HOUR_S)
        state = first.state()
        there = {RowId(0, 0, s): {FRAGMENT: "pixels"} for s in (0, 1, 2, 3)}
        second.restore(state, there)
        counts = second.counts()
        assert is_balanced(counts)
        assert (counts.produced, counts.consumed, counts.leased, counts.waiting) == (5, 1, 2, 1)
        assert counts.dropped == {LOST_OWNER: 1}
        assert second.ack(lease.lease_id)
        second.put([make_row(sequence=2)])  # consumed already
        assert take(second, 1) == [(0, 3)]
        assert second.high_water_marks() == {(0, 0): 3}

    def test_a_column_that_is_gone_after_a_restart_is_filled_in_again(self):
        queue = self.make(consumers=PIPELINE)
        queue.put([make_row()])
        take(queue, 1, "advantage", ["advantage"])
        queue.restore(queue.state(), {RowId(0, 0, 0): {FRAGMENT: "pixels"}})
        assert queue.counts().consumed_by.get("advantage", 0) == 0
        assert take(queue, 1, "advantage", ["advantage"]) == [(0, 0)]

    def test_a_learner_that_goes_back_to_a_checkpoint_trains_on_nothing_of_the_weights_it_lost(self):
        queue = self.make()
        queue.put([make_row(sequence=s, min_version=s, max_version=s) for s in range(4)])
        queue.advance(3)
        assert take(queue, 2) == [(0, 0), (0, 1)]
        lost = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        queue.rewind(2, {(0, 0): 0})
        assert not queue.ack(lost.lease_id)
        assert queue.counts().dropped == {"lineage": 1}
        queue.put([make_row(sequence=1, min_version=1)])  # its batch was lost with the weights it made
        assert take(queue, 2) == [(0, 1), (0, 2)]
        assert is_balanced(queue.counts())

    def test_what_is_trained_on_out_of_its_order_never_takes_the_mark_back(self):
        queue = self.make()
        queue.put([make_row(sequence=0, min_version=1, max_version=1), make_row(sequence=1)])
        queue.advance(1)
        assert take(queue, 1) + take(queue, 1) == [(0, 1), (0, 0)]
        assert queue.high_water_marks() == {(0, 0): 1}

    def test_a_fragment_that_lost_weights_only_ended_is_of_no_lineage_either(self):
        queue = self.make()
        queue.put([make_row(sequence=s, min_version=1, max_version=3 - s) for s in range(2)])
        queue.advance(3)
        queue.rewind(2, {})
        assert queue.counts().dropped == {"lineage": 1}
        assert take(queue, 1) == [(0, 1)]

    def test_a_learner_that_goes_back_disturbs_no_other_reader(self):
        queue = self.make(consumers={TRAIN: Consumer(), "eval_log": Consumer()})
        queue.advance(1)
        queue.put([make_row(sequence=s, min_version=1, max_version=1) for s in range(2)])
        lease = queue.lease("eval_log", 1, ttl_s=HOUR_S)
        assert take(queue, 2) == [(0, 0), (0, 1)]
        queue.rewind(0, {})
        assert queue.ack(lease.lease_id)
        assert take(queue, 1, "eval_log") == [(0, 1)]
        assert queue.counts().dropped == {}
        assert is_balanced(queue.counts())

    def test_what_was_fresh_when_it_was_handed_out_counts_as_that_however_long_training_takes(self):
        queue = self.make(max_staleness=1)
        queue.put([make_row(sequence=s) for s in range(2)])
        queue.advance(1)
        lease = queue.lease(TRAIN, 1, ttl_s=HOUR_S)
        queue.advance(5)
        assert queue.lease(TRAIN, 1, ttl_s=HOUR_S) is None
        assert queue.ack(lease.lease_id)
        counts = queue.counts()
        assert (counts.consumed, counts.lags, counts.dropped) == (1, {1: 1}, {"stale": 1})

    def test_an_old_lease_says_nothing_of_a_row_that_was_dropped_and_came_again(self):
        queue = self.make(consumers={TRAIN: Consumer(), "eval_log": Consumer()})
        queue.put([make_row()])
        old = queue.lease("eval_log", 1, ttl_s=HOUR_S)
        assert queue.drop("shutdown") == 1
        queue.put([make_row()])
        new = queue.lease("eval_log", 1, ttl_s=HOUR_S)
        queue.ack(old.lease_id)
        assert queue.counts().consumed_by.get("eval_log", 0) == 0
        queue.ack(new.lease_id)
        assert queue.counts().consumed_by == {"eval_log": 1}

    def test_a_column_without_payload_is_filled_in_after_a_restart_too(self):
        queue = self.make(consumers=PIPELINE)
        queue.put([make_row()])
        lease = queue.lease("advantage", 1, ttl_s=HOUR_S)
        queue.ack(lease.lease_id, {"advantage": {lease.rows[0].row_id: None}})
        queue.restore(queue.state(), {RowId(0, 0, 0): {FRAGMENT: "pixels"}})
        assert queue.counts().consumed_by == {"advantage": 1}
        take(queue, 1, "reference", ["reference_log_prob"])
        assert take(queue, 1) == [(0, 0)]
