import math

import pytest
import torch

from mcrl.learning.losses import (
    auxiliary_loss,
    cell_loss,
    explained_variance,
    extent_loss,
    masked_mean,
    ppo_clip,
    value_loss,
)

ALL = torch.ones(1, 2, dtype=torch.bool)


def test_the_surrogate_is_the_advantage_where_the_policy_has_not_moved():
    loss, clipped = ppo_clip(torch.zeros(1, 2), torch.tensor([[1.0, -3.0]]), ALL, clip_eps=0.2)
    assert float(loss) == pytest.approx(1.0)
    assert float(clipped) == 0.0


def test_no_gradient_flows_where_the_ratio_has_gone_far_enough():
    log_ratio = torch.tensor([[0.5, -0.5]], requires_grad=True)
    loss, clipped = ppo_clip(log_ratio, torch.tensor([[1.0, -1.0]]), ALL, clip_eps=0.2)
    loss.backward()
    assert torch.equal(log_ratio.grad, torch.zeros(1, 2))
    assert float(clipped) == 1.0


def test_a_step_that_went_the_wrong_way_is_pulled_back():
    log_ratio = torch.tensor([[0.5, -0.5]], requires_grad=True)
    ppo_clip(log_ratio, torch.tensor([[-1.0, 1.0]]), ALL, clip_eps=0.2)[0].backward()
    assert log_ratio.grad[0, 0] > 0 > log_ratio.grad[0, 1]


def test_invalid_steps_change_no_loss_and_no_gradient_even_when_they_are_infinite():
    mask = torch.tensor([[True, False]])
    wild = torch.tensor([[0.1, float("inf")]], requires_grad=True)
    ppo_clip(wild, torch.tensor([[1.0, 1.0]]), mask, clip_eps=0.2)[0].backward()
    tame = torch.tensor([[0.1, 0.0]], requires_grad=True)
    ppo_clip(tame, torch.tensor([[1.0, 1.0]]), mask, clip_eps=0.2)[0].backward()
    assert torch.equal(wild.grad, tame.grad)
    assert float(value_loss(torch.tensor([[1.0, 1e30]]), torch.zeros(1, 2), mask)) == 1.0


def test_the_place_of_the_target_counts_only_where_it_is_visible():
    target = torch.zeros(1, 2, 7)
    target[0, 0] = torch.tensor([0.1, 0.5, 0.5, 0.4, 0.4, 0.6, 0.6])
    guess = torch.zeros(1, 2, 7)
    guess[0, :, 0] = torch.tensor([50.0, -50.0])  # sure, and right both times
    guess[0, 0, 1:] = target[0, 0, 1:]
    guess[0, 1, 1:] = 0.9  # says nothing: the target is out of view
    assert float(auxiliary_loss(guess, target, ALL)) == pytest.approx(0.0, abs=1e-6)
    guess[0, 0, 1] = 0.9
    assert float(auxiliary_loss(guess, target, ALL)) == pytest.approx(0.4**2 / 2, rel=1e-4)


def test_a_mean_over_nothing_is_zero():
    assert float(masked_mean(torch.tensor([[1.0, 2.0]]), ~ALL)) == 0.0


def test_explained_variance_is_one_for_perfect_and_zero_for_constant_values():
    returns = torch.tensor([[1.0, 3.0]])
    assert explained_variance(returns, returns, ALL) == pytest.approx(1.0)
    assert explained_variance(torch.full((1, 2), 2.0), returns, ALL) == pytest.approx(0.0)
    assert explained_variance(returns, torch.ones(1, 2), ALL) == 0.0


def test_a_ratio_beyond_all_bounds_still_has_a_gradient():
    log_ratio = torch.tensor([[500.0, 0.1]], requires_grad=True)
    ppo_clip(log_ratio, torch.tensor([[1.0, 1.0]]), ALL, clip_eps=0.2)[0].backward()
    assert torch.isfinite(log_ratio.grad).all()
    assert log_ratio.grad[0, 1] != 0


def test_cells_are_asked_for_the_target_where_it_is_visible_and_for_nothing_elsewhere():
    box = [0.25, 0.0, 0.5, 0.75]
    target_BT7 = torch.tensor([[[0.1, 0.0, 0.0, *box], [0.0, 0.0, 0.0, *box]]])
    logit_BTK = torch.full((1, 2, 16), -10.0)
    logit_BTK[0, 0, [1, 5, 9]] = 10.0
    is_valid_BT = torch.ones(1, 2, dtype=torch.bool)
    assert float(cell_loss(logit_BTK, target_BT7, is_valid_BT)) < 0.01
    assert float(cell_loss(logit_BTK.flip(1), target_BT7, is_valid_BT)) > 10.0


def test_cells_of_the_target_are_asked_for_its_extent_and_no_other_cell_is():
    # Of a grid of 4 x 4 the box reaches into the first two cells of the second row.
    target_BT7 = torch.tensor([[[0.1, 0.0, 0.0, 0.0, 0.25, 0.5, 0.375], [0.0] * 7]])
    told_BTK3 = torch.randn(1, 2, 16, 3, generator=torch.Generator().manual_seed(0))
    told_BTK3[0, 0, 4] = torch.tensor([0.5, -0.25, math.log(0.5)])
    told_BTK3[0, 0, 5] = torch.tensor([-0.5, -0.25, math.log(0.5)])
    assert float(extent_loss(told_BTK3, target_BT7, ALL)) == pytest.approx(0, abs=1e-6)
    told_BTK3[0, 0, 5, 0] += 1.0  # Huber's loss: 1 less half of where it turns straight
    assert float(extent_loss(told_BTK3, target_BT7, ALL)) == pytest.approx(0.75 / 2)
    assert float(extent_loss(told_BTK3, target_BT7, torch.zeros(1, 2, dtype=torch.bool))) == 0
