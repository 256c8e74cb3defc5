import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from eval.numbers.paired_power import detectable_difference, discordant_rates, num_tasks_needed, power_of_paired_test
from eval.numbers.statistics import mcnemar_p_value


def test_power_is_the_sum_over_all_tables_that_the_test_rejects():
    brute = 0.0
    for num_discordant in range(1, 41):
        for num_only_a in range(num_discordant + 1):
            if binomtest(num_only_a, num_discordant, 0.5).pvalue <= 0.05:
                brute += binom.pmf(num_discordant, 40, 0.4) * binom.pmf(num_only_a, num_discordant, 0.75)
    assert power_of_paired_test(40, 0.3, 0.1) == pytest.approx(brute, abs=1e-9)


def test_the_exact_test_needs_a_little_more_than_the_published_approximation():
    # Connor 1987, Biometrics 43:207: discordant shares 0.45 and 0.05 need 23 pairs for 80 % power at 5 %.
    correlation = (0.3 - 0.75 * 0.35) / math.sqrt(0.75 * 0.25 * 0.35 * 0.65)
    assert discordant_rates(0.75, 0.35, correlation=correlation) == pytest.approx((0.45, 0.05))
    assert 23 <= num_tasks_needed(0.75, 0.35, correlation=correlation) <= 28


@pytest.mark.parametrize(
    "correlation", [0.5, pytest.param(0.0, marks=pytest.mark.slow), pytest.param(0.8, marks=pytest.mark.slow)]
)
def test_a_planted_difference_of_5_points_is_detected_at_the_stated_number_of_tasks(correlation):
    num_tasks = num_tasks_needed(0.60, 0.55, correlation=correlation, power=0.8)
    only_a, only_b = discordant_rates(0.60, 0.55, correlation=correlation)
    drawn = np.random.default_rng(7).multinomial(num_tasks, [only_a, only_b, 1 - only_a - only_b], size=2000)
    is_detected = [mcnemar_p_value(int(a), int(b)) <= 0.05 for a, b, _ in drawn]
    # 0.8 with a standard error of 0.009.
    assert 0.77 <= np.mean(is_detected) <= 0.83


def test_agents_that_do_not_differ_are_told_apart_in_at_most_5_of_100_suites():
    assert all(power_of_paired_test(n, share, share) <= 0.05 for n in (10, 100, 1000) for share in (0.01, 0.1, 0.4))


def test_the_number_of_tasks_is_the_first_to_reach_the_power():
    num_tasks = num_tasks_needed(0.60, 0.55, correlation=0.5)
    rates = discordant_rates(0.60, 0.55, correlation=0.5)
    assert power_of_paired_test(num_tasks, *rates) >= 0.8 > power_of_paired_test(num_tasks - 1, *rates)


def test_the_detectable_difference_turns_the_number_of_tasks_round():
    num_tasks = num_tasks_needed(0.60, 0.55, correlation=0.5)
    assert detectable_difference(num_tasks, 0.55, correlation=0.5) == pytest.approx(0.05, abs=5e-4)


def test_so_few_tasks_that_nothing_shows_are_said_to_be():
    assert detectable_difference(4, 0.5) is None


def test_a_correlation_that_no_agents_have_is_refused():
    with pytest.raises(ValueError, match="no agents"):
        num_tasks_needed(0.9, 0.2, correlation=0.9)


def test_equal_rates_are_refused():
    with pytest.raises(ValueError, match="never told apart"):
        num_tasks_needed(0.5, 0.5)
