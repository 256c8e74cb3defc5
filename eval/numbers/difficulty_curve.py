"""How success falls with difficulty: a logistic curve with its band."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2, norm

from eval.numbers.aggregate import Estimate
from eval.numbers.statistics import CONFIDENCE, wilson_interval

# N episodes, G points of the curve.
_NUM_BINS = 8
_MAX_STEPS = 200
_MAX_STARTS = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class RateBin:
    """Episodes of similar difficulty, counted: what the curve must agree with."""

    x_low: float
    x_high: float
    x_mean: float
    num_success: int
    num_episodes: int
    rate: Estimate  # with Wilson's interval


@dataclass(frozen=True, kw_only=True, slots=True)
class DifficultyCurve:
    """Success as a logistic function of one measure of difficulty."""

    x_grid_G: np.ndarray  # float64 [G], in the unit of the measure
    rate_G: np.ndarray  # float64 [G], fitted success rate, 0 .. 1
    low_G: np.ndarray  # float64 [G], lower end of the pointwise 95 % band
    high_G: np.ndarray
    intercept: float
    """Log-odds of success at x = 0."""
    slope: Estimate
    """Change of the log-odds per unit of x, with its profile likelihood interval."""
    p_value: float
    """Penalised likelihood-ratio test of "success does not depend on x"."""
    bins: tuple[RateBin, ...]
    num_episodes: int


def fit_difficulty_curve(
    x_N: np.ndarray, success_N: np.ndarray, x_grid_G: np.ndarray, *, num_bins: int = _NUM_BINS
) -> DifficultyCurve:
    """Fit success against difficulty by Firth's logistic regression (1993, Biometrika 80:27).

    The penalty keeps the slope finite where failures and successes do not overlap and takes out the bias of order
    1/N; interval and test of the slope are by profile likelihood (Heinze and Schemper 2002, Stat. Med. 21:2409). The
    band is the delta method's on the log-odds scale, so it stays inside 0 .. 1.

    Args:
        x_N: float [N], the measure of difficulty; needs two different values.
        success_N: bool [N].
        x_grid_G: float [G], where the curve is wanted.
        num_bins: bins of about equal number of episodes; fewer where values repeat.
    """
    x_N, success_N = np.asarray(x_N, dtype=np.float64), np.asarray(success_N, dtype=bool)
    if x_N.ndim != 1 or x_N.shape != success_N.shape:
        raise ValueError(f"fit_difficulty_curve: wanted two arrays [N], got {x_N.shape} and {success_N.shape}")
    if not np.isfinite(x_N).all() or x_N.size == 0 or x_N.min() == x_N.max():
        raise ValueError("fit_difficulty_curve: x needs two different values, all finite; leave the curve out")
    # Equal x is one binomial count: the fit costs by distinct values, and centred x makes its steps well behaved.
    value_U, inverse_N = np.unique(x_N, return_inverse=True)
    center, scale = float(x_N.mean()), float(x_N.std())
    trials_U = np.bincount(inverse_N).astype(np.float64)
    counts = _Counts((value_U - center) / scale, np.bincount(inverse_N, weights=success_N), trials_U)
    intercept, slope = _fit(counts)
    best = _penalised_log_likelihood(counts, intercept, slope)

    def deviance(other_slope: float) -> float:
        return 2 * (best - _penalised_log_likelihood(counts, _fit_intercept(counts, other_slope), other_slope))

    covariance = _information(counts, intercept, slope).covariance
    low, high = _profile_interval(deviance, slope, math.sqrt(covariance[1, 1]))
    x_grid_G = np.asarray(x_grid_G, dtype=np.float64)
    design_G2 = np.stack([np.ones_like(x_grid_G), (x_grid_G - center) / scale], axis=1)
    logit_G = design_G2 @ np.array([intercept, slope])
    half_G = norm.ppf(0.5 + CONFIDENCE / 2) * np.sqrt(np.einsum("gi,ij,gj->g", design_G2, covariance, design_G2))
    return DifficultyCurve(
        x_grid_G=x_grid_G,
        rate_G=expit(logit_G),
        low_G=expit(logit_G - half_G),
        high_G=expit(logit_G + half_G),
        intercept=intercept - slope * center / scale,
        slope=Estimate(slope / scale, low / scale, high / scale),
        p_value=float(chi2.sf(max(0.0, deviance(0.0)), 1)),
        bins=_bins(x_N, success_N, num_bins),
        num_episodes=x_N.size,
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    """The episodes, counted by difficulty."""

    x_U: np.ndarray  # float64 [U], distinct and standardised
    success_U: np.ndarray  # float64 [U]
    trials_U: np.ndarray  # float64 [U]


@dataclass(frozen=True, slots=True)
class _Information:
    """Fisher's information of (intercept, slope), in numbers that keep their digits where it is nearly singular."""

    weight: float
    """Sum of the weights; 0 where every rate is 0 or 1 in floating point."""
    mean: float
    """Weighted mean of x."""
    spread: float
    """Sum of the weighted squares of x around it."""

    @property
    def determinant(self) -> float:
        """Return that of the matrix, never below 0."""
        return self.weight * self.spread

    @property
    def covariance(self) -> np.ndarray:
        """Return the inverse of the matrix, float64 [2, 2]; the determinant must not be 0."""
        off = -self.mean / self.spread
        return np.array([[1 / self.weight - off * self.mean, off], [off, 1 / self.spread]])


