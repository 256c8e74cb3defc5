"""Each policy loss against its formula in plain numbers, its gradient against finite differences in float64."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mcrl.config import PPOConfig
from mcrl.learning.losses import ppo_clip
from mcrl.learning.off_policy import decoupled_ppo, truncated_policy_gradient
from mcrl.learning.policy_loss import policy_loss

CLIP_EPS, CAP, DUAL_CLIP = 0.2, 2.0, 3.0
STEP = 1e-5

log_ratios = st.floats(-2.0, 2.0)
advantages = st.floats(-3.0, 3.0).filter(lambda x: abs(x) > 1e-2)
# log pi - log prox, log prox - log mu, advantage, for each of some steps
steps = st.lists(st.tuples(log_ratios, log_ratios, advantages), min_size=1, max_size=6)


def row(values):
    return torch.tensor([list(values)], dtype=torch.float64)


def everywhere(tensor):
    return torch.ones_like(tensor, dtype=torch.bool)


def plain_clip(ratio, advantage, dual_clip):
    """The surrogate as the papers write it, case by case."""
    clipped = min(max(ratio, 1 - CLIP_EPS), 1 + CLIP_EPS)
    surrogate = min(ratio * advantage, clipped * advantage)
    return max(surrogate, dual_clip * advantage) if dual_clip is not None and advantage < 0 else surrogate


def is_smooth(log_ratio, dual_clip):
    kinks = [1 - CLIP_EPS, 1 + CLIP_EPS] + ([dual_clip] if dual_clip else [])
    return all(abs(math.exp(log_ratio) - kink) > 1e-3 for kink in kinks)


def slopes(function, points):
    """Central differences of a function of a list, one for each place."""
    result = []
    for place in range(len(points)):
        up, down = list(points), list(points)
        up[place] += STEP
        down[place] -= STEP
        result.append((function(up) - function(down)) / (2 * STEP))
    return result


def gradient(loss, variable):
    return torch.autograd.grad(loss, variable)[0][0].tolist()


@pytest.mark.parametrize("dual_clip", [None, DUAL_CLIP])
@settings(max_examples=50, deadline=None)
@given(steps=steps)
def test_ppo_clip_and_its_gradient_are_those_of_the_formula(dual_clip, steps):
    assume(all(is_smooth(log_ratio, dual_clip) for log_ratio, _, _ in steps))
    points, advantage = [s[0] for s in steps], [s[2] for s in steps]

    def plain(points):
        terms = [plain_clip(math.exp(x), a, dual_clip) for x, a in zip(points, advantage, strict=True)]
        return -sum(terms) / len(terms)

    log_ratio = row(points).requires_grad_()
    loss, _ = ppo_clip(log_ratio, row(advantage), everywhere(log_ratio), clip_eps=CLIP_EPS, dual_clip=dual_clip)
    assert float(loss.detach()) == pytest.approx(plain(points), rel=1e-9, abs=1e-12)
    assert gradient(loss, log_ratio) == pytest.approx(slopes(plain, points), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("max_weight", [None, CAP])
@pytest.mark.parametrize("dual_clip", [None, DUAL_CLIP])
@settings(max_examples=50, deadline=None)
@given(steps=steps)
def test_decoupled_ppo_and_its_gradient_are_those_of_the_formula(dual_clip, max_weight, steps):
    assume(all(is_smooth(log_ratio, dual_clip) for log_ratio, _, _ in steps))
    points, advantage = [s[0] for s in steps], [s[2] for s in steps]
    weight = [min(math.exp(s[1]), max_weight or math.inf) for s in steps]

    def plain(points):
        terms = zip(points, weight, advantage, strict=True)
        return -sum(w * plain_clip(math.exp(x), a, dual_clip) for x, w, a in terms) / len(points)

    log_prob = row(points).requires_grad_()
    proximal = torch.zeros_like(log_prob)
    behaviour = proximal - row([s[1] for s in steps])
    loss, _ = decoupled_ppo(
        log_prob,
        proximal,
        behaviour,
        row(advantage),
        everywhere(log_prob),
        clip_eps=CLIP_EPS,
        max_weight=max_weight,
        dual_clip=dual_clip,
    )
    assert float(loss.detach()) == pytest.approx(plain(points), rel=1e-9, abs=1e-12)
    assert gradient(loss, log_prob) == pytest.approx(slopes(plain, points), rel=1e-6, abs=1e-7)


@settings(max_examples=50, deadline=None)
@given(steps=steps)
def test_the_truncated_gradient_is_that_of_the_weighted_surrogate_below_the_cap_and_of_reinforce_above(steps):
    points, advantage = [s[0] for s in steps], [s[2] for s in steps]
    is_cut = [math.exp(x) > CAP for x in points]
    assume(all(abs(math.exp(x) - CAP) > 1e-3 for x in points))

    def plain(points):
        # d(ratio) = ratio * d(log pi): importance sampling below the cap, a constant times log pi above.
        terms = zip(points, is_cut, advantage, strict=True)
        return -sum((CAP * x if cut else math.exp(x)) * a for x, cut, a in terms) / len(points)

    log_prob = row(points).requires_grad_()
    loss, cut_share = truncated_policy_gradient(
        log_prob, torch.zeros_like(log_prob), row(advantage), everywhere(log_prob), max_weight=CAP
    )
    assert gradient(loss, log_prob) == pytest.approx(slopes(plain, points), rel=1e-6, abs=1e-7)
    assert float(cut_share) == pytest.approx(sum(is_cut) / len(is_cut))


@pytest.mark.parametrize("max_weight", [1.0, 2.0])
def test_aipo_is_reinforce_where_the_policy_is_the_one_that_acted(max_weight):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 5, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    action = torch.randint(4, (2, 5, 1), generator=generator)
    advantage = torch.randn(2, 5, generator=generator, dtype=torch.float64)
    log_prob = logits.log_softmax(-1).gather(-1, action).squeeze(-1)
    loss, cut = truncated_policy_gradient(
        log_prob, log_prob.detach(), advantage, everywhere(advantage), max_weight=max_weight
    )
    (got,) = torch.autograd.grad(loss, logits, retain_graph=True)
    (wanted,) = torch.autograd.grad(-(advantage * log_prob).mean(), logits, retain_graph=True)
    # REINFORCE once more without autograd: d log pi(a) / d logit_k = [k = a] - pi(k).
    by_hand = -(torch.nn.functional.one_hot(action.squeeze(-1), 4) - logits.softmax(-1)) * advantage[..., None] / 10
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)
    torch.testing.assert_close(got, by_hand.detach())
    assert float(cut) == 0.0


@settings(max_examples=25, deadline=None)
@given(steps=steps)
def test_decoupled_ppo_is_ppo_clip_where_the_proximal_policy_acted(steps):
    log_prob, advantage = row([s[0] for s in steps]).requires_grad_(), row([s[2] for s in steps])
    mask, behaviour = everywhere(advantage), row([s[1] for s in steps])
    one, _ = decoupled_ppo(
        log_prob, behaviour, behaviour, advantage, mask, clip_eps=CLIP_EPS, max_weight=CAP, dual_clip=DUAL_CLIP
    )
    two, _ = ppo_clip(log_prob - behaviour, advantage, mask, clip_eps=CLIP_EPS, dual_clip=DUAL_CLIP)
    assert float(one.detach()) == float(two.detach())
    assert gradient(one, log_prob) == gradient(two, log_prob)


def test_a_stale_step_still_teaches_under_every_loss_but_ppo_clip():
    """Mu gave the action a third of what the learner gives it now: the surrogate of ppo_clip is flat there."""
    learnt = {}
    for loss in ("ppo_clip", "aipo", "vtrace", "decoupled_ppo"):
        log_prob = row([0.0]).requires_grad_()
        value, _ = policy_loss(
            PPOConfig(loss=loss),
            log_prob,
            row([-math.log(3.0)]),
            row([1.0]),
            everywhere(log_prob),
            proximal_log_prob_BT=row([0.0]),
        )
        learnt[loss] = -gradient(value, log_prob)[0]
    assert learnt == pytest.approx({"ppo_clip": 0.0, "aipo": 2.0, "vtrace": 1.0, "decoupled_ppo": 3.0})


@pytest.mark.parametrize("loss", ["ppo_clip", "decoupled_ppo"])
def test_dual_clip_ends_the_pull_of_an_action_that_grew_likely_and_proved_bad(loss):
    def slope(dual_clip):
        log_prob = row([math.log(10.0)]).requires_grad_()
        start = torch.zeros_like(log_prob)
        config, mask = PPOConfig(loss=loss, dual_clip=dual_clip), everywhere(log_prob)
        value, _ = policy_loss(config, log_prob, start, row([-1.0]), mask, proximal_log_prob_BT=start)
        return gradient(value, log_prob)[0]

    assert slope(None) == pytest.approx(10.0)
    assert slope(3.0) == 0.0
    assert slope(11.0) == pytest.approx(10.0)


@pytest.mark.parametrize("loss", ["ppo_clip", "aipo", "vtrace", "decoupled_ppo"])
@pytest.mark.parametrize("wild", [1e30, -1e30, math.inf])
def test_what_an_invalid_step_says_of_its_likelihood_reaches_no_gradient(loss, wild):
    def learnt(behaviour_of_invalid):
        log_prob = row([-1.0, -2.0]).requires_grad_()
        value, share = policy_loss(
            PPOConfig(loss=loss),
            log_prob,
            row([-1.1, behaviour_of_invalid]),
            row([1.0, 0.0]),
            torch.tensor([[True, False]]),
            proximal_log_prob_BT=row([-1.05, -2.0]),
        )
        return gradient(value, log_prob), float(value.detach()), float(share)

    assert learnt(wild) == learnt(-2.0)
    assert learnt(wild)[0][1] == 0.0
