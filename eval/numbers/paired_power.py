"""How many tasks a paired comparison needs before it can see a difference."""

import math

import numpy as np
from scipy.stats import binom, norm

SIGNIFICANCE = 0.05
POWER = 0.8

_MAX_TASKS = 10_000_000


def discordant_rates(rate_a: float, rate_b: float, *, correlation: float) -> tuple[float, float]:
    """Return the shares of tasks that only A and that only B solves.

    Args:
        rate_a: success rate of A, 0 .. 1.
        rate_b: success rate of B.
        correlation: phi of the two outcomes over tasks: 0 when A and B fail independently, near 1 when they fail at
            the same tasks. Rates limit it; one that no agents could have raises ValueError.
    """
    if not (0 <= rate_a <= 1 and 0 <= rate_b <= 1):
        raise ValueError(f"discordant_rates: success rates must be in [0, 1], got {rate_a:g} and {rate_b:g}")
    both = rate_a * rate_b + correlation * math.sqrt(rate_a * (1 - rate_a) * rate_b * (1 - rate_b))
    least, most = max(0.0, rate_a + rate_b - 1), min(rate_a, rate_b)
    if not least - 1e-12 <= both <= most + 1e-12:
        raise ValueError(
            f"discordant_rates: no agents with rates {rate_a:g} and {rate_b:g} have correlation {correlation:g}: "
            f"they would share {both:.3f} of the tasks, possible are {least:.3f} to {most:.3f}"
        )
    return max(0.0, rate_a - both), max(0.0, rate_b - both)


def power_of_paired_test(
    num_tasks: int, only_a_rate: float, only_b_rate: float, *, significance: float = SIGNIFICANCE
) -> float:
    """Return the probability that the exact McNemar test tells A and B apart.

    It sums over the number of tasks that only one of the two solves, and so is exact, no approximation.
    """
    if num_tasks < 1:
        raise ValueError(f"power_of_paired_test: num_tasks must be at least 1, got {num_tasks}")
    discordant_rate = only_a_rate + only_b_rate
    if not (only_a_rate >= 0 and only_b_rate >= 0 and discordant_rate <= 1):
        raise ValueError(f"power_of_paired_test: no shares of tasks: {only_a_rate:g} and {only_b_rate:g}")
    if discordant_rate == 0:
        return 0.0
    first, last = binom.ppf([1e-12, 1 - 1e-12], num_tasks, discordant_rate).astype(np.int64)
    num_discordant_D = np.arange(max(first, 1), last + 1)
    # The two-sided test at 1/2 rejects when the smaller count is at most c, the largest with P(Bin <= c) <= level / 2.
    critical_D = binom.ppf(significance / 2, num_discordant_D, 0.5)
    critical_D -= binom.cdf(critical_D, num_discordant_D, 0.5) > significance / 2
    share_a = only_a_rate / discordant_rate
    rejects_D = binom.cdf(critical_D, num_discordant_D, share_a) + binom.cdf(critical_D, num_discordant_D, 1 - share_a)
    return float((binom.pmf(num_discordant_D, num_tasks, discordant_rate) * rejects_D).sum())


def num_tasks_needed(
    rate_a: float,
    rate_b: float,
    *,
    correlation: float = 0.0,
    power: float = POWER,
    significance: float = SIGNIFICANCE,
) -> int:
    """Return how many tasks both must play for the exact McNemar test to see that A and B differ.

    Args:
        rate_a: success rate of A, 0 .. 1.
        rate_b: success rate of B; equal rates raise ValueError.
        correlation: of their outcomes, see `discordant_rates`; 0 is the careful choice, agents of one kind have more.
        power: wanted probability of a significant test.
        significance: of the two-sided test.
    """
    if not significance < power < 1:
        raise ValueError(f"num_tasks_needed: power must be in ({significance:g}, 1), got {power:g}")
    only_a_rate, only_b_rate = discordant_rates(rate_a, rate_b, correlation=correlation)
    difference = abs(only_a_rate - only_b_rate)
    if difference < 1e-9:
        raise ValueError(f"num_tasks_needed: equal rates {rate_a:g} are never told apart; give two that differ")
    # Connor (1987, Biometrics 43:207): a little too few for the exact test, so it starts the search.
    z_test, z_power = norm.ppf(1 - significance / 2), norm.ppf(power)
    discordant_rate = only_a_rate + only_b_rate
    root = z_test * math.sqrt(discordant_rate) + z_power * math.sqrt(max(0.0, discordant_rate - difference**2))
    high = max(1, math.ceil(root**2 / difference**2))
    low = 0
    while power_of_paired_test(high, only_a_rate, only_b_rate, significance=significance) < power:
        low, high = high, high + max(1, high // 8)
        if high > _MAX_TASKS:
            raise ValueError(f"num_tasks_needed: rates {rate_a:g} and {rate_b:g} need over {_MAX_TASKS} tasks")
    while high - low > 1:
        middle = (low + high) // 2
        if power_of_paired_test(middle, only_a_rate, only_b_rate, significance=significance) < power:
            low = middle
        else:
            high = middle
    return high


def detectable_difference(
    num_tasks: int,
    rate: float,
    *,
    correlation: float = 0.0,
    power: float = POWER,
    significance: float = SIGNIFICANCE,
) -> float | None:
    """Return the smallest gain over `rate` that so many tasks can show, 0 .. 1; None when even 100 % would not show.

    "This report can see differences of 4.1 points" is what a reader needs before believing "no difference".
    """
    highest = _highest_rate(rate, correlation)
    low, high = 0.0, highest - rate

    def is_seen(gain: float) -> bool:
        rates = discordant_rates(rate + gain, rate, correlation=correlation)
        return power_of_paired_test(num_tasks, *rates, significance=significance) >= power

    if high <= 0 or not is_seen(high):
        return None
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return high


def _highest_rate(rate: float, correlation: float) -> float:
    """Return the highest success rate of A that is possible beside `rate` at this correlation."""
    if correlation <= 0 or rate == 0:
        return 1.0
    # A solves all that B solves when odds(A) = odds(B) / correlation^2; beyond that the correlation must fall.
    return min(1.0, rate / (rate + correlation**2 * (1 - rate)) - 1e-12) if rate < 1 else 1.0
