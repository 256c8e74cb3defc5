"""Claims about DAgger: who acts, who labels, what a run keeps of it, and what it can repair that cloning cannot."""

import dataclasses
import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl import checkpoint
from mcrl.config import ImitationConfig, PPOConfig, TrainConfig
from mcrl.learning.demonstrations import collect_corrections, collect_demonstrations
from mcrl.stages import dagger_stage, imitation_stage
from mcrl.stages.dagger_stage import steps_per_round, thinned
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import resume, train
from policies import action_codec
from policies.agent import PolicyAgent
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, LampCorridorEnv, make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.corridor_run import StopIn, are_same, make_config, weights, with_rounds

# The first env of round 1: three of the clone lie before it. A round has three, the last of which plays the val tasks.
ROUND_1 = 3


class WatchfulExpert(CorridorExpert):
    """Keeps what it heard of others' actions."""

    def __init__(self):
        self.heard = []

    def note_actions(self, actions):
        self.heard.append(action_codec.encode(actions))


def make_env():
    return CorridorEnv(ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0), 4)


def collect(expert_share, expert=None, seed=0):
    learner = PolicyAgent(CorridorPolicy(), 4, seed=seed, precision="fp32")
    return collect_corrections(
        make_env(),
        expert or CorridorExpert(),
        learner,
        expert_share=expert_share,
        num_steps=200,
        fragment_steps=10,
        seed=seed,
    )


def joined(fragments, name):
    """One array of env 0's fragments."""
    return np.concatenate([getattr(fragment, name) for fragment in fragments if fragment.env_index == 0])


def dagger_weights(tmp_path):
    return weights(tmp_path / "run" / "checkpoints" / "dagger")


def test_where_the_expert_takes_every_decision_corrections_are_demonstrations():
    corrected = collect(expert_share=1.0)
    shown = collect_demonstrations(
        make_env(), CorridorExpert(), CorridorPolicy(), num_steps=200, fragment_steps=10, noise=0.0, seed=0
    )
    for one, other in zip(corrected, shown, strict=True):
        for name in ("image_THWC", "action_TA", "expert_action_TA", "previous_action_TA", "first_T", "outcome_T"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_the_learner_acts_and_the_expert_labels():
    fragments = collect(expert_share=0.0)
    done, labels = joined(fragments, "action_TA"), joined(fragments, "expert_action_TA")
    assert (done != labels).any(1).mean() > 0.9  # random weights are seldom right in all 12 factors
    side = action_codec.FACTOR_INDEX["left_right"]
    assert set(labels[:, side]) == {1, 2}
    assert not np.delete(labels, side, axis=1)[:, : action_codec.FACTOR_INDEX["camera_pitch"] - 1].any()


def test_the_expert_takes_about_its_share_of_the_decisions():
    fragments = collect(expert_share=0.5)
    done, labels = (np.concatenate([getattr(f, n) for f in fragments]) for n in ("action_TA", "expert_action_TA"))
    assert 0.35 < (done == labels).all(1).mean() < 0.65


def test_expert_and_learner_hear_what_was_carried_out(monkeypatch):
    told, act = [], CorridorPolicy.act
    monkeypatch.setattr(
        CorridorPolicy, "act", lambda *args, **named: told.append(args[5].clone()) or act(*args, **named)
    )
    expert = WatchfulExpert()
    fragments = collect(expert_share=0.5, expert=expert)
    done = joined(fragments, "action_TA")
    assert np.array_equal(np.stack(expert.heard)[:, 0], done)
    assert np.array_equal(joined(fragments, "previous_action_TA")[1:], done[:-1])
    assert np.array_equal(torch.stack(told)[1:, 0], done[:-1])


def test_a_run_with_dagger_keeps_clone_and_ppo_to_the_bit(tmp_path):
    plain = train(make_config(tmp_path / "a"), parts=CORRIDOR)
    beside = train(with_rounds(make_config(tmp_path / "b")), parts=CORRIDOR)
    for name in ("imitation", "final"):
        one, two = weights(plain.checkpoint.with_name(name)), weights(beside.checkpoint.with_name(name))
        assert are_same(one, two)
    clone, corrected = weights(beside.checkpoint.with_name("imitation")), dagger_weights(tmp_path / "b")
    assert not are_same(clone, corrected)
    state = checkpoint.load_state(beside.checkpoint.with_name("dagger"))
    assert state.stage == "dagger"


def test_ppo_from_dagger_goes_on_as_from_its_checkpoint(tmp_path):
    config = with_rounds(make_config(tmp_path / "a"), ppo_from_dagger=True)
    one_run = train(config, parts=CORRIDOR).checkpoint
    given = dataclasses.replace(make_config(tmp_path / "b"), initial_policy=str(one_run.with_name("dagger")))
    assert are_same(weights(train(given, parts=CORRIDOR).checkpoint), weights(one_run))


def test_ppo_from_dagger_without_rounds_is_ppo_from_the_clone(tmp_path):
    expected = weights(train(make_config(tmp_path / "a"), parts=CORRIDOR).checkpoint)
    config = with_rounds(make_config(tmp_path / "b"), ppo_from_dagger=True, dagger_rounds=0)
    assert are_same(weights(train(config, parts=CORRIDOR).checkpoint), expected)


def test_a_run_stopped_in_ppo_from_dagger_keeps_to_daggers_policy(tmp_path):
    config = with_rounds(make_config(tmp_path / "a"), ppo_from_dagger=True)
    whole = weights(train(config, parts=CORRIDOR).checkpoint)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "broken"))
    stopper = StopIn(ROUND_1 + 2 * 3, num_tasks=12)  # PPO's, behind those of both rounds
    assert train(broken, parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env)).exit_code == 130
    resumed = weights(resume(tmp_path / "broken", parts=CORRIDOR).checkpoint)
    assert are_same(whole, resumed)


