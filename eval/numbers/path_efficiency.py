"""How well an agent spends its way and its time."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import binom

from eval.numbers.aggregate import Estimate
from eval.numbers.score_interval import score_interval
from eval.numbers.statistics import CONFIDENCE

# N episodes.


def path_efficiency(success_N: np.ndarray, shortest_blocks_N: np.ndarray, walked_blocks_N: np.ndarray) -> np.ndarray:
    """Return each episode's success weighted by path length, float [N], 0 .. 1.

    Its mean is SPL (Anderson et al. 2018, arXiv:1807.06757). A success counts shortest / max(walked, shortest); one
    whose target was in reach from the start counts 1 if the agent stayed and 0 if it walked. Paths are lengths in
    blocks, so 0 or more.
    """
    success_N = np.asarray(success_N, dtype=bool)
    shortest_blocks_N = np.asarray(shortest_blocks_N, dtype=np.float64)
    walked_blocks_N = np.asarray(walked_blocks_N, dtype=np.float64)
    if not success_N.shape == shortest_blocks_N.shape == walked_blocks_N.shape or success_N.ndim != 1:
        raise ValueError(
            "path_efficiency: wanted three arrays [N], "
            f"got {success_N.shape}, {shortest_blocks_N.shape} and {walked_blocks_N.shape}"
        )
    for name, length_blocks_N in (("shortest", shortest_blocks_N), ("walked", walked_blocks_N)):
        if not (np.isfinite(length_blocks_N) & (length_blocks_N >= 0)).all():
            raise ValueError(f"path_efficiency: {name} paths must be finite and at least 0 blocks")
    longest_blocks_N = np.maximum(shortest_blocks_N, walked_blocks_N)
    ratio_N = np.divide(
        shortest_blocks_N, longest_blocks_N, out=np.ones_like(shortest_blocks_N), where=longest_blocks_N > 0
    )
    return np.where(success_N, ratio_N, 0.0)


def success_weighted_by_path(strata: Mapping[str, np.ndarray]) -> Estimate:
    """Return SPL as the mean over strata, each with the same weight; NaN and (0, 1) without strata.

    The interval is the score interval of a mean of numbers from 0 to 1, so it has a length when nothing succeeded.

    Args:
        strata: `path_efficiency` of each stratum's episodes, float [N]; for plain SPL a single stratum. An empty one
            raises ValueError.
    """
    if not strata:
        return Estimate(float("nan"), 0.0, 1.0)
    # The ends of the range are possible values even where no episode took them.
    value_U = np.unique(np.concatenate([np.array([0.0, 1.0]), *strata.values()]))
    if value_U[0] < 0 or value_U[-1] > 1:
        raise ValueError(f"success_weighted_by_path: wanted values in [0, 1], got {value_U[0]:g} .. {value_U[-1]:g}")
    count_KU = np.array(
        [np.bincount(np.searchsorted(value_U, value_N), minlength=len(value_U)) for value_N in strata.values()]
    )
    for stratum, num_episodes in zip(strata, count_KU.sum(axis=1), strict=True):
        if num_episodes == 0:
            raise ValueError(f"stratum {stratum!r} has no episodes; leave it out and say so")
    low, high = score_interval(count_KU, value_U, np.ones(len(strata)))
    mean = float(np.mean([value_N.mean() for value_N in strata.values()]))
    return Estimate(mean, float(low) / len(strata), float(high) / len(strata))


def time_to_success_ticks(ticks: Sequence[int]) -> Estimate:
    """Return the median of the ticks that successes took, with the interval between two order statistics.

    It speaks of successes only: an agent that solves just the quick tasks looks quick, so read it beside the rate. The
    interval holds for any distribution and covers at least 95 % (Hahn and Meeker 1991); below 6
    successes no two order statistics do, and it is (0, inf). NaN without a success.
    """
    if not len(ticks):
        return Estimate(float("nan"), 0.0, float("inf"))
    ticks_N = np.sort(np.asarray(ticks, dtype=np.float64))
    median = float(np.median(ticks_N))
    # The median lies below the r-th smallest with probability P(Binomial(N, 1/2) < r).
    tail = (1 - CONFIDENCE) / 2
    rank = int(binom.ppf(tail, len(ticks_N), 0.5))
    if rank < 1:
        return Estimate(median, 0.0, float("inf"))
    return Estimate(median, float(ticks_N[rank - 1]), float(ticks_N[len(ticks_N) - rank]))
