import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.dataflow.staleness import StalenessGate


def make_gate(max_staleness=0, batch=4, max_concurrent=100):
    return StalenessGate(max_concurrent=max_concurrent, max_staleness=max_staleness, fragments_per_batch=batch)


def accept(gate, num):
    assert gate.try_start(num)
    gate.finish(num, is_accepted=True)


def test_staleness_0_makes_one_batch_a_version():
    gate = make_gate()
    accept(gate, 4)
    assert not gate.try_start(1)
    gate.advance(1)
    accept(gate, 4)
    assert not gate.try_start(1)


def test_staleness_1_works_one_batch_ahead():
    gate = make_gate(max_staleness=1)
    accept(gate, 4)
    accept(gate, 4)
    assert not gate.try_start(1)


def test_no_more_run_at_once_than_allowed():
    gate = make_gate(max_staleness=9, max_concurrent=3)
    assert gate.try_start(3)
    assert not gate.try_start(1)


def test_drops_give_their_places_back_so_the_run_goes_on():
    gate = make_gate()
    for version in range(1, 200):
        accept(gate, 4)
        gate.drop(1)
        accept(gate, 1)
        gate.advance(version)


def test_lost_work_may_be_done_again():
    gate = make_gate()
    assert gate.try_start(4)
    gate.finish(4, is_accepted=False)
    assert gate.try_start(4)


def test_a_restored_gate_allows_no_more_than_one_that_never_stopped():
    running = make_gate(max_staleness=1)
    for version in range(1, 6):
        accept(running, 4)
        running.advance(version)
    restored = make_gate(max_staleness=1)
    restored.restore(5)
    assert restored.capacity() == running.capacity()


def test_what_waits_at_a_restart_has_its_place_and_what_was_running_has_none():
    gate = make_gate(max_staleness=1)
    gate.try_start(2)
    gate.restore(5, num_waiting=3)
    assert gate.capacity() == 2 * 4 - 3


def test_versions_never_fall():
    gate = make_gate()
    gate.advance(3)
    with pytest.raises(AssertionError):
        gate.advance(3)


@settings(max_examples=100, deadline=None)
@given(
    max_staleness=st.integers(0, 3),
    num_workers=st.integers(1, 4),
    choices=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["start", "finish", "die"])), max_size=120),
)
def test_fifo_by_start_never_consumes_anything_too_stale_and_never_stops(max_staleness, num_workers, choices):
    batch = group = 2
    gate = make_gate(max_staleness=max_staleness, batch=batch, max_concurrent=num_workers * group)
    running, waiting, version = {}, [], 0
    # Whatever the workers did so far, letting them work on in order must always make the next batch.
    for worker, call in [
        *choices,
        *[(w, c) for _ in range(3) for w in range(4) for c in ("finish", "start", "finish")],
    ]:
        if worker >= num_workers:
            continue
        if call == "start" and worker not in running and gate.try_start(group):
            running[worker] = version
        elif call != "start" and worker in running:
            gate.finish(group, is_accepted=call == "finish")
            start_version = running.pop(worker)
            if call == "finish":
                waiting.append(start_version)
        waiting.sort()
        while waiting and (not running or waiting[0] <= min(running.values())):
            assert version - waiting.pop(0) <= max_staleness
            version += 1
            gate.advance(version)
    assert version > 0
