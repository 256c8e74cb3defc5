"""Claims about VPT's two tokens: every one is an action and comes back, and their distribution is the joint one."""

import numpy as np
import pytest
import torch

from policies import action_codec as codec
from policies import vpt_heads
from worlds.types import BUTTON_INDEX

_META, _PITCH = codec.FACTOR_INDEX["camera_meta"], codec.FACTOR_INDEX["camera_pitch"]
_STILL = vpt_heads.NUM_CAMERA_TOKENS // 2


def every_pair() -> tuple[np.ndarray, np.ndarray]:
    """Return all 8641 x 121 pairs of tokens."""
    return tuple(np.divmod(np.arange(8641 * 121), 121))


def random_logits(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randn(*shape, vpt_heads.NUM_VPT_LOGITS, generator=generator)


def test_every_pair_of_tokens_is_an_action_whose_keys_and_turn_encode_back_to_it():
    button_E, camera_E = every_pair()
    actions = codec.decode(codec.from_vpt(button_E, camera_E))
    pressed = actions.buttons_EB
    for first, second in (("forward", "back"), ("left", "right"), ("sprint", "sneak")):
        assert not (pressed[:, BUTTON_INDEX[first]] & pressed[:, BUTTON_INDEX[second]]).any()
    back_E, camera_back_E = codec.to_vpt(codec.encode(actions))
    turns_E = (button_E % 2 == 1) & (camera_E != _STILL)
    # A meta bit without a turn is a second name for not turning, which encode never uses.
    expected_E = np.where((button_E % 2 == 1) & ~turns_E, button_E - 1, button_E)
    np.testing.assert_array_equal(back_E, expected_E)
    np.testing.assert_array_equal(camera_back_E, np.where(turns_E, camera_E, _STILL))


def test_torch_and_numpy_agree_on_every_pair_of_tokens():
    button_E, camera_E = every_pair()
    action_EA = vpt_heads.factors_of(torch.from_numpy(button_E), torch.from_numpy(camera_E))
    np.testing.assert_array_equal(action_EA.numpy(), codec.from_vpt(button_E, camera_E))
    for ours, theirs in zip(vpt_heads.tokens_of(action_EA), codec.to_vpt(action_EA.numpy()), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def joint(logits_L: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return every action that exists, int64 [N, A], and its log-probability, float64 [N], written out."""
    button_M, camera_N = (part.double().log_softmax(0) for part in logits_L.split((8641, 121)))
    button_E, camera_E = (torch.from_numpy(part) for part in every_pair())
    turns_E = button_E % 2 == 1
    exists_E = turns_E | (camera_E == 0)
    log_p_E = button_M[button_E] + torch.where(turns_E, camera_N[camera_E], 0.0)
    action_EA = vpt_heads.factors_of(button_E, camera_E)
    return action_EA[exists_E], log_p_E[exists_E]


def test_log_probs_are_those_of_the_joint_action_and_sum_to_one():
    logits_L = random_logits()
    action_NA, log_p_N = joint(logits_L)
    assert log_p_N.exp().sum().item() == pytest.approx(1.0)
    assert len(action_NA) == 4320 * 121 + 4321
    row_X = torch.randperm(len(action_NA), generator=torch.Generator().manual_seed(1))[:300]
    got_X = codec.log_prob(logits_L.expand(300, -1), action_NA[row_X])
    torch.testing.assert_close(got_X.double(), log_p_N[row_X], atol=1e-4, rtol=1e-5)


def test_entropy_and_kl_are_those_of_the_joint_action():
    logits_p_L, logits_q_L = random_logits(seed=1), random_logits(seed=2)
    (_, log_p_N), (_, log_q_N) = joint(logits_p_L), joint(logits_q_L)
    p_N = log_p_N.exp()
    assert codec.entropy(logits_p_L).item() == pytest.approx(-(p_N * log_p_N).sum().item(), rel=1e-5)
    assert codec.kl(logits_p_L, logits_q_L).item() == pytest.approx((p_N * (log_p_N - log_q_N)).sum().item(), rel=1e-5)
    assert codec.kl(logits_p_L, logits_p_L).item() == 0.0


def test_gradients_of_the_log_prob_reach_the_camera_only_where_the_action_turns():
    logits_XL = random_logits(2).requires_grad_()
    action_XA = torch.from_numpy(codec.from_vpt([4, 5], [7, 7]))
    codec.log_prob(logits_XL, action_XA).sum().backward()
    camera_gradient_X = logits_XL.grad[:, 8641:].abs().sum(1)
    assert camera_gradient_X[0] == 0
    assert camera_gradient_X[1] > 0


def test_sampled_actions_come_as_often_as_the_softmax_says():
    # Three button tokens are likely: turning (a meta bit), still, inventory; two camera tokens.
    logits_L = torch.full((vpt_heads.NUM_VPT_LOGITS,), -40.0)
    logits_L[[5, 8, 8640]] = torch.tensor([0.5, 0.3, 0.2]).log()
    logits_L[[8641 + 10, 8641 + 100]] = torch.tensor([0.25, 0.75]).log()
    action_XA = codec.sample(logits_L.expand(1200, -1), torch.Generator().manual_seed(0))
    button_X, camera_X = vpt_heads.tokens_of(action_XA)
    share = [(button_X == token).float().mean().item() for token in (5, 8, 8640)]
    np.testing.assert_allclose(share, [0.5, 0.3, 0.2], atol=0.05)
    assert (camera_X[button_X == 5] == 100).float().mean().item() == pytest.approx(0.75, abs=0.06)
    assert (camera_X[button_X != 5] == _STILL).all()
    cold_XA = codec.sample(logits_L.expand(3, -1), temperature=0.0)
    assert [int(token[0]) for token in vpt_heads.tokens_of(cold_XA)] == [5, 100]


def test_a_temperature_of_a_half_squares_the_odds_of_both_tokens():
    logits_L = torch.full((vpt_heads.NUM_VPT_LOGITS,), -40.0)
    logits_L[[5, 7]] = logits_L[[8641 + 10, 8641 + 100]] = torch.tensor([0.75, 0.25]).log()
    action_XA = codec.sample(logits_L.expand(600, -1), torch.Generator().manual_seed(0), temperature=0.5)
    for token_X, likelier in zip(vpt_heads.tokens_of(action_XA), (5, 10), strict=True):
        assert (token_X == likelier).float().mean().item() == pytest.approx(0.9, abs=0.04)


def test_the_camera_counts_in_no_other_token():
    button_X = torch.arange(8641)
    action_XA = vpt_heads.factors_of(button_X, torch.zeros_like(button_X))
    is_turning_X = (action_XA[:, _PITCH:] == 0).all(1)
    assert torch.equal(is_turning_X, action_XA[:, _META] == 1)
