"""Claims about what a page is told, and how often it is sent the scene."""

import math

import pytest

from eval.viewer.app_state import page_state, scene_interval_s
from tests.eval.viewer.made_goals import eye_over_start, mark_ground


@pytest.mark.parametrize(
    ("slowest_ms", "wanted_s"),
    [(0.0, 0.1), (16.7, 0.1), (25.0, 0.1), (100.0, 0.4), (170.0, 0.68), (5000.0, 1.0)],
)
def test_a_slow_browser_gets_the_scene_less_often_and_spends_a_quarter_of_its_time_on_it(slowest_ms, wanted_s):
    assert scene_interval_s(slowest_ms) == pytest.approx(wanted_s)


@pytest.mark.parametrize("nonsense", [math.nan, -1.0, -math.inf])
def test_what_is_no_time_counts_as_a_fast_browser(nonsense):
    assert scene_interval_s(nonsense) == 0.1


def test_a_browser_that_never_draws_still_gets_the_scene_every_second():
    assert scene_interval_s(math.inf) == 1.0


def test_who_takes_over_a_run_that_stands_still_is_told_to_press_play(session):
    mark_ground(session)
    session.run.reset(seed=1)
    session.run.take_over()
    assert page_state(session)["banner"].startswith("Paused. Press Play and you play: W A S D")
    session.run.play()
    banner = page_state(session)["banner"]
    assert banner.startswith("You play: W A S D")
    assert "Click in the agent's picture" in banner


def test_a_goal_picture_without_the_target_is_not_called_ready(session):
    mark_ground(session)
    assert page_state(session)["banner"].startswith("The goal is ready")
    session.goal.goal_from_here(eye_over_start(session)._replace(pitch_deg=-90.0))
    assert page_state(session)["banner"].startswith("The target is not to be seen in the goal picture")


def test_whose_goal_was_changed_while_it_is_played_is_told_what_is_played(session):
    mark_ground(session)
    session.run.choose_player("noop")
    session.run.play()
    assert page_state(session)["banner"] == ""
    session.goal.task()  # to be measured is no change
    assert page_state(session)["banner"] == ""
    before = session.goal.draft
    session.goal.set_conditions(max_ticks=4)
    banner = page_state(session)["banner"]
    assert banner.startswith("You changed the goal: until Reset this run is still break grass block")
    session.run.send_goal()
    assert page_state(session)["banner"] == ""
    session.goal.undo()
    assert session.goal.draft is before
    session.run.step()
    assert page_state(session)["banner"].endswith("You changed the goal since: Play begins yours.")
