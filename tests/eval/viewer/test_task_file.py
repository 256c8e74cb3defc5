"""Goals on disk: saved and loaded they are the same bytes, every command takes them, and nothing foreign is harmed."""

import errno
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import pytest

from eval.benches.unplayed_task import unplayed_task
from eval.viewer.draft import GoalDraft, OwnPicture
from eval.viewer.session import ViewerSession
from eval.viewer.task_file import load_task, replaces_picture, save_task
from eval.viewer.upload import MAX_BYTES
from mcrl.cli import main
from task_synthesis.task import to_json_line
from tests.eval.viewer.made_goals import mark_ground, place_cow


def test_a_saved_and_loaded_goal_is_the_same_task_and_the_same_pictures(session, shared, tmp_path):
    mark_ground(session)
    place = session.goal.save(tmp_path / "mine.jsonl")
    assert place == f"{tmp_path / 'mine.jsonl'}:1"
    other = ViewerSession(shared)
    other.open_place(place)
    assert other.goal.task() == session.goal.task()
    for side_px in (64, 256):
        mine, theirs = session.goal.plan(side_px), other.goal.plan(side_px)
        np.testing.assert_array_equal(mine.goal.image_HWC, theirs.goal.image_HWC)
        np.testing.assert_array_equal(mine.goal.mask_HW, theirs.goal.mask_HW)
        assert mine.max_ticks == theirs.max_ticks
    played = []
    for one in (session, other):
        one.run.choose_player("expert")
        one.run.reset()
        while not one.run.run.is_over:
            one.run.step()
        played.append(one.run.run)
    np.testing.assert_array_equal(played[0].last.image_EHWC, played[1].last.image_EHWC)
    np.testing.assert_array_equal(played[0].engine.state.terrain.block_EXZY, played[1].engine.state.terrain.block_EXZY)
    assert played[0].ticks == played[1].ticks


def test_tasks_are_added_once_each_and_numbered(session, tmp_path):
    path = tmp_path / "mine.jsonl"
    mark_ground(session)
    assert session.goal.save(path).endswith(":1")
    session.goal.choose_skill("approach")
    assert session.goal.save(path).endswith(":2")
    session.goal.undo()
    assert session.goal.save(path).endswith(":1")
    assert len(path.read_text().splitlines()) == 2


def test_a_painted_mask_comes_back_with_its_task(session, shared, tmp_path):
    mark_ground(session)
    task = session.goal.task()
    session.goal.paint(150, 60, radius_px=9.0)
    place = session.goal.save(tmp_path / "mine.jsonl")
    other = ViewerSession(shared)
    other.open_place(place)
    assert other.goal.task() == task
    assert not other.goal.view().is_exact
    np.testing.assert_array_equal(other.goal.view().mask_HW, session.goal.view().mask_HW)
    np.testing.assert_array_equal(other.goal.view().image_HWC, session.goal.view().image_HWC)
    session.goal.reset_mask()
    session.goal.save(tmp_path / "mine.jsonl")
    other.open_place(place)
    assert other.goal.view().is_exact


def test_a_task_that_was_looked_up_in_its_file_keeps_what_was_painted_for_it(session, shared, tmp_path):
    mark_ground(session)
    session.goal.paint(150, 60, radius_px=9.0)
    path = tmp_path / "mine.jsonl"
    session.goal.save(path)
    other = ViewerSession(shared)
    other.browse.open(str(path))
    other.open_entry(1)
    np.testing.assert_array_equal(other.goal.view().mask_HW, session.goal.view().mask_HW)
    other.goal.save(path)
    assert load_task(f"{path}:1")[1] is not None


def test_other_commands_play_a_saved_goal(session, tmp_path, capsys):
    mark_ground(session, skill="approach")
    place = session.goal.save(tmp_path / "mine.jsonl")
    assert main(["play", "--agent", "expert", "--task", place, "--out", str(tmp_path / "end.png")]) == 0
    assert "success after" in capsys.readouterr().out