def _information(counts: _Counts, intercept: float, slope: float) -> _Information:
    rate_U = expit(intercept + slope * counts.x_U)
    weight_U = counts.trials_U * rate_U * (1 - rate_U)
    weight = float(weight_U.sum())
    mean = float(weight_U @ counts.x_U) / weight if weight > 0 else 0.0
    return _Information(weight, mean, float(weight_U @ (counts.x_U - mean) ** 2))


def _penalised_log_likelihood(counts: _Counts, intercept: float, slope: float) -> float:
    logit_U = intercept + slope * counts.x_U
    log_likelihood = counts.success_U @ logit_U - counts.trials_U @ np.logaddexp(0.0, logit_U)
    determinant = _information(counts, intercept, slope).determinant
    return float(log_likelihood) + 0.5 * math.log(determinant) if determinant > 0 else -math.inf


def _modified_score(counts: _Counts, intercept: float, slope: float, covariance: np.ndarray) -> np.ndarray:
    """Return the gradient of the penalised log-likelihood, float64 [2] (Firth 1993)."""
    rate_U = expit(intercept + slope * counts.x_U)
    quadratic_U = covariance[0, 0] + 2 * covariance[0, 1] * counts.x_U + covariance[1, 1] * counts.x_U**2
    leverage_U = counts.trials_U * rate_U * (1 - rate_U) * quadratic_U
    residual_U = counts.success_U - counts.trials_U * rate_U + leverage_U * (0.5 - rate_U)
    return np.array([residual_U.sum(), residual_U @ counts.x_U])


def _fit(counts: _Counts) -> tuple[float, float]:
    """Return the intercept and slope that maximise the penalised likelihood."""
    rate = (counts.success_U.sum() + 0.5) / (counts.trials_U.sum() + 1)
    intercept, slope = math.log(rate / (1 - rate)), 0.0
    return _ascend(counts, intercept, slope, is_slope_free=True)


def _fit_intercept(counts: _Counts, slope: float) -> float:
    """Return the intercept that maximises the penalised likelihood at a given slope."""
    # Centred x: the mean log-odds hardly moves with a gentle slope. A steep one, which separates successes from
    # failures, leaves no information there; it changes sides between two episodes.
    rate = (counts.success_U.sum() + 0.5) / (counts.trials_U.sum() + 1)
    between = ((counts.x_U[:-1] + counts.x_U[1:]) / 2)[:: 1 + len(counts.x_U) // _MAX_STARTS]
    start = max(
        [math.log(rate / (1 - rate)), *(-slope * between)],
        key=lambda intercept: _penalised_log_likelihood(counts, intercept, slope),
    )
    if math.isinf(_penalised_log_likelihood(counts, start, slope)):
        return float(start)  # so steep that every rate is 0 or 1 in floating point
    return _ascend(counts, float(start), slope, is_slope_free=False)[0]


def _ascend(counts: _Counts, intercept: float, slope: float, *, is_slope_free: bool) -> tuple[float, float]:
    """Climb the penalised likelihood by Fisher scoring, halving steps that do not climb."""
    height = _penalised_log_likelihood(counts, intercept, slope)
    for _ in range(_MAX_STEPS):
        information = _information(counts, intercept, slope)
        if information.determinant == 0:
            return intercept, slope  # so steep that nothing is left of it in floating point
        covariance = information.covariance
        score = _modified_score(counts, intercept, slope, covariance)
        step = covariance @ score if is_slope_free else np.array([score[0] / information.weight, 0.0])
        # Far from the top the information is nearly 0 and a full step would leave the numbers' range.
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-7:
            return intercept, slope
        for _ in range(30):
            new_height = _penalised_log_likelihood(counts, intercept + step[0], slope + step[1])
            # Near the top the height is flat to rounding: a step that seems to lose that little is a good one.
            if new_height >= height - 1e-12 * (1.0 + abs(height)):
                break
            step /= 2
        else:
            return intercept, slope  # No step climbs any more: the top, up to rounding.
        intercept, slope, height = intercept + float(step[0]), slope + float(step[1]), new_height
    return intercept, slope


def _profile_interval(deviance: Callable[[float], float], slope: float, error: float) -> tuple[float, float]:
    """Return the slopes on either side that the likelihood-ratio test just keeps."""
    limit = float(chi2.ppf(CONFIDENCE, 1))
    ends = []
    for direction in (-1.0, 1.0):
        reach = 2 * error
        while deviance(slope + direction * reach) < limit:
            reach *= 2
        ends.append(
            slope + direction * brentq(lambda r, d=direction: deviance(slope + d * r) - limit, 0.0, reach, xtol=1e-7)
        )
    return ends[0], ends[1]


def _bins(x_N: np.ndarray, success_N: np.ndarray, num_bins: int) -> tuple[RateBin, ...]:
    """Count episodes in bins of about equal size; few distinct values are bins of their own."""
    value_U = np.unique(x_N)
    if len(value_U) > num_bins:
        edges = np.unique(np.quantile(x_N, np.linspace(0, 1, num_bins + 1)))
        index_N = np.clip(np.searchsorted(edges, x_N, side="right") - 1, 0, len(edges) - 2)
    else:
        index_N = np.searchsorted(value_U, x_N)
    bins = []
    for index in np.unique(index_N):
        x_M, num_success = x_N[index_N == index], int(success_N[index_N == index].sum())
        bins.append(
            RateBin(
                x_low=float(x_M.min()),
                x_high=float(x_M.max()),
                x_mean=float(x_M.mean()),
                num_success=num_success,
                num_episodes=len(x_M),
                rate=Estimate(num_success / len(x_M), *wilson_interval(num_success, len(x_M))),
            )
        )
    return tuple(bins)
