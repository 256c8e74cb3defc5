import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, mannwhitneyu, ttest_1samp

from eval.numbers.aggregate import (
    _chunks,
    bootstrap_over_seeds,
    mean_over_seeds,
    probability_of_improvement,
)


def _scores(num_seeds: int = 5, num_groups: int = 8) -> np.ndarray:
    return np.random.default_rng(4).random((num_seeds, num_groups))


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("iqm", lambda x: np.sort(x.ravel())[10:30].mean()),
        ("mean", np.mean),
        ("median", lambda x: np.median(x.mean(0))),
    ],
)
def test_the_aggregate_is_its_definition(statistic, expected):
    score_SG = _scores()
    assert bootstrap_over_seeds(score_SG, statistic, seed=0, num_resamples=10).value == pytest.approx(
        expected(score_SG)
    )


def test_resampling_within_groups_agrees_with_the_stratified_bootstrap_of_scipy():
    score_SG = _scores()
    ours = bootstrap_over_seeds(score_SG, "mean", seed=0, resampling="within_groups")
    theirs = bootstrap(
        tuple(score_SG.T),
        lambda *columns, axis: np.mean([column.mean(axis=axis) for column in columns], axis=0),
        n_resamples=10_000,
        method="percentile",
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_resampling_whole_seeds_agrees_with_the_bootstrap_of_the_seeds_means():
    score_SG = _scores()
    ours = bootstrap_over_seeds(score_SG, "mean", seed=0)
    theirs = bootstrap((score_SG.mean(axis=1),), np.mean, n_resamples=10_000, method="percentile").confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_resamples_that_fill_several_parts_are_all_drawn():
    assert _chunks(10_000, 1_000) == [4_000, 4_000, 2_000]


def test_the_same_seed_gives_the_same_interval():
    assert bootstrap_over_seeds(_scores(), seed=3) == bootstrap_over_seeds(_scores(), seed=3)


def test_mean_over_seeds_is_the_t_interval_of_scipy():
    score_S = np.array([0.52, 0.61, 0.55])
    theirs = ttest_1samp(score_S, 0).confidence_interval()
    ours = mean_over_seeds(score_S)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_one_seed_says_nothing_about_the_spread():
    estimate = mean_over_seeds(np.array([0.4]))
    assert (estimate.low, estimate.high) == (0.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_mean_over_seeds_stays_in_its_bounds_around_its_value(score_S):
    estimate = mean_over_seeds(np.array(score_S))
    assert 0 <= estimate.low <= estimate.value + 1e-12
    assert estimate.value - 1e-12 <= estimate.high <= 1


def test_probability_of_improvement_is_mann_whitneys_u_as_a_share():
    a_SG, b_SG = _scores(4), _scores(6) - 0.1
    expected = np.mean([mannwhitneyu(a_SG[:, g], b_SG[:, g]).statistic / 24 for g in range(8)])
    assert probability_of_improvement(a_SG, b_SG, seed=0, num_resamples=10).value == pytest.approx(expected)


def test_a_lucky_seed_is_lucky_in_all_groups_on_either_side_of_an_improvement():
    all_or_nothing_SG = np.repeat([[0.0], [1.0]], 40, axis=1)
    halves_SG = np.full((2, 40), 0.5)
    for sides in ((all_or_nothing_SG, halves_SG), (halves_SG, all_or_nothing_SG)):
        estimate = probability_of_improvement(*sides, seed=0, num_resamples=200)
        assert (estimate.low, estimate.value, estimate.high) == (0.0, 0.5, 1.0)


def test_agents_that_always_tie_improve_with_probability_one_half():
    ones_SG = np.ones((3, 2))
    estimate = probability_of_improvement(ones_SG, ones_SG, seed=0, num_resamples=50)
    assert (estimate.low, estimate.value, estimate.high) == (0.5, 0.5, 0.5)


def test_scores_that_are_missing_are_refused():
    with pytest.raises(ValueError, match="finite"):
        bootstrap_over_seeds(np.array([[0.5, np.nan]]), seed=0)


def test_scores_outside_their_bounds_are_refused():
    with pytest.raises(ValueError, match="pass the bounds"):
        mean_over_seeds(np.array([-0.2, 0.1]))
