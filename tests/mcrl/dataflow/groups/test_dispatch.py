from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcrl.dataflow.groups.dispatch import (
    DP_BY_TASK,
    DP_SPLIT,
    ONE_TO_ALL,
    RANK_ZERO,
    STICKY,
    Share,
    dispatch,
    protocol_of,
)

NUM_WORKERS = st.integers(1, 9)


@dataclass(frozen=True)
class Row:
    task_id: str
    worker_id: int
    number: int


ROWS = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 20)), max_size=30).map(
    lambda pairs: [Row(task, worker, number) for number, (task, worker) in enumerate(pairs)]
)


def round_trip(protocol, value, num_workers):
    shares = protocol.distribute(value, num_workers)
    return protocol.collect(shares, [share.value for share in shares])


@pytest.mark.parametrize("protocol", [DP_SPLIT, DP_BY_TASK, STICKY], ids=lambda protocol: type(protocol).__name__)
@given(rows=ROWS, num_workers=NUM_WORKERS)
def test_collecting_what_was_distributed_gives_the_rows_back(protocol, rows, num_workers):
    assert round_trip(protocol, rows, num_workers) == rows
    shares = protocol.distribute(rows, num_workers)
    assert sorted(position for share in shares for position in share.positions) == list(range(len(rows)))
    assert all(share.value for share in shares)
    assert len({share.worker for share in shares}) == len(shares)
    assert all(0 <= share.worker < num_workers for share in shares)


@given(value=st.integers(), num_workers=NUM_WORKERS)
def test_broadcasting_gathers_one_answer_a_worker_and_rank_zero_answers_alone(value, num_workers):
    assert round_trip(ONE_TO_ALL, value, num_workers) == [value] * num_workers
    assert round_trip(RANK_ZERO, value, num_workers) == value


@given(num_rows=st.integers(0, 40), num_workers=NUM_WORKERS)
def test_a_split_is_even_to_one_row_and_in_order(num_rows, num_workers):
    sizes = [len(share.value) for share in DP_SPLIT.distribute(range(num_rows), num_workers)]
    assert sizes == sorted(sizes, reverse=True)
    assert not sizes or sizes[0] - sizes[-1] <= 1
    assert len(sizes) == min(num_rows, num_workers)


@given(rows=ROWS, num_workers=NUM_WORKERS)
def test_a_task_has_one_worker_and_a_sticky_row_its_own(rows, num_workers):
    worker_of_task: dict[str, set[int]] = {}
    for share in DP_BY_TASK.distribute(rows, num_workers):
        for row in share.value:
            worker_of_task.setdefault(row.task_id, set()).add(share.worker)
    assert all(len(workers) == 1 for workers in worker_of_task.values())
    for share in STICKY.distribute(rows, num_workers):
        assert {row.worker_id % num_workers for row in share.value} == {share.worker}


def test_the_largest_tasks_are_given_out_first_each_to_who_has_least_and_rows_keep_their_order():
    rows = [Row(task, 0, number) for number, task in enumerate("cbabacaaba")]
    shares = DP_BY_TASK.distribute(rows, 2)
    assert [("".join(row.task_id for row in share.value), share.positions) for share in shares] == [
        ("aaaaa", (2, 4, 6, 7, 9)),
        ("cbbcb", (0, 1, 3, 5, 8)),
    ]


def test_a_worker_that_loses_rows_is_named():
    shares = DP_SPLIT.distribute([1, 2, 3], 2)
    with pytest.raises(ValueError, match="worker 1 returned 0 results for 1 rows"):
        DP_SPLIT.collect(shares, [[1, 2], []])


class Reversed:
    """Gives the last worker everything, backwards: a protocol of a user's own."""

    def distribute(self, value, num_workers):
        return [Share(num_workers - 1, value[::-1])]

    def collect(self, shares, results):
        return results[0][::-1]


class Counter:
    @dispatch(Reversed())
    def echo(self, rows):
        return rows

    def plain(self, rows):
        return rows


@given(rows=st.lists(st.integers()), num_workers=NUM_WORKERS)
def test_users_can_share_out_calls_in_a_way_of_their_own(rows, num_workers):
    assert round_trip(protocol_of(Counter, "echo"), rows, num_workers) == rows


@pytest.mark.parametrize("method", ["plain", "absent"])
def test_a_method_without_a_mark_names_those_that_have_one(method):
    with pytest.raises(ValueError, match=f"Counter.{method} is not dispatched; .* call echo"):
        protocol_of(Counter, method)
