"""Claims about agents at play: the policy's, chance and idleness."""

import dataclasses

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from policies import action_codec
from policies.agent import PolicyAgent
from policies.decoding import Decoding
from policies.interface import Evaluation
from policies.presets import build_policy, tiny
from policies.scripted import NoopAgent, RandomAgent
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.task_env import Observation
from tests.policies.conformance import awaken
from tests.policies.rocket_sizes import shrunk_rocket
from worlds.types import BUTTON_INDEX

NUM_ENVS, PX = 3, 32


def make_goal(rng, px=PX):
    return CrossViewGoal(
        rng.integers(0, 256, (px, px, 3), dtype=np.uint8), rng.random((px, px)) < 0.2, Interaction.APPROACH
    )


def observations(num_steps: int, seed: int = 0) -> list[Observation]:
    """Return a play in which env 1 begins a new episode at step 3."""
    rng = np.random.default_rng(seed)
    goals = [make_goal(rng) for _ in range(NUM_ENVS)]
    steps = []
    for t in range(num_steps):
        first_E = np.array([t == 0, t in (0, 3), t == 0])
        if t == 3:
            goals = [goals[0], make_goal(rng), goals[2]]
        steps.append(
            Observation(
                image_EHWC=rng.integers(0, 256, (NUM_ENVS, PX, PX, 3), dtype=np.uint8),
                first_E=first_E,
                goals=list(goals),
                tasks=[],
                target_E7=np.zeros((NUM_ENVS, 7), np.float32),
            )
        )
    return steps


@pytest.fixture(scope="module")
def policy():
    return awaken(build_policy(tiny(), seed=0))


def make_agent(policy, **options) -> PolicyAgent:
    return PolicyAgent(policy, NUM_ENVS, **{"seed": 0, "precision": "fp32", **options})


def evaluated(policy, play: list[Observation], previous: list[np.ndarray]) -> Evaluation:
    """Return what the policy says of the play in one pass; `previous` are the actions before each of its 6 steps."""
    shown = [*play[0].goals, play[3].goals[1]]
    goals = policy.encode_goals(
        torch.from_numpy(np.stack([goal.image_HWC for goal in shown])),
        torch.from_numpy(np.stack([goal.mask_HW for goal in shown])),
        torch.tensor([int(goal.interaction) for goal in shown]),
    )
    return policy.evaluate(
        torch.from_numpy(np.stack([observation.image_EHWC for observation in play], 1)),
        goals,
        torch.tensor([[0] * 6, [1] * 3 + [3] * 3, [2] * 6]),
        torch.from_numpy(np.stack([observation.first_E for observation in play], 1)),
        torch.from_numpy(np.stack(previous, 1)),
        policy.initial_memory(NUM_ENVS),
    )


def test_what_the_agent_did_evaluates_to_the_same_log_probs(policy):
    agent, play = make_agent(policy), observations(6)
    previous, steps = [], []
    for observation in play:
        previous.append(agent.previous_action_EA.copy())
        steps.append(agent.step(observation))
    action = torch.stack([step.action_EA for step in steps], 1)
    acted = torch.stack([step.log_prob_E for step in steps], 1)
    logits_BTL = evaluated(policy, play, previous).logits_BTL
    assert (action_codec.log_prob(logits_BTL, action) - acted).abs().max() < 1e-4


def test_goals_are_encoded_only_where_an_episode_begins(policy, monkeypatch):
    encoded = []
    encode = policy.encode_goals
    monkeypatch.setattr(policy, "encode_goals", lambda *goals: encoded.append(len(goals[0])) or encode(*goals))
    agent = make_agent(policy)
    for observation in observations(5):
        agent.step(observation)
    assert encoded == [NUM_ENVS, 1]


def test_bootstrap_value_is_that_of_the_running_episode_and_changes_nothing(policy):
    play = observations(5)
    agent, twin = make_agent(policy), make_agent(policy)
    for observation in play[:3]:
        agent.step(observation)
        twin.step(observation)
    # Had the episode of env 1 gone on, the next view would have been judged with its old goal and memory.
    went_on = Observation(
        image_EHWC=play[3].image_EHWC,
        first_E=np.zeros(NUM_ENVS, bool),
        goals=play[2].goals,
        tasks=[],
        target_E7=play[3].target_E7,
    )
    value_N = agent.bootstrap_value(play[3].image_EHWC, np.array([2, 1]))
    assert value_N.dtype == np.float32
    np.testing.assert_allclose(value_N, twin.step(went_on).value_E[[2, 1]], atol=1e-5)
    after, untouched = agent.step(play[3]), make_agent(policy)
    for observation in play[:3]:
        untouched.step(observation)
    assert torch.equal(after.action_EA, untouched.step(play[3]).action_EA)


