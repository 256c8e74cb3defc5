"""What a person does in the middle of a run reaches who plays it."""

import numpy as np
import pytest

from eval.viewer.session import ViewerSession
from tests.eval.viewer.made_goals import WORLD, mark_ground


def after_some_steps(shared, *, sends: bool) -> ViewerSession:
    """Let the policy play, then ask for something else, and send that or not."""
    session = ViewerSession(shared, world=WORLD)
    mark_ground(session)
    session.run.choose_player("small")
    session.run.reset(seed=1)
    for _ in range(3):
        session.run.step()
    session.goal.click_goal(230, 30)
    if sends:
        session.run.send_goal()
    session.run.step()
    return session


def test_a_policy_looks_for_the_goal_that_was_sent_and_for_no_other(shared):
    kept, sent = (after_some_steps(shared, sends=sends).run.frame() for sends in (False, True))
    assert (kept.values[:3], kept.ticks) == (sent.values[:3], sent.ticks)
    assert kept.values[3] != sent.values[3]


@pytest.mark.parametrize("player", ["noop", "human"])
def test_the_view_turns_by_as_many_degrees_as_the_mouse_says_however_long_a_decision_is(session, player):
    mark_ground(session)
    session.run.choose_player(player)
    session.run.reset()
    session.run.take_over()
    before = session.run.run.eye
    session.run.turn(30.0, 10.0)
    session.run.turn(6.0, 2.0)
    session.run.step()
    after = session.run.run.eye
    turned = np.array([after.yaw_deg - before.yaw_deg, after.pitch_deg - before.pitch_deg]) % 360.0
    np.testing.assert_allclose(turned, [36.0, 12.0], atol=1e-3)
    session.run.step()
    assert session.run.run.eye.yaw_deg == after.yaw_deg
