"""Claims about folders that are there whole: a start after a crash finds the old or the new one."""

import os
import shutil
from pathlib import Path

import pytest

from mcrl.whole_folder import settle_folders, written_whole


class CrashError(BaseException):
    """The end of the process, as far as the folder is concerned."""


def write(folder, text):
    with written_whole(folder) as partial:
        (partial / "weights").write_text(text)


@pytest.mark.parametrize("call", range(6))
def test_a_crash_before_any_call_leaves_the_old_or_the_new_folder(tmp_path, monkeypatch, call):
    """The second writing is cut off before its first, second ... rename or deletion."""
    folder = tmp_path / "progress"
    write(folder, "old")
    calls = 0

    def dying(function):
        def counted(*args, **kwargs):
            nonlocal calls
            if calls == call:
                raise CrashError
            calls += 1
            return function(*args, **kwargs)

        return counted

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", dying(Path.rename))
        patch.setattr("mcrl.whole_folder.shutil.rmtree", dying(shutil.rmtree))
        try:
            write(folder, "new")
        except CrashError:
            pass
        else:
            assert calls <= call
    settle_folders(tmp_path)
    assert (folder / "weights").read_text() in ("old", "new")
    write(folder, "newest")
    assert (folder / "weights").read_text() == "newest"
    assert os.listdir(tmp_path) == ["progress"]


def test_who_writes_again_after_a_crash_and_fails_leaves_what_there_was_before_both(tmp_path):
    write(tmp_path / "progress", "old")
    (tmp_path / "progress").rename(tmp_path / ".progress.old")  # where the crash came between its two renames
    with pytest.raises(IsADirectoryError), written_whole(tmp_path / "progress") as partial:
        partial.write_text("no file")
    assert (tmp_path / "progress" / "weights").read_text() == "old"


def test_what_a_killed_process_left_half_written_goes(tmp_path):
    write(tmp_path / "final", "new")
    (tmp_path / ".iteration_000033.partial").mkdir()
    (tmp_path / ".iteration_000033.partial" / "weights").write_text("ha")
    settle_folders(tmp_path)
    assert os.listdir(tmp_path) == ["final"]


def test_what_a_crash_left_of_an_older_folder_goes_once_the_new_one_is_there(tmp_path):
    write(tmp_path / "final", "new")
    (tmp_path / ".final.old").mkdir()
    settle_folders(tmp_path)
    assert os.listdir(tmp_path) == ["final"]


def test_there_may_be_nothing_to_settle(tmp_path):
    settle_folders(tmp_path / "none")


def test_an_error_while_it_is_written_leaves_the_old_folder_and_nothing_beside_it(tmp_path):
    write(tmp_path / "progress", "old")
    with pytest.raises(IsADirectoryError), written_whole(tmp_path / "progress") as partial:
        partial.write_text("no file")
    assert [path.name for path in tmp_path.iterdir()] == ["progress"]
    assert (tmp_path / "progress" / "weights").read_text() == "old"
