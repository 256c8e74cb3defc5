import dataclasses
import math
from pathlib import Path

import pytest

from mcrl.config import PPOConfig
from mcrl.learning.kl_coefficient import MAX_CHANGE, KLCoefficient
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.learning.corridor_learner import CONFIG, make_learner, make_worker

FIXED = PPOConfig(kl_to_reference=0.2, kl_decay=0.9)
STEERED = dataclasses.replace(FIXED, kl_target=0.05)
HERE = Path("run/checkpoints/final")


def test_without_a_target_the_schedule_is_the_papers_whatever_the_kl_is():
    coefficient = KLCoefficient(FIXED)
    coefficient.hear(100.0)
    assert [coefficient.at(iteration) for iteration in (0, 1, 4)] == pytest.approx([0.2, 0.18, 0.2 * 0.9**4])
    assert coefficient.numbers() == {}


def test_one_iteration_changes_the_coefficient_as_the_paper_says():
    def after(kl):
        coefficient = KLCoefficient(STEERED)
        coefficient.hear(kl)
        return coefficient.at(1) / 0.2

    assert after(0.05) == 1.0
    assert after(0.055) == pytest.approx(1 + 0.1 * 0.1)
    assert after(5.0) == pytest.approx(1 + 0.1 * 0.2)
    assert after(0.0) == pytest.approx(1 - 0.1 * 0.2)


@pytest.mark.parametrize("sensitivity", [0.01, 1.0])
def test_a_kl_that_falls_with_the_coefficient_is_brought_to_its_target(sensitivity):
    coefficient = KLCoefficient(STEERED)
    kl = 0.0
    for iteration in range(600):
        kl = sensitivity * 0.2 / coefficient.at(iteration)
        coefficient.hear(kl)
    assert kl == pytest.approx(0.05, rel=0.05)


def test_the_coefficient_stays_within_its_bounds():
    low, high = KLCoefficient(STEERED), KLCoefficient(STEERED)
    for _ in range(1000):
        low.hear(0.0)
        high.hear(1e9)
        high.hear(math.nan)
    assert low.at(0) == pytest.approx(0.2 / MAX_CHANGE)
    assert high.at(0) == pytest.approx(0.2 * MAX_CHANGE)


def test_in_the_warm_up_where_the_policy_stands_still_nothing_is_heard():
    config = dataclasses.replace(CONFIG, kl_to_reference=0.2, kl_target=0.01, value_warmup_iterations=1)
    learner, worker = make_learner(CorridorPolicy(), config), make_worker(CorridorPolicy(), reference=CorridorPolicy())
    coefficients = [learner.update(worker.collect())["kl_coef"] for _ in range(3)]
    assert coefficients[:2] == [0.2, 0.2]
    assert coefficients[2] != 0.2


def test_a_restored_coefficient_goes_on_where_it_was():
    first, second, old = KLCoefficient(STEERED), KLCoefficient(STEERED), KLCoefficient(STEERED)
    for _ in range(7):
        first.hear(1.0)
    second.restore(first.numbers(), where=HERE)
    old.restore({}, where=HERE)  # a checkpoint from before the setting
    assert second.at(7) == first.at(7) != 0.2
    assert old.at(7) == 0.2


@pytest.mark.parametrize("wrong", [math.nan, -1.0, 0.0])
def test_a_coefficient_that_is_none_is_refused_by_the_name_of_the_checkpoint(wrong):
    with pytest.raises(ValueError, match=r"run/checkpoints/final: kl_coef must be positive"):
        KLCoefficient(STEERED).restore({"kl_coef": wrong}, where=HERE)
