"""Gate, queue and books together, without processes."""

import pytest

from mcrl.config import RolloutConfig
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.queue.rows import RowId
from mcrl.dataflow.queue.samplers import FIFO, TaskBalanced
from mcrl.dataflow.queue.state import LOST_OWNER, TRAIN, Consumer
from mcrl.stages.ppo_log import lag_metrics
from tests.mcrl.fragments import make_fragment, make_row

BATCH = ENVS = 2


def make_flow(start=None, *, max_staleness=0, num_workers=1, **limits):
    return Flow(
        FlowLimits(
            num_workers=num_workers,
            envs_per_worker=ENVS,
            fragments_per_batch=BATCH,
            max_staleness=max_staleness,
            **limits,
        ),
        start or FlowStart(),
    )


def hand_in(flow, worker_id=0, version=0):
    sequence = flow.next_sequence(worker_id)
    flow.finish_rows(
        worker_id,
        [
            make_row(worker_id=worker_id, env_index=env, sequence=sequence, min_version=version, max_version=version)
            for env in range(ENVS)
        ],
    )


def are_balanced(counts):
    return (
        counts.started == counts.produced + counts.lost + counts.running
        and counts.produced == counts.consumed + sum(counts.dropped.values()) + counts.waiting + counts.leased
    )


def test_a_fragment_that_is_gone_when_it_is_fetched_is_lost_and_made_up_for():
    flow = make_flow()
    assert flow.try_start()
    hand_in(flow)
    assert not flow.try_start()
    assert flow.take(BATCH, lambda names: [None, make_fragment()]) == []
    assert flow.counts().dropped == {LOST_OWNER: 1}
    assert flow.take_refused().total() == 1
    assert flow.try_start()  # its place was given back
    hand_in(flow)
    assert len(flow.take(BATCH)) == BATCH
    assert are_balanced(flow.counts())


def test_a_slow_consumer_beside_the_learner_holds_back_new_work_until_it_reads():
    flow = make_flow(consumers={TRAIN: Consumer(), "eval_log": Consumer()})
    for version in range(3):
        flow.advance(version)
        while flow.try_start():
            hand_in(flow, version=version)
        if version == 2:
            assert flow.take(BATCH) == []
            break
        assert len(flow.take(BATCH)) == BATCH
    assert flow.counts().produced == flow.limits.max_fragments
    lease = flow.queue.lease("eval_log", BATCH, ttl_s=1.0)
    assert flow.queue.ack(lease.lease_id)
    assert flow.take(BATCH) == []  # hears of the room
    assert flow.try_start()


def test_a_flow_hands_out_what_its_sampler_chooses():
    taken = {}
    for sampler in (FIFO, TaskBalanced()):
        flow, seen = make_flow(max_staleness=1, sampler=sampler), []
        for sequence, family in enumerate(("approach/cow", "break/cow")):
            assert flow.try_start()
            rows = [make_row(sequence=sequence, env_index=env, families=(family,)) for env in range(ENVS)]
            flow.finish_rows(0, rows)
        flow.take(BATCH, lambda names, seen=seen: [seen.append(name) or make_fragment() for name in names])
        taken[sampler] = seen
    assert taken == {FIFO: ["0/0/0", "0/1/0"], TaskBalanced(): ["0/0/0", "0/0/1"]}


class _NotingSampler:
    """Takes what came first, and notes a number that it drew for each batch."""

    def __init__(self) -> None:
        self.drawn: list[int] = []

    def choose(self, rows, num_rows, *, version, rng):
        self.drawn.append(int(rng.integers(2**31)))
        return list(range(num_rows))


def test_a_flow_draws_by_its_seed_and_anew_for_every_batch():
    def drawn(seed):
        sampler = _NotingSampler()
        flow = make_flow(seed=seed, sampler=sampler)
        for version in range(2):
            flow.advance(version)
            assert flow.try_start()
            hand_in(flow, version=version)
            assert len(flow.take(BATCH)) == BATCH
        return sampler.drawn

    assert drawn(0) == drawn(0)
    assert len({*drawn(0), *drawn(1)}) == 4


