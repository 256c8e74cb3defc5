"""Score intervals of a weighted sum of strata's means, for outcomes of known range."""

import numpy as np
from scipy.stats import norm

from eval.numbers.statistics import CONFIDENCE

# K strata, J values that an outcome can take; axes before them are problems of their own.
_MAX_SECANTS = 100
_MAX_NEWTON_STEPS = 60


def score_interval(
    count_KJ: np.ndarray, value_KJ: np.ndarray, weight_K: np.ndarray, *, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of sum_k weight_k * mean_k, where each stratum is a multinomial sample.

    It holds every total that the score test does not reject, with the variance at the likeliest probabilities that
    have this total. So it never leaves the possible range, has a length at 0 and 1, and holds its coverage there. One
    stratum of hits and misses gives Wilson (1927); one stratum of paired outcomes +1, 0, -1 gives Tango (1998, Stat.
    Med. 17:891); several strata of hits give Martin Andres et al. (2011, Stat. Methods Med. Res. 20:369).

    The likeliest probabilities at multiplier L of the constraint are p_j = f_j / (1 + a (v_j - m)), a = L weight / n,
    m their mean; then estimate - total = L V with V the variance at p, and the limit solves L^2 V = z^2, whose left
    side grows with L.

    Args:
        count_KJ: [..., K, J], how often each value occurred; no stratum is empty.
        value_KJ: [..., K, J] or what broadcasts to it. Each stratum's least and greatest value must be its range, with
            a count of 0 where they did not occur.
        weight_K: [..., K] or what broadcasts to it, above 0.
        confidence: of the two-sided interval.

    Returns:
        Lower and upper end, float [...].
    """
    count_KJ = np.asarray(count_KJ, dtype=np.float64)
    size_K = count_KJ.sum(axis=-1)
    if (size_K <= 0).any():
        raise ValueError("score_interval: a stratum has no outcomes; leave it out")
    share_KJ = count_KJ / size_K[..., None]
    value_KJ = np.broadcast_to(np.asarray(value_KJ, dtype=np.float64), share_KJ.shape)
    weight_K = np.broadcast_to(np.asarray(weight_K, dtype=np.float64), size_K.shape)
    # Likely probabilities of K strata with one constraint fit K - 1 numbers too well, which makes their variance too
    # small: Miettinen and Nurminen's N / (N - 1) for two strata (1985, Stat. Med. 4:213), continued to K.
    num_fitted = 1.0 - 1.0 / size_K.shape[-1]
    weight_squared_K = weight_K**2
    correction = (weight_squared_K / (size_K - num_fitted)).sum(axis=-1) / (weight_squared_K / size_K).sum(axis=-1)
    goal = correction * float(norm.ppf(0.5 + confidence / 2)) ** 2
    low = _lower_limit(share_KJ, value_KJ, size_K, weight_K, goal)
    high = -_lower_limit(share_KJ, -value_KJ, size_K, weight_K, goal)
    return low, high


def _lower_limit(
    share_KJ: np.ndarray, value_KJ: np.ndarray, size_K: np.ndarray, weight_K: np.ndarray, goal: np.ndarray
) -> np.ndarray:
    """Return the total where L (estimate - total) = goal, by regula falsi (Illinois) on L."""
    estimate = (weight_K * (share_KJ * value_KJ).sum(axis=-1)).sum(axis=-1)
    least = (weight_K * value_KJ.min(axis=-1)).sum(axis=-1)
    # Where only the least value occurred, it is the limit.
    has_room = (share_KJ * (value_KJ > value_KJ.min(axis=-1, keepdims=True))).any(axis=(-2, -1))

    def miss(multiplier: np.ndarray) -> np.ndarray:
        return multiplier * (estimate - _constrained_total(multiplier, share_KJ, value_KJ, size_K, weight_K)) - goal

    # The total is possible, so L is at least goal / room.
    low = goal / np.where(has_room, estimate - least, 1.0)
    high = 4.0 * low
    miss_low, miss_high = miss(low), miss(high)
    while (is_short := has_room & (miss_high < 0)).any():
        low, miss_low = np.where(is_short, high, low), np.where(is_short, miss_high, miss_low)
        high = np.where(is_short, 4.0 * high, high)
        miss_high = miss(high)
    multiplier, last_side = high, np.zeros_like(high)
    for _ in range(_MAX_SECANTS):
        share_of_gap = np.divide(miss_low, miss_low - miss_high, out=np.zeros_like(low), where=has_room)
        multiplier = low + share_of_gap * (high - low)
        miss_now = miss(multiplier)
        if (np.abs(miss_now[has_room]) <= 1e-12 * goal[has_room]).all():
            break
        side = np.sign(miss_now)
        # An end that stays twice counts half, else one end would never move.
        share = np.where(side == last_side, 0.5, 1.0)
        is_low = side < 0
        low, high = np.where(is_low, multiplier, low), np.where(is_low, high, multiplier)
        miss_low, miss_high = (
            np.where(is_low, miss_now, miss_low * share),
            np.where(is_low, miss_high * share, miss_now),
        )
        last_side = side
    limit = _constrained_total(multiplier, share_KJ, value_KJ, size_K, weight_K)
    return np.where(has_room, limit, least)


def _constrained_total(
    multiplier: np.ndarray, share_KJ: np.ndarray, value_KJ: np.ndarray, size_K: np.ndarray, weight_K: np.ndarray
) -> np.ndarray:
    """Return the weighted sum of means at the likeliest probabilities for a multiplier above 0."""
    slope_K = multiplier[..., None] * weight_K / size_K
    lowest_K = value_KJ.min(axis=-1)
    share_of_lowest_K = np.where(value_KJ == lowest_K[..., None], share_KJ, 0.0).sum(axis=-1)
    # Above the root, or on it where the lowest value did not occur but is likely: Newton's way down a convex function.
    start_K = np.minimum((share_KJ * value_KJ).sum(axis=-1), lowest_K + (1.0 - share_of_lowest_K) / slope_K)
    mean_K = start_K
    for _ in range(_MAX_NEWTON_STEPS):
        tilt_KJ = 1.0 + slope_K[..., None] * (value_KJ - mean_K[..., None])
        probability_KJ = np.divide(share_KJ, tilt_KJ, out=np.zeros_like(share_KJ), where=share_KJ > 0)
        excess_K = probability_KJ.sum(axis=-1) - 1.0
        growth_K = slope_K * np.divide(probability_KJ, tilt_KJ, out=np.zeros_like(share_KJ), where=share_KJ > 0).sum(-1)
        next_K = np.clip(mean_K - excess_K / growth_K, lowest_K, start_K)
        is_done = np.abs(next_K - mean_K).max() < 1e-14
        mean_K = next_K
        if is_done:
            break
    return (weight_K * mean_K).sum(axis=-1)
