"""What a person does in the middle of a run reaches who plays it."""

import numpy as np
import pytest

from eval.viewer.goal_editor import GOAL_PX
from eval.viewer.session import ViewerSession
from tests.eval.viewer.made_goals import WORLD, mark_ground, place_cow
from worlds.types import INSTANCE_FIRST_OBJECT


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


def test_what_is_told_of_the_target_is_of_the_one_that_was_sent(session):
    place_cow(session)
    eye = session.goal.draft.goal_view
    session.goal.add_object("pumpkin", session.goal.desk.hit_in_view(eye, 150, 60, GOAL_PX))
    session.run.choose_player("noop")
    told = []
    for index, column in enumerate((128, 60)):
        session.goal.click_goal(140, column)
        assert session.goal.draft.target_index == index
        if index == 0:
            session.run.reset()
        else:
            session.run.send_goal()
        run = session.run.run
        instance_HW = run.voxel.render_views([0], np.array([run.eye], np.float64)).instance_VHW[0]
        share = (instance_HW == INSTANCE_FIRST_OBJECT + index).mean()
        assert session.run.frame().target_area == pytest.approx(share, abs=1e-6)
        told.append(share)
    assert told[0] != told[1]


def test_a_machine_that_cannot_keep_a_speed_never_makes_up_for_it(session):
    mark_ground(session)
    session.run.choose_player("noop")
    session.run.play()
    assert [session.tick(now_s) for now_s in (0.0, 60.0, 60.05)] == [1, 20, 2]


def test_the_ground_that_was_the_target_is_clicked_again_after_another_one_was_sent(session):
    place_cow(session)
    session.goal.click_goal(200, 30)
    ground = session.goal.draft.adopted
    session.run.choose_player("noop")
    session.run.reset()
    session.goal.click_goal(150, 128)
    assert session.goal.draft.adopted is None
    session.run.send_goal()
    x, _, z = ground.position
    session.click((x + 0.5, 60.0, z + 0.5), (0.0, -1.0, 0.0))
    assert session.goal.draft.target == ground


def test_a_click_into_the_world_is_refused_while_a_person_plays_and_at_no_other_time(session):
    mark_ground(session)
    session.check_click()
    session.run.choose_player("noop")
    session.run.play()
    session.check_click()
    session.run.take_over()
    with pytest.raises(ValueError, match="click in the agent's picture to hit"):
        session.check_click()
    session.run.hand_back()
    session.check_click()
    session.goal.set_conditions(max_ticks=1)
    session.run.reset()
    session.run.take_over()
    session.run.step()
    assert session.run.run.is_over
    session.check_click()
