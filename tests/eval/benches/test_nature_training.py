"""Claims about the setting that training systems share: ours plays the same env with the same network."""

import importlib
import io
import sys

import numpy as np
import pytest
import torch

from eval.benches.frame_pool_env import FramePoolEnv
from eval.benches.nature_evaluation import NatureEvaluation
from eval.benches.nature_policy import NaturePolicy
from eval.benches.nature_training import NatureTraining
from eval.peers import turns
from policies import action_codec
from worlds.types import BUTTON_INDEX, ActionBatch


@pytest.fixture
def plain(monkeypatch):
    """The plain loop, imported as its process does: from its own folder."""
    monkeypatch.syspath_prepend(turns.__file__.rpartition("/")[0])
    yield importlib.import_module("drive_plain")
    for name in ("drive_plain", "turns"):
        sys.modules.pop(name, None)


def test_pixels_scaled_by_weights_are_scaled_pixels():
    policy = NaturePolicy()
    view_XHWC = torch.randint(0, 256, (5, 84, 84, 3), dtype=torch.uint8)
    with torch.no_grad():
        (read_XD,) = policy._read(view_XHWC, None, None, None, None)
        expected_XD = policy.trunk(view_XHWC.permute(0, 3, 1, 2).float() / 255)
    torch.testing.assert_close(read_XD.float(), expected_XD, rtol=1e-3, atol=1e-4)


def test_our_env_shows_and_pays_what_the_peers_see():
    env, pools = FramePoolEnv(2, seed=5), [turns.FramePool(5), turns.FramePool(6)]
    image_EHWC = env.reset().image_EHWC
    np.testing.assert_array_equal(image_EHWC, np.stack([pool.reset() for pool in pools]))
    for step in range(turns.EPISODE_STEPS):
        actions = ActionBatch.noop(2)
        actions.buttons_EB[:, BUTTON_INDEX[f"hotbar.{step % 6 + 1}"]] = True
        transition = env.step(actions)
        outcomes = [pool.step(step % 6) for pool in pools]
        np.testing.assert_array_equal(transition.final_image_EHWC, np.stack([image for image, _, _ in outcomes]))
        assert transition.reward_E.tolist() == [reward for _, reward, _ in outcomes]
        assert transition.truncated_E.tolist() == [is_over for _, _, is_over in outcomes]
    assert transition.truncated_E.all()
    assert transition.observation.first_E.all()
    np.testing.assert_array_equal(transition.observation.image_EHWC, np.stack([pool.reset() for pool in pools]))


def test_our_network_is_the_plain_one_with_our_heads(plain):
    theirs = plain.NatureNet(torch.float32)
    ours = NaturePolicy()
    ours.trunk.load_state_dict(theirs.trunk.state_dict())
    image_NHWC = torch.randint(0, 256, (3, 84, 84, 3), dtype=torch.uint8)
    with torch.no_grad():
        theirs.value.load_state_dict(ours.value_head["value"].state_dict())
        memory = ours.initial_memory(3)
        goals = ours.encode_goals(image_NHWC, image_NHWC[..., 0] > 0, torch.zeros(3, dtype=torch.int64))
        nothing = torch.zeros(3, dtype=torch.int64)
        value_N = ours.value(image_NHWC, goals, nothing, nothing > 0, nothing, memory)
        torch.testing.assert_close(value_N, theirs(image_NHWC)[1], atol=1e-5, rtol=0)


def test_an_iteration_learns_from_every_frame_of_a_rollout_what_acted():
    training = NatureTraining(precision="fp32", seed=0)
    before = [parameter.clone() for parameter in training._policy.parameters()]
    fragments = training._source.take(turns.NUM_ENVS)
    metrics = training._learner.update(fragments)
    assert metrics["num_steps"] == turns.FRAMES_PER_ITERATION
    assert metrics["ratio_spread_lag0"] < 1e-4
    assert fragments[0].action_TA.shape == (turns.ROLLOUT_STEPS, action_codec.NUM_FACTORS)
    after = list(training._policy.parameters())
    assert sum(not torch.equal(a, b) for a, b in zip(before, after, strict=True)) == len(after)


def test_every_episode_of_an_evaluation_is_judged_with_all_its_actions(monkeypatch):
    monkeypatch.setattr("eval.peers.turns.EPISODES_PER_EVALUATION", 24)
    episodes, actions = NatureEvaluation(precision="fp32", seed=0).judge()
    assert len({episode.task_id for episode in episodes}) == 24
    assert {(episode.outcome, episode.ticks) for episode in episodes} == {("time_limit", turns.EPISODE_STEPS)}
    with np.load(io.BytesIO(actions)) as arrays:
        assert arrays["num_decisions_N"].tolist() == [turns.EPISODE_STEPS] * 24
