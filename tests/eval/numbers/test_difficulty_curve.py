import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from eval.numbers.difficulty_curve import DifficultyCurve, fit_difficulty_curve


def _planted(num_episodes: int, intercept: float, slope: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x_N = rng.uniform(5, 60, num_episodes)
    return x_N, rng.random(num_episodes) < expit(intercept + slope * x_N)


def test_the_fit_is_where_brute_force_finds_the_penalised_likelihood_highest():
    x_N, success_N = _planted(60, 2.0, -0.08, seed=1)
    x_N /= 10  # keeps the simplex well scaled

    def loss(b: np.ndarray) -> float:
        rate_N = expit(b[0] + b[1] * x_N)
        design_N2 = np.stack([np.ones_like(x_N), x_N], axis=1)
        penalty = 0.5 * np.linalg.slogdet(design_N2.T @ (design_N2 * (rate_N * (1 - rate_N))[:, None]))[1]
        return -float(np.log(np.where(success_N, rate_N, 1 - rate_N)).sum() + penalty)

    brute = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000})
    curve = fit_difficulty_curve(x_N, success_N, np.array([1.0]))
    assert (curve.intercept, curve.slope.value) == pytest.approx(tuple(brute.x), abs=1e-6)


def test_two_values_give_the_odds_ratio_with_half_an_episode_in_every_cell():
    # Firth 1993: for one two-valued x the penalised estimate is Haldane's, known in closed form.
    x_N = np.array([0.0] * 22 + [1.0] * 363)
    success_N = np.array([False] * 22 + [True] * 7 + [False] * 356)
    curve = fit_difficulty_curve(x_N, success_N, np.array([0.0]))
    assert curve.slope.value == pytest.approx(np.log(7.5 / 356.5) - np.log(0.5 / 22.5), abs=1e-7)


def _of_two_values(num_success: tuple[int, int], num_episodes: tuple[int, int]) -> DifficultyCurve:
    x_N = np.repeat([0.0, 1.0], num_episodes)
    success_N = np.concatenate([np.arange(n) < s for s, n in zip(num_success, num_episodes, strict=True)])
    return fit_difficulty_curve(x_N, success_N, np.array([0.0, 1.0]))


@pytest.mark.parametrize("num_success", [(30, 12), (40, 1), (3, 20)])
def test_two_values_give_bands_and_test_that_are_known_in_closed_form(num_success):
    s_2, n_2 = np.array(num_success), np.array([40, 25])
    curve = _of_two_values(num_success, (40, 25))
    p_2 = (s_2 + 0.5) / (n_2 + 1)
    half_2 = norm.ppf(0.975) / np.sqrt(n_2 * p_2 * (1 - p_2))
    np.testing.assert_allclose(curve.rate_G, p_2, rtol=1e-6)
    np.testing.assert_allclose(curve.low_G, expit(logit(p_2) - half_2), rtol=1e-5)
    np.testing.assert_allclose(curve.high_G, expit(logit(p_2) + half_2), rtol=1e-5)

    def penalised(rate_2: np.ndarray) -> float:
        information_2 = n_2 * rate_2 * (1 - rate_2)
        return float((s_2 * np.log(rate_2) + (n_2 - s_2) * np.log(1 - rate_2) + 0.5 * np.log(information_2)).sum())

    alike_2 = np.full(2, (s_2.sum() + 1) / (n_2.sum() + 2))
    assert curve.p_value == pytest.approx(chi2.sf(2 * (penalised(p_2) - penalised(alike_2)), 1), rel=1e-5)


def test_the_interval_of_the_slope_holds_0_just_where_the_test_keeps_it():
    curves = [_of_two_values((10, s), (20, 20)) for s in range(21)]
    keeps = [curve.p_value > 0.05 for curve in curves]
    assert [curve.slope.low < 0 < curve.slope.high for curve in curves] == keeps
    assert 3 < sum(keeps) < 18


