import math

import numpy as np
import pytest

from eval.numbers.statistics import compare_paired, mcnemar_p_value, wilson_interval


def _flags(both: int, only_a: int, only_b: int, neither: int) -> tuple[list[bool], list[bool]]:
    a = [True] * both + [True] * only_a + [False] * only_b + [False] * neither
    b = [True] * both + [False] * only_a + [True] * only_b + [False] * neither
    return a, b


@pytest.mark.parametrize(
    ("num_success", "num_trials", "low", "high"),
    # Newcombe 1998, Stat. Med. 17:857, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_matches_the_published_table(num_success, num_trials, low, high):
    assert wilson_interval(num_success, num_trials) == pytest.approx((low, high), abs=5e-5)


def test_wilson_interval_of_nothing_is_everything():
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_wilson_interval_refuses_more_successes_than_trials():
    with pytest.raises(ValueError, match="num_success"):
        wilson_interval(3, 2)


def test_mcnemar_is_the_exact_binomial_tail():
    tail = sum(math.comb(13, k) for k in range(3)) / 2**13
    assert mcnemar_p_value(2, 11) == pytest.approx(2 * tail)
    assert mcnemar_p_value(11, 2) == pytest.approx(2 * tail)


def test_mcnemar_of_agents_that_never_differ_is_one():
    assert mcnemar_p_value(0, 0) == 1.0


def test_paired_difference_interval_matches_the_published_example():
    # Newcombe 1998, Stat. Med. 17:2635, table II, method 10.
    result = compare_paired(*_flags(36, 12, 2, 0))
    assert result.difference == pytest.approx(10 / 50)
    assert (result.low, result.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_paired_difference_interval_covers_the_truth_in_about_95_of_100_draws():
    rng = np.random.default_rng(3)
    probability = [0.45, 0.25, 0.10, 0.20]
    draws = rng.multinomial(120, probability, size=400)
    covered = [r.low <= 0.15 <= r.high for r in (compare_paired(*_flags(*map(int, draw))) for draw in draws)]
    assert 0.92 <= np.mean(covered) <= 0.985


def test_swapping_the_agents_mirrors_the_comparison():
    a, b = _flags(5, 9, 2, 4)
    forth, back = compare_paired(a, b), compare_paired(b, a)
    assert forth.difference == -back.difference == 7 / 20
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))
    assert forth.p_value == back.p_value


def test_a_paired_comparison_needs_the_same_tasks():
    with pytest.raises(ValueError, match="same tasks"):
        compare_paired([True], [True, False])


def test_outcomes_that_go_together_narrow_the_interval_by_a_corrected_correlation():
    # Newcombe's method 10 in plain numbers: phi = (20 * 16 - 12 * 2 - 50 / 2) / sqrt(32 * 18 * 22 * 28).
    result = compare_paired(*_flags(20, 12, 2, 16))
    phi = (20 * 16 - 12 * 2 - 25) / math.sqrt(32 * 18 * 22 * 28)
    (low_a, high_a), (low_b, high_b) = wilson_interval(32, 50), wilson_interval(22, 50)
    down_a, up_a, down_b, up_b = 0.64 - low_a, high_a - 0.64, 0.44 - low_b, high_b - 0.44
    low = 0.2 - math.sqrt(down_a**2 - 2 * phi * down_a * up_b + up_b**2)
    high = 0.2 + math.sqrt(up_a**2 - 2 * phi * up_a * down_b + down_b**2)
    assert (result.low, result.high) == pytest.approx((low, high))
