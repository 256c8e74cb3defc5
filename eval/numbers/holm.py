"""Holm's correction: the claims of one report, tested together."""

from collections.abc import Sequence


def holm_adjusted(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values that hold for all claims together (Holm 1979, Scand. J. Stat. 6:65), in the order given.

    Calling every claim with an adjusted value <= 0.05 true gives a false claim in at most 5 % of reports, however the
    claims depend on each other.
    """
    if any(not 0 <= p_value <= 1 for p_value in p_values):
        raise ValueError(f"holm_adjusted: p-values must be in [0, 1], got {list(p_values)}")
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)
