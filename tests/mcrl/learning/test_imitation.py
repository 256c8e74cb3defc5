import dataclasses

import numpy as np
import pytest
import torch

from mcrl.config import ImitationConfig
from mcrl.learning.batch import collate
from mcrl.learning.demonstrations import collect_demonstrations
from mcrl.learning.imitation import _take_step, clone, validate
from mcrl.learning.optimizer import make_optimizer
from mcrl.rollout.mirror import mirrored
from mcrl.settings.imitation_config import OPTIMIZERS
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task
from tests.mcrl.corridor_policy import CorridorPolicy

CONFIG = ImitationConfig(num_updates=80, val_every_updates=20, learning_rate=1e-2, sequences_per_batch=4)


def demonstrations(num_steps, seed):
    source = ShuffledTasks([make_task(index) for index in range(8)], split="train", seed=seed)
    return collect_demonstrations(
        CorridorEnv(source, 8),
        CorridorExpert(),
        CorridorPolicy(),
        num_steps=num_steps,
        fragment_steps=8,
        noise=0.2,
        seed=seed,
    )


@pytest.fixture(scope="module")
def train():
    return demonstrations(1024, seed=0)


@pytest.fixture(scope="module")
def val():
    return demonstrations(128, seed=1)


def run(policy, train, val, config=CONFIG, **options):
    return clone(policy, train, val, config, precision="fp32", seed=0, **options)


def test_cloning_finds_out_what_the_expert_does(train, val):
    policy = CorridorPolicy()
    before = validate(policy, val, CONFIG, "fp32")["val_loss"]
    result = run(policy, train, val)
    assert result.best_val_loss < 0.2 * before
    assert result.num_updates == CONFIG.num_updates


def test_the_policy_is_left_with_the_weights_of_the_best_validation(train, val):
    policy = CorridorPolicy()
    seen = {}
    # A learning rate that ruins the policy: the last validation is not the best one.
    config = dataclasses.replace(CONFIG, learning_rate=3.0, patience=2, num_updates=200)

    def remember(update, metrics):
        if "val_loss" in metrics:
            seen[update] = metrics["val_loss"]
        return False

    result = run(policy, train, val, config, on_update=remember)
    assert result.best_val_loss == min(seen.values())
    assert validate(policy, val, config, "fp32")["val_loss"] == pytest.approx(result.best_val_loss)


def test_a_cloning_that_goes_on_after_its_best_validation_ends_with_those_weights_all_the_same(train, val):
    config = dataclasses.replace(CONFIG, learning_rate=3.0, patience=2, num_updates=200)
    kept, whole, resumed = [], CorridorPolicy(), CorridorPolicy(1)
    result = run(whole, train, val, config, keep=kept.append)
    after_best = kept[result.best_update // config.val_every_updates]
    assert run(resumed, train, val, config, start=after_best) == result
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))


def test_training_stops_when_validation_no_longer_improves(train, val):
    config = dataclasses.replace(CONFIG, learning_rate=3.0, patience=1, num_updates=2000)
    result = run(CorridorPolicy(), train, val, config)
    assert result.num_updates == result.best_update + config.val_every_updates < 2000
    assert not result.is_stopped


def test_a_watcher_can_stop_it(train, val):
    result = run(CorridorPolicy(), train, val, on_update=lambda update, metrics: update == 3)
    assert (result.num_updates, result.is_stopped) == (3, True)


def test_the_same_seed_gives_the_same_weights(train, val):
    one, two = CorridorPolicy(), CorridorPolicy()
    config = dataclasses.replace(CONFIG, num_updates=10)
    for policy in (one, two):
        run(policy, train, val, config)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_learning_rate_falls_linearly(train, val):
    rates = []

    def note(update, metrics):
        rates.append(metrics["learning_rate"])
        return False

    run(CorridorPolicy(), train, val, dataclasses.replace(CONFIG, num_updates=4), on_update=note)
    assert rates == pytest.approx([1e-2, 0.75e-2, 0.5e-2, 0.25e-2])


def test_the_learning_rate_that_falls_is_the_one_that_is_taken(train, val):
    def weights(share):
        policy = CorridorPolicy()
        run(policy, train, val, dataclasses.replace(CONFIG, num_updates=2, final_learning_rate_share=share))
        return policy.heads["action"].weight

    assert not torch.equal(weights(0.05), weights(1.0))


class Seen(list):
    """Sequences, and the places of those that were asked for."""

    def __init__(self, sequences):
        super().__init__(sequences)
        self.places = []

    def __getitem__(self, place):
        self.places.append(place)
        return super().__getitem__(place)


def test_every_sequence_is_shown_once_before_any_is_shown_again(train, val):
    shown = Seen(train[:8])
    run(CorridorPolicy(), shown, val, dataclasses.replace(CONFIG, num_updates=4))
    assert sorted(shown.places[:8]) == sorted(shown.places[8:]) == list(range(8))
    assert shown.places[:8] != shown.places[8:]


