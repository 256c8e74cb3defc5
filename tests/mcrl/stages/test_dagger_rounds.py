"""Claims about the rounds of DAgger in a run: who plays, what is learned from and how, and which round is kept."""

import pytest

from mcrl.config import PPOConfig
from mcrl.run import Run
from mcrl.stages import dagger_stage
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import are_same, make_config, with_rounds
from tests.mcrl.stages.test_dagger import dagger_weights


def without_ppo(tmp_path, **changes):
    return with_rounds(make_config(tmp_path, ppo=PPOConfig(num_iterations=0)), **changes)


def noting(monkeypatch, name, note):
    """Let `note` hear the arguments of every call of a function of the stage."""
    function = getattr(dagger_stage, name)

    def call(*args, **named):
        note(*args, **named)
        return function(*args, **named)

    monkeypatch.setattr(dagger_stage, name, call)


def test_the_experts_share_falls_with_every_round_and_no_two_rounds_draw_alike(tmp_path, monkeypatch):
    played, envs = [], []
    noting(
        monkeypatch, "collect_corrections", lambda *_, **named: played.append((named["expert_share"], named["seed"]))
    )
    noting(monkeypatch, "recording_env", lambda run, tasks, split, num_steps, seed: envs.append((split, seed)))
    train(without_ppo(tmp_path, dagger_rounds=3, dagger_beta=0.4), parts=CORRIDOR)
    shares, seeds = zip(*played, strict=True)
    assert shares == pytest.approx([0.4, 0.4, 0.16, 0.16, 0.064, 0.064])
    assert len(set(seeds)) == 6
    assert envs == [(split, seed) for split, seed in zip(["train", "val"] * 3, seeds, strict=True)]


def test_a_round_learns_at_half_the_rate_in_an_order_of_its_own_from_all_that_was_labelled(tmp_path, monkeypatch):
    rates, seeds, sizes = [], [], []

    def note(run, policy, train, val, config, stage, *, seed, **_):
        rates.append(config.learning_rate)
        seeds.append(seed)
        sizes.append(tuple(sum(fragment.num_steps for fragment in shown) for shown in (train, val)))

    noting(monkeypatch, "learn", note)
    config = without_ppo(tmp_path, dagger_rounds=3)
    train(config, parts=CORRIDOR)
    clone = config.imitation
    assert rates == [clone.learning_rate / 2] * 3
    assert len({*seeds, config.seed}) == 4
    assert sizes == [
        (clone.num_demo_steps + number * clone.dagger_steps, (1 + number) * clone.num_val_demo_steps)
        for number in (1, 2, 3)
    ]


def test_the_round_that_did_best_on_val_tasks_is_the_result_and_of_equals_the_last(tmp_path, monkeypatch):
    ends, validate, successes = [], Run.validate, iter([0.2, 0.6, 0.6, 0.4])

    def told(run, policy, tasks, stage, step):
        if stage != dagger_stage.DAGGER:
            return validate(run, policy, tasks, stage, step)
        ends.append({name: tensor.clone() for name, tensor in policy.state_dict().items()})
        return next(successes)

    monkeypatch.setattr(Run, "validate", told)
    train(without_ppo(tmp_path, dagger_rounds=4), parts=CORRIDOR)
    kept = dagger_weights(tmp_path)
    assert [are_same(kept, end) for end in ends] == [False, False, True, False]
