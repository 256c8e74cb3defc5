"""Claims about what an agent is asked and told between two steps."""

import numpy as np
import pytest
import torch

from policies.presets import build_policy, tiny
from tests.policies.conformance import awaken
from tests.policies.test_agent import NUM_ENVS, evaluated, make_agent, observations


@pytest.fixture(scope="module")
def policy():
    return awaken(build_policy(tiny(), seed=0))


def test_predictions_are_those_of_the_whole_play_and_change_nothing(policy):
    agent, twin, play = make_agent(policy), make_agent(policy), observations(6)
    previous, seen = [], []
    for observation in play:
        previous.append(agent.previous_action_EA.copy())
        seen.append(agent.predictions(observation))
        assert torch.equal(agent.step(observation).action_EA, twin.step(observation).action_EA)
    whole_ET7 = evaluated(policy, play, previous).auxiliary_BT7.detach().numpy()
    assert whole_ET7.std(1).min() > 0
    np.testing.assert_allclose(np.stack(seen, 1), whole_ET7, atol=1e-4)


def test_who_notes_actions_may_use_the_array_again(policy):
    agent, action_EA = make_agent(policy), np.ones((NUM_ENVS, 12), np.int64)
    agent.note_action(action_EA)
    action_EA[:] = 0
    assert (agent.previous_action_EA == 1).all()


@pytest.mark.parametrize("shape", [(NUM_ENVS - 1, 12), (NUM_ENVS, 11)])
def test_noted_actions_of_another_shape_are_refused(policy, shape):
    with pytest.raises(ValueError, match=r"agent.note_action: got shape .*, expected \(3, 12\), one row of factors an"):
        make_agent(policy).note_action(np.zeros(shape, np.int64))
