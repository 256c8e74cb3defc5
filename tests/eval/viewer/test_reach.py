"""Which files a page may name where others have the viewer's token."""

import pytest

from eval.suites.suites import load_suite
from eval.viewer.reach import Reach
from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared
from task_synthesis.task import to_json_line
from tests.eval.viewer.made_goals import WORLD, mark_ground


@pytest.fixture
def reaching(tmp_path, monkeypatch):
    """Return what makes a session with a goal, in a folder beside another one; both have a file of tasks."""
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tasks.jsonl").write_text(to_json_line(load_suite("unseen_seeds", 1)[0]) + "\n")
    (tmp_path / "mine" / "link").symlink_to(tmp_path / "theirs")
    monkeypatch.chdir(tmp_path / "mine")

    def make(*beside: str) -> ViewerSession:
        session = ViewerSession(Shared(reach=Reach(beside)), world=WORLD)
        mark_ground(session)
        return session

    return make


def test_what_lies_elsewhere_is_neither_opened_nor_saved(reaching, tmp_path):
    session = reaching("unseen_seeds:1")
    for folder in ("../theirs", f"{tmp_path}/theirs"):
        for deed, place in (
            (session.browse.open, f"{folder}/tasks.jsonl"),
            (session.open_place, f"{folder}/tasks.jsonl:1"),
            (session.save, f"{folder}/new.jsonl"),
            (session.run.choose_player, folder),
        ):
            with pytest.raises(ValueError, match=f"{folder}.*: with --token what lies below {tmp_path}/mine is opened"):
                deed(place)
    session.save("link/../new.jsonl")  # which the system would take for a file beside the folder
    assert [path.parent.name for path in tmp_path.rglob("new.jsonl")] == ["mine"]


def test_what_lies_below_or_beside_what_was_named_is_opened_and_saved(reaching, tmp_path):
    session = reaching(f"{tmp_path}/theirs/tasks.jsonl:1", "small")
    for folder in (".", "link", f"{tmp_path}/mine", f"{tmp_path}/theirs"):
        session.browse.open(f"{folder}/tasks.jsonl")
        session.open_place(session.save(f"{folder}/new/made.jsonl"))
    session.browse.open("unseen_seeds")
    session.run.choose_player("small")


@pytest.mark.parametrize("place", ["..:1", "link/..:1"])
def test_a_number_of_a_task_opens_no_way_out(reaching, tmp_path, place):
    task = (tmp_path / "theirs" / "tasks.jsonl").read_text()
    (tmp_path / "tasks.jsonl").write_text(task)
    session = reaching()
    for deed in (session.browse.open, session.open_place):
        if place.startswith("link"):
            deed(place)  # as everywhere, the folder in which the link lies
            continue
        with pytest.raises(ValueError, match="with --token what lies below"):
            deed(place)
    assert session.browse.place in ("", ".")


def test_a_folder_above_is_within_reach_where_it_was_named(reaching, tmp_path):
    (tmp_path / "tasks.jsonl").write_text((tmp_path / "theirs" / "tasks.jsonl").read_text())
    for named in ("..", "..:1"):
        session = reaching(named)
        assert session.browse.open("..:1") == 1
        session.open_place("..:1")
