"""Duration weights as numbers, and the books they are made from."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.queue.rows import row_of
from mcrl.learning.duration import (
    MAX_WEIGHT,
    MEMORY_BATCHES,
    MIN_ACCEPTANCE,
    DurationWeighter,
    balancing_weights,
    effective_sample_size,
    inverse_acceptance,
    normalised,
)
from mcrl.work import WorkKind, goal_kinds, steps_of_kinds, work_kind
from tests.mcrl.fragments import make_fragment

MODES = ("linear", "ipw", "task_balanced")


def fragment_of(family, step_s, *, num_steps=4, num_invalid=0, env_index=0):
    is_valid_T = np.arange(num_steps) >= num_invalid
    return make_fragment(
        num_steps=num_steps,
        families=(family,),
        step_s_G=np.array([step_s], np.float32),
        is_valid_T=is_valid_T,
        env_index=env_index,
    )


def batches(num_fragments):
    """Return a strategy of batches: a family, seconds a step and faults for each fragment, and refused steps."""
    row = st.tuples(st.sampled_from(["a/x", "b/y", "c/z"]), st.floats(0.01, 100.0), st.integers(0, 3))
    refused = st.dictionaries(st.sampled_from(["a/x", "b/y", "d/w"]), st.integers(1, 50), max_size=3)
    return st.tuples(st.lists(row, min_size=num_fragments, max_size=num_fragments), refused)


def as_batch(rows, refused):
    fragments = [fragment_of(family, s, num_invalid=n, env_index=i) for i, (family, s, n) in enumerate(rows)]
    return fragments, {work_kind(family, 1.0): steps for family, steps in refused.items()}


@given(mode=st.sampled_from(MODES), stream=st.lists(batches(5), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_weights_are_positive_bounded_and_worth_between_one_step_and_all(mode, stream):
    weighter = DurationWeighter(mode)
    for rows, refused in stream:
        fragments, kinds = as_batch(rows, refused)
        weight_BT, metrics = weighter.weigh(fragments, kinds)
        assert weight_BT.shape == (5, 4)
        assert weight_BT.dtype == np.float32
        assert np.all((weight_BT >= 1 / MAX_WEIGHT - 1e-6) & (weight_BT <= MAX_WEIGHT + 1e-5))
        num_valid = sum(int(fragment.is_valid_T.sum()) for fragment in fragments)
        assert 0 < metrics["duration/effective_steps"] <= num_valid * (1 + 1e-6)
        assert 0 < metrics["duration/effective_share"] <= 1 + 1e-6
        assert all(0 <= metrics[name] <= 1 for name in metrics if name.startswith("acceptance/"))
        for share in ("step_share/", "weighted_share/"):
            assert sum(metrics[name] for name in metrics if name.startswith(share)) == pytest.approx(1, abs=1e-5)


@given(mode=st.sampled_from(MODES), batch=batches(6), order=st.permutations(range(6)))
@settings(max_examples=60, deadline=None)
def test_the_order_of_a_batch_does_not_matter(mode, batch, order):
    fragments, refused = as_batch(*batch)
    weight_BT, _ = DurationWeighter(mode).weigh(fragments, refused)
    shuffled_BT, _ = DurationWeighter(mode).weigh([fragments[row] for row in order], refused)
    np.testing.assert_allclose(shuffled_BT, weight_BT[list(order)], rtol=1e-5)


@given(raw=st.lists(st.floats(0.5, 2.0), min_size=1, max_size=30))
def test_weights_over_their_mean_have_mean_1_until_they_are_clipped(raw):
    weight_S = normalised(np.array(raw), float(np.mean(raw)))
    assert weight_S.mean() == pytest.approx(1)


@given(mode=st.sampled_from(MODES), seconds=st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_weights_of_a_first_batch_have_mean_1(mode, seconds):
    fragments = [fragment_of(f"a/{row % 2}", s) for row, s in enumerate(seconds)]
    weight_BT, _ = DurationWeighter(mode).weigh(fragments, {work_kind("a/0", 1.0): 3})
    assert weight_BT.mean() == pytest.approx(1, rel=1e-5)


def test_over_many_batches_the_mean_weight_is_1_whatever_each_batch_holds():
    rng, weighter, means = np.random.default_rng(0), DurationWeighter("linear"), []
    for _ in range(400):
        fragments = [fragment_of("a/x", float(s)) for s in rng.choice([1.0, 8.0], 4)]
        means.append(weighter.weigh(fragments, {})[0].mean())
    assert np.std(means) > 0.2
    assert np.mean(means[100:]) == pytest.approx(1, abs=0.05)


@given(weight=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=20), steps=st.integers(1, 9))
def test_effective_sample_size_is_all_steps_only_where_weights_are_equal(weight, steps):
    num_steps_S, weight_S = np.full(len(weight), steps), np.array(weight)
    size = effective_sample_size(weight_S, num_steps_S)
    assert 0 < size <= num_steps_S.sum() * (1 + 1e-9)
    assert effective_sample_size(np.full(len(weight), 3.0), num_steps_S) == pytest.approx(num_steps_S.sum())
    if max(weight) > 1.5 * min(weight):
        assert size < num_steps_S.sum()


def test_effective_sample_size_of_one_heavy_step():
    # (1 + 1 + 2)^2 / (1 + 1 + 4) by hand
    assert effective_sample_size(np.array([1.0, 2.0]), np.array([2, 1])) == pytest.approx(16 / 6)


def test_acceptance_is_inverted_with_a_floor_and_a_prior():
    weight_K = inverse_acceptance(np.array([1e6, 5e5, 0.0]), np.array([1e6, 1e6, 1e9]))
    np.testing.assert_allclose(weight_K, [1, 2, 1 / MIN_ACCEPTANCE], rtol=1e-3)
    # One refused step of a new kind proves nothing yet.
    few_K = inverse_acceptance(np.array([1e6, 0.0]), np.array([1e6, 1.0]))
    assert few_K[1] < 1.05


def test_a_kind_of_work_hardly_begun_counts_as_accepted_like_the_rest():
    few_K = inverse_acceptance(np.array([5e5, 0.0, 2.0]), np.array([1e6, 1.0, 2.0]))
    np.testing.assert_allclose(few_K, [2, 2, 2], rtol=0.1)


def test_families_are_balanced_by_what_arrived_and_not_by_what_was_begun():
    batch = [fragment_of("a/x", 1.0), fragment_of("b/y", 1.0)]
    weight_BT, _ = DurationWeighter("task_balanced").weigh(batch, {work_kind("b/y", 1.0): 400})
    np.testing.assert_allclose(weight_BT, 1, rtol=1e-6)


def test_the_mean_duration_is_that_of_the_last_hundred_batches_or_so():
    weighter = DurationWeighter("linear")
    for seconds in (1.0, 8.0):
        for _ in range(3 * MEMORY_BATCHES):
            weight_BT, _ = weighter.weigh([fragment_of("a/x", seconds)], {})
    np.testing.assert_allclose(weight_BT, 1, rtol=0.1)


def test_what_was_refused_long_ago_is_forgotten():
    weighter = DurationWeighter("ipw")
    weighter.weigh([fragment_of("a/x", 1.0)], {work_kind("a/x", 1.0): 400})
    assert weighter.acceptance()["a/x"] == pytest.approx(4 / 404)
    for _ in range(3 * MEMORY_BATCHES):
        weighter.weigh([fragment_of("a/x", 1.0)], {})
    # e^-3 of the 400 are left beside 100 batches of 4 steps.
    assert 0.93 < weighter.acceptance()["a/x"] < 0.97


def test_balancing_gives_every_family_seen_the_same_weighted_share():
    num_steps_F = np.array([900.0, 90.0, 0.0, 10.0])
    weight_F = balancing_weights(num_steps_F)
    np.testing.assert_allclose(weight_F * num_steps_F / num_steps_F.sum(), [1 / 3, 1 / 3, 0, 1 / 3])


def test_work_of_equal_duration_weighs_the_same_to_rounding():
    for mode in ("linear", "ipw"):
        weighter = DurationWeighter(mode)
        for _ in range(50):
            weight_BT, metrics = weighter.weigh([fragment_of("a/x", 0.0371), fragment_of("b/y", 0.0371)], {})
            np.testing.assert_allclose(weight_BT, 1, rtol=1e-6)
            assert metrics["duration/effective_share"] == pytest.approx(1)


@pytest.mark.parametrize("mode", MODES)
def test_a_batch_that_the_engine_failed_altogether_is_weighed_without_harm(mode):
    weighter = DurationWeighter(mode)
    weight_BT, metrics = weighter.weigh([fragment_of("a/x", 1.0, num_invalid=4)], {})
    assert np.all(np.isfinite(weight_BT))
    assert metrics == {"duration/refused_steps": 0.0}
    weight_BT, _ = weighter.weigh([fragment_of("a/x", 1.0)], {})
    assert np.all(np.isfinite(weight_BT) & (weight_BT > 0))


def test_a_clock_that_stands_still_times_nothing():
    weighter = DurationWeighter("linear")
    assert np.all(weighter.weigh([fragment_of("a/x", 0.0), fragment_of("b/y", 0.0)], {})[0] == 1)
    assert np.all(weighter.weigh([fragment_of("a/x", 0.0), fragment_of("b/y", 0.5)], {})[0] == 1)


def test_each_step_is_weighed_by_the_task_it_belongs_to():
    fragment = make_fragment(
        num_steps=4,
        goals=(None, None),
        task_ids=("a", "b"),
        families=("a/x", "b/y"),
        goal_index_T=np.array([0, 1, 1, 1]),
        step_s_G=np.array([1.0, 3.0], np.float32),
    )
    weight_BT, metrics = DurationWeighter("linear").weigh([fragment, fragment], {})
    np.testing.assert_allclose(weight_BT, np.tile(np.array([1, 3, 3, 3]) / 2.5, (2, 1)), rtol=1e-6)
    assert metrics["duration/step_s"] == pytest.approx(2.5)
    assert metrics["step_share/a/x"] == pytest.approx(0.25)
    assert metrics["weighted_share/a/x"] == pytest.approx(0.1)


# ------------------------------------------------------------------------------------------------- books and restarts


@pytest.mark.parametrize("mode", MODES)
def test_a_weighter_restored_from_json_goes_on_as_if_it_had_never_stopped(mode):
    rng = np.random.default_rng(0)
    stream = [
        [fragment_of(f"a/{rng.integers(3)}", float(rng.uniform(0.1, 5)), num_invalid=int(rng.integers(2)))]
        + [make_fragment(families=("b/untimed",))]
        for _ in range(8)
    ]
    refused = {work_kind("a/1", 0.2): 7, WorkKind("b/untimed", None): 2}
    straight = DurationWeighter(mode)
    expected = [straight.weigh(fragments, refused)[0] for fragments in stream]
    first, second = DurationWeighter(mode), DurationWeighter(mode)
    for fragments in stream[:4]:
        first.weigh(fragments, refused)
    second.restore(json.loads(json.dumps(first.numbers() | {"other": 1.0})), where=Path("checkpoint"))
    assert second.numbers() == first.numbers()
    for fragments, weight_BT in zip(stream[4:], expected[4:], strict=True):
        assert np.array_equal(second.weigh(fragments, refused)[0], weight_BT)


@pytest.mark.parametrize("name", ["duration/started/soon/a/x", "duration/accepted/"])
def test_books_that_name_no_duration_are_refused(name):
    with pytest.raises(ValueError, match=f"checkpoint: {name} in state.json names no duration; use another checkpoint"):
        DurationWeighter("ipw").restore({name: 1.0}, where=Path("checkpoint"))


def test_steps_of_a_fragment_are_counted_by_kind():
    fragment = make_fragment(
        num_steps=5,
        goals=(None, None, None),
        task_ids=("a", "b", "c"),
        families=("a/x", "b/y", "a/x"),
        goal_index_T=np.array([0, 0, 1, 2, 2]),
        step_s_G=np.array([0.3, 4.0, 0.4], np.float32),
    )
    assert goal_kinds(fragment) == [WorkKind("a/x", -2), WorkKind("b/y", 2), WorkKind("a/x", -2)]
    assert steps_of_kinds(fragment) == {WorkKind("a/x", -2): 4, WorkKind("b/y", 2): 1}


def make_flow():
    return Flow(FlowLimits(num_workers=1, envs_per_worker=1, fragments_per_batch=1, max_staleness=0), FlowStart())


def hand_in(flow):
    flow.finish(0, [fragment_of("a/x", 1.0)])


def test_dropped_work_is_told_once_and_duplicates_never():
    flow = make_flow()
    flow.try_start()
    hand_in(flow)
    assert len(flow.take(1)) == 1
    flow.queue.put([row_of(fragment_of("a/x", 1.0), None)])
    assert flow.take(1) == []
    assert flow.counts().dropped == {"duplicate": 1}
    assert flow.take_refused() == {}

    flow = make_flow()
    flow.try_start()
    hand_in(flow)
    flow.advance(1)
    assert flow.take(1) == []
    assert flow.take_refused() == {WorkKind("a/x", 0): 4}
    assert flow.take_refused() == {}


def test_what_dies_with_a_worker_counts_as_what_its_envs_did_last():
    flow = make_flow()
    flow.try_start()
    hand_in(flow)
    flow.take(1)
    flow.advance(1)
    flow.try_start()
    flow.lose(0)
    assert flow.take_refused() == {WorkKind("a/x", 0): 4}


def test_steps_that_the_engine_failed_are_begun_and_not_accepted():
    weighter = DurationWeighter("ipw")
    weighter.weigh([fragment_of("a/x", 1.0, num_invalid=2), fragment_of("b/y", 1.0)], {work_kind("b/y", 1.0): 12})
    assert weighter.acceptance() == {"a/x": 0.5, "b/y": 0.25}
