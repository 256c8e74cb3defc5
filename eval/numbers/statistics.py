"""Intervals and tests for success rates, single and paired on the same tasks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from scipy.stats import binomtest

CONFIDENCE = 0.95


def wilson_interval(num_success: int, num_trials: int, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927); (0, 1) when nothing was tried."""
    if not 0 <= num_success <= num_trials:
        raise ValueError(f"num_success must be in [0, {num_trials}], got {num_success}")
    if num_trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = num_success / num_trials
    scale = 1 + z * z / num_trials
    center = (rate + z * z / (2 * num_trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / num_trials + z * z / (4 * num_trials**2))
    # At 0 and at num_trials the formula gives the bound exactly, up to rounding: say it exactly.
    low = 0.0 if num_success == 0 else center - half
    high = 1.0 if num_success == num_trials else center + half
    return low, high


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedComparison:
    """How A and B did on the same tasks."""

    num_both: int
    """Tasks that both solved."""
    num_only_a: int
    num_only_b: int
    num_neither: int
    difference: float
    """Success rate of A minus that of B, -1 .. 1."""
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float
    p_value: float
    """Exact two-sided McNemar test of "A and B solve equally many"; 1 when they never differ."""

    @property
    def num_pairs(self) -> int:
        """Return the number of tasks compared."""
        return self.num_both + self.num_only_a + self.num_only_b + self.num_neither


def compare_paired(success_a_N: Sequence[bool], success_b_N: Sequence[bool]) -> PairedComparison:
    """Compare two agents on the same N tasks, in the same order."""
    if len(success_a_N) != len(success_b_N):
        raise ValueError(f"a paired comparison needs the same tasks, got {len(success_a_N)} and {len(success_b_N)}")
    if not len(success_a_N):
        raise ValueError("a paired comparison needs at least one task, got none")
    pairs = [(bool(a), bool(b)) for a, b in zip(success_a_N, success_b_N, strict=True)]
    both, only_a = pairs.count((True, True)), pairs.count((True, False))
    only_b, neither = pairs.count((False, True)), pairs.count((False, False))
    low, high = paired_difference_interval(both, only_a, only_b, neither)
    return PairedComparison(
        num_both=both,
        num_only_a=only_a,
        num_only_b=only_b,
        num_neither=neither,
        difference=(only_a - only_b) / len(pairs),
        low=low,
        high=high,
        p_value=mcnemar_p_value(only_a, only_b),
    )


def mcnemar_p_value(num_only_a: int, num_only_b: int) -> float:
    """Return the exact two-sided p of McNemar's test: are the tasks that only one solved split evenly?"""
    num_discordant = num_only_a + num_only_b
    if num_discordant == 0:
        return 1.0
    return float(binomtest(num_only_a, num_discordant, 0.5).pvalue)


def paired_difference_interval(both: int, only_a: int, only_b: int, neither: int) -> tuple[float, float]:
    """Return the interval of a difference of paired proportions, method 10 of Newcombe (1998, Stat. Med. 17:2635).

    It squares and adds the two Wilson intervals with their correlation, so it stays inside [-1, 1] and holds its
    coverage for rates near 0 and 1, where the Wald interval does not.
    """
    num_pairs = both + only_a + only_b + neither
    num_a, num_b = both + only_a, both + only_b
    rate_a, rate_b = num_a / num_pairs, num_b / num_pairs
    low_a, high_a = wilson_interval(num_a, num_pairs)
    low_b, high_b = wilson_interval(num_b, num_pairs)
    phi = _continuity_corrected_phi(both, only_a, only_b, neither)
    down_a, up_a, down_b, up_b = rate_a - low_a, high_a - rate_a, rate_b - low_b, high_b - rate_b
    delta = math.sqrt(max(0.0, down_a**2 - 2 * phi * down_a * up_b + up_b**2))
    epsilon = math.sqrt(max(0.0, up_a**2 - 2 * phi * up_a * down_b + down_b**2))
    return rate_a - rate_b - delta, rate_a - rate_b + epsilon


def _continuity_corrected_phi(both: int, only_a: int, only_b: int, neither: int) -> float:
    """Return the correlation of the two outcomes, pulled towards 0 by half a pair of the table's size."""
    product = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if product == 0:
        return 0.0
    determinant = float(both * neither - only_a * only_b)
    if determinant > 0:
        determinant = max(determinant - (both + only_a + only_b + neither) / 2, 0.0)
    return determinant / math.sqrt(product)
