"""What must hold of the learner under every loss. The default one's own claims are in test_learner.py."""

import dataclasses
import json
import os
import typing
from pathlib import Path

import numpy as np
import pytest
import torch

from mcrl.learning.batch import collate
from mcrl.learning.learner import Learner, NonFiniteLossError
from mcrl.learning.targets import Snapshot, find_targets
from mcrl.learning.value_scale import ValueScale
from mcrl.settings.ppo_config import Loss
from policies.presets import build_policy, tiny
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.learning.corridor_learner import CONFIG, fixed_fragments, make_learner, make_worker, weights

GOLDEN = Path(__file__).parents[2] / "golden"
OFF_POLICY = ("aipo", "vtrace", "decoupled_ppo")
LOSSES = typing.get_args(Loss)


def with_loss(loss, **changes):
    return dataclasses.replace(CONFIG, loss=loss, **changes)


def moved(policy, before):
    return {name for name, tensor in policy.state_dict().items() if not torch.equal(tensor, before[name])}


@pytest.mark.parametrize("loss", OFF_POLICY)
def test_losses_of_a_fixed_batch_follow_the_stored_trace(loss):
    """New numbers on purpose: run with MCRL_UPDATE_GOLDEN=1, look at the diff and say why in the commit."""
    policy = build_policy(dataclasses.replace(tiny(), image_px=16), seed=0)
    config = with_loss(loss, learning_rate=1e-3, value_warmup_iterations=1, kl_target=0.03, value_normalisation=True)
    if loss == "vtrace":
        config = dataclasses.replace(config, vtrace_rho_bar=1.2, vtrace_c_bar=0.9)  # both bite, each in its place
    learner, fragments = make_learner(policy, config), fixed_fragments(policy)
    names = ("loss", "policy_loss", "value_loss", "kl_to_reference", "kl_coef", "clip_fraction", "return")
    trace = []
    for _ in range(4):
        metrics = learner.update(fragments)
        trace.append({name: metrics[name] for name in names})
    path = GOLDEN / f"learner_trace_{loss}.json"
    if os.environ.get("MCRL_UPDATE_GOLDEN"):
        path.write_text(json.dumps(trace, indent=1) + "\n")
    for got, wanted in zip(trace, json.loads(path.read_text()), strict=True):
        assert got == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("wild_reward", [1e6, np.nan])
def test_invalid_steps_change_nothing_that_is_learned(loss, wild_reward):
    def weights_after(reward, log_prob):
        policy = CorridorPolicy()
        fragments = make_worker(CorridorPolicy()).collect()
        for fragment in fragments:
            fragment.is_valid_T[3], fragment.truncated_T[3], fragment.terminated_T[3] = False, True, False
            fragment.reward_T[3], fragment.log_prob_T[3] = reward, log_prob
        make_learner(policy, with_loss(loss, value_normalisation=True)).update(fragments)
        return weights(policy)

    tame, wild = weights_after(0.0, -1.0), weights_after(wild_reward, -200.0)
    assert all(torch.equal(tame[name], wild[name]) for name in tame)


