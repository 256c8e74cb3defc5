import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.config import PPOConfig
from mcrl.learning.batch import collate
from mcrl.learning.targets import find_targets
from mcrl.learning.value_scale import MIN_DEVIATION, NEWEST_SHARE, ValueScale
from tests.mcrl.fragments import make_fragment, make_goal

HERE = Path("run/checkpoints/final")


def two_families(num_steps=4):
    """The first half of the steps belongs to family "a/x", the second to "b/y"."""
    return make_fragment(
        num_steps=num_steps,
        goals=(make_goal(), make_goal(1)),
        task_ids=("1", "2"),
        families=("a/x", "b/y"),
        goal_index_T=np.arange(num_steps) * 2 // num_steps,
    )


def test_an_unknown_family_is_left_as_it_is():
    mean, deviation = ValueScale().of([two_families()])
    assert torch.equal(mean, torch.zeros(1, 4))
    assert torch.equal(deviation, torch.ones(1, 4))


def test_each_family_has_the_moments_of_its_own_steps_at_once():
    scale, fragment = ValueScale(), two_families()
    scale.hear(torch.tensor([[0.0, 1.0, 10.0, 30.0]]), [fragment])
    mean, deviation = scale.of([fragment])
    assert mean[0].tolist() == pytest.approx([0.5, 0.5, 20.0, 20.0])
    assert deviation[0].tolist() == pytest.approx([0.5, 0.5, 10.0, 10.0])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.floats(-100, 100), min_size=4, max_size=4), min_size=1, max_size=8))
def test_moments_are_the_weighted_ones_of_all_batches(batches):
    """The slow twin: every batch weighs 1 - NEWEST_SHARE as much as the one after it."""
    scale, fragment = ValueScale(), make_fragment()
    for batch in batches:
        scale.hear(torch.tensor([batch], dtype=torch.float64), [fragment])
    weight_N = np.repeat((1 - NEWEST_SHARE) ** np.arange(len(batches))[::-1], 4)
    return_N = np.ravel(batches)
    wanted_mean = np.average(return_N, weights=weight_N)
    variance = np.average((return_N - wanted_mean) ** 2, weights=weight_N)
    mean, deviation = scale.of([fragment])
    assert float(mean[0, 0]) == pytest.approx(wanted_mean, rel=1e-4, abs=1e-4)
    assert float(deviation[0, 0]) == pytest.approx(max(MIN_DEVIATION, math.sqrt(variance)), rel=1e-3, abs=1e-3)


def test_a_family_that_never_succeeds_is_not_blown_up():
    scale, fragment = ValueScale(), make_fragment()
    scale.hear(1e-3 * torch.rand(1, 4), [fragment])
    assert torch.equal(scale.of([fragment])[1], torch.full((1, 4), MIN_DEVIATION))


def test_targets_are_those_of_values_in_units_of_reward_brought_to_the_units_of_the_family():
    rng = np.random.default_rng(0)
    truncated_T = np.arange(8) == 3  # where the first family's episode ends; the fragment ends in the middle of one
    fragment = dataclasses.replace(
        two_families(8),
        value_T=rng.normal(size=8).astype(np.float32),
        reward_T=rng.normal(size=8).astype(np.float32),
        bootstrap_value_T=np.where(truncated_T | (np.arange(8) == 7), rng.normal(size=8), 0).astype(np.float32),
        truncated_T=truncated_T,
    )
    scale, config = ValueScale(), PPOConfig()
    scale.hear(torch.tensor([[5.0, 7.0, 5.0, 7.0, -30.0, 30.0, -30.0, 30.0]]), [fragment])
    mean_T, deviation_T = (part[0].numpy() for part in scale.of([fragment]))
    in_reward = dataclasses.replace(
        fragment,
        value_T=mean_T + deviation_T * fragment.value_T,
        bootstrap_value_T=mean_T + deviation_T * fragment.bootstrap_value_T,
    )
    plain = find_targets(collate([in_reward]), [in_reward], config)
    scaled = find_targets(collate([fragment]), [fragment], config, scale=scale)
    torch.testing.assert_close(scaled.value_BT, plain.value_BT)
    torch.testing.assert_close(scaled.return_BT, plain.return_BT)
    mean_BT, deviation_BT = scale.of([fragment])  # it has heard of the returns by now
    assert (mean_BT[0].numpy() != mean_T).all()
    torch.testing.assert_close(scaled.head_BT, (plain.return_BT - mean_BT) / deviation_BT)
    advantage_BT = (plain.return_BT - plain.value_BT) / deviation_BT
    expected_BT = (advantage_BT - advantage_BT.mean()) / advantage_BT.std()
    torch.testing.assert_close(scaled.advantage_BT, expected_BT, rtol=1e-4, atol=1e-5)


def test_invalid_steps_and_absent_families_change_nothing():
    scale, fragment = ValueScale(), two_families()
    scale.hear(torch.tensor([[0.0, 1.0, 10.0, 30.0]]), [fragment])
    before = scale.of([fragment])
    fragment.is_valid_T[:] = False
    scale.hear(torch.full((1, 4), math.nan), [fragment])
    other = make_fragment(families=("c/z",))
    scale.hear(torch.full((1, 4), 1000.0), [other])
    assert all(torch.equal(old, new) for old, new in zip(before, scale.of([fragment]), strict=True))


def test_a_restored_scale_is_the_one_that_was_kept():
    first, second, fragment = ValueScale(), ValueScale(), two_families()
    for seed in range(3):
        first.hear(torch.randn(1, 4, generator=torch.Generator().manual_seed(seed)), [fragment])
    second.restore(first.numbers() | {"kl_coef": 0.1}, where=HERE)
    assert second.numbers() == first.numbers()
    assert all(torch.equal(a, b) for a, b in zip(first.of([fragment]), second.of([fragment]), strict=True))


@pytest.mark.parametrize(
    "numbers",
    [
        {"value_scale/a/x/weight": 0.1},
        {"value_scale/a/x/weight": 0.1, "value_scale/a/x/first": math.nan, "value_scale/a/x/second": 1.0},
        {"value_scale/a/x/weight": 0.0, "value_scale/a/x/first": 0.0, "value_scale/a/x/second": 0.0},
    ],
)
def test_moments_that_no_returns_have_are_refused_by_the_name_of_the_checkpoint(numbers):
    with pytest.raises(ValueError, match=r"run/checkpoints/final: the value_scale of a/x"):
        ValueScale().restore(numbers, where=HERE)
