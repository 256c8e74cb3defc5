"""Claims about the critic that knows the situation: what it learns, what it changes, and that it can go on."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from mcrl.learning.advantages import chained_gae, ends, next_values
from mcrl.learning.batch import collate, successors
from mcrl.learning.losses import masked_mean
from mcrl.learning.privileged_critic import Judged, PrivilegedCritic, without_critic
from mcrl.learning.targets import find_targets
from task_synthesis.playing.situation import SITUATION
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.fragments import make_fragment
from tests.mcrl.learning.corridor_learner import CONFIG, make_learner, make_worker

HERE = Path("run/checkpoints/iteration_000003")
INFORMED = dataclasses.replace(CONFIG, privileged_critic=True)
STEPS = 4


def told_fragment(seed=0, **changes):
    """A fragment with random situations, the engine's answers as given."""
    rng = np.random.default_rng(seed)
    draw = lambda: rng.normal(size=(STEPS, len(SITUATION))).astype(np.float32)  # noqa: E731
    values = {name: rng.normal(size=STEPS).astype(np.float32) for name in ("value_T", "reward_T")}
    return make_fragment(num_steps=STEPS, env_index=seed, situation_TP=draw(), after_TP=draw(), **(values | changes))


def fitted(critic, num_iterations=60):
    """The critic, having heard that a return is a fifth of the first number of the situation."""
    for iteration in range(num_iterations):
        fragments = [told_fragment(16 * iteration + index) for index in range(16)]
        batch = collate(fragments)
        judged = critic.judge(fragments, batch)
        loss = critic.learn(judged, 0.2 * judged.seen_BTQ[..., 0], batch.is_valid_BT, iteration)
    return critic, loss


def flags(*indices):
    chosen = np.zeros(STEPS, bool)
    chosen[list(indices)] = True
    return chosen


def test_it_begins_at_0_and_learns_what_the_situation_says():
    critic = PrivilegedCritic(0)
    fragments = [told_fragment(99)]
    assert not critic.judge(fragments, collate(fragments)).value_BT.any()
    critic, loss = fitted(critic)
    assert loss < 0.1 * 0.2**2
    value_BT = critic.judge(fragments, collate(fragments)).value_BT
    np.testing.assert_allclose(value_BT[0], 0.2 * fragments[0].situation_TP[:, 0], atol=0.1)


def test_a_batch_without_a_valid_step_teaches_nothing():
    critic, _ = fitted(PrivilegedCritic(0), 1)
    before = critic.tensors()
    fragments = [told_fragment(7)]
    judged = critic.judge(fragments, collate(fragments))
    nothing_BT = torch.zeros_like(judged.value_BT, dtype=torch.bool)
    assert critic.learn(judged, judged.value_BT + 1.0, nothing_BT, 1) == 0.0
    assert all(torch.equal(tensor, before[name]) for name, tensor in critic.tensors().items())


def test_it_sees_the_policys_own_value():
    critic, _ = fitted(PrivilegedCritic(0), 2)
    fragment = told_fragment()
    other = dataclasses.replace(fragment, value_T=fragment.value_T + 1)
    first, second = (critic.judge([f], collate([f])).value_BT for f in (fragment, other))
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("changes", "open_steps"),
    [
        ({}, [3]),
        ({"terminated_T": flags(3)}, []),
        ({"truncated_T": flags(1)}, [1, 3]),
        ({"truncated_T": flags(1), "is_valid_T": ~flags(1)}, [3]),
        ({"is_valid_T": ~flags(3)}, []),
    ],
)
def test_only_where_the_world_goes_on_unseen_something_lies_beyond(changes, open_steps):
    critic, _ = fitted(PrivilegedCritic(0), 2)
    fragment = told_fragment(**changes)
    beyond_T = critic.judge([fragment], collate([fragment])).bootstrap_value_BT[0]
    assert torch.nonzero(beyond_T).flatten().tolist() == open_steps


def test_advantages_are_those_of_its_values_and_not_of_the_policys():
    """The slow twin: GAE by hand of what the critic says, after the fragment's own numbers were put aside."""
    critic, _ = fitted(PrivilegedCritic(0), 2)
    fragments = [told_fragment(0, terminated_T=flags(1)), told_fragment(1, truncated_T=flags(2))]
    batch = collate(fragments)
    judged = critic.judge(fragments, batch)
    targets = find_targets(batch, fragments, INFORMED, judged=judged)
    beyond_BT = next_values(judged.value_BT, judged.bootstrap_value_BT, batch.terminated_BT, batch.truncated_BT)
    wanted_BT = chained_gae(
        batch.reward_BT,
        judged.value_BT,
        beyond_BT,
        ends(batch.terminated_BT, batch.truncated_BT, batch.is_valid_BT),
        successor_B=successors(fragments),
        discount=INFORMED.discount,
        lam=INFORMED.gae_lambda,
    )
    assert torch.equal(targets.return_BT, wanted_BT + judged.value_BT)
    assert torch.equal(targets.value_BT, judged.value_BT)
    assert not torch.equal(targets.return_BT, find_targets(batch, fragments, INFORMED).return_BT)