@pytest.mark.slow
def test_a_planted_slope_is_recovered_and_covered():
    slopes = []
    num_covered = 0
    for seed in range(60):
        curve = fit_difficulty_curve(*_planted(300, 2.0, -0.08, seed), np.array([20.0]))
        slopes.append(curve.slope.value)
        num_covered += curve.slope.low <= -0.08 <= curve.slope.high
    assert np.mean(slopes) == pytest.approx(-0.08, abs=0.004)
    assert num_covered >= 52  # 95 % of 60 is 57, fewer than 52 happens once in 100 at 95 %


def test_separated_episodes_give_a_finite_curve_and_a_small_p():
    x_N = np.arange(20.0)
    curve = fit_difficulty_curve(x_N, x_N < 10, x_N)
    assert np.isfinite([curve.slope.low, curve.slope.value, curve.slope.high]).all()
    assert curve.slope.high < 0
    assert curve.p_value < 1e-3


@pytest.mark.parametrize("num_failures", [1, 2, 4, 8, 24, 40])
@pytest.mark.parametrize("power", [1, 4])
def test_episodes_that_one_measure_separates_steeply_give_a_finite_curve(num_failures, power):
    x_N = np.random.default_rng(num_failures).uniform(0.01, 1.0, 48) ** power
    success_N = x_N >= np.sort(x_N)[num_failures]
    curve = fit_difficulty_curve(x_N, success_N, np.linspace(x_N.min(), x_N.max(), 5))
    assert curve.slope.low < curve.slope.value < curve.slope.high < np.inf
    assert curve.slope.value > 0


def test_a_measure_with_a_few_values_far_from_all_others_gives_a_finite_curve():
    x_N = np.random.default_rng(0).exponential(1.0, 200) ** 4
    curve = fit_difficulty_curve(x_N, x_N >= np.sort(x_N)[50], np.linspace(x_N.min(), x_N.max(), 5))
    assert curve.slope.low < curve.slope.value < curve.slope.high < np.inf
    assert curve.p_value < 1e-9


def test_episodes_that_all_fail_show_no_slope():
    x_N = np.arange(20.0)
    curve = fit_difficulty_curve(x_N, np.zeros(20, dtype=bool), x_N)
    assert curve.slope.low < 0 < curve.slope.high
    assert curve.p_value > 0.9


def test_shifting_and_scaling_the_measure_leaves_the_curve_where_it_is():
    x_N, success_N = _planted(200, 1.0, -0.05, seed=2)
    grid_G = np.linspace(5, 60, 7)
    plain = fit_difficulty_curve(x_N, success_N, grid_G)
    moved = fit_difficulty_curve(1000 + 3 * x_N, success_N, 1000 + 3 * grid_G)
    np.testing.assert_allclose(moved.rate_G, plain.rate_G, atol=1e-8)
    np.testing.assert_allclose(moved.low_G, plain.low_G, atol=1e-8)
    assert moved.slope.value == pytest.approx(plain.slope.value / 3)
    assert moved.p_value == pytest.approx(plain.p_value, rel=1e-5)


def test_the_band_holds_the_curve_and_stays_between_0_and_1():
    curve = fit_difficulty_curve(*_planted(100, 2.0, -0.08, seed=3), np.linspace(-50, 200, 20))
    assert (curve.low_G >= 0).all()
    assert (curve.low_G <= curve.rate_G).all()
    assert (curve.rate_G <= curve.high_G).all()
    assert (curve.high_G <= 1).all()


@pytest.mark.parametrize("num_values", [3, 500])
def test_bins_hold_every_episode_once(num_values):
    rng = np.random.default_rng(5)
    x_N, success_N = rng.integers(num_values, size=400).astype(float), rng.random(400) < 0.4
    curve = fit_difficulty_curve(x_N, success_N, x_N[:1])
    assert sum(b.num_episodes for b in curve.bins) == 400
    assert sum(b.num_success for b in curve.bins) == success_N.sum()
    assert len(curve.bins) == min(num_values, 8)
    assert all(a.x_high < b.x_low for a, b in zip(curve.bins, curve.bins[1:], strict=False))


def test_a_measure_with_one_value_is_refused():
    with pytest.raises(ValueError, match="two different values"):
        fit_difficulty_curve(np.ones(5), np.ones(5, dtype=bool), np.ones(1))
