"""Looking through tasks: filters, thumbnails within bytes, and recorded episodes that end as they did."""

import dataclasses

import numpy as np
import pytest

from eval.viewer.browser import TaskFilter
from eval.viewer.thumbnails import SIDE_PX, Thumbnails


def test_an_evaluation_opens_with_its_rows_and_filters_agree_with_its_records(judged):
    browse = judged.browse
    assert browse.rows == ["random", "rl", "expert"]
    everything = browse.find()
    assert [entry.number for entry in everything] == list(range(1, 7))
    solved = browse.find(TaskFilter(row="expert", outcome="success"))
    assert [entry.number for entry in solved] == [
        entry.number for entry in everything if entry.episodes["expert"].outcome == "success"
    ]
    assert solved
    skill = everything[0].task.skill
    assert {entry.task.skill for entry in browse.find(TaskFilter(skill=skill))} == {skill}
    assert browse.find(TaskFilter(split="train")) == []
    paths = [entry.task.difficulty.path_blocks for entry in everything]
    near = browse.find(TaskFilter(difficulty={"path_blocks": (0.0, float(np.median(paths)))}))
    assert 0 < len(near) < 6
    assert not any(entry.task.difficulty.in_sight for entry in browse.find(TaskFilter(difficulty={"in_sight": (0, 0)})))


def test_a_place_may_name_one_of_its_tasks_as_on_the_command_line(judged):
    browse = judged.browse
    folder = browse.place
    assert (browse.open(folder), browse.open(f"{folder}:4"), browse.place) == (None, 4, folder)
    for number in (0, 7):
        with pytest.raises(ValueError, match=f"{folder}:{number}: {folder} holds 6 tasks; name one of them"):
            browse.open(f"{folder}:{number}")
    with pytest.raises(ValueError, match="did you mean unseen_seeds"):
        browse.open("unseen_seedz:3")
    assert browse.place == folder


def test_a_task_beyond_those_that_are_read_is_said_to_be(session, judged_dir, monkeypatch):
    monkeypatch.setattr("eval.viewer.browser.MAX_TASKS", 2)
    place = f"{judged_dir / 'tasks.jsonl'}"
    with pytest.raises(ValueError, match=f"{place} is read to task 2; name one of them"):
        session.browse.open(f"{place}:3")
    assert session.browse.open(f"{place}:2") == 2
    assert session.browse.is_cut


def test_the_folder_that_one_stands_in_is_opened_by_its_dot(session, judged_dir, monkeypatch):
    monkeypatch.chdir(judged_dir)
    session.browse.open(".")
    session.open_entry(2)
    assert session.goal.task() == session.browse.entry(2).task
    session.open_place(".:1")
    assert session.goal.task() == session.browse.entry(1).task


def test_recorded_episodes_end_as_they_were_recorded_and_can_be_wound(judged):
    judged.replay(1, "expert", beside="rl")
    judged.pair.play()
    now_s = 0.0
    while judged.run.is_playing or judged.rival.is_playing:
        judged.tick(now_s)
        now_s += 1.0
    for control in (judged.run, judged.rival):
        frame = control.frame()
        recorded = control.run.casting.recorded
        assert (frame.outcome, frame.ticks) == (recorded.outcome, recorded.ticks)
        assert "this build plays otherwise" not in frame.reason
    middle = judged.run.frame().decision // 2
    last_HWC = judged.run.frame().image_HWC
    judged.run.seek(middle)
    middle_HWC = judged.run.frame().image_HWC
    assert judged.run.frame().decision == middle
    judged.run.seek(judged.run.frame().num_decisions)
    np.testing.assert_array_equal(judged.run.frame().image_HWC, last_HWC)
    judged.run.seek(middle)
    np.testing.assert_array_equal(judged.run.frame().image_HWC, middle_HWC)
    with pytest.raises(ValueError, match="decisions, got 9999"):
        judged.run.seek(9999)


def test_a_recording_that_ends_otherwise_says_so(judged):
    judged.replay(1, "expert")
    casting = judged.run.run.casting
    judged.run.use(dataclasses.replace(casting, recorded=dataclasses.replace(casting.recorded, ticks=8)))
    judged.run.reset()
    judged.run.seek(judged.run.frame().num_decisions)
    assert "recorded as" in judged.run.frame().reason


