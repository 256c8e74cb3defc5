import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.stats import binomtest

from eval.numbers.score_interval import score_interval
from eval.numbers.statistics import PairedComparison, compare_paired
from eval.numbers.stratified import stratified_difference, stratified_rate


def _paired(both: int, only_a: int, only_b: int, neither: int) -> PairedComparison:
    a = [True] * both + [True] * only_a + [False] * only_b + [False] * neither
    b = [True] * both + [False] * only_a + [True] * only_b + [False] * neither
    return compare_paired(a, b)


@pytest.mark.parametrize(("num_success", "num_trials"), [(0, 20), (1, 29), (81, 263), (999, 1000), (20, 20), (1, 1)])
def test_one_stratum_is_the_wilson_interval_of_scipy(num_success, num_trials):
    theirs = binomtest(num_success, num_trials).proportion_ci(method="wilson")
    ours = stratified_rate({"all": (num_success, num_trials)})
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def _tango_quartic(num_pairs: int, only_a: int, only_b: int) -> list[float]:
    """Return the limits by the polynomial of Yang, Sun and Hardin (2013, Stat. Med. 32:1336)."""
    g, n, d, s = 1.959963984540054**2, num_pairs, only_a - only_b, only_a + only_b
    polynomial = [
        n**2 * (n / g + 1) ** 2,
        -n * d * (n / g + 1) * (4 * n / g + 1),
        2 * n * d**2 * (3 * n / g + 2) / g - n**2 * (s / g + 1),
        n * d * (2 * s / g + 1) - d**3 * (4 * n / g + 1) / g,
        d**2 * (d**2 / g - s) / g,
    ]
    roots = np.roots(polynomial)
    return sorted(roots[np.abs(roots.imag) < 1e-7].real)


@pytest.mark.parametrize("table", [(36, 12, 2, 0), (43, 0, 1, 0), (1, 1, 7, 12), (16, 5, 12, 34), (400, 90, 60, 450)])
def test_one_paired_stratum_is_the_published_closed_form_of_tangos_interval(table):
    ours = stratified_difference({"all": _paired(*table)})
    theirs = _tango_quartic(sum(table), table[1], table[2])
    assert ours.low == pytest.approx(theirs[0], abs=1e-8)
    assert ours.high == pytest.approx(theirs[-1], abs=1e-8)


def test_one_paired_stratum_matches_the_published_example():
    # Fagerland, Lydersen and Laake 2014, Stat. Med. 33:2850: airway hyper-responsiveness, Tango's interval.
    ours = stratified_difference({"all": _paired(1, 1, 7, 12)})
    assert (ours.low, ours.high) == pytest.approx((-0.517, -0.026), abs=5e-4)


def test_the_limit_is_where_a_brute_force_score_test_just_rejects():
    success_K, size_K, weight_K = np.array([3, 17, 30]), np.array([12, 20, 31]), np.array([1 / 3] * 3)
    rate_K = success_K / size_K
    correction = (1 / (size_K - 2 / 3)).sum() / (1 / size_K).sum()

    def statistic(total: float) -> float:
        def loss(p_K: np.ndarray) -> float:
            return -float((success_K * np.log(p_K) + (size_K - success_K) * np.log1p(-p_K)).sum())

        fit = minimize(
            loss,
            np.full(3, total),
            method="SLSQP",
            bounds=[(1e-9, 1 - 1e-9)] * 3,
            constraints={"type": "eq", "fun": lambda p_K: weight_K @ p_K - total},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        variance = correction * (weight_K**2 * fit.x * (1 - fit.x) / size_K).sum()
        return float((rate_K.mean() - total) ** 2 / variance) - 1.959963984540054**2

    low, high = brentq(statistic, 0.3, rate_K.mean()), brentq(statistic, rate_K.mean(), 0.95)
    ours = stratified_rate({str(k): (int(success_K[k]), int(size_K[k])) for k in range(3)})
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-5)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).filter(any), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_failures_counted_as_successes_mirror_the_interval(table):
    rate = stratified_rate({str(k): (hit, hit + miss) for k, (hit, miss) in enumerate(table)})
    mirror = stratified_rate({str(k): (miss, hit + miss) for k, (hit, miss) in enumerate(table)})
    assert 0 <= rate.low <= rate.value + 1e-12
    assert rate.value - 1e-12 <= rate.high <= 1
    assert (rate.low, rate.high) == pytest.approx((1 - mirror.high, 1 - mirror.low), abs=1e-9)


@given(st.lists(st.tuples(*[st.integers(0, 30)] * 4).filter(any), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_swapping_the_agents_mirrors_the_difference(tables):
    forth = stratified_difference({str(k): _paired(*t) for k, t in enumerate(tables)})
    back = stratified_difference({str(k): _paired(t[0], t[2], t[1], t[3]) for k, t in enumerate(tables)})
    assert (forth.value, forth.low, forth.high) == pytest.approx((-back.value, -back.high, -back.low), abs=1e-9)
    assert -1 <= forth.low <= forth.value + 1e-12


def test_every_stratum_weighs_the_same_however_many_tasks_it_has():
    assert stratified_rate({"few": (0, 10), "many": (1000, 1000)}).value == 0.5


def test_strata_that_all_succeed_are_as_certain_as_their_tasks_together():
    ours = stratified_rate({str(k): (36, 36) for k in range(28)})
    pooled = binomtest(28 * 36, 28 * 36).proportion_ci(method="wilson")
    assert ours.high == 1.0
    assert pooled.low - 2e-4 < ours.low < pooled.low


def test_a_stratum_without_episodes_is_refused():
    with pytest.raises(ValueError, match="'archery, far' has no episodes"):
        stratified_rate({"archery, far": (0, 0), "approach, near": (3, 4)})


def test_many_problems_at_once_equal_one_at_a_time():
    count_RKJ = np.random.default_rng(0).multinomial(30, [0.2, 0.7, 0.1], size=(5, 3))
    value_J, weight_K = np.array([1.0, 0.0, -1.0]), np.full(3, 1 / 3)
    low_R, high_R = score_interval(count_RKJ, value_J, weight_K)
    for r in range(5):
        low, high = score_interval(count_RKJ[r], value_J, weight_K)
        assert (low_R[r], high_R[r]) == pytest.approx((float(low), float(high)), abs=1e-9)
