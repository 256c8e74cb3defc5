import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from mcrl.config import LearnerConfig
from mcrl.learning.batch import collate
from mcrl.learning.gradient_step import GradientStep, UpdateTerms
from mcrl.learning.learner import NonFiniteLossError
from mcrl.learning.losses import explained_variance
from mcrl.learning.targets import find_targets
from policies.presets import PRESETS, build_policy, tiny
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.learning.corridor_learner import CONFIG, fixed_fragments, make_learner, make_worker, weights

GOLDEN = Path(__file__).parents[2] / "golden" / "learner_trace.json"


def test_acting_and_learning_compute_the_same_policy_at_lag_0():
    policy = CorridorPolicy()
    metrics = make_learner(policy).update(make_worker(CorridorPolicy()).collect())
    assert metrics["ratio_spread_lag0"] < 1e-5
    assert metrics["staleness"] == 0


def test_the_spread_is_left_out_when_no_fragment_is_of_the_present_weights():
    fragments = [dataclasses.replace(f, min_version=-1) for f in make_worker(CorridorPolicy()).collect()]
    metrics = make_learner(CorridorPolicy()).update(fragments)
    assert "ratio_spread_lag0" not in metrics
    assert metrics["staleness"] == 1


def test_value_warmup_moves_the_value_head_and_nothing_else():
    policy = CorridorPolicy()
    before = weights(policy)
    learner = make_learner(policy, dataclasses.replace(CONFIG, value_warmup_iterations=1))
    worker = make_worker(CorridorPolicy(), reference=CorridorPolicy(3))
    learner.update(worker.collect())
    moved = {name for name, tensor in policy.state_dict().items() if not torch.equal(tensor, before[name])}
    assert moved == {"heads.value.weight", "heads.value.bias"}
    learner.update(worker.collect())
    moved = {name for name, tensor in policy.state_dict().items() if not torch.equal(tensor, before[name])}
    assert moved == before.keys()


@pytest.mark.parametrize("preset", ["tiny", "small", "keen_small", "sharp", "medium"])
def test_value_warmup_trains_every_layer_of_a_presets_value_head(preset):
    policy = build_policy(PRESETS[preset](), 0)
    step = GradientStep(policy, CONFIG, LearnerConfig(), precision="fp32")
    step.begin_update(UpdateTerms(learning_rate=1e-3, kl_coef=0.0, is_warmup=True))
    learning = {name for name, parameter in policy.named_parameters() if parameter.requires_grad}
    assert learning == {name for name, _ in policy.named_parameters() if name.startswith("heads.value")}
    step.end_update()


def test_values_of_the_corridor_are_learned():
    policy = CorridorPolicy()
    learner = make_learner(policy, dataclasses.replace(CONFIG, value_warmup_iterations=10))
    worker = make_worker(CorridorPolicy(), num_envs=16, num_steps=32)
    losses = [learner.update(worker.collect())["value_loss"] for _ in range(10)]
    assert losses[-1] < 0.7 * losses[0]


def test_the_reference_holds_the_policy_back():
    def kl_after(weight):
        policy = CorridorPolicy()
        learner = make_learner(policy, dataclasses.replace(CONFIG, kl_to_reference=weight, num_epochs=4))
        metrics = {}
        for _ in range(3):
            metrics = learner.update(make_worker(CorridorPolicy(), reference=CorridorPolicy()).collect())
        return metrics["kl_to_reference"]

    assert kl_after(10.0) < 0.5 * kl_after(1e-6)


def test_how_far_a_policy_went_is_schulmans_estimate_over_the_valid_steps():
    policy = CorridorPolicy()
    fragments = make_worker(CorridorPolicy()).collect()
    rng = np.random.default_rng(0)
    log_ratio_BT = rng.normal(0.0, 0.5, (len(fragments), len(fragments[0].log_prob_T)))
    log_ratio_BT[:, 3] = 5.0
    for fragment, log_ratio_T in zip(fragments, log_ratio_BT, strict=True):
        fragment.log_prob_T[:] -= log_ratio_T.astype(np.float32)
        fragment.is_valid_T[3], fragment.truncated_T[3], fragment.terminated_T[3] = False, True, False
    metrics = make_learner(policy, dataclasses.replace(CONFIG, minibatch_sequences=4)).update(fragments)
    valid = np.delete(log_ratio_BT, 3, 1)
    assert metrics["approx_kl"] == pytest.approx((np.exp(valid) - 1 - valid).mean(), rel=1e-3)
    assert metrics["num_steps"] == valid.size


