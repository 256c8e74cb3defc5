"""A run and the one beside it: they begin, stand still, are wound and given up together."""

import pytest

from policies.decoding import Decoding


@pytest.fixture
def beside(judged):
    """A session that plays a task of an evaluation again, two rows side by side, paused at their starts."""
    judged.replay(1, "rl", beside="expert")
    return judged


def controls(session):
    return session.run, session.rival


def ticks(session) -> list[int]:
    return [control.run.ticks for control in controls(session)]


def test_time_stands_still_in_both_and_goes_on_in_both(beside):
    beside.pair.play()
    for at in range(11):
        beside.tick(0.05 * at)
    assert ticks(beside) == [11, 11]
    beside.pair.pause()
    assert not beside.pair.is_playing
    assert beside.tick(5.0) == 0
    beside.pair.step()
    assert ticks(beside) == [12, 12]
    beside.pair.play()
    assert all(control.is_playing for control in controls(beside))


def test_speed_is_of_both(beside):
    beside.pair.set_speed(4.0)
    beside.pair.play()
    for at in range(3):
        beside.tick(0.05 * at)
    assert ticks(beside) == [9, 9]


def test_winding_takes_both_to_the_same_time(beside):
    last = beside.run.frame().num_decisions
    rivals_last = beside.rival.frame().num_decisions
    for decision in (min(2, last), last, 0):
        beside.pair.seek(decision)
        assert beside.run.frame().decision == decision
        assert beside.rival.frame().decision == min(decision, rivals_last)


def test_who_is_not_at_the_end_goes_on_and_then_both_begin_anew(beside):
    beside.run.seek(beside.run.frame().num_decisions)
    assert beside.run.run.is_over
    assert not beside.pair.is_to_begin
    beside.pair.play()
    assert (beside.run.is_playing, beside.rival.is_playing) == (False, True)
    beside.rival.seek(beside.rival.frame().num_decisions)
    assert beside.pair.is_to_begin
    beside.pair.play()
    assert ticks(beside) == [0, 0]
    assert all(control.is_playing for control in controls(beside))


def test_a_run_that_is_given_up_takes_its_rival_with_it(beside):
    beside.pair.choose_player("small")
    assert (beside.run.run, beside.rival.run) == (None, None)
    beside.replay(1, "rl", beside="expert")
    beside.pair.choose_engine(beside.run.engine_name)
    assert (beside.run.run, beside.rival.run) == (None, None)


def test_a_goal_that_was_changed_is_not_played_by_recordings(beside):
    beside.goal.place_start(beside.hit(beside.scene().eye[:3], (0.0, -1.0, 0.0)))
    beside.pair.reset()
    assert beside.run.player == "human"
    assert beside.rival.run is None


def test_play_and_step_begin_with_the_seed_that_they_are_given(judged):
    judged.open_entry(1)
    judged.pair.choose_player("random")
    for begin in (judged.pair.play, judged.pair.step):
        judged.leave()
        begin(seed=7)
        assert judged.run.seed == 7
    judged.pair.play(seed=8)
    assert judged.run.seed == 7  # what was begun goes on


def test_how_actions_are_drawn_waits_for_a_recording_to_end_and_is_nothing_to_others(beside):
    bold = Decoding(temperature=0.5)
    beside.leave()
    beside.run.choose_player("small")
    beside.replay(1, "rl")
    beside.run.decode(bold)
    assert beside.run.is_replay
    beside.leave()
    assert (beside.run.player, beside.run.decoding) == ("small", bold)
    beside.run.choose_player("expert")
    beside.run.decode(bold)
    assert beside.run.player == "expert"


def test_a_person_who_has_taken_over_goes_on_when_the_policy_is_to_draw_otherwise(judged):
    judged.open_entry(1)
    judged.run.choose_player("small")
    judged.run.step()
    judged.run.take_over()
    judged.run.decode(Decoding(temperature=0.5))
    assert judged.run.frame().is_by_hand


def test_a_recording_that_is_over_is_not_wound_once_somebody_else_is_to_play(beside):
    for control in controls(beside):
        control.seek(control.frame().num_decisions)
    beside.rival.choose_player("noop")
    over = beside.rival.run
    beside.pair.seek(0)
    assert beside.run.frame().decision == 0
    assert beside.rival.run is over
    beside.run.seek(beside.run.frame().num_decisions)
    beside.run.choose_player("noop")
    over = beside.run.run
    with pytest.raises(ValueError, match="only recordings can be wound"):
        beside.run.seek(0)
    assert beside.run.run is over


def test_a_recording_is_not_wound_back_to_a_goal_that_was_changed(beside):
    beside.pair.seek(3)
    beside.goal.place_start(beside.hit(beside.scene().eye[:3], (0.0, -1.0, 0.0)))
    with pytest.raises(ValueError, match="run: the goal was changed since; undo that"):
        beside.pair.seek(2)
    assert [control.frame().decision for control in controls(beside)] == [3, 3]
    assert beside.run.player == "recording of rl"
    beside.goal.undo()
    beside.pair.seek(2)
    assert beside.run.frame().decision == 2


def test_who_is_chosen_while_the_last_decision_ends_the_episode_did_not_play_it(judged):
    judged.open_entry(1)
    judged.goal.set_conditions(max_ticks=4)
    judged.run.choose_player("noop")
    judged.run.play()
    judged.tick(0.0)
    judged.run.choose_player("random")
    frame = judged.run.frame()
    assert (frame.ticks, frame.outcome, frame.player, frame.is_playing) == (4, "time_limit", "noop", False)
    assert judged.run.player == "random"


def test_a_page_that_is_opened_beside_a_recording_shows_how_the_policy_draws_after_it(judged):
    judged.run.choose_player("small", decoding=Decoding(temperature=0.5))
    judged.replay(1, "rl")
    assert judged.run.decoding.temperature == 0.5
