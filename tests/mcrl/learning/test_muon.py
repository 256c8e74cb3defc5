"""Claims about Muon: whose weights it steps, and what a step of it is."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mcrl.learning.muon import Muon, hidden_weights, orthogonal
from mcrl.learning.optimizer import make_optimizer, read_moments, set_learning_rate, write_moments
from policies.presets import build_policy, medium, tiny


def muon(policy, learning_rate=0.01):
    return Muon(policy, learning_rate, adam_eps=1e-5)


def with_gradients(policy, seed):
    generator = torch.Generator().manual_seed(seed)
    for parameter in policy.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    return policy


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10_000))
def test_singular_values_come_out_near_one_and_directions_stay(rows, columns, seed):
    matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    made = orthogonal(matrix)
    values = torch.linalg.svdvals(made)
    # Values that start near 0 are on their way up; the largest ones are there.
    assert 0.6 < float(values.max()) < 1.3
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    along = u.T @ made @ v.T
    # bf16 leaves three digits.
    assert (along - torch.diag(torch.diagonal(along))).abs().max() < 0.1


def test_small_singular_values_arrive_too():
    values = torch.linalg.svdvals(orthogonal(torch.diag(torch.tensor([1.0, 0.1, 0.003]))))
    assert 0.6 < float(values.min()) <= float(values.max()) < 1.3


@pytest.mark.parametrize("layer", [nn.Linear(6, 4), nn.Conv2d(2, 4, 3)], ids=["linear", "convolution"])
def test_a_step_goes_along_nesterovs_momentum_of_all_gradients_so_far(layer):
    optimizer, before = muon(nn.Sequential(layer)), layer.weight.detach().clone()
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randn(before.shape, generator=generator) for _ in range(2))
    for layer.weight.grad in (first.clone(), second.clone()):
        optimizer.step()
    # The momentum is 0.05 first, then 0.95 of that and 0.05 second; a step looks ahead by mixing in its own gradient.
    momentum = 0.95 * 0.05 * first + 0.05 * second
    made = [orthogonal(direction.flatten(1)) for direction in (first, 0.05 * second + 0.95 * momentum)]
    step = -0.01 * 0.2 * max(made[0].shape) ** 0.5 * sum(made)
    torch.testing.assert_close(layer.weight.detach() - before, step.view_as(before), rtol=0.05, atol=1e-4)


def test_a_learning_rate_that_is_set_later_is_that_of_both_parts():
    policy = with_gradients(build_policy(tiny(), 0), seed=1)
    before = {name: parameter.detach().clone() for name, parameter in policy.named_parameters()}
    optimizer = muon(policy, learning_rate=1.0)
    set_learning_rate(optimizer, 0.0)
    optimizer.step()
    for name, parameter in policy.named_parameters():
        assert torch.equal(parameter, before[name]), name


def test_a_step_is_as_large_as_the_learning_rate_says_whatever_the_gradient():
    steps = []
    for factor in (1e-3, 1e3):
        policy = with_gradients(build_policy(tiny(), 0), seed=1)
        for parameter in policy.parameters():
            parameter.grad *= factor
        before = policy.readout.weight.detach().clone()
        muon(policy).step()
        steps.append((policy.readout.weight - before).square().mean().sqrt().item())
    assert steps[0] == pytest.approx(steps[1], rel=0.02)
    assert steps[0] == pytest.approx(0.2 * 0.01, rel=0.3)


def test_hidden_matrices_are_muons_and_the_rest_is_adams():
    policy = build_policy(medium(), 0)
    of_muon = {id(weight) for weight in hidden_weights(policy)}
    names = {name for name, parameter in policy.named_parameters() if id(parameter) in of_muon}
    assert {"backbone.conv3.weight", "readout.weight", "film.weight"} <= names
    assert not any("norm" in name or name.endswith("bias") or name.startswith("heads.") for name in names)
    assert "previous_action.weight" not in names


def test_adams_part_steps_as_adam_alone():
    policies = [with_gradients(build_policy(tiny(), 0), seed=2) for _ in range(2)]
    muon(policies[0]).step()
    torch.optim.Adam(policies[1].parameters(), lr=0.01, eps=1e-5).step()
    for name in ("heads.value.weight", "previous_action.weight", "readout.bias"):
        ours, theirs = (dict(policy.named_parameters())[name] for policy in policies)
        assert torch.equal(ours, theirs), name


def test_its_state_is_read_and_written_back():
    policies = [build_policy(tiny(), 0) for _ in range(2)]
    optimizers = [make_optimizer("muon", policy, 0.01) for policy in policies]
    with_gradients(policies[0], seed=3)
    optimizers[0].step()
    policies[1].load_state_dict(policies[0].state_dict())
    write_moments(optimizers[1], policies[1], read_moments(optimizers[0], policies[0]), where=Path("x"))
    for policy, optimizer in zip(policies, optimizers, strict=True):
        with_gradients(policy, seed=4)
        optimizer.step()
    for (name, ours), theirs in zip(policies[0].named_parameters(), policies[1].parameters(), strict=True):
        assert torch.equal(ours, theirs), name


def test_the_state_of_another_optimizer_is_refused():
    policy = with_gradients(build_policy(tiny(), 0), seed=5)
    adam = make_optimizer("adam", policy, 0.01)
    adam.step()
    with pytest.raises(ValueError, match="fits no parameter of this policy and optimizer"):
        write_moments(make_optimizer("muon", policy, 0.01), policy, read_moments(adam, policy), where=Path("x"))