@pytest.mark.parametrize("loss", OFF_POLICY)
def test_a_nan_loss_stops_before_the_step_and_saves_the_batch(loss, tmp_path):
    policy = CorridorPolicy()
    before = weights(policy)
    fragments = make_worker(CorridorPolicy()).collect()
    for fragment in fragments:
        fragment.reward_T[0] = np.nan
    with pytest.raises(NonFiniteLossError, match=r"iteration 1; .*nan_batch_000001.npz"):
        make_learner(policy, with_loss(loss), crash_dir=tmp_path).update(fragments)
    with np.load(tmp_path / "nan_batch_000001.npz") as saved:
        assert np.isnan(saved["reward_BT"][:, 0]).all()
    assert not moved(policy, before)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_restored_learner_goes_on_as_if_it_had_never_stopped(loss, tmp_path):
    config = with_loss(loss, kl_target=0.01, value_normalisation=True, value_warmup_iterations=1)
    worker = make_worker(CorridorPolicy(), reference=CorridorPolicy(3))
    batches = [worker.collect() for _ in range(4)]
    straight = make_learner(CorridorPolicy(), config)
    for batch in batches:
        straight.update(batch)
    first = make_learner(CorridorPolicy(), config)
    for batch in batches[:2]:
        first.update(batch)
    policy = CorridorPolicy()
    policy.load_state_dict(first.policy.state_dict())
    second = make_learner(policy, config)
    # As a checkpoint's JSON keeps them.
    numbers = json.loads(json.dumps(first.numbers()))
    second.restore(first.iteration, first.state_tensors(), first.generator_state(), where=tmp_path, numbers=numbers)
    for batch in batches[2:]:
        second.update(batch)
    assert second.numbers() == straight.numbers()
    assert {"kl_coef", "value_scale/approach/redstone_block/first"} <= straight.numbers().keys()
    assert not moved(policy, straight.policy.state_dict())


def test_at_lag_0_decoupled_ppo_takes_the_first_step_of_ppo_clip():
    """One minibatch: mu is the proximal policy, up to the rounding between acting and learning."""
    after = {}
    for loss in ("ppo_clip", "decoupled_ppo"):
        policy = CorridorPolicy()
        learner = make_learner(policy, with_loss(loss, minibatch_sequences=4))
        metrics = learner.update(make_worker(CorridorPolicy()).collect())
        after[loss] = (metrics["policy_loss"], metrics["grad_norm"])
    assert after["decoupled_ppo"] == pytest.approx(after["ppo_clip"], rel=1e-4, abs=1e-6)


def stale_batches(num_updates, loss):
    """A policy that learned for some updates, and fragments that its first weights made."""
    policy = CorridorPolicy()
    learner = make_learner(policy, with_loss(loss, minibatch_sequences=4))
    worker = make_worker(CorridorPolicy())  # never gets new weights: its fragments are of version 0
    for _ in range(num_updates):
        learner.update(worker.collect())
    return learner, worker.collect()


@pytest.mark.parametrize("loss", LOSSES)
def test_fragments_of_older_weights_are_learned_from_and_counted_as_such(loss):
    learner, fragments = stale_batches(3, loss)
    before = weights(learner.policy)
    metrics = learner.update(fragments)
    assert metrics["staleness"] == 3
    assert "ratio_spread_lag0" not in metrics
    assert metrics["approx_kl"] > 1e-4  # the weights that acted are far enough to matter
    assert moved(learner.policy, before)
    assert all(torch.isfinite(tensor).all() for tensor in learner.policy.state_dict().values())


def test_the_proximal_policy_is_the_learner_at_the_start_of_the_update():
    """Before the first step on a stale batch pi is prox: nothing is clipped, where ppo_clip clips against mu."""
    shares = {}
    for loss in ("ppo_clip", "decoupled_ppo"):
        learner, fragments = stale_batches(6, "ppo_clip")
        one = Learner(learner.policy, with_loss(loss, minibatch_sequences=4, clip_eps=0.05), precision="fp32", seed=0)
        shares[loss] = one.update(fragments)["clip_fraction"]
    assert shares["decoupled_ppo"] == 0.0
    assert shares["ppo_clip"] > 0.1


def test_vtrace_reads_the_learners_values_and_not_those_of_the_policy_that_acted():
    fragments = make_worker(CorridorPolicy()).collect()
    batch = collate(fragments)
    zeros = torch.zeros_like(batch.value_BT)
    snapshot = Snapshot(log_prob_BT=batch.log_prob_BT, value_BT=zeros)
    targets = find_targets(batch, fragments, with_loss("vtrace"), snapshot=snapshot)
    batch.value_BT = batch.value_BT + 1000.0
    again = find_targets(batch, fragments, with_loss("vtrace"), snapshot=snapshot)
    assert torch.equal(targets.return_BT, again.return_BT)
    assert torch.equal(targets.value_BT, zeros)


