import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.dataflow.queue import FragmentQueue
from tests.mcrl.fragments import make_fragment


def is_balanced(queue):
    return queue.num_produced == queue.num_consumed + sum(queue.num_dropped.values()) + len(queue)


def test_oldest_weights_leave_first():
    queue = FragmentQueue(capacity=8, max_staleness=2)
    queue.put([make_fragment(min_version=1, env_index=0), make_fragment(min_version=0, env_index=1)])
    assert [f.min_version for f in queue.take(2, version=2)] == [0, 1]


def test_a_fragment_too_stale_is_dropped_and_its_place_given_back():
    places = []
    queue = FragmentQueue(capacity=8, max_staleness=1, on_drop=places.append)
    queue.put([make_fragment(min_version=0)])
    assert queue.take(1, version=2) == []
    assert queue.num_dropped == {"stale": 1}
    assert places == [1]


def test_no_fragment_is_consumed_twice():
    queue = FragmentQueue(capacity=8, max_staleness=9)
    queue.put([make_fragment(sequence=0), make_fragment(sequence=0)])
    assert len(queue.take(1, version=0)) == 1
    queue.put([make_fragment(sequence=0)])
    assert queue.take(1, version=0) == []
    assert queue.num_dropped == {"duplicate": 2}


def test_marks_of_a_checkpoint_keep_out_what_was_consumed_before_it():
    queue = FragmentQueue(capacity=8, max_staleness=9, high_water_marks={(0, 0): 4})
    queue.put([make_fragment(sequence=4), make_fragment(sequence=5)])
    assert [f.sequence for f in queue.take(1, version=0)] == [5]
    assert queue.high_water_marks() == {(0, 0): 5}


def test_a_full_queue_drops_its_oldest():
    queue = FragmentQueue(capacity=2, max_staleness=9)
    queue.put([make_fragment(sequence=s, min_version=s) for s in range(3)])
    assert [f.sequence for f in queue.take(2, version=3)] == [1, 2]
    assert queue.num_dropped == {"overflow": 1}


def test_a_queue_without_room_is_refused():
    with pytest.raises(ValueError, match="capacity"):
        FragmentQueue(capacity=0, max_staleness=0)


CALLS = st.one_of(
    st.tuples(st.just("put"), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), max_size=5)),
    st.tuples(st.just("take"), st.integers(1, 4)),
    st.tuples(st.just("advance"), st.integers(1, 2)),
    st.tuples(st.just("drop"), st.just(0)),
)


@settings(max_examples=150, deadline=None)
@given(calls=st.lists(CALLS, max_size=40), max_staleness=st.integers(0, 2))
def test_books_balance_and_nothing_stale_or_double_comes_out(calls, max_staleness):
    given_back = []
    queue = FragmentQueue(capacity=6, max_staleness=max_staleness, on_drop=given_back.append)
    version, seen = 0, set()
    for call, argument in calls:
        if call == "put":
            queue.put([make_fragment(env_index=env, sequence=s, min_version=version) for env, s in argument])
        elif call == "advance":
            version += argument
        elif call == "drop":
            queue.drop("test")
        else:
            taken = queue.take(argument, version=version)
            assert len(taken) in (0, argument)
            for fragment in taken:
                assert version - fragment.min_version <= max_staleness
                assert (fragment.env_index, fragment.sequence) not in seen
                seen.add((fragment.env_index, fragment.sequence))
        assert is_balanced(queue)
        assert len(queue) <= queue.capacity
        assert sum(given_back) == sum(queue.num_dropped.values())
