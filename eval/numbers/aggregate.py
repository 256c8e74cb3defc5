"""What a handful of training seeds say together: aggregates of their scores, with intervals.

The `rliable` package computes the same aggregates; it is not used because it brings `arch`, pandas and seaborn for 40
lines of NumPy. Its definitions are kept: `tests/eval/numbers/test_aggregate.py` holds them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student_t
from scipy.stats import trim_mean

from eval.numbers.statistics import CONFIDENCE

# S training seeds, G groups of tasks, R resamples.
Statistic = Literal["iqm", "mean", "median"]
Resampling = Literal["within_groups", "whole_seeds"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number measured on a sample, with its 95 % interval."""

    value: float
    """NaN when nothing was measured."""
    low: float
    high: float


def bootstrap_over_seeds(
    score_SG: np.ndarray,
    statistic: Statistic = "iqm",
    *,
    seed: int,
    num_resamples: int = 10_000,
    resampling: Resampling = "whole_seeds",
) -> Estimate:
    """Return an aggregate over seeds and groups with its percentile bootstrap interval (Agarwal et al. 2021).

    Percentile intervals are too short for few seeds. Of simulated studies with 8 groups of normal scores, each score
    from a training of its own, they cover the truth in 83 % (3 seeds), 90 % (5), 93 % (10), 95 % (20). With one policy
    for all groups, half of whose variance is shared by them, "whole_seeds" covers 75 %, 85 %, 90 %, 91 %, and
    "within_groups" 51 % to 64 %. So for 3 seeds take `mean_over_seeds` of each seed's aggregate, which covers 95 %.

    Args:
        score_SG: float [S, G], the score of training seed s on group of tasks g.
        statistic: "iqm" over all S * G scores, "mean" over them, or "median" over groups of their mean over seeds.
        seed: of the resampling.
        num_resamples: how often the study is drawn again.
        resampling: "whole_seeds" draws rows: right when one trained policy plays all groups, as it does here, for a
            lucky seed is lucky in many groups. "within_groups" draws seeds anew in each group, as the paper and rliable
            do: right when each score comes from a training of its own.
    """
    score_SG = _scores(score_SG, "bootstrap_over_seeds")
    reduce = _reduction(statistic)
    if resampling not in ("within_groups", "whole_seeds"):
        raise ValueError(f"bootstrap_over_seeds: resampling is within_groups or whole_seeds, got {resampling!r}")
    rng = np.random.default_rng(seed)
    sample_R = np.concatenate(
        [
            reduce(_resample(score_SG, num_draws, rng, whole_seeds=resampling == "whole_seeds"))
            for num_draws in _chunks(num_resamples, score_SG.size)
        ]
    )
    low, high = _percentiles(sample_R)
    return Estimate(float(reduce(score_SG[None])[0]), low, high)