def test_normalised_values_teach_families_of_any_size_of_reward_alike():
    """Rewards a thousand times larger in one family leave what the policy and the value head learn as it was."""

    def found(factor):
        fragments = make_worker(CorridorPolicy(), num_envs=16, num_steps=16).collect()
        for fragment in fragments:
            fragment.value_T[:] = fragment.bootstrap_value_T[:] = 0.0
            is_left_T = np.array([family.endswith("redstone_block") for family in fragment.families])
            # Large enough for the smallest deviation not to matter.
            reward_T = 10 * (fragment.reward_T + np.arange(16) % 3)
            fragment.reward_T[:] = np.where(is_left_T[fragment.goal_index_T], factor, 1.0) * reward_T
        return find_targets(collate(fragments), fragments, CONFIG, scale=ValueScale())

    small, large = found(1.0), found(1000.0)
    torch.testing.assert_close(small.advantage_BT, large.advantage_BT, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(small.head_BT, large.head_BT, rtol=1e-3, atol=1e-4)
    assert large.return_BT.std() > 100 * small.return_BT.std()


def test_normalised_values_are_read_back_in_units_of_reward():
    scale = ValueScale()
    worker = make_worker(CorridorPolicy(), num_envs=16, num_steps=16)
    fragments = worker.collect()
    find_targets(collate(fragments), fragments, CONFIG, scale=scale)
    batch = collate(fragments)
    mean_BT, deviation_BT = scale.of(fragments)
    targets = find_targets(batch, fragments, CONFIG, scale=scale)
    torch.testing.assert_close(targets.value_BT, mean_BT + deviation_BT * batch.value_BT)


def test_the_coefficient_of_the_kl_is_steered_and_rests_during_the_warmup():
    config = dataclasses.replace(CONFIG, kl_target=1e-9, value_warmup_iterations=2)
    learner = make_learner(CorridorPolicy(), config)
    worker = make_worker(CorridorPolicy(), reference=CorridorPolicy(3))
    coefficients = [learner.update(worker.collect())["kl_coef"] for _ in range(5)]
    start = config.kl_to_reference
    assert coefficients == pytest.approx([start, start, start, start * 1.02, start * 1.02**2])


def rewards_of_learning(loss: str, *, lag_updates: int, **changes) -> list[float]:
    """Return the mean reward of each update's fragments, which were acted `lag_updates` updates before it."""
    policy, acting = CorridorPolicy(), CorridorPolicy()
    config = with_loss(
        loss,
        num_iterations=40,
        minibatch_sequences=8,
        num_epochs=2,
        entropy_coef=0.001,
        auxiliary_coef=0.0,
        **changes,
    )
    learner, worker = make_learner(policy, config), make_worker(acting, num_envs=32, num_steps=16)
    rewards, waiting = [], []
    for _ in range(config.num_iterations):
        waiting.append(worker.collect())
        acting.load_state_dict(policy.state_dict())
        fragments = waiting.pop(0) if len(waiting) > lag_updates else waiting[-1]
        learner.update(fragments)
        rewards.append(float(np.mean([fragment.reward_T.mean() for fragment in fragments])))
    return rewards


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns_the_corridor(loss):
    rewards = rewards_of_learning(loss, lag_updates=0, learning_rate=3e-3)  # faster, the unclipped ones collapse
    assert np.mean(rewards[-5:]) > 3 * np.mean(rewards[:5])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "value_normalisation"), [*((loss, False) for loss in ("ppo_clip", *OFF_POLICY)), ("ppo_clip", True)]
)
def test_losses_for_older_fragments_learn_from_those_of_two_updates_before(loss, value_normalisation):
    rewards = rewards_of_learning(loss, lag_updates=2, value_normalisation=value_normalisation)
    assert np.mean(rewards[-5:]) > 3 * np.mean(rewards[:5])
