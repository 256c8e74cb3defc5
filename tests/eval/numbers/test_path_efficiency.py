import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from eval.numbers.path_efficiency import path_efficiency, success_weighted_by_path, time_to_success_ticks
from eval.numbers.statistics import wilson_interval


def test_spl_of_hand_made_episodes():
    # Straight there; twice the way; never there; a shorter way than the shortest counts as the shortest.
    value_N = path_efficiency(
        np.array([True, True, False, True]), np.array([10.0, 10, 10, 10]), np.array([10.0, 20, 10, 9])
    )
    assert value_N.tolist() == [1.0, 0.5, 0.0, 1.0]
    assert success_weighted_by_path({"all": value_N}).value == 0.625


def test_spl_weighs_strata_alike_however_many_episodes_they_have():
    assert success_weighted_by_path({"few": np.ones(1), "many": np.zeros(9)}).value == 0.5


def test_a_target_in_reach_from_the_start_counts_one_for_staying_and_none_for_walking():
    assert path_efficiency(np.array([True, True]), np.zeros(2), np.array([0.0, 3.0])).tolist() == [1.0, 0.0]


def test_a_negative_path_is_refused():
    with pytest.raises(ValueError, match="walked paths"):
        path_efficiency(np.array([True]), np.array([1.0]), np.array([-1.0]))


def test_the_interval_of_spl_without_any_success_is_wilsons():
    spl = success_weighted_by_path({"all": np.zeros(40)})
    assert (spl.low, spl.high) == pytest.approx(wilson_interval(0, 40), abs=1e-9)


def test_the_interval_of_spl_over_many_episodes_is_the_t_interval():
    rng = np.random.default_rng(0)
    value_N = np.where(rng.random(4000) < 0.6, rng.uniform(0.3, 1, 4000), 0.0)
    theirs = ttest_1samp(value_N, 0).confidence_interval()
    spl = success_weighted_by_path({"all": value_N})
    assert (spl.low, spl.high) == pytest.approx((theirs.low, theirs.high), abs=5e-4)


@pytest.mark.slow
def test_the_interval_of_spl_covers_the_truth_in_95_of_100_studies():
    rng = np.random.default_rng(1)
    truth = 0.3 * 0.65  # a success of probability 0.3, its path ratio uniform in 0.3 .. 1
    value_RN = np.where(rng.random((400, 80)) < 0.3, rng.uniform(0.3, 1, (400, 80)), 0.0)
    estimates = [success_weighted_by_path({"all": value_N}) for value_N in value_RN]
    assert 0.925 <= np.mean([spl.low <= truth <= spl.high for spl in estimates]) <= 0.975


@pytest.mark.parametrize(
    ("num", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (20, 6, 15), (100, 40, 61)]
)
def test_the_median_lies_between_the_order_statistics_of_the_sign_test(num, low, high):
    # By the binomial tail: the sign test at 5 % rejects for 20 pairs at 5 or fewer, so rank 6 is the limit.
    estimate = time_to_success_ticks(list(range(1, num + 1)))
    assert (estimate.value, estimate.low, estimate.high) == ((num + 1) / 2, low, high)
    covered = sum(math.comb(num, k) for k in range(low, high)) / 2**num
    narrower = sum(math.comb(num, k) for k in range(low + 1, high - 1)) / 2**num
    assert narrower < 0.95 <= covered


def test_five_successes_bound_no_median():
    assert (time_to_success_ticks([1, 2, 3, 4, 5]).low, time_to_success_ticks([1, 2, 3, 4, 5]).high) == (0.0, math.inf)
