"""Claims about the action factors: round trips, VPT's tokens, and exact log-probs, entropies and KLs."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from policies import action_codec as codec
from policies import vpt_heads
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch

_INDEX = codec.FACTOR_INDEX
_META, _INVENTORY, _PITCH = _INDEX["camera_meta"], _INDEX["inventory"], _INDEX["camera_pitch"]


def random_logits(*shape: int, seed: int = 0, spread: float = 1.0) -> torch.Tensor:
    return spread * torch.randn(*shape, codec.NUM_LOGITS, generator=torch.Generator().manual_seed(seed))


def pressing(*keys: str, turn_deg=(0.0, 0.0)) -> ActionBatch:
    actions = ActionBatch.noop(1)
    actions.buttons_EB[0, [BUTTON_INDEX[key] for key in keys]] = True
    actions.camera_deg_E2[0] = turn_deg
    return actions


def classes(actions: ActionBatch) -> dict[str, int]:
    return dict(zip(_INDEX, codec.encode(actions)[0].tolist(), strict=True))


def canonical(action_EA: np.ndarray) -> np.ndarray:
    """Return the actions as `encode` writes them: rest where a factor does not count, no meta bit without a turn."""
    action_EA = action_EA.copy()
    is_inventory_E = action_EA[:, _INVENTORY] == 1
    action_EA[is_inventory_E] = codec.REST_ACTION
    action_EA[is_inventory_E, _INVENTORY] = 1
    action_EA[action_EA[:, _META] == 0, _PITCH:] = codec.CAMERA_NULL_BIN
    action_EA[(action_EA[:, _PITCH:] == codec.CAMERA_NULL_BIN).all(1), _META] = 0
    return action_EA


action_rows = st.lists(st.tuples(*(st.integers(0, size - 1) for size in codec.FACTOR_SIZES)), min_size=1, max_size=8)


@given(action_rows)
def test_decoded_actions_encode_to_themselves_in_the_factors_that_count(rows):
    action_EA = np.array(rows, np.int64)
    np.testing.assert_array_equal(codec.encode(codec.decode(action_EA)), canonical(action_EA))


@given(
    arrays(bool, (5, len(BUTTONS))),
    arrays(np.float32, (5, 2), elements=st.floats(-200, 200, width=32)),
)
def test_encoding_is_stable_and_stays_in_range_for_any_keys_and_turns(buttons_EB, camera_deg_E2):
    action_EA = codec.encode(ActionBatch(buttons_EB=buttons_EB, camera_deg_E2=camera_deg_E2))
    assert (action_EA >= 0).all()
    assert (action_EA < np.array(codec.FACTOR_SIZES)).all()
    np.testing.assert_array_equal(codec.encode(codec.decode(action_EA)), action_EA)


@given(st.lists(st.tuples(st.integers(0, 8640), st.integers(0, 120)), min_size=1, max_size=20))
def test_vpt_tokens_survive_the_round_trip_where_vpt_lets_them_count(tokens):
    button_E, camera_E = np.array(tokens).T
    back_E, camera_back_E = codec.to_vpt(codec.from_vpt(button_E, camera_E))
    np.testing.assert_array_equal(back_E, button_E)
    turns_E = (button_E % 2 == 1) & (button_E != codec.VPT_INVENTORY_TOKEN)
    np.testing.assert_array_equal(camera_back_E, np.where(turns_E, camera_E, 60))


def test_vpt_numbers_its_buttons_as_the_product_of_its_groups():
    sizes = codec.FACTOR_SIZES[:_INVENTORY]
    for token, combination in list(enumerate(itertools.product(*map(range, sizes))))[::617]:
        action_EA = np.array([[*combination, 0, 7, 3]])
        expected_camera = 7 * 11 + 3 if combination[-1] else 60
        assert [int(part[0]) for part in codec.to_vpt(action_EA)] == [token, expected_camera]


def test_doing_nothing_is_vpt_button_0_and_camera_60():
    assert [int(part[0]) for part in codec.to_vpt(codec.encode(ActionBatch.noop(1)))] == [0, 60]


def test_camera_bins_turn_as_vpt_turns():
    turns = codec.decode(np.array([[*codec.REST_ACTION[:8], 1, 0, 5, bin_] for bin_ in range(5, 11)]))
    expected = [11.0 ** (step / 5) - 1.0 for step in range(6)]
    np.testing.assert_allclose(turns.camera_deg_E2[:, 1], expected, atol=1e-5)
    np.testing.assert_array_equal(turns.camera_deg_E2[:, 0], 0)


def test_turns_go_to_the_nearest_bin_on_the_mu_law_scale_and_are_clipped():
    np.testing.assert_array_equal(
        codec.camera_bins(np.array([-90.0, -10.0, -0.28, -0.26, 0.26, 0.28, 10.0, 90.0])), [0, 0, 4, 5, 5, 6, 10, 10]
    )


def test_keys_that_exclude_each_other_are_settled_as_in_vpt():
    assert classes(pressing("forward", "back"))["forward_back"] == 0
    assert classes(pressing("left", "right"))["left_right"] == 0
    assert classes(pressing("sprint", "sneak"))["sprint_sneak"] == 2
    assert classes(pressing("hotbar.2", "hotbar.7"))["hotbar"] == 7


def test_inventory_excludes_everything_else():
    action_EA = codec.encode(pressing("inventory", "forward", "attack", turn_deg=(5.0, 5.0)))
    assert action_EA[0].tolist() == [0] * 9 + [1, 5, 5]
    drawn = codec.decode(np.array([[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 9]]))
    assert np.flatnonzero(drawn.buttons_EB[0]).tolist() == [BUTTON_INDEX["inventory"]]
    np.testing.assert_array_equal(drawn.camera_deg_E2, 0)


def factor_log_probs(logits_L: torch.Tensor) -> list[torch.Tensor]:
    return [part.double().log_softmax(-1) for part in logits_L.split(codec.FACTOR_SIZES)]


def all_actions() -> torch.Tensor:
    """Return every action that exists when the six first factors rest, int64 [N, A]; one row an action."""
    rows = [[0] * 6 + [0, 0, 0, 1, 5, 5]]
    for attack, jump, meta in itertools.product(range(2), range(2), range(2)):
        for pitch, yaw in itertools.product(range(11), range(11)) if meta else [(5, 5)]:
            rows.append([0] * 6 + [attack, jump, meta, 0, pitch, yaw])
    return torch.tensor(rows)


def reduced_logits(seed: int) -> torch.Tensor:
    """Return random logits whose six first factors surely rest, so that `all_actions` holds all the probability."""
    logits_L = random_logits(seed=seed)
    end = sum(codec.FACTOR_SIZES[:6])
    logits_L[:end] = -200.0
    for offset in codec.LOGIT_OFFSETS[:6]:
        logits_L[offset] = 200.0
    return logits_L


def test_probabilities_of_all_actions_sum_to_one():
    action_NA = all_actions()
    log_prob_N = codec.log_prob(reduced_logits(0).expand(len(action_NA), -1), action_NA)
    assert log_prob_N.exp().sum().item() == pytest.approx(1.0, abs=1e-5)


def test_entropy_and_kl_equal_the_sums_over_all_actions():
    action_NA = all_actions()
    p_L, q_L = reduced_logits(1), reduced_logits(2)
    log_p_N = codec.log_prob(p_L.expand(len(action_NA), -1), action_NA).double()
    log_q_N = codec.log_prob(q_L.expand(len(action_NA), -1), action_NA).double()
    assert codec.entropy(p_L).item() == pytest.approx(-(log_p_N.exp() * log_p_N).sum().item(), abs=1e-5)
    assert codec.kl(p_L, q_L).item() == pytest.approx((log_p_N.exp() * (log_p_N - log_q_N)).sum().item(), abs=1e-5)
    assert codec.kl(p_L, p_L).item() == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=30)
@given(action_rows, st.integers(0, 100))
def test_log_prob_equals_the_sum_of_the_factors_that_count(rows, seed):
    logits_XL = random_logits(len(rows), seed=seed, spread=3.0)
    for row, logits_L, log_prob in zip(rows, logits_XL, codec.log_prob(logits_XL, torch.tensor(rows)), strict=True):
        factor = factor_log_probs(logits_L)
        expected = factor[_INVENTORY][row[_INVENTORY]]
        if not row[_INVENTORY]:
            expected = expected + sum(factor[i][row[i]] for i in range(_META + 1))
            if row[_META]:
                expected = expected + factor[10][row[10]] + factor[11][row[11]]
        assert log_prob.item() == pytest.approx(expected.item(), abs=2e-4)


def test_entropy_and_kl_equal_monte_carlo_means_with_all_factors_in_play():
    num_draws = 60_000
    p_XL = random_logits(seed=3).expand(num_draws, -1)
    q_XL = random_logits(seed=4).expand(num_draws, -1)
    action_XA = codec.sample(p_XL, torch.Generator().manual_seed(0))
    log_p_X, log_q_X = codec.log_prob(p_XL, action_XA), codec.log_prob(q_XL, action_XA)
    for exact, draw_X in ((codec.entropy(p_XL[0]), -log_p_X), (codec.kl(p_XL[0], q_XL[0]), log_p_X - log_q_X)):
        standard_error = draw_X.std() / num_draws**0.5
        assert abs(exact - draw_X.mean()) < 4 * standard_error


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_sampled_classes_come_as_often_as_the_tempered_softmax_says(temperature):
    num_draws = 40_000
    logits_L = random_logits(seed=5)
    action_XA = codec.sample(logits_L.expand(num_draws, -1), torch.Generator().manual_seed(1), temperature)
    inventory = torch.softmax(logits_L.split(codec.FACTOR_SIZES)[_INVENTORY] / temperature, -1)[1]
    forward = torch.softmax(logits_L.split(codec.FACTOR_SIZES)[1] / temperature, -1)[1] * (1 - inventory)
    assert (action_XA[:, _INVENTORY] == 1).float().mean().item() == pytest.approx(inventory.item(), abs=0.01)
    assert (action_XA[:, 1] == 1).float().mean().item() == pytest.approx(forward.item(), abs=0.01)


@pytest.mark.parametrize("num_logits", [codec.NUM_LOGITS, vpt_heads.NUM_VPT_LOGITS])
@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_a_sample_with_its_log_prob_is_the_sample_and_its_log_prob_to_the_bit(num_logits, temperature):
    logits_XL = torch.randn(40, num_logits, generator=torch.Generator().manual_seed(8))
    first, second = (torch.Generator().manual_seed(9) for _ in range(2))
    action_XA, log_prob_X = codec.sample_with_log_prob(logits_XL, first, temperature)
    assert torch.equal(action_XA, codec.sample(logits_XL, second, temperature))
    assert torch.equal(log_prob_X, codec.log_prob(logits_XL, action_XA))


def test_no_temperature_draws_a_class_that_there_is_none_of():
    action_XA = codec.sample(random_logits(5000, seed=3), torch.Generator().manual_seed(4), temperature=1e9)
    assert (action_XA < torch.tensor(codec.FACTOR_SIZES)).all()
    assert action_XA[:, _PITCH:].unique().tolist() == list(range(codec.NUM_CAMERA_BINS))


def test_sampled_factors_that_do_not_count_are_at_rest():
    action_EA = codec.sample(random_logits(500, seed=6), torch.Generator().manual_seed(2)).numpy()
    expected = canonical(action_EA)
    # The one exception: the meta bit may be on without a turn.
    expected[:, _META] = action_EA[:, _META]
    np.testing.assert_array_equal(action_EA, expected)


def test_temperature_zero_takes_the_likeliest_classes():
    logits_XL = random_logits(50, seed=7)
    logits_XL[:, codec.LOGIT_OFFSETS[_INVENTORY] + 1] = -50.0
    action_XA = codec.sample(logits_XL, temperature=0.0)
    likeliest_XA = torch.stack([part.argmax(-1) for part in logits_XL.split(codec.FACTOR_SIZES, -1)], -1)
    assert torch.equal(action_XA[:, : _META + 1], likeliest_XA[:, : _META + 1])


def test_gradients_of_entropy_and_kl_are_finite_for_near_certain_policies():
    logits_XL = random_logits(20, seed=8, spread=100.0).requires_grad_()
    (codec.entropy(logits_XL) + codec.kl(logits_XL, random_logits(20, seed=9))).sum().backward()
    assert logits_XL.grad.isfinite().all()


@pytest.mark.parametrize("num_logits", [codec.NUM_LOGITS, vpt_heads.NUM_VPT_LOGITS])
def test_log_prob_and_entropy_together_are_those_of_each(num_logits):
    logits_XL = torch.randn(30, num_logits, generator=torch.Generator().manual_seed(10)).requires_grad_()
    action_XA = codec.sample(logits_XL.detach(), torch.Generator().manual_seed(11))
    together = codec.log_prob_and_entropy(logits_XL, action_XA)
    apart = codec.log_prob(logits_XL, action_XA), codec.entropy(logits_XL)
    assert all(torch.equal(one, other) for one, other in zip(together, apart, strict=True))
    (gradient,) = torch.autograd.grad(sum(term.sum() for term in together), logits_XL)
    (expected,) = torch.autograd.grad(sum(term.sum() for term in apart), logits_XL)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-6)


def test_log_probs_are_float32_for_bf16_logits():
    logits_XL = random_logits(4).bfloat16()
    assert codec.log_prob(logits_XL, codec.sample(logits_XL)).dtype == torch.float32