def test_the_order_of_a_fit_follows_from_seed_and_iteration():
    def after(seed, iteration):
        critic = PrivilegedCritic(0)
        critic._seed = seed
        num_steps = 2 * 256
        seen_BTQ = torch.randn(1, num_steps, len(SITUATION) + 1, generator=torch.Generator().manual_seed(1))
        judged = Judged(torch.zeros(1, num_steps), torch.zeros(1, num_steps), seen_BTQ)
        critic.learn(judged, seen_BTQ[..., 0], torch.ones(1, num_steps, dtype=torch.bool), iteration)
        return torch.cat([tensor.flatten() for tensor in critic.tensors().values()])

    assert torch.equal(after(0, 3), after(0, 3))
    assert not torch.equal(after(0, 3), after(0, 4))
    assert not torch.equal(after(0, 3), after(1, 3))


def test_a_restored_critic_is_the_one_that_was_kept():
    first, second = PrivilegedCritic(0), PrivilegedCritic(1)
    fitted(first, 3)
    second.restore(first.tensors() | {"heads.action.weight/step": torch.tensor(1.0)}, where=HERE)
    assert first.tensors().keys() == second.tensors().keys()
    assert all(torch.equal(tensor, second.tensors()[name]) for name, tensor in first.tensors().items())
    assert without_critic(first.tensors() | {"other": torch.ones(1)}).keys() == {"other"}


@pytest.mark.parametrize("damage", ["absent", "of another width"])
def test_another_critic_is_refused_in_one_sentence(damage):
    tensors = PrivilegedCritic(0).tensors()
    name = "privileged_critic.0.weight/weight"
    tensors[name] = torch.zeros(3, 3)
    if damage == "absent":
        del tensors[name]
    with pytest.raises(ValueError, match="iteration_000003: the privileged critic's 0.weight is "):
        PrivilegedCritic(0).restore(tensors, where=HERE)


def test_environments_that_tell_nothing_are_named():
    fragments = [make_fragment()]
    with pytest.raises(ValueError, match="do not tell situations; give TaskEnv tells_situations"):
        PrivilegedCritic(0).judge(fragments, collate(fragments))


def test_a_learner_learns_by_its_values_and_tells_it_the_returns():
    learner, twin = make_learner(CorridorPolicy(), INFORMED), PrivilegedCritic(0)
    fragments = make_worker(CorridorPolicy()).collect()
    for fragment in fragments:
        fragment.reward_T[2] = 1.0
    batch = collate(fragments)
    for iteration in range(2):
        judged = twin.judge(fragments, batch)
        targets = find_targets(batch, fragments, INFORMED, judged=judged)
        loss = twin.learn(judged, targets.return_BT, batch.is_valid_BT, iteration)
        metrics = learner.update(fragments)
        assert metrics["return"] == pytest.approx(float(masked_mean(targets.return_BT, batch.is_valid_BT)))
        assert metrics["critic_loss"] == pytest.approx(loss)
    assert all(torch.equal(tensor, learner.state_tensors()[name]) for name, tensor in twin.tensors().items())


@pytest.mark.slow
def test_a_learner_with_it_explains_returns_that_the_picture_does_not_show():
    """Situation and goal of a corridor say which end is right; the policy here has not learned to read the goal."""
    metrics = {}
    for name, config in (("own", CONFIG), ("privileged", INFORMED)):
        policy = CorridorPolicy(0)
        worker, learner = make_worker(policy), make_learner(CorridorPolicy(0), config)
        for _ in range(60):
            metrics[name] = learner.update(worker.collect())
    assert "critic_loss" not in metrics["own"]
    assert metrics["privileged"]["explained_variance"] > metrics["own"]["explained_variance"] + 0.1


def test_what_lies_beyond_is_judged_by_the_situation_and_the_value_after_the_step():
    critic, _ = fitted(PrivilegedCritic(0), 2)
    fragment = told_fragment(99, bootstrap_value_T=np.full(STEPS, 3.0, np.float32))
    beyond = critic.judge([fragment], collate([fragment])).bootstrap_value_BT[0, -1]
    arrived = dataclasses.replace(fragment, situation_TP=fragment.after_TP, value_T=fragment.bootstrap_value_T)
    assert beyond == critic.judge([arrived], collate([arrived])).value_BT[0, -1]
    assert beyond != critic.judge([fragment], collate([fragment])).value_BT[0, -1]