def test_target_kl_ends_an_update_after_the_epoch_that_passed_it():
    def learned(**changes):
        policy = CorridorPolicy()
        fragments = make_worker(CorridorPolicy()).collect()
        for fragment in fragments:
            fragment.log_prob_T[:] -= 0.3
        config = dataclasses.replace(CONFIG, minibatch_sequences=4, learning_rate=1e-4, **changes)
        metrics = make_learner(policy, config).update(fragments)
        return weights(policy), metrics["approx_kl"]

    once, kl = learned(num_epochs=1)
    thrice, _ = learned(num_epochs=3)
    ended, _ = learned(num_epochs=3, target_kl=0.9 * kl)
    went_on, _ = learned(num_epochs=3, target_kl=1.5 * kl)
    assert all(torch.equal(ended[name], once[name]) for name in once)
    assert all(torch.equal(went_on[name], thrice[name]) for name in thrice)
    assert any(not torch.equal(thrice[name], once[name]) for name in once)


def test_learning_without_a_reference_reports_no_kl():
    metrics = make_learner(CorridorPolicy()).update(make_worker(CorridorPolicy()).collect())
    assert "kl_to_reference" not in metrics


def test_what_values_explain_is_told_of_those_that_acted():
    fragments = make_worker(CorridorPolicy()).collect()
    batch = collate(fragments)
    targets = find_targets(batch, fragments, CONFIG)
    explained = explained_variance(targets.value_BT, targets.return_BT, batch.is_valid_BT)
    assert make_learner(CorridorPolicy()).update(fragments)["explained_variance"] == pytest.approx(explained)
    assert explained != pytest.approx(1.0)


def test_a_policy_learns_as_it_acts_and_not_in_training_mode():
    policy, modes = CorridorPolicy(), set()
    policy.encoder.register_forward_hook(lambda module, *_: modes.add(module.training))
    make_learner(policy).update(make_worker(CorridorPolicy()).collect())
    assert modes == {False}


def test_learning_rate_falls_to_its_share_and_no_further():
    learner = make_learner(CorridorPolicy(), dataclasses.replace(CONFIG, num_iterations=4))
    worker = make_worker(CorridorPolicy())
    rates = [learner.update(worker.collect())["learning_rate"] for _ in range(5)]
    assert rates == pytest.approx([1e-2, 0.75e-2, 0.5e-2, 0.25e-2, 0.2e-2])


def test_invalid_steps_change_nothing_that_is_learned():
    def weights_after(reward, log_prob):
        policy = CorridorPolicy()
        fragments = make_worker(CorridorPolicy()).collect()
        for fragment in fragments:
            fragment.is_valid_T[3], fragment.truncated_T[3], fragment.terminated_T[3] = False, True, False
            fragment.reward_T[3], fragment.log_prob_T[3] = reward, log_prob
        make_learner(policy).update(fragments)
        return weights(policy)

    tame, wild = weights_after(0.0, -1.0), weights_after(1e6, -200.0)
    assert all(torch.equal(tame[name], wild[name]) for name in tame)


def test_a_minibatch_without_a_valid_step_moves_nothing():
    learner, worker = make_learner(CorridorPolicy()), make_worker(CorridorPolicy())
    learner.update(worker.collect())  # leaves momentum
    before = weights(learner.policy)
    learner.update([dataclasses.replace(f, is_valid_T=np.zeros_like(f.is_valid_T)) for f in worker.collect()])
    assert all(torch.equal(tensor, before[name]) for name, tensor in learner.policy.state_dict().items())


