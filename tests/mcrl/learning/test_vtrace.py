"""V-trace against the sum that its paper prints, written out slowly."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.learning.advantages import chained_gae, ends, gae, next_values
from mcrl.learning.vtrace import chained_next_values, chained_vtrace, vtrace

DISCOUNT = 0.9


def plain_vtrace(ratio_T, reward_T, value_T, next_value_T, end_T, *, lam, rho_bar, c_bar):
    """Espeholt et al. 2018, eq. 1: v_s = V(x_s) + sum_t gamma^(t-s) (prod_{i=s}^{t-1} c_i) delta_t V."""
    num_steps = len(reward_T)
    delta_T = [
        min(rho_bar, ratio_T[t]) * (reward_T[t] + DISCOUNT * next_value_T[t] - value_T[t]) for t in range(num_steps)
    ]
    target_T = []
    for s in range(num_steps):
        target = value_T[s]
        for t in range(s, num_steps):
            product = math.prod(lam * min(c_bar, ratio_T[i]) for i in range(s, t))
            target += DISCOUNT ** (t - s) * product * delta_T[t]
            if end_T[t]:
                break
        target_T.append(target)
    advantage_T = []
    for s in range(num_steps):
        # Section 4.2: r_s + gamma v_{s+1} - V(x_s); beyond an end there is nothing to correct.
        beyond = next_value_T[s]
        if not end_T[s] and s + 1 < num_steps:
            beyond = beyond + target_T[s + 1] - value_T[s + 1]
        advantage_T.append(reward_T[s] + DISCOUNT * beyond - value_T[s])
    return target_T, advantage_T


def make_batch(seed, num_rows, num_steps):
    rng = np.random.default_rng(seed)

    def numbers():
        return torch.tensor(rng.normal(size=(num_rows, num_steps)))

    def flags():
        return torch.tensor(rng.random((num_rows, num_steps)) < 0.15)

    ratio, reward, value, bootstrap, terminated = numbers().exp(), numbers(), numbers(), numbers(), flags()
    return ratio, reward, value, bootstrap, terminated, flags() & ~terminated


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    num_steps=st.integers(1, 12),
    lam=st.sampled_from([1.0, 0.95, 0.0]),
    bars=st.sampled_from([(1.0, 1.0), (2.0, 1.0), (10.0, 0.5)]),
)
def test_targets_and_advantages_are_those_of_the_published_sum(seed, num_steps, lam, bars):
    ratio, reward, value, bootstrap, terminated, truncated = make_batch(seed, 3, num_steps)
    valid = torch.ones_like(terminated)
    beyond, end = next_values(value, bootstrap, terminated, truncated), ends(terminated, truncated, valid)
    options = {"lam": lam, "rho_bar": bars[0], "c_bar": bars[1]}
    correction, advantage = vtrace(ratio, reward, value, beyond, end, discount=DISCOUNT, **options)
    for b in range(3):
        rows = (ratio[b], reward[b], value[b], beyond[b], end[b])
        wanted_target, wanted_advantage = plain_vtrace(*(row.tolist() for row in rows), **options)
        assert (value + correction)[b].tolist() == pytest.approx(wanted_target, rel=1e-9, abs=1e-9)
        assert advantage[b].tolist() == pytest.approx(wanted_advantage, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("lam", [1.0, 0.95])
def test_targets_of_the_policy_that_acted_are_those_of_gae(lam):
    _, reward, value, bootstrap, terminated, truncated = make_batch(0, 4, 10)
    beyond = next_values(value, bootstrap, terminated, truncated)
    end = ends(terminated, truncated, torch.ones_like(terminated))
    options = {"discount": DISCOUNT, "lam": lam}
    wanted = gae(reward, value, beyond, end, **options)
    got, advantage = vtrace(torch.ones_like(reward), reward, value, beyond, end, rho_bar=1.0, c_bar=1.0, **options)
    torch.testing.assert_close(got, wanted)
    if lam == 1.0:
        # Then v is the return, and the published advantage is return - V, as GAE's is.
        torch.testing.assert_close(advantage, wanted)


def test_a_time_limit_bootstraps_and_death_does_not():
    ratio, value = torch.full((1, 3), 0.5), torch.tensor([[1.0, 2.0, 3.0]])
    bootstrap, none = torch.tensor([[0.0, 5.0, 0.0]]), torch.zeros(1, 3, dtype=torch.bool)
    middle = torch.tensor([[False, True, False]])

    def corrections(terminated, truncated):
        beyond = chained_next_values(value, bootstrap, terminated, truncated, successor_B=[None])
        end = ends(terminated, truncated, ~none)
        reward = torch.zeros_like(value)
        return vtrace(ratio, reward, value, beyond, end, discount=DISCOUNT, lam=1.0, rho_bar=1.0, c_bar=1.0)[0]

    assert corrections(none, middle)[0, 1] == pytest.approx(0.5 * (DISCOUNT * 5 - 2))
    assert corrections(middle, none)[0, 1] == pytest.approx(0.5 * (0 - 2))


@pytest.mark.parametrize("wild", [1e6, math.nan, math.inf])
def test_nothing_of_an_invalid_step_flows_back(wild):
    reward, value = torch.tensor([[0.0, wild, 0.0]]), torch.tensor([[1.0, 2.0, 3.0]])
    none, fault = torch.zeros(1, 3, dtype=torch.bool), torch.tensor([[False, True, False]])
    end = ends(none, fault, torch.tensor([[True, False, True]]))
    beyond = next_values(value, torch.tensor([[0.0, 0.0, 7.0]]), none, fault)
    options = {"discount": DISCOUNT, "lam": 1.0, "rho_bar": 1.0, "c_bar": 1.0}
    correction, advantage = vtrace(torch.ones(1, 3), reward, value, beyond, end, **options)
    assert correction[0, 0] == advantage[0, 0] == pytest.approx(DISCOUNT * 2 - 1)


@pytest.mark.parametrize("seed", range(4))
def test_an_episode_split_over_fragments_gives_the_targets_of_the_unsplit_one(seed):
    ratio, reward, value, bootstrap, terminated, truncated = make_batch(seed, 1, 12)
    options = {"discount": DISCOUNT, "lam": 0.95, "rho_bar": 2.0, "c_bar": 1.0}
    beyond = next_values(value, bootstrap, terminated, truncated)
    whole = vtrace(ratio, reward, value, beyond, ends(terminated, truncated, torch.ones_like(terminated)), **options)

    # The fragments stand in the batch in the wrong order, as they may come out of the queue.
    order, successor = [2, 0, 1], [None, 2, 0]

    def pieces(x):
        return x.reshape(3, 4)[order]

    stale = pieces(bootstrap)  # what another policy said of the views beyond the borders: it must not matter
    ended, cut = pieces(terminated), pieces(truncated)
    split = chained_vtrace(
        pieces(ratio),
        pieces(reward),
        pieces(value),
        chained_next_values(pieces(value), stale, ended, cut, successor_B=successor),
        ends(ended, cut, torch.ones_like(ended)),
        successor_B=successor,
        **options,
    )
    for got, wanted in zip(split, whole, strict=True):
        torch.testing.assert_close(got, pieces(wanted))


def test_a_ratio_of_zero_forgets_what_came_after():
    ratio, reward = torch.tensor([[1.0, 0.0, 1.0]]), torch.tensor([[0.0, 0.0, 100.0]])
    zeros, none = torch.zeros(1, 3), torch.zeros(1, 3, dtype=torch.bool)
    options = {"discount": DISCOUNT, "lam": 1.0, "rho_bar": 1.0, "c_bar": 1.0}
    correction, _ = vtrace(ratio, reward, zeros, zeros, none, **options)
    assert correction.tolist() == [[0.0, 0.0, 100.0]]


def _as_torchrl(x):
    return x.unsqueeze(-1)


def test_torchrl_gives_the_same_targets():
    functional = pytest.importorskip(
        "torchrl.objectives.value.functional", reason="the oracle torchrl is not installed; it is no dependency"
    )
    ratio, reward, value, bootstrap, terminated, truncated = make_batch(1, 4, 10)
    beyond = next_values(value, bootstrap, terminated, truncated)
    end = ends(terminated, truncated, torch.ones_like(terminated))
    flags = {"done": _as_torchrl(end), "terminated": _as_torchrl(terminated)}
    numbers = [_as_torchrl(x) for x in (value, beyond, reward)]
    their_advantage, their_target = functional.vtrace_advantage_estimate(
        DISCOUNT, _as_torchrl(ratio.log()), _as_torchrl(torch.zeros_like(ratio)), *numbers, **flags
    )
    correction, advantage = vtrace(
        ratio, reward, value, beyond, end, discount=DISCOUNT, lam=1.0, rho_bar=1.0, c_bar=1.0
    )
    torch.testing.assert_close(value + correction, their_target.squeeze(-1))
    # Theirs holds the weight that we leave to the loss.
    torch.testing.assert_close(ratio.clamp(max=1.0) * advantage, their_advantage.squeeze(-1))
    their_advantage, _ = functional.generalized_advantage_estimate(DISCOUNT, 0.95, *numbers, **flags)
    advantage = chained_gae(reward, value, beyond, end, successor_B=[None] * 4, discount=DISCOUNT, lam=0.95)
    torch.testing.assert_close(advantage, their_advantage.squeeze(-1))