def test_left_to_itself_dagger_takes_as_many_decisions_as_ppo(tmp_path):
    config = make_config(tmp_path)
    config = with_rounds(config, dagger_steps=None, dagger_rounds=3)
    train(config, parts=CORRIDOR)
    rounds = [line for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line.get("round")]
    assert [line["round"] for line in rounds] == [1, 2, 3]
    assert [line["expert_share"] for line in rounds] == [0.5, 0.25, 0.125]
    ppo = config.ppo
    assert rounds[-1]["decisions"] == ppo.num_iterations * ppo.fragments_per_batch * ppo.fragment_steps


@settings(max_examples=50, deadline=None)
@given(iterations=st.integers(1, 500), rounds=st.integers(1, 20))
def test_the_rounds_together_take_at_least_ppos_decisions_and_less_than_one_a_round_more(iterations, rounds):
    config = TrainConfig(
        recipe="x", ppo=PPOConfig(num_iterations=iterations), imitation=ImitationConfig(dagger_rounds=rounds)
    )
    wanted = iterations * config.ppo.fragments_per_batch * config.ppo.fragment_steps
    assert wanted <= rounds * steps_per_round(config) < wanted + rounds


@settings(max_examples=30, deadline=None)
@given(room=st.integers(-50, 250), seed=st.integers(0, 5))
def test_what_a_round_leaves_out_are_whole_recordings(room, seed):
    shown = collect(expert_share=1.0)  # five recordings of four environments and 10 steps, 40 decisions each
    kept = thinned(shown, room, np.random.default_rng(seed))
    assert sum(fragment.num_steps for fragment in kept) == min(max(0, room) // 40, 5) * 40
    place_of = {id(fragment): place for place, fragment in enumerate(shown)}
    places = [place_of[id(fragment)] for fragment in kept]
    assert places == sorted(places)
    blocks = np.array(places, int).reshape(-1, 4)
    assert (blocks % 4 == np.arange(4)).all()


def test_episodes_of_ones_own_are_thinned_one_by_one():
    shown = collect(expert_share=1.0)
    apart = [dataclasses.replace(fragment, image_THWC=fragment.image_THWC.copy(), sequence=0) for fragment in shown]
    assert len(thinned(apart, 70, np.random.default_rng(0))) == 7


def test_a_round_learns_from_no_more_than_is_kept(tmp_path, monkeypatch):
    counts = []

    def counting(run, policy, train, *others, **named):
        counts.append(sum(fragment.num_steps for fragment in train))
        return learn(run, policy, train, *others, **named)

    learn = dagger_stage.learn
    monkeypatch.setattr(dagger_stage, "learn", counting)
    config = with_rounds(make_config(tmp_path, ppo=PPOConfig(num_iterations=0)), dagger_rounds=4)
    num_demo_steps = config.imitation.num_demo_steps
    train(config, parts=CORRIDOR)
    assert counts == [num_demo_steps + 64 * number for number in (1, 2, 3, 4)]
    counts.clear()
    config = with_rounds(config, dagger_rounds=4, dagger_keep_steps=num_demo_steps)
    train(dataclasses.replace(config, run_dir=str(tmp_path / "kept")), parts=CORRIDOR)
    assert len(counts) == 4
    assert all(64 < count <= num_demo_steps for count in counts)


def test_a_run_shows_dagger_what_the_clone_was_shown_and_holds_it_no_longer(tmp_path, monkeypatch):
    learned_from, views = [], []

    def watching(run, policy, train, *others, **named):
        learned_from.append([id(fragment.image_THWC) for fragment in train])
        views.extend(weakref.ref(fragment.image_THWC) for fragment in train)
        return learn(run, policy, train, *others, **named)

    learn = imitation_stage.learn
    for stage in (imitation_stage, dagger_stage):
        monkeypatch.setattr(stage, "learn", watching)

    def count_held(*_):
        gc.collect()
        num_held.append(sum(view() is not None for view in views))

    num_held = []
    monkeypatch.setattr(sys.modules["mcrl.train"], "reinforce", count_held)
    config = with_rounds(make_config(tmp_path), ppo_from_dagger=True)
    train(config, parts=CORRIDOR)
    clone, round_1, _ = learned_from
    assert round_1[: len(clone)] == clone
    assert num_held == [0]
    demos = [line for line in read_metrics(Path(config.run_dir) / "metrics.jsonl") if line["stage"] == "train_demos"]
    assert len(demos) == 1


def test_without_ppo_dagger_is_the_result_also_of_a_given_policy(tmp_path):
    config = make_config(tmp_path / "a", ppo=PPOConfig(num_iterations=0))
    clone = train(config, parts=CORRIDOR).checkpoint
    given = dataclasses.replace(with_rounds(config), run_dir=str(tmp_path / "b" / "run"), initial_policy=str(clone))
    corrected = train(given, parts=CORRIDOR)
    assert checkpoint.load_state(corrected.checkpoint).stage == "dagger"
    # The same clone, the same demonstrations: what made the clone is of no account.
    train(with_rounds(dataclasses.replace(config, run_dir=str(tmp_path / "c" / "run"))), parts=CORRIDOR)
    expected = dagger_weights(tmp_path / "c")
    assert are_same(weights(corrected.checkpoint), expected)


@pytest.mark.slow
def test_dagger_repairs_what_no_amount_of_cloning_can(tmp_path):
    """The expert never shows how to turn round at the lamp; a clone that guessed wrong has to know."""

    def make_lamp_env(config, source, num_envs):
        return LampCorridorEnv(source, num_envs)

    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    config = dataclasses.replace(
        config,
        tasks=dataclasses.replace(config.tasks, num_train_tasks=32, num_val_tasks=128),
        imitation=dataclasses.replace(
            config.imitation,
            noise=0.0,
            num_updates=80,
            learning_rate=1e-2,
            dagger_rounds=3,
            dagger_steps=256,
            dagger_updates=60,
            dagger_beta=0.0,
            control_updates=180,
        ),
    )
    train(config, parts=dataclasses.replace(CORRIDOR, make_env=make_lamp_env))
    success = {}
    for line in read_metrics(tmp_path / "run" / "metrics.jsonl"):
        success |= {name: line[name] for name in line if name.endswith("_success")}
    # Seeds 0, 1, 2: clone 0.52, 0.44, 0.43; cloned as long as DAgger 0.50, 0.45, 0.47; DAgger 0.81, 0.88, 0.79.
    assert success["imitation-long_success"] < 0.6
    assert success["dagger_success"] > success["imitation-long_success"] + 0.2
    assert success["dagger_success"] > success["imitation_success"] + 0.2


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ImitationConfig(dagger_rounds=-1), "imitation.dagger_rounds must not be negative"),
        (lambda: ImitationConfig(dagger_steps=0), "imitation.dagger_steps must be at least 1"),
        (lambda: ImitationConfig(dagger_updates=0), "imitation.dagger_updates"),
        (lambda: ImitationConfig(dagger_keep_steps=0), "imitation.dagger_keep_steps must be at least 1"),
        (lambda: ImitationConfig(dagger_beta=1.5), r"imitation.dagger_beta must be in \[0, 1\]"),
        (
            lambda: TrainConfig(
                recipe="x",
                imitation=ImitationConfig(num_updates=0, dagger_rounds=1),
                ppo=PPOConfig(kl_to_reference=None),
            ),
            "imitation.dagger_rounds 1 has no clone",
        ),
        (
            lambda: TrainConfig(
                recipe="x", imitation=ImitationConfig(dagger_rounds=1), ppo=PPOConfig(num_iterations=0)
            ),
            "imitation.dagger_steps None",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_setting(make, name):
    with pytest.raises(ValueError, match=name):
        make()
