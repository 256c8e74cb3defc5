"""Claims about orders of tasks that are saved: what comes next is what would have come, and damage is refused."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.task_sampler import TaskSampler
from tests.task_synthesis.fixtures import some_tasks

TASKS = some_tasks()
SHARES = {"near": 2.0, "easy": 1.0}
MAKE = {
    "shuffled": lambda seed: ShuffledTasks(TASKS, split="train", seed=seed),
    "mixed": lambda seed: MixedTasks(TASKS, split="train", seed=seed, shares=SHARES),
    "adaptive": lambda seed: AdaptiveTasks(TASKS, split="train", seed=seed),
}


def through_json(state):
    return dataclasses.replace(state, values=json.loads(json.dumps(state.values)))


def drawn(sampler, num_tasks, rng):
    """Ids of the next tasks, while half of the episodes are reported."""
    ids = []
    for _ in range(num_tasks):
        task = sampler(0)
        ids.append(task.task_id)
        if rng.random() < 0.5:
            sampler.report(task, is_success=bool(rng.random() < 0.5))
    return ids


@pytest.mark.parametrize("name", MAKE)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), num_before=st.integers(0, 80))
def test_what_comes_next_is_what_would_have_come(name, seed, num_before):
    sampler, other = MAKE[name](seed), MAKE[name](seed + 1)
    drawn(sampler, num_before, np.random.default_rng(seed))
    order, statistics = through_json(sampler.saved()), sampler.statistics()
    expected = drawn(sampler, 60, np.random.default_rng(1))
    drawn(other, 7, np.random.default_rng(2))
    other.load_saved(order)
    other.load_statistics(statistics)
    assert drawn(other, 60, np.random.default_rng(1)) == expected


@pytest.mark.parametrize("name", MAKE)
def test_a_saved_order_does_not_change_when_its_sampler_goes_on(name):
    sampler, one, two = (MAKE[name](seed) for seed in (0, 1, 2))
    order = sampler.saved()
    one.load_saved(order)
    drawn(sampler, 30, np.random.default_rng(0))
    two.load_saved(order)
    assert drawn(one, 30, np.random.default_rng(0)) == drawn(two, 30, np.random.default_rng(0))


def order_of(sampler, change):
    """A saved order of two parts down, changed."""
    state = through_json(sampler.saved())
    change(state.values, state.arrays)
    return state


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda values, arrays: values.update(ahead="x"), "ahead is 'x', wanted a list"),
        (lambda values, arrays: values.update(ahead=["{"]), "ahead: not a line of JSON"),
        (lambda values, arrays: values["order"].update(rng={}), "rng is no state of a PCG64 generator"),
        (lambda values, arrays: values["order"].update(windows_seed=1.5), "windows_seed is 1.5, wanted an int"),
        (lambda values, arrays: values["order"].pop("deck_0"), "deck_0 is None, wanted a dict"),
        (lambda values, arrays: arrays.update({"order/deck_0/order": np.array([999])}), "not those 24 of this run"),
        (lambda values, arrays: arrays.update({"order/deck_0/order": np.array([1, 1])}), "not those 24 of this run"),
        (lambda values, arrays: arrays.update({"order/deck_0/order": np.zeros((2, 2), int)}), "wanted one dimension"),
        (lambda values, arrays: arrays.pop("order/deck_0/order"), "array order is absent, wanted int64"),
    ],
)
def test_a_damaged_order_is_refused_in_one_sentence(change, sentence):
    sampler = MAKE["shuffled"](0)
    drawn(sampler, 3, np.random.default_rng(0))
    with pytest.raises(ValueError, match=sentence):
        MAKE["shuffled"](0).load_saved(order_of(sampler, change))


def test_a_sampler_of_ones_own_is_saved_if_it_says_how():
    class InOrder(TaskSampler):
        def __init__(self):
            super().__init__()
            self.next = 0

        def draw(self):
            self.next += 1
            return TASKS[self.next % len(TASKS)]

    class SavedInOrder(InOrder):
        def saved_order(self):
            return SavedState(values={"next": self.next})

        def load_saved_order(self, state):
            self.next = state.value("next", int)

    assert InOrder().saved() is None
    with pytest.raises(ValueError, match="InOrder has no load_saved_order"):
        InOrder().load_saved(SavedInOrder().saved())
    sampler, other = SavedInOrder(), SavedInOrder()
    drawn(sampler, 3, np.random.default_rng(0))
    other.load_saved(sampler.saved())
    assert drawn(other, 9, np.random.default_rng(0)) == drawn(sampler, 9, np.random.default_rng(0))