def test_a_recording_that_a_person_took_over_is_not_said_to_have_ended_otherwise(judged):
    judged.replay(1, "expert")
    judged.run.step()
    judged.run.take_over()
    with pytest.raises(ValueError, match="nobody to hand back to"):
        judged.run.hand_back()
    with pytest.raises(ValueError, match="a recording plays its own goal"):
        judged.run.send_goal()
    judged.run.play()
    for at_s in range(10_000):
        judged.tick(at_s)
        if judged.run.run.is_over:
            break
    assert judged.run.frame().outcome == "time_limit"
    assert "recorded as" not in judged.run.frame().reason


def test_a_recording_plays_its_own_task_and_no_other(judged):
    judged.run.choose_player("small")
    for leave in (judged.leave, lambda: judged.open_entry(1), lambda: judged.open_place("unseen_seeds:1")):
        judged.replay(1, "expert", beside="rl")
        assert (judged.run.player, judged.rival.player) == ("recording of expert", "recording of rl")
        leave()
        assert (judged.run.player, judged.rival.player) == ("small", "human")
    judged.replay(1, "expert")
    judged.goal.place_start(judged.hit(judged.scene().eye[:3], (0.0, -1.0, 0.0)))
    judged.run.reset()
    assert judged.run.player == "small"


def test_a_policy_takes_a_recorded_task_on_side_by_side(judged):
    judged.replay(1, "expert")
    judged.rival.choose_player("small")
    judged.rival.reset()
    judged.pair.play()
    judged.tick(0.0)
    assert judged.scene().rival is not None


def test_thumbnails_are_the_views_of_the_task_and_stay_within_their_bytes(judged, shared):
    pictures = judged.browse.pictures(1)
    assert pictures.start_HWC.shape == pictures.goal_HWC.shape == (SIDE_PX, SIDE_PX, 3)
    assert judged.browse.pictures(1) is pictures
    judged.open_entry(1)
    plain_HWC = judged.goal.view(SIDE_PX).image_HWC
    assert (pictures.goal_HWC == plain_HWC).mean() > 0.9  # but for the outline
    few = Thumbnails(shared.worlds, max_bytes=5 * SIDE_PX * SIDE_PX * 3)
    for number in range(1, 5):
        few.get(judged.browse.entry(number).task)
        assert few.num_bytes <= 5 * SIDE_PX * SIDE_PX * 3


def test_suites_and_libraries_open_by_name_and_nobody_has_played_them(session, judged_dir):
    session.browse.open("laptop")
    assert session.browse.num_tasks == 1024
    assert len(session.browse.find(TaskFilter(skill="break", band="near"))) > 100
    session.browse.open(str(judged_dir / "tasks.jsonl"))
    with pytest.raises(ValueError, match="nobody has played"):
        session.browse.find(TaskFilter(outcome="success"))


@pytest.mark.parametrize("content", [None, b"", b"{}\n", b"\x00\xff", b"not json\n"])
def test_what_cannot_be_opened_leaves_what_was_open(judged, tmp_path, content):
    place = judged.browse.place
    path = tmp_path / "tasks.jsonl"
    if content is not None:
        path.write_bytes(content)
    for wrong in (path, tmp_path):
        with pytest.raises(ValueError, match=str(tmp_path)):
            judged.browse.open(str(wrong))
    assert (judged.browse.place, judged.browse.num_tasks) == (place, 6)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda s: s.browse.find(TaskFilter(row="nobody")), "row 'nobody' is unknown"),
        (lambda s: TaskFilter(skill="fly"), "skill 'fly' is unknown"),
        (lambda s: TaskFilter(difficulty={"colour": (0, 1)}), "'colour' is unknown"),
        (lambda s: s.open_entry(0), "no task 0"),
        (lambda s: s.replay(1, "nobody"), "'nobody' did not play task 1"),
        (lambda s: s.replay(99, "rl"), "no task 99"),
        (lambda s: s.run.seek(0), "nothing has been begun"),
    ],
)
def test_what_is_not_there_is_one_sentence(judged, call, expected):
    with pytest.raises(ValueError, match=expected):
        call(judged)
