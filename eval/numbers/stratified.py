"""Means over strata of tasks, each stratum with the same weight."""

from collections.abc import Mapping

import numpy as np

from eval.numbers.aggregate import Estimate
from eval.numbers.score_interval import score_interval
from eval.numbers.statistics import PairedComparison

# K strata, J values of an outcome.


def stratified_rate(counts: Mapping[str, tuple[int, int]]) -> Estimate:
    """Return the mean of the strata's success rates with its score interval, NaN and (0, 1) without strata.

    Args:
        counts: (number of successes, number of trials) a stratum. A stratum without trials raises ValueError: a mean
            over fewer strata is another number, and the caller must say so.
    """
    for stratum, (num_success, num_trials) in counts.items():
        if not 0 <= num_success <= num_trials:
            raise ValueError(
                f"stratified_rate: stratum {stratum!r} has {num_success} successes in {num_trials} trials; "
                "wanted 0 <= successes <= trials"
            )
    table = {stratum: (num_success, num_trials - num_success) for stratum, (num_success, num_trials) in counts.items()}
    return _stratified(table, (1.0, 0.0))


def stratified_difference(comparisons: Mapping[str, PairedComparison]) -> Estimate:
    """Return the mean over strata of A's success rate minus B's on the same tasks, with its score interval."""
    table = {
        stratum: (paired.num_only_a, paired.num_both + paired.num_neither, paired.num_only_b)
        for stratum, paired in comparisons.items()
    }
    return _stratified(table, (1.0, 0.0, -1.0))


def _stratified(counts: Mapping[str, tuple[int, ...]], values: tuple[float, ...]) -> Estimate:
    if not counts:
        return Estimate(float("nan"), min(values), max(values))
    for stratum, count_J in counts.items():
        if sum(count_J) == 0:
            raise ValueError(f"stratum {stratum!r} has no episodes; leave it out and say so")
    count_KJ = np.array(list(counts.values()), dtype=np.float64)
    value_J = np.array(values)
    mean_K = (count_KJ * value_J).sum(axis=1) / count_KJ.sum(axis=1)
    # Weights of 1, divided afterwards: shares of 1 / K would not add up to 1 exactly.
    low, high = score_interval(count_KJ, value_J, np.ones_like(mean_K))
    return Estimate(float(mean_K.mean()), float(low) / len(mean_K), float(high) / len(mean_K))
