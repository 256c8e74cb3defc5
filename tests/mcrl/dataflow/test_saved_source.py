"""Claims about a local source that is saved: its next fragments are those it would have made, field by field."""

import dataclasses

import numpy as np
import pytest

from mcrl.dataflow.flow import FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.rollout.fragment import Fragment
from mcrl.state_file import read_state, write_state
from task_synthesis.playing.saved_state import SavedState
from tests.mcrl.dataflow.corridor_source import BATCH, ENVS, limits, make_factory, snapshot

# Of the clock, which nobody can set back.
TIMES = {"start_ns", "end_ns"}


def plain(fragment: Fragment) -> dict[str, object]:
    """A fragment as values that compare."""
    values: dict[str, object] = {}
    for field in dataclasses.fields(fragment):
        value = getattr(fragment, field.name)
        if field.name == "goals":
            value = [(goal.image_HWC.tobytes(), goal.mask_HW.tobytes(), goal.interaction) for goal in value]
        elif field.name == "memory":
            value = {name: array.tobytes() for name, array in value.items()}
        elif isinstance(value, np.ndarray):
            value = (value.dtype.str, value.shape, value.tobytes())
        if field.name not in TIMES:
            values[field.name] = value
    return values


def batch(source, version):
    source.publish(snapshot(version))
    return [plain(fragment) for fragment in source.take(BATCH)]


def test_an_array_comes_back_by_its_values_however_it_lies_in_memory(tmp_path):
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays = {"turned": whole.T, "strided": whole[:, ::2], "reversed": whole[::-1], "one": np.float32(3).reshape(())}
    arrays["repeated"] = np.broadcast_to(whole[0], (3, 6))
    write_state(tmp_path, "play", SavedState(values={}, arrays=arrays))
    back = read_state(tmp_path, "play", fix="")
    for name, array in arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array)


def marks_of(source):
    return {"version": 2, "high_water_marks": source.high_water_marks()}


@pytest.fixture
def source():
    source = LocalSource(make_factory(), limits())
    for version in range(2):
        batch(source, version)
    source.publish(snapshot(2))
    return source


def test_the_fragments_after_a_file_are_those_that_would_have_come(source, tmp_path):
    write_state(tmp_path, "play", source.saved())
    start = FlowStart(saved=read_state(tmp_path, "play", fix="x"), **marks_of(source))
    again = LocalSource(make_factory(), limits(), start)
    again.publish(snapshot(2))
    assert again.counts() == source.counts()
    one, other = ([plain(f) for f in source.take(BATCH)] for source in (source, again))
    assert one == other
    assert batch(source, 3) == batch(again, 3)
    assert source.counts() == again.counts()


def test_whose_turn_it_is_goes_on_as_well():
    one_worker_a_batch = dataclasses.replace(limits(), fragments_per_batch=ENVS)
    source = LocalSource(make_factory(), one_worker_a_batch)
    for version in range(3):
        source.publish(snapshot(version))
        source.take(ENVS)
    start = FlowStart(saved=source.saved(), version=2, high_water_marks=source.high_water_marks())
    again = LocalSource(make_factory(), one_worker_a_batch, start)
    for one in (source, again):
        one.publish(snapshot(3))
    one, other = ([plain(fragment) for fragment in one.take(ENVS)] for one in (source, again))
    assert {fragment["worker_id"] for fragment in one} == {1}
    assert one == other


def test_saving_leaves_the_source_as_it_was(source):
    twin = LocalSource(make_factory(), limits())
    for version in range(2):
        batch(twin, version)
    twin.publish(snapshot(2))
    source.saved()
    assert [plain(f) for f in source.take(BATCH)] == [plain(f) for f in twin.take(BATCH)]


def test_what_was_saved_does_not_change_when_the_source_goes_on(source):
    state = source.saved()
    before = {name: array.tobytes() for name, array in state.arrays.items()}
    batch(source, 3)
    assert {name: array.tobytes() for name, array in state.arrays.items()} == before


def test_a_source_with_fragments_that_wait_says_that_it_cannot_be_saved(source):
    source.take(BATCH)
    assert source.saved() is not None
    source.publish(snapshot(3))
    source.take(1)
    assert source.saved() is None


def test_books_that_do_not_balance_are_refused(source):
    state = source.saved()
    books = state.values["books"]
    assert books["consumed"] == 2 * BATCH
    values = state.values | {"books": books | {"consumed": BATCH}}
    with pytest.raises(ValueError, match="do not balance"):
        LocalSource(make_factory(), limits(), FlowStart(saved=dataclasses.replace(state, values=values)))


def test_without_a_file_there_is_nothing(tmp_path):
    assert read_state(tmp_path, "play", fix="x") is None