def test_a_nan_loss_stops_before_the_step_and_saves_the_batch(tmp_path):
    policy = CorridorPolicy()
    before = weights(policy)
    fragments = make_worker(CorridorPolicy()).collect()
    for fragment in fragments:
        fragment.reward_T[0] = np.nan
    with pytest.raises(NonFiniteLossError, match=r"iteration 1; .*nan_batch_000001.npz"):
        make_learner(policy, crash_dir=tmp_path).update(fragments)
    with np.load(tmp_path / "nan_batch_000001.npz") as saved:
        assert np.isnan(saved["reward_BT"][:, 0]).all()
        assert saved["image_BTHWC"].dtype == np.uint8
    assert all(torch.equal(tensor, before[name]) for name, tensor in policy.state_dict().items())


def test_a_restored_learner_goes_on_as_if_it_had_never_stopped(tmp_path):
    worker = make_worker(CorridorPolicy())
    batches = [worker.collect() for _ in range(4)]
    straight = make_learner(CorridorPolicy())
    for batch in batches:
        straight.update(batch)

    first = make_learner(CorridorPolicy())
    for batch in batches[:2]:
        first.update(batch)
    policy = CorridorPolicy()
    policy.load_state_dict(first.policy.state_dict())
    second = make_learner(policy)
    second.restore(first.iteration, first.state_tensors(), first.generator_state(), where=tmp_path)
    for batch in batches[2:]:
        second.update(batch)
    for name, tensor in straight.policy.state_dict().items():
        assert torch.equal(tensor, policy.state_dict()[name])


@pytest.mark.parametrize("state", ["", "zz", "00ff", "00" * 5056], ids=["none", "words", "short", "zeros"])
def test_a_generator_state_that_is_none_is_refused(state, tmp_path):
    learner = make_learner(CorridorPolicy())
    with pytest.raises(ValueError, match=f"{tmp_path}: rng_state in state.json is not the state of a generator; use"):
        learner.restore(1, learner.state_tensors(), state, where=tmp_path)


def test_optimizer_tensors_of_another_policy_are_refused(tmp_path):
    learner = make_learner(CorridorPolicy())
    with pytest.raises(ValueError, match="preset"):
        learner.restore(1, {"other.weight/exp_avg": torch.zeros(3)}, learner.generator_state(), where=tmp_path)


def test_ppo_learns_the_corridor_from_nothing():
    policy, acting = CorridorPolicy(), CorridorPolicy()
    config = dataclasses.replace(
        CONFIG, num_iterations=25, minibatch_sequences=8, num_epochs=2, entropy_coef=0.001, auxiliary_coef=0.0
    )
    learner, worker = make_learner(policy, config), make_worker(acting, num_envs=32, num_steps=16)
    rewards = []
    for _ in range(config.num_iterations):
        fragments = worker.collect()
        learner.update(fragments)
        acting.load_state_dict(policy.state_dict())
        rewards.append(float(np.mean([fragment.reward_T.mean() for fragment in fragments])))
    # At best every third decision is rewarded; chance gets about one in 25.
    assert np.mean(rewards[-5:]) > 3 * np.mean(rewards[:5])


def test_losses_of_a_fixed_batch_follow_the_stored_trace():
    """New numbers on purpose: run with MCRL_UPDATE_GOLDEN=1, look at the diff and say why in the commit."""
    policy = build_policy(dataclasses.replace(tiny(), image_px=16), seed=0)
    config = dataclasses.replace(CONFIG, learning_rate=1e-3, value_warmup_iterations=1)
    learner, fragments = make_learner(policy, config), fixed_fragments(policy)
    names = ("loss", "policy_loss", "value_loss", "entropy", "kl_to_reference", "auxiliary_loss", "clip_fraction")
    trace = []
    for _ in range(4):
        metrics = learner.update(fragments)
        trace.append({name: metrics[name] for name in names})
    if os.environ.get("MCRL_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(trace, indent=1) + "\n")
    stored = json.loads(GOLDEN.read_text())
    for got, wanted in zip(trace, stored, strict=True):
        assert got == pytest.approx(wanted, rel=1e-4, abs=1e-6)
