import numpy as np
import pytest
import torch

from mcrl.learning.advantages import chained_gae, ends, gae, next_values

DISCOUNT, LAM = 0.9, 0.8


def rows(*values):
    return torch.tensor([values], dtype=torch.float32)


def flags(*values):
    return torch.tensor([values], dtype=torch.bool)


def advantages(reward, value, bootstrap, terminated, truncated, valid=None):
    valid = torch.ones_like(terminated) if valid is None else valid
    return gae(
        reward,
        value,
        next_values(value, bootstrap, terminated, truncated),
        ends(terminated, truncated, valid),
        discount=DISCOUNT,
        lam=LAM,
    )


def test_two_steps_agree_with_the_formula_by_hand():
    # delta_1 = 1 + .9 * 4 - 2 = 2.6; delta_0 = 0 + .9 * 2 - 1 = .8; A_0 = .8 + .72 * 2.6
    got = advantages(rows(0, 1), rows(1, 2), rows(0, 4), flags(0, 0), flags(0, 0))
    torch.testing.assert_close(got, rows(0.8 + 0.72 * 2.6, 2.6))


def test_a_time_limit_bootstraps_and_death_does_not():
    value, bootstrap, none = rows(1, 2, 3), rows(0, 5, 0), flags(0, 0, 0)
    middle = flags(0, 1, 0)
    truncated = advantages(rows(0, 0, 0), value, bootstrap, none, middle)
    terminated = advantages(rows(0, 0, 0), value, bootstrap, middle, none)
    assert truncated[0, 1] == pytest.approx(0.9 * 5 - 2)
    assert terminated[0, 1] == pytest.approx(-2)


def test_nothing_flows_across_the_end_of_an_episode():
    def first_advantage(later_reward):
        got = advantages(rows(0, 0, later_reward), rows(1, 2, 3), rows(0, 0, 0), flags(0, 1, 0), flags(0, 0, 0))
        return got[0, :2]

    assert torch.equal(first_advantage(0.0), first_advantage(100.0))


@pytest.mark.parametrize("reward", [1e6, float("nan"), float("inf")])
def test_an_invalid_step_leaves_the_steps_before_it_as_if_it_were_unseen(reward):
    valid = flags(1, 0, 1)
    fault = flags(0, 1, 0)
    wild = advantages(rows(0, reward, 0), rows(1, 2, 3), rows(0, 0, 7), flags(0, 0, 0), fault, valid)
    alone = advantages(rows(0), rows(1), rows(2), flags(0), flags(0))
    assert wild[0, 0] == pytest.approx(float(alone[0, 0]))


def test_an_episode_split_over_two_fragments_gives_the_same_advantages():
    generator = torch.Generator().manual_seed(0)
    reward, value = torch.rand(1, 8, generator=generator), torch.rand(1, 8, generator=generator)
    bootstrap, none = torch.zeros(1, 8), torch.zeros(1, 8, dtype=torch.bool)
    bootstrap[0, -1] = 0.7
    whole = advantages(reward, value, bootstrap, none, none)

    # The fragments stand in the batch in the wrong order, as they may come out of the queue.
    def halves(x):
        return torch.cat([x[:, 4:], x[:, :4]])

    split_bootstrap = halves(bootstrap)
    split_bootstrap[1, -1] = value[0, 4]
    split_none = halves(none)
    split = chained_gae(
        halves(reward),
        halves(value),
        next_values(halves(value), split_bootstrap, split_none, split_none),
        ends(split_none, split_none, ~split_none),
        successor_B=[None, 0],
        discount=DISCOUNT,
        lam=LAM,
    )
    torch.testing.assert_close(torch.cat([split[1:], split[:1]], dim=1), whole)


def test_vectorised_advantages_equal_those_of_one_plain_loop():
    rng = np.random.default_rng(0)
    num_rows, num_steps = 5, 16
    numbers = torch.tensor(rng.normal(size=(3, num_rows, num_steps)), dtype=torch.float32)
    reward, value, bootstrap = numbers
    terminated = torch.tensor(rng.random((num_rows, num_steps)) < 0.2)
    truncated = torch.tensor(rng.random((num_rows, num_steps)) < 0.2) & ~terminated
    got = advantages(reward, value, bootstrap, terminated, truncated)
    for b in range(num_rows):
        carry = 0.0
        for t in reversed(range(num_steps)):
            if terminated[b, t]:
                beyond, carry = 0.0, 0.0
            elif truncated[b, t]:
                beyond, carry = float(bootstrap[b, t]), 0.0
            else:
                beyond = float(bootstrap[b, t]) if t == num_steps - 1 else float(value[b, t + 1])
            carry = float(reward[b, t]) + DISCOUNT * beyond - float(value[b, t]) + DISCOUNT * LAM * carry
            assert got[b, t] == pytest.approx(carry, rel=1e-4, abs=1e-5)