def test_a_goal_with_animals_is_saved_with_them(session, shared, tmp_path):
    place_cow(session)
    session.click((32.5, 60.0, 32.5), (0.0, -1.0, 0.0))
    session.goal.goal_from_here(session.goal.draft.goal_view._replace(x=32.5, y=40.0, z=32.5, pitch_deg=90.0))
    session.goal.sample_start("near", seed=0)
    other = ViewerSession(shared)
    other.open_place(session.goal.save(tmp_path / "mine.jsonl"))
    assert [body.kind for body in other.scene().bodies] == ["cow"]
    assert other.goal.draft.placements == session.goal.draft.placements


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b'{"family": 3}\n', "task"),
        ("a.jsonl", b"\xff\xfe\x00", "not a text file"),
        ("a.jsonl", b"[1, 2]\n", "task"),
        ("a.txt", b"my diary\n", "must end in .jsonl"),
    ],
)
def test_a_file_that_holds_something_else_is_left_alone(session, tmp_path, name, content, expected):
    mark_ground(session)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=expected):
        session.goal.save(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("change", ["cut", "edited", "number", "none"])
def test_a_broken_place_is_one_sentence_and_leaves_the_session_as_it_was(session, tmp_path, change):
    mark_ground(session)
    before: GoalDraft = session.goal.draft
    path = tmp_path / "mine.jsonl"
    line = to_json_line(session.goal.task())
    text = {"cut": line[:200], "edited": line.replace('"max_ticks":', '"max_ticks":1'), "number": line, "none": ""}
    path.write_text(text[change])
    place = f"{path}:{2 if change == 'number' else 1}"
    with pytest.raises(ValueError, match=r"JSON|does not match|holds (1|no) task"):
        session.open_place(place)
    for nowhere in (str(path), f"{tmp_path}/no.jsonl:1", "unseen_seeds:5000"):
        with pytest.raises(ValueError, match=r"\w"):
            session.open_place(nowhere)
    assert session.goal.draft.placements == before.placements
    session.goal.task()


def test_nothing_can_be_saved_before_it_is_a_task(session, tmp_path):
    with pytest.raises(ValueError, match="no target yet"):
        session.goal.save(tmp_path / "mine.jsonl")
    assert not list(tmp_path.iterdir())


def test_pages_that_save_at_once_lose_no_task(tmp_path):
    path = tmp_path / "mine.jsonl"
    tasks = [unplayed_task(max_ticks=100 + n) for n in range(24)]
    with ThreadPoolExecutor(8) as pages:
        numbers = list(pages.map(lambda task: save_task(path, task, None), tasks))
    assert sorted(numbers) == list(range(1, 25))
    assert all(load_task(f"{path}:{number}")[0] == task for number, task in zip(numbers, tasks, strict=True))


@pytest.mark.parametrize("is_foreign", [False, True])
def test_a_full_disk_costs_no_task_the_picture_it_had(tmp_path, monkeypatch, is_foreign):
    task, path = unplayed_task(max_ticks=100), tmp_path / "mine.jsonl"
    mask_HW = np.eye(16, dtype=bool)
    earlier = OwnPicture(np.full((16, 16, 3), 7, np.uint8), mask_HW, False)
    save_task(path, task, earlier)
    later = OwnPicture(np.full((16, 16, 3), 9, np.uint8), ~mask_HW, is_foreign)

    def full(file, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(file))

    monkeypatch.setattr("eval.viewer.task_file.write_whole", full)
    with pytest.raises(ValueError, match=r"mine\.jsonl cannot be written \(No space left on device\)"):
        save_task(path, task, later)
    np.testing.assert_array_equal(load_task(f"{path}:1")[1].image_HWC, earlier.image_HWC)


@pytest.mark.parametrize("is_foreign", [False, True])
def test_a_task_has_the_picture_of_its_last_save(tmp_path, is_foreign):
    task, path = unplayed_task(max_ticks=100), tmp_path / "mine.jsonl"
    mask_HW = np.eye(16, dtype=bool)
    save_task(path, task, OwnPicture(np.full((16, 16, 3), 7, np.uint8), mask_HW, not is_foreign))
    save_task(path, task, OwnPicture(np.full((16, 16, 3), 9, np.uint8), mask_HW, is_foreign))
    picture = load_task(f"{path}:1")[1]
    assert (picture.image_HWC[0, 0, 0], picture.is_foreign) == (9, is_foreign)
    save_task(path, task, None)
    assert load_task(f"{path}:1") == (task, None)


def test_who_would_replace_a_picture_is_told_so(tmp_path):
    task, path = unplayed_task(max_ticks=100), tmp_path / "mine.jsonl"
    mask_HW = np.eye(16, dtype=bool)
    pictures = [None, *(OwnPicture(np.full((16, 16, 3), grey, np.uint8), mask_HW, True) for grey in (7, 9))]
    pictures += [OwnPicture(pictures[1].image_HWC, ~mask_HW, True), OwnPicture(pictures[1].image_HWC, mask_HW, False)]
    assert not any(replaces_picture(path, task, picture) for picture in pictures)  # no task is there
    for kept in pictures:
        save_task(path, task, kept)
        for picture in pictures:
            assert replaces_picture(path, task, picture) == (picture is not kept)
    other = unplayed_task(max_ticks=200)
    assert not any(replaces_picture(path, other, picture) for picture in pictures)


def test_a_picture_that_cannot_be_read_is_replaced(tmp_path):
    task, path = unplayed_task(max_ticks=100), tmp_path / "mine.jsonl"
    picture = OwnPicture(np.zeros((16, 16, 3), np.uint8), np.eye(16, dtype=bool), False)
    for new in (picture, None):
        save_task(path, task, picture)
        (kept,) = (tmp_path / "mine.pictures").iterdir()
        kept.write_bytes(b"no picture")
        assert replaces_picture(path, task, new)


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.txt", "x" * 300 + ".jsonl"])
def test_what_is_wrong_with_a_file_is_said_by_the_save(tmp_path, name):
    (tmp_path / "mine.jsonl").write_bytes(b"\xff\xfe")
    (tmp_path / "mine.txt").write_text("words\n")
    task, path = unplayed_task(max_ticks=100), tmp_path / name
    assert not replaces_picture(path, task, None)
    with pytest.raises(ValueError, match="choose another name"):
        save_task(path, task, None)


def test_a_picture_beside_a_task_that_would_fill_the_memory_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    task, path = unplayed_task(max_ticks=100), tmp_path / "mine.jsonl"
    save_task(path, task, OwnPicture(np.zeros((16, 16, 3), np.uint8), np.eye(16, dtype=bool), False))
    (file,) = (tmp_path / "mine.pictures").iterdir()
    huge = cv2.imencode(".png", np.zeros((4100, 4100, 4), np.uint8))[1].tobytes()
    assert len(huge) < MAX_BYTES
    file.write_bytes(huge)
    monkeypatch.setattr("eval.viewer.task_file.cv2.imdecode", None)
    with pytest.raises(ValueError, match="no picture with a mask that the viewer wrote"):
        load_task(f"{path}:1")


def meet(barrier) -> None:
    """Wait until the other process has imported all this too."""
    barrier.wait(60)


def save_some(path: Path, first: int) -> list[int]:
    return [save_task(path, unplayed_task(max_ticks=first + n), None) for n in range(30)]


def test_two_viewers_that_save_at_once_lose_no_task(tmp_path):
    path, context = tmp_path / "mine.jsonl", get_context("spawn")
    with ProcessPoolExecutor(2, context, initializer=meet, initargs=(context.Barrier(2),)) as viewers:
        saving = [viewers.submit(save_some, path, first) for first in (100, 200)]
    numbers = [saved.result() for saved in saving]
    assert sorted(number for of_viewer in numbers for number in of_viewer) == list(range(1, 61))
    for of_viewer, first in zip(numbers, (100, 200), strict=True):
        assert [load_task(f"{path}:{number}")[0].max_ticks for number in of_viewer] == list(range(first, first + 30))


def test_what_was_painted_is_there_where_the_folder_of_the_file_is_opened(session, shared, tmp_path):
    mark_ground(session)
    session.goal.paint(150, 60, radius_px=9.0)
    path = tmp_path / "tasks.jsonl"
    session.goal.save(path)
    for by_browse in (False, True):
        other = ViewerSession(shared)
        if by_browse:
            other.browse.open(str(tmp_path))
            other.open_entry(1)
        else:
            other.open_place(f"{tmp_path}:1")
        np.testing.assert_array_equal(other.goal.view().mask_HW, session.goal.view().mask_HW)
        other.goal.save(path)
        assert load_task(f"{path}:1")[1] is not None
