"""Options of the learner that must change its memory and its speed, and nothing that is learned."""

import dataclasses
import typing

import numpy as np
import pytest
import torch
from torch import Tensor

from mcrl.config import LearnerConfig
from mcrl.learning.average import WeightAverage
from mcrl.learning.batch import collate
from mcrl.learning.forward import evaluate, perception_loss
from mcrl.learning.learner import Learner
from mcrl.settings.ppo_config import Loss
from policies.presets import build_policy, tiny
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.learning.corridor_learner import CONFIG, fixed_fragments, make_learner, make_worker
from tests.mcrl.learning.test_rocket_learning import make_worker as make_rocket_worker
from tests.policies.rocket_sizes import shrunk_rocket

LOSSES = typing.get_args(Loss)


def tiny_policy():
    return build_policy(dataclasses.replace(tiny(), image_px=16), seed=0)


def gradients_of(policy, batch, *, recomputes: bool) -> tuple[dict[str, Tensor], int]:
    """The gradient of something that every head takes part in, and the bytes that its graph held on to."""
    policy.recomputes_views = recomputes
    held: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        held[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        evaluation = evaluate(policy, batch, "fp32")
        loss = perception_loss(evaluation, batch) + evaluation.value_BT.square().mean()
        loss = loss + evaluation.logits_BTL.square().mean()
    policy.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in policy.named_parameters() if p.grad is not None}, sum(held.values())


@pytest.mark.parametrize("pass_sequences", [1, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_minibatch_in_passes_is_the_minibatch_at_once(loss, pass_sequences):
    # Cut above 1: at lag 0 every ratio is 1 up to rounding, and the share that is cut at 1 is noise.
    rho_bar = 1.2 if loss == "vtrace" else 1.0
    config = dataclasses.replace(CONFIG, loss=loss, minibatch_sequences=4, vtrace_rho_bar=rho_bar)
    fragments = make_worker(CorridorPolicy(), reference=CorridorPolicy(3)).collect()
    rng = np.random.default_rng(0)
    for index, fragment in enumerate(fragments):
        # Passes with different numbers of valid steps, one with none: the mean of their means is not the mean.
        fragment.is_valid_T[:] = (rng.random(8) < 0.3 * index) & (index != 1)
    rows = []
    for learner_config in (LearnerConfig(), LearnerConfig(pass_sequences=pass_sequences)):
        learner = make_learner(CorridorPolicy(), config, learner=learner_config)
        rows.append([learner.update(fragments) for _ in range(3)])
    for whole, in_passes in zip(*rows, strict=True):
        assert in_passes == pytest.approx(whole, rel=1e-4, abs=2e-6)


def test_recomputed_views_give_the_same_gradient_and_hold_less():
    policy = tiny_policy()
    batch = collate(fixed_fragments(policy))
    kept, kept_bytes = gradients_of(policy, batch, recomputes=False)
    again, again_bytes = gradients_of(policy, batch, recomputes=True)
    assert kept.keys() == again.keys()
    for name, gradient in kept.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-4, atol=1e-6)
    assert again_bytes < 0.7 * kept_bytes  # the rest is weights and the memory's, and is not recomputed


def test_recomputed_views_of_rocket_give_the_same_gradient():
    policy = build_policy(shrunk_rocket(), seed=0)
    batch = collate(make_rocket_worker(build_policy(shrunk_rocket(), seed=0), None).collect())
    kept, kept_bytes = gradients_of(policy, batch, recomputes=False)
    again, again_bytes = gradients_of(policy, batch, recomputes=True)
    for name, gradient in kept.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-4, atol=1e-6)
    assert again_bytes < kept_bytes


def test_the_average_is_that_of_the_formula_and_starts_at_the_weights():
    policy = CorridorPolicy()
    average = WeightAverage(policy, 0.9)
    expected = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    for seed in (1, 2, 3):
        policy.load_state_dict(CorridorPolicy(seed).state_dict())
        average.hear()
        expected = {name: 0.9 * old + 0.1 * policy.state_dict()[name] for name, old in expected.items()}
    for name, tensor in average.state_dict().items():
        torch.testing.assert_close(tensor, expected[name])


def averaging(policy) -> Learner:
    return make_learner(policy, learner=LearnerConfig(ema_decay=0.8))


def test_a_restored_average_goes_on_and_learning_does_not_depend_on_it(tmp_path):
    fragments = make_worker(CorridorPolicy()).collect()
    plain, straight = make_learner(CorridorPolicy()), averaging(CorridorPolicy())
    for learner in (plain, straight):
        for _ in range(3):
            learner.update(fragments)
    first = averaging(CorridorPolicy())
    first.update(fragments)
    policy = CorridorPolicy()
    policy.load_state_dict(first.policy.state_dict())
    second = averaging(policy)
    second.restore(first.iteration, first.state_tensors(), first.generator_state(), where=tmp_path)
    for _ in range(2):
        second.update(fragments)
    for name, tensor in straight.average.state_dict().items():
        assert torch.equal(tensor, second.average.state_dict()[name])
    for name, tensor in plain.policy.state_dict().items():
        assert torch.equal(tensor, straight.policy.state_dict()[name])
    assert any(not torch.equal(x, plain.policy.state_dict()[n]) for n, x in straight.average.state_dict().items())


def test_a_learners_average_hears_of_every_step_at_its_decay(monkeypatch):
    learner = averaging(CorridorPolicy())
    expected = {name: weight.detach().clone() for name, weight in learner.policy.named_parameters()}
    num_steps, take = 0, learner._step.take

    def take_and_average(*args):
        nonlocal num_steps
        taken, num_steps = take(*args), num_steps + 1
        for name, weight in learner.policy.named_parameters():
            expected[name] = 0.8 * expected[name] + 0.2 * weight.detach()
        return taken

    monkeypatch.setattr(learner._step, "take", take_and_average)
    learner.update(make_worker(CorridorPolicy()).collect())
    assert num_steps > 1
    for name, average in expected.items():
        torch.testing.assert_close(learner.average.state_dict()[name], average)


def test_an_average_of_another_policy_is_refused(tmp_path):
    learner = averaging(CorridorPolicy())
    with pytest.raises(ValueError, match="encoder.weight is absent"):
        learner.restore(1, {"other/average": torch.zeros(3)}, learner.generator_state(), where=tmp_path)
