"""How often each 95 % interval holds the truth: nominal in the middle, and the true number at the corners."""

import numpy as np
import pytest
from scipy.stats import binom

from eval.numbers.aggregate import mean_over_seeds
from eval.numbers.score_interval import score_interval
from eval.numbers.statistics import paired_difference_interval, wilson_interval

# K strata of n tasks each; R simulated studies.
_HIT_MISS = np.array([1.0, 0.0])
_PAIRED = np.array([1.0, 0.0, -1.0])


def _wilson_coverage(num_trials: int, rate: float) -> float:
    """Return the exact coverage, by summing over all numbers of successes."""
    holds = [low <= rate <= high for low, high in (wilson_interval(x, num_trials) for x in range(num_trials + 1))]
    return float(binom.pmf(np.arange(num_trials + 1), num_trials, rate) @ np.array(holds))


def _rate_coverage(rate_K: np.ndarray, num_tasks: int, num_studies: int) -> float:
    hit_RK = np.random.default_rng(1).binomial(num_tasks, rate_K, size=(num_studies, len(rate_K)))
    count_RKJ = np.stack([hit_RK, num_tasks - hit_RK], axis=-1)
    low_R, high_R = score_interval(count_RKJ, _HIT_MISS, np.full(len(rate_K), 1 / len(rate_K)))
    return float(((low_R <= rate_K.mean()) & (rate_K.mean() <= high_R)).mean())


def _difference_coverage(share_J: list[float], num_strata: int, num_tasks: int, num_studies: int) -> float:
    count_RKJ = np.random.default_rng(2).multinomial(num_tasks, share_J, size=(num_studies, num_strata))
    low_R, high_R = score_interval(count_RKJ, _PAIRED, np.full(num_strata, 1 / num_strata))
    truth = share_J[0] - share_J[2]
    return float(((low_R <= truth) & (truth <= high_R)).mean())


def test_wilson_covers_94_to_96_percent_on_average_over_rates():
    coverage = [_wilson_coverage(143, rate) for rate in np.linspace(0.05, 0.95, 91)]
    assert 0.94 <= np.mean(coverage) <= 0.96
    assert min(coverage) > 0.92


def test_wilson_dips_to_84_percent_just_below_its_limit_for_one_success():
    # The known corner (Brown, Cai and DasGupta 2001): the lower end at one success is 0.18 expected successes, so a
    # rate just below it is missed whenever anything succeeds, in 1 - e^-0.18 of studies.
    assert 0.83 <= min(_wilson_coverage(143, share / 143) for share in np.linspace(0.15, 0.2, 26)) <= 0.86


def test_newcombes_paired_interval_covers_94_to_96_percent():
    share = [0.45, 0.25, 0.10, 0.20]
    tables, counts = np.unique(np.random.default_rng(3).multinomial(200, share, size=8000), axis=0, return_counts=True)
    holds = [low <= 0.15 <= high for low, high in (paired_difference_interval(*map(int, t)) for t in tables)]
    assert 0.94 <= counts @ np.array(holds) / 8000 <= 0.96


@pytest.mark.parametrize(
    ("rate_K", "num_tasks"),
    [(np.linspace(0.02, 0.98, 7), 143), (np.full(7, 0.95), 36), (np.array([0.1, 0.3, 0.5, 0.7, 0.9]), 20)],
)
def test_the_stratified_rate_covers_about_95_percent(rate_K, num_tasks):
    # 2,000 studies: a standard error of half a point.
    assert 0.935 <= _rate_coverage(rate_K, num_tasks, 2000) <= 0.965


def test_the_stratified_difference_covers_about_95_percent():
    assert 0.935 <= _difference_coverage([0.10, 0.85, 0.05], 7, 143, 1000) <= 0.965


def test_strata_with_hardly_any_success_cover_less_as_wilson_does():
    # One success is expected in 1,000 tasks: 92 % of such studies.
    assert 0.90 <= _rate_coverage(np.full(5, 0.001), 200, 2000) <= 0.94


def test_the_mean_over_three_seeds_covers_95_percent():
    score_RS = np.random.default_rng(4).normal(0.5, 0.05, size=(2000, 3))
    covered = [e.low <= 0.5 <= e.high for e in map(mean_over_seeds, score_RS)]
    assert 0.935 <= np.mean(covered) <= 0.965


@pytest.mark.slow
@pytest.mark.parametrize("num_strata", [1, 7, 28])
def test_coverage_stays_at_94_to_96_percent_with_many_studies(num_strata):
    assert 0.94 <= _rate_coverage(np.linspace(0.1, 0.9, num_strata + 2)[1:-1], 143, 12_000) <= 0.96
    assert 0.94 <= _difference_coverage([0.10, 0.85, 0.05], num_strata, 143, 6000) <= 0.96