def test_bootstrap_value_of_no_env_is_empty(policy):
    agent = make_agent(policy)
    agent.step(observations(1)[0])
    assert agent.bootstrap_value(observations(1)[0].image_EHWC, np.array([], np.int64)).shape == (0,)


def test_a_noted_action_is_what_the_next_step_sees(policy):
    play = observations(2)
    agent, twin = (make_agent(policy, decoding=Decoding(temperature=0.0)) for _ in range(2))
    agent.step(play[0])
    twin.step(play[0])
    twin.note_action(np.tile(np.array([0, 1, 2, 1, 0, 0, 1, 1, 1, 0, 2, 8]), (NUM_ENVS, 1)))
    assert not torch.allclose(agent.step(play[1]).logits_EL, twin.step(play[1]).logits_EL)


class _CastCounter(TorchDispatchMode):
    """Counts how often one tensor is copied to another number format."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__()
        self._place, self.num_casts = tensor.data_ptr(), 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._to_copy.default and args[0].data_ptr() == self._place:
            self.num_casts += 1
        return func(*args, **(kwargs or {}))


def test_weights_are_cast_once_where_casts_are_kept_and_again_when_they_changed(policy):
    agent = make_agent(policy, precision="bf16")
    counter = _CastCounter(policy.get_parameter("readout.weight"))
    with counter, agent.casts_kept():
        for observation in observations(4):
            agent.step(observation)
        assert counter.num_casts == 1
        agent.forget_weights()
        agent.step(observations(1)[0])
        assert counter.num_casts == 2
    with counter:
        agent.step(observations(1)[0])
        agent.step(observations(1)[0])
    assert counter.num_casts == 4


def test_refreshed_goals_are_those_of_the_new_weights(policy):
    play = observations(2)
    other = awaken(build_policy(tiny(), seed=1))
    agent, fresh = make_agent(build_policy(tiny(), seed=2)), make_agent(other)
    agent.refresh_goals(play[0])
    agent.policy.load_state_dict(other.state_dict())
    agent.refresh_goals(play[0])
    assert torch.equal(agent.step(play[0]).logits_EL, fresh.step(play[0]).logits_EL)


def test_memory_copies_do_not_change_when_the_agent_plays_on(policy):
    agent = make_agent(policy)
    play = observations(3)
    agent.step(play[0])
    kept = agent.memory_numpy()
    before = {name: array.copy() for name, array in kept.items()}
    agent.step(play[1])
    assert all(np.array_equal(kept[name], before[name]) for name in kept)
    assert all(len(array) == NUM_ENVS for array in kept.values())


def test_one_seed_gives_one_sequence_of_actions_and_another_seed_another(policy):
    def actions(seed):
        agent = make_agent(policy, seed=seed)
        return np.stack([agent.step(observation).action_EA.numpy() for observation in observations(4)])

    assert np.array_equal(actions(1), actions(1))
    assert not np.array_equal(actions(1), actions(2))


def test_pictures_of_the_wrong_size_are_refused_with_the_fix(policy):
    observation = observations(1)[0]
    observation.image_EHWC = np.zeros((NUM_ENVS, 64, 64, 3), np.uint8)
    with pytest.raises(ValueError, match="image_px=32"):
        make_agent(policy).step(observation)
    observation = observations(1)[0]
    observation.goals = [make_goal(np.random.default_rng(0), px=64)] * NUM_ENVS
    with pytest.raises(ValueError, match=r"observation\.goals"):
        make_agent(policy).step(observation)


def blank_goals(play: list[Observation]) -> list[Observation]:
    """Return the play with nothing to do: black pictures, empty masks, no interaction."""
    nothing = CrossViewGoal(np.zeros((PX, PX, 3), np.uint8), np.zeros((PX, PX), bool), Interaction.NONE)
    return [dataclasses.replace(observation, goals=[nothing] * NUM_ENVS) for observation in play]


@pytest.mark.parametrize("make_policy", [lambda: build_policy(tiny(), 0), lambda: build_policy(shrunk_rocket(), 0)])
def test_guided_logits_lead_away_from_those_without_a_goal_across_episode_ends(make_policy):
    policy = awaken(make_policy())
    play = observations(5)
    guided = make_agent(policy, decoding=Decoding(guidance=1.5))
    with_goal, without = make_agent(policy), make_agent(policy)
    for observation, goalless in zip(play, blank_goals(play), strict=True):
        step = guided.step(observation)
        expected = 2.5 * with_goal.step(observation).logits_EL - 1.5 * without.step(goalless).logits_EL
        torch.testing.assert_close(step.logits_EL, expected, atol=1e-3, rtol=1e-4)
        torch.testing.assert_close(step.log_prob_E, action_codec.log_prob(step.logits_EL, step.action_EA))
        for agent in (with_goal, without):
            agent.note_action(step.action_EA.numpy())


def test_an_agent_without_guidance_plays_once_a_step(policy, monkeypatch):
    calls = []
    act = policy.act
    monkeypatch.setattr(policy, "act", lambda *args, **options: calls.append(1) or act(*args, **options))
    make_agent(policy).step(observations(1)[0])
    assert len(calls) == 1


def test_random_agent_moves_but_keeps_its_tool_and_opens_no_screen():
    agent = RandomAgent(64, seed=0)
    batches = [agent.act(observations(1)[0]) for _ in range(20)]
    pressed_B = np.concatenate([batch.buttons_EB for batch in batches]).mean(0)
    assert pressed_B[BUTTON_INDEX["forward"]] == pytest.approx(1 / 3, abs=0.05)
    assert pressed_B[BUTTON_INDEX["attack"]] == pytest.approx(1 / 2, abs=0.05)
    kept = [BUTTON_INDEX[key] for key in ("drop", "inventory", *(f"hotbar.{slot}" for slot in range(1, 10)))]
    assert not pressed_B[kept].any()
    turn_E2 = np.concatenate([batch.camera_deg_E2 for batch in batches])
    assert (turn_E2 != 0).any(0).all()


def test_random_agents_of_one_seed_agree():
    first, second = RandomAgent(4, seed=3), RandomAgent(4, seed=3)
    np.testing.assert_array_equal(first.act(observations(1)[0]).buttons_EB, second.act(observations(1)[0]).buttons_EB)


def test_noop_agent_does_nothing():
    actions = NoopAgent(2).act(observations(1)[0])
    assert not actions.buttons_EB.any()
    assert not actions.camera_deg_E2.any()


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize(
    "make_policy", [lambda: awaken(build_policy(tiny(), seed=0)), lambda: build_policy(shrunk_rocket(), seed=0)]
)
def test_an_agent_that_is_saved_and_loaded_plays_on_to_the_bit(make_policy, precision):
    policy, steps = make_policy(), observations(8)
    agent = make_agent(policy, precision=precision)
    for observation in steps[:5]:
        agent.step(observation)
    state = agent.saved()
    expected = [agent.step(observation) for observation in steps[5:]]
    other = make_agent(policy, precision=precision, seed=9)
    other.load_saved(state, steps[5])
    for observation, step in zip(steps[5:], expected, strict=True):
        again = other.step(observation)
        assert torch.equal(again.action_EA, step.action_EA)
        assert torch.equal(again.logits_EL, step.logits_EL)


def test_an_agents_state_of_other_sizes_is_refused(policy):
    agent, observation = make_agent(policy), observations(1)[0]
    agent.step(observation)
    state = agent.saved()
    for name, array, sentence in (
        ("memory/layer_0", np.zeros((1, 2), np.float32), "memory/layer_0 has shape"),
        ("previous_action", np.zeros(NUM_ENVS), "previous_action is of float64, wanted int64"),
        ("generator", np.zeros_like(state.arrays["generator"]), "no state of a torch generator"),
    ):
        damaged = dataclasses.replace(state, arrays=state.arrays | {name: array})
        with pytest.raises(ValueError, match=sentence):
            make_agent(policy).load_saved(damaged, observation)


def test_an_agent_draws_at_the_temperature_of_its_decoding(policy):
    agent = make_agent(policy, decoding=Decoding(temperature=0.0))
    for observation in observations(4):
        step = agent.step(observation)
        assert torch.equal(step.action_EA, action_codec.sample(step.logits_EL, temperature=0.0))
