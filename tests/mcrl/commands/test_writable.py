"""Claims about places that results go to."""

from pathlib import Path

import pytest

from mcrl.commands.writable import check_can_write, check_out_folder, check_result_file


def test_places_that_can_be_made_pass_and_are_not_made(tmp_path):
    check_can_write(tmp_path / "a" / "b", is_folder=True)
    check_can_write(tmp_path / "a" / "b.png", is_folder=False)
    check_can_write(tmp_path, is_folder=True)
    assert not list(tmp_path.iterdir())


def test_a_file_for_a_folder_and_a_folder_for_a_file_are_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"file: a file stands where a folder is wanted; name another"):
        check_can_write(tmp_path / "file", is_folder=True)
    with pytest.raises(ValueError, match=r"file: a file stands where a folder is wanted; name another"):
        check_can_write(tmp_path / "file" / "x" / "y.png", is_folder=False)
    with pytest.raises(ValueError, match=r"a folder stands where a file is wanted; name another"):
        check_can_write(tmp_path, is_folder=False)


def test_a_folder_of_somebody_else_is_refused():
    place = Path("/proc/1")  # nobody writes there, not even root
    if not place.is_dir():
        pytest.skip("no folder here that cannot be written")
    with pytest.raises(ValueError, match=r"/proc/1/x: nothing can be written to /proc/1; name a place in a folder"):
        check_can_write(place / "x", is_folder=True)


def test_a_place_that_only_an_attempt_finds_out_is_refused():
    place = Path("/proc")  # its permissions let root write there, and nothing comes of it
    if not place.is_dir():
        pytest.skip("no such folder here")
    with pytest.raises(ValueError, match=r"/proc/x: nothing can be written to /proc; name a place"):
        check_can_write(place / "x", is_folder=True)


def test_a_file_that_is_read_only_is_refused_before_the_work(tmp_path, monkeypatch):
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    check_can_write(kept, is_folder=False)
    assert kept.read_text() == "{}"
    # Said by the system to whoever is not root, as a test may be.
    monkeypatch.setattr("mcrl.commands.writable.os.access", lambda path, mode: False)
    with pytest.raises(ValueError, match=r"kept.json: this file cannot be written; name another"):
        check_can_write(kept, is_folder=False)


def test_stdout_and_devices_take_a_result(tmp_path):
    for path in (None, Path("-"), Path("/dev/null"), tmp_path / "new.json"):
        check_result_file(path)
    with pytest.raises(ValueError, match=r"a folder stands where a file is wanted; name another"):
        check_result_file(tmp_path)


def test_an_out_folder_is_new_or_one_of_ours(tmp_path):
    check_out_folder(tmp_path / "new", ours=("a.json",), what="a thing")
    (tmp_path / "lock").touch()  # of a process that was killed before it wrote more
    check_out_folder(tmp_path, ours=("a.json",), what="a thing")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ValueError, match=r"holds other things than a thing; name a new folder"):
        check_out_folder(tmp_path, ours=("a.json",), what="a thing")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.json").touch()
    with pytest.raises(ValueError, match=r"holds other things"):
        check_out_folder(tmp_path, ours=("a.json",), what="a thing")
    check_out_folder(tmp_path, ours=("a.json",), what="a thing", holds_several=True)
    (tmp_path / "a.json").touch()
    check_out_folder(tmp_path, ours=("a.json",), what="a thing")
