"""What samplers return, that they do so again under the same seed, and that nothing waits for ever."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.dataflow.queue.rows import row_of
from mcrl.dataflow.queue.samplers import FIFO, DurationAware, StalenessBounded, TaskBalanced
from tests.mcrl.fragments import make_fragment, make_row

SAMPLERS = [FIFO, TaskBalanced(), DurationAware(), StalenessBounded(1), StalenessBounded(2, TaskBalanced())]
NAMES = ["fifo", "task_balanced", "duration_aware", "staleness_bounded", "bounded_and_balanced"]


def make_rows(specs):
    return [
        make_row(sequence=index, min_version=version, max_version=version, families=(family,), end_ns=int(1e9 * wall_s))
        for index, (family, version, wall_s) in enumerate(specs)
    ]


ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.sampled_from([0, 1, 8])), max_size=12).map(
    make_rows
)


def choose(sampler, rows, num_rows, version=4, seed=0):
    return sampler.choose(rows, num_rows, version=version, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("sampler", SAMPLERS, ids=NAMES)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, num_rows=st.integers(1, 6), seed=st.integers(0, 9))
def test_a_batch_is_whole_of_different_rows_and_the_same_under_the_same_seed(sampler, rows, num_rows, seed):
    chosen = choose(sampler, rows, num_rows, seed=seed)
    num_fit = len(rows)
    if isinstance(sampler, StalenessBounded):
        num_fit = sum(row.lag(4) <= sampler.max_lag for row in rows)
        assert all(rows[index].lag(4) <= sampler.max_lag for index in chosen)
    assert len(chosen) == (num_rows if num_fit >= num_rows else 0)
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= set(range(len(rows)))
    assert choose(sampler, rows, num_rows, seed=seed) == chosen


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, num_rows=st.integers(1, 6))
def test_fifo_never_leaves_older_weights_behind(rows, num_rows):
    chosen = choose(FIFO, rows, num_rows)
    left = [row.min_version for index, row in enumerate(rows) if index not in chosen]
    assert not chosen or not left or max(rows[index].min_version for index in chosen) <= min(left)


def test_weights_are_as_old_as_the_oldest_that_acted():
    rows = [make_row(min_version=1, max_version=1), make_row(sequence=1, min_version=0, max_version=2)]
    assert choose(FIFO, rows, 2) == [1, 0]


def test_a_row_counts_for_the_family_of_most_of_its_steps():
    mixed = make_fragment(
        goals=(None, None), task_ids=("1", "2"), families=("a", "b"), goal_index_T=np.array([0, 1, 1, 1])
    )
    rows = [row_of(mixed, None), *(make_row(sequence=s, families=(family,)) for s, family in enumerate("ba", 1))]
    assert choose(TaskBalanced(), rows, 2) == [0, 2]


def test_a_row_took_as_many_seconds_as_there_are_between_its_first_step_and_its_last():
    assert make_row(start_ns=10**9, end_ns=3_500_000_000).duration_s == 2.5


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, num_rows=st.integers(1, 6))
def test_balanced_families_differ_by_more_than_one_only_where_one_has_run_out(rows, num_rows):
    chosen = choose(TaskBalanced(), rows, num_rows)
    there = Counter(row.families[0] for row in rows)
    taken = Counter(rows[index].families[0] for index in chosen)
    for family in there if chosen else ():
        assert taken[family] == there[family] or taken[family] >= max(taken.values()) - 1


@pytest.mark.parametrize("sampler", [TaskBalanced(), DurationAware()], ids=["task_balanced", "duration_aware"])
@settings(max_examples=30, deadline=None)
@given(rows=ROWS, arriving=ROWS, num_rows=st.integers(1, 3))
def test_what_has_k_rows_before_it_leaves_with_the_next_k_and_1_leases(sampler, rows, arriving, num_rows):
    waiting, first = list(range(len(rows))), len(rows)
    pool = [*rows, *(arriving * 9)]
    for lease in range(len(rows)):
        # Three arrive for every lease, so that there is always something else to choose.
        waiting += range(first, min(len(pool), first + 3))
        first = min(len(pool), first + 3)
        chosen = choose(sampler, [pool[index] for index in waiting], num_rows, seed=lease)
        if not chosen:
            return
        waiting = [row for position, row in enumerate(waiting) if position not in chosen]
        assert lease not in waiting


def test_duration_aware_draws_by_time():
    rows = make_rows([("a", 0, 1), *(("a", 0, 1) for _ in range(9)), *(("b", 0, 9) for _ in range(9))])
    num_slow = sum(
        rows[index].families == ("b",) for seed in range(400) for index in choose(DurationAware(), rows, 2, seed=seed)
    )
    # The first row is always there; the other one is slow with 81 of 90 units of time.
    assert num_slow / 400 == pytest.approx(0.9, abs=0.05)


def test_a_bound_that_no_row_can_meet_is_refused():
    with pytest.raises(ValueError, match="max_lag"):
        StalenessBounded(-1)