def mean_over_seeds(score_S: np.ndarray, *, bounds: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    """Return the mean over training seeds with Student's t interval, cut to what the score can be.

    The seed is the unit: it holds the spread between trainings, which the Wilson interval of one checkpoint does not.
    One seed has no spread: its interval is all of `bounds`.

    Args:
        score_S: float [S], one number a training: a rate, or a difference of rates with `bounds` (-1, 1).
        bounds: least and greatest possible score; (-inf, inf) for scores without any.
    """
    score_S = np.asarray(score_S, dtype=np.float64)
    _check_finite(score_S, "mean_over_seeds")
    if score_S.ndim != 1:
        raise ValueError(f"mean_over_seeds: wanted one score a seed, got an array of shape {score_S.shape}")
    if score_S.min() < bounds[0] or score_S.max() > bounds[1]:
        raise ValueError(
            f"mean_over_seeds: got scores {score_S.min():g} .. {score_S.max():g}, "
            f"wanted {bounds[0]:g} .. {bounds[1]:g}; pass the bounds of this score"
        )
    if score_S.size == 1:
        return Estimate(float(score_S[0]), *bounds)
    mean = float(score_S.mean())
    half = _t_quantile(score_S.size - 1) * float(score_S.std(ddof=1)) / math.sqrt(score_S.size)
    return Estimate(mean, max(bounds[0], mean - half), min(bounds[1], mean + half))


def probability_of_improvement(
    score_a_SG: np.ndarray, score_b_SG: np.ndarray, *, seed: int, num_resamples: int = 10_000
) -> Estimate:
    """Return how likely a training of A beats one of B on a random group, ties as half (Agarwal et al. 2021).

    The interval is a percentile bootstrap that draws whole seeds of A and of B; with 3 seeds a side it is too short.

    Args:
        score_a_SG: float [S, G].
        score_b_SG: float [S', G]: other seeds, the same groups.
        seed: of the resampling.
        num_resamples: how often the study is drawn again.
    """
    score_a_SG = _scores(score_a_SG, "probability_of_improvement")
    score_b_SG = _scores(score_b_SG, "probability_of_improvement")
    if score_a_SG.shape[1] != score_b_SG.shape[1]:
        raise ValueError(
            "probability_of_improvement: A and B need the same groups, "
            f"got {score_a_SG.shape[1]} and {score_b_SG.shape[1]}"
        )
    rng = np.random.default_rng(seed)
    sample_R = np.concatenate(
        [
            _win_rate(
                _resample(score_a_SG, num_draws, rng, whole_seeds=True),
                _resample(score_b_SG, num_draws, rng, whole_seeds=True),
            )
            for num_draws in _chunks(num_resamples, score_a_SG.size * score_b_SG.shape[0])
        ]
    )
    low, high = _percentiles(sample_R)
    return Estimate(float(_win_rate(score_a_SG[None], score_b_SG[None])[0]), low, high)


def _win_rate(score_a_RSG: np.ndarray, score_b_RSG: np.ndarray) -> np.ndarray:
    """Return the mean over groups of U / (S S'), Mann and Whitney's statistic as a share; float [R]."""
    margin_RSTG = score_a_RSG[:, :, None] - score_b_RSG[:, None]
    return (0.5 + 0.5 * np.sign(margin_RSTG)).mean(axis=(1, 2, 3))


def _reduction(statistic: Statistic) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from scores [R, S, G] to aggregates [R]."""
    if statistic == "iqm":
        return lambda score_RSG: np.asarray(trim_mean(score_RSG.reshape(len(score_RSG), -1), 0.25, axis=1))
    if statistic == "mean":
        return lambda score_RSG: score_RSG.mean(axis=(1, 2))
    if statistic == "median":
        return lambda score_RSG: np.median(score_RSG.mean(axis=1), axis=1)
    raise ValueError(f"bootstrap_over_seeds: statistic is iqm, mean or median, got {statistic!r}")


def _resample(score_SG: np.ndarray, num_draws: int, rng: np.random.Generator, *, whole_seeds: bool) -> np.ndarray:
    num_seeds, num_groups = score_SG.shape
    index_RSG = rng.integers(num_seeds, size=(num_draws, num_seeds, 1 if whole_seeds else num_groups))
    return score_SG[index_RSG, np.arange(num_groups)]


def _chunks(num_resamples: int, num_scores: int) -> list[int]:
    """Split the resamples so that each part holds some 4 million numbers, 32 MB."""
    if num_resamples < 1:
        raise ValueError(f"num_resamples must be at least 1, got {num_resamples}")
    size = max(1, 4_000_000 // num_scores)
    return [min(size, num_resamples - start) for start in range(0, num_resamples, size)]


def _percentiles(sample_R: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(sample_R, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2])
    return float(low), float(high)


def _t_quantile(freedom: float) -> float:
    return float(student_t.ppf(0.5 + CONFIDENCE / 2, freedom))


def _scores(score_SG: np.ndarray, where: str) -> np.ndarray:
    score_SG = np.asarray(score_SG, dtype=np.float64)
    if score_SG.ndim != 2:
        raise ValueError(f"{where}: wanted scores [seeds, groups], got an array of shape {score_SG.shape}")
    _check_finite(score_SG, where)
    return score_SG


def _check_finite(score: np.ndarray, where: str) -> None:
    if score.size == 0 or not np.isfinite(score).all():
        raise ValueError(f"{where}: needs at least one score and all of them finite; leave out what was not played")