def test_a_restored_flow_drops_what_was_consumed_and_starts_no_more_than_it_may():
    marks = {(worker, env): 4 for worker in range(3) for env in range(ENVS)}
    flow = make_flow(FlowStart(version=5, high_water_marks=marks), max_staleness=1)
    assert flow.next_sequence(2) == 5  # of a worker that was added while the run went on
    flow.set_num_workers(3)
    num_started = sum(flow.try_start() for _ in range(9))
    assert num_started * ENVS == 2 * BATCH
    hand_in(flow, version=5)
    assert len(flow.take(BATCH)) == BATCH
    flow.queue.put([make_row(sequence=4, min_version=5, max_version=5)])
    assert flow.counts().dropped == {"duplicate": 1}


def test_a_worker_goes_on_above_the_highest_mark_of_its_envs():
    flow = make_flow(FlowStart(version=3, high_water_marks={(0, 0): 5, (0, 1): 4}), max_staleness=1)
    assert flow.next_sequence(0) == 6
    assert flow.try_start()
    hand_in(flow, version=3)
    assert len(flow.take(BATCH)) == BATCH
    assert flow.counts().dropped == {}


def test_what_a_worker_was_at_when_it_died_was_begun_and_refused():
    flow = make_flow(num_workers=2, max_staleness=3)
    for worker_id in range(2):
        assert flow.try_start()
        hand_in(flow, worker_id=worker_id)
    for _ in range(2):
        assert flow.try_start()
    assert flow.take_refused() == {}
    flow.lose(1)
    assert flow.take_refused().total() == ENVS  # a step an env, as it did last
    assert flow.take_refused() == {}


def test_books_go_on_from_those_of_a_flow_that_was_stopped():
    flow, stopped = make_flow(max_staleness=1), make_flow(max_staleness=1)
    assert stopped.try_start()
    hand_in(stopped)
    stopped.take(BATCH)
    assert stopped.try_start()
    stopped.lose(0)
    stopped.queue.put([make_row(sequence=0)])
    counts = stopped.counts()
    assert (counts.lost, counts.num_restarts, counts.dropped) == (ENVS, 1, {"duplicate": 1})
    flow.continue_books(stopped.counts())
    assert flow.counts() == stopped.counts()
    assert flow.try_start()
    hand_in(flow)
    assert len(flow.take(BATCH)) == BATCH
    assert flow.counts().consumed == 2 * BATCH


def test_more_workers_run_at_once_and_the_books_of_the_retired_ones_stay():
    flow = make_flow(max_staleness=3)
    assert flow.try_start()
    assert not flow.try_start()
    flow.set_num_workers(2)
    assert flow.try_start()
    flow.set_num_workers(1)
    hand_in(flow, worker_id=1)
    flow.lose(0, is_restarted=False)
    flow.take(BATCH)
    counts = flow.counts()
    assert are_balanced(counts)
    assert (counts.num_workers, counts.num_restarts, counts.lost) == (1, 0, ENVS)
    assert flow.queue.high_water_marks() == {(1, env): 0 for env in range(ENVS)}
    flow.set_num_workers(2)
    assert flow.next_sequence(1) == 1
    assert flow.queue.take_released() == []
    assert RowId(1, 0, 0) not in flow._held


def test_the_log_counts_fragments_by_lag_and_nothing_where_none_may_lag():
    fragments = [make_fragment(min_version=version) for version in (4, 5, 5)]
    assert lag_metrics(fragments, 5, 2) == {"lag/0": 2.0, "lag/1": 1.0, "lag/2": 0.0, "lag_mean": pytest.approx(1 / 3)}
    assert lag_metrics(fragments, 5, 0) == {}
    with pytest.raises(AssertionError, match="allowed 2"):
        lag_metrics(fragments, 7, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampler": "newest", "max_staleness": 1}, "rollout.sampler must be one of fifo"),
        ({"sampler": "task_balanced"}, "does nothing with rollout.max_staleness 0"),
        ({"collect_limit_s": 0.0}, "must be positive"),
        ({"collect_limit_s": 5.0}, "does nothing inline"),
    ],
)
def test_settings_of_the_flow_that_cannot_work_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        RolloutConfig(**changes)