def test_where_the_target_is_gets_learned_as_much_as_its_coefficient_says(train, val):
    def heads(coefficient):
        policy = CorridorPolicy()
        run(policy, train, val, dataclasses.replace(CONFIG, num_updates=2, auxiliary_coef=coefficient))
        return policy.heads["auxiliary"].weight, policy.encoder.weight

    (unlearned, alone), (learned, little), (_, much) = heads(0.0), heads(0.3), heads(0.6)
    assert torch.equal(unlearned, CorridorPolicy().heads["auxiliary"].weight)
    assert not torch.equal(learned, unlearned)
    assert not torch.equal(alone, little)
    assert not torch.equal(little, much)


def test_gradients_are_scaled_down_to_the_norm_that_is_set(train, val):
    policy = CorridorPolicy()
    run(policy, train, val, dataclasses.replace(CONFIG, num_updates=2, max_grad_norm=1e-12))
    # Adam divides by 1e-5 and the gradient, so that one of 1e-12 moves next to nothing.
    for ours, start in zip(policy.parameters(), CorridorPolicy().parameters(), strict=True):
        torch.testing.assert_close(ours, start, rtol=0, atol=1e-6)


def test_validation_is_the_mean_over_all_valid_steps_however_they_lie_in_sequences(train):
    sequences = [
        dataclasses.replace(fragment, is_valid_T=np.arange(8) < (1 if place < 16 else 8))
        for place, fragment in enumerate(train[:20])
    ]
    loss_N = [validate(CorridorPolicy(), [fragment], CONFIG, "fp32")["val_loss"] for fragment in sequences]
    by_hand = np.average(loss_N, weights=[fragment.is_valid_T.sum() for fragment in sequences])
    assert validate(CorridorPolicy(), sequences, CONFIG, "fp32")["val_loss"] == pytest.approx(by_hand, rel=1e-5)


def test_a_policy_is_validated_as_it_acts_and_not_in_training_mode(val):
    policy, modes = CorridorPolicy().train(), set()
    policy.encoder.register_forward_hook(lambda module, *_: modes.add(module.training))
    validate(policy, val, CONFIG, "fp32")
    assert modes == {False}


def test_invalid_steps_are_not_learned_from(train, val):
    broken = [dataclasses.replace(f, is_valid_T=f.is_valid_T & False) for f in val]
    assert validate(CorridorPolicy(), broken, CONFIG, "fp32")["val_loss"] == 0.0

    def weights(label, *, is_valid):
        shown = []
        for fragment in train[:8]:
            actions_TA, is_valid_T = fragment.expert_action_TA.copy(), fragment.is_valid_T.copy()
            actions_TA[3], is_valid_T[3] = label, is_valid
            shown.append(dataclasses.replace(fragment, expert_action_TA=actions_TA, is_valid_T=is_valid_T))
        policy = CorridorPolicy()
        run(policy, shown, val, dataclasses.replace(CONFIG, num_updates=2))
        return torch.cat([parameter.detach().flatten() for parameter in policy.parameters()])

    assert torch.equal(weights(0, is_valid=False), weights(1, is_valid=False))
    assert not torch.equal(weights(0, is_valid=True), weights(1, is_valid=True))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_batch_without_a_valid_step_moves_nothing(train, name):
    policy = CorridorPolicy()
    optimizer = make_optimizer(name, policy, 1e-2)

    def weights_after(fragments):
        _take_step(policy, optimizer, collate(fragments), CONFIG, "fp32", 1, None)
        return torch.cat([parameter.detach().flatten() for parameter in policy.parameters()])

    before = weights_after(train[:4])  # leaves momentum
    nothing = [dataclasses.replace(fragment, is_valid_T=fragment.is_valid_T & False) for fragment in train[4:8]]
    assert torch.equal(weights_after(nothing), before)


def test_mirrors_change_what_is_shown_and_nothing_where_they_are_off(train, val):
    def weights(**changes):
        policy = CorridorPolicy()
        run(policy, train, val, dataclasses.replace(CONFIG, num_updates=6, **changes))
        return torch.cat([parameter.detach().flatten() for parameter in policy.parameters()])

    assert torch.equal(weights(), weights(mirrors=False))
    assert not torch.equal(weights(), weights(mirrors=True))
    assert torch.equal(weights(mirrors=True), weights(mirrors=True))


def test_a_coin_is_tossed_for_each_sequence_and_not_for_all_together(train, val):
    def weights(sequences, *, mirrors=False):
        policy = CorridorPolicy()
        run(policy, sequences, val, dataclasses.replace(CONFIG, num_updates=1, sequences_per_batch=8, mirrors=mirrors))
        return policy.encoder.weight

    tossed = weights(train[:8], mirrors=True)
    assert not torch.equal(tossed, weights(train[:8]))
    assert not torch.equal(tossed, weights([mirrored(fragment) for fragment in train[:8]]))
