"""Claims about the conditions of a goal: how its world is drawn, and how long it may take."""

from tests.eval.viewer.made_goals import mark_ground
from worlds.spec import Look


def test_a_goal_that_was_painted_in_is_seen_in_the_light_that_is_set(session):
    mark_ground(session)
    session.goal.paint(128, 128)
    bright = session.goal.view().image_HWC.mean()
    session.goal.set_conditions(max_ticks=90)
    assert session.goal.draft.picture is not None
    session.goal.set_conditions(look=Look(time_ticks=18000))
    assert session.goal.view().image_HWC.mean() < bright / 2


def test_to_set_what_is_set_already_changes_nothing(session):
    mark_ground(session)
    session.goal.task()
    before = session.goal.draft
    session.goal.set_conditions(look=before.look)
    session.goal.set_conditions(max_ticks=0)
    assert session.goal.draft is before


def test_a_limit_of_nought_is_what_skill_and_distance_allow(session):
    mark_ground(session)
    by_distance = session.goal.task().max_ticks
    session.goal.set_conditions(max_ticks=7)
    assert session.goal.task().max_ticks == 7
    session.goal.set_conditions(max_ticks=0)
    assert session.goal.task().max_ticks == by_distance != 7
