"""Which disk a command has filled."""

import errno
import shutil
from pathlib import Path

import pytest

from mcrl.cli import one_sentence
from mcrl.full_disk import full_folders


def fill(monkeypatch, folder) -> None:
    """Let the system say that the disk of `folder`, and of nothing else, has no room."""
    real = shutil.disk_usage
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: real(path)._replace(free=0 if folder in (path, *path.parents) else 1 << 30)
    )


def test_it_is_the_nearest_folder_that_exists_of_a_path_among_the_arguments(tmp_path, monkeypatch):
    (tmp_path / "judged").mkdir()
    fill(monkeypatch, tmp_path / "judged")
    for args in (["eval", "small", "--out", f"{tmp_path}/judged/a/b"], [f"--out={tmp_path}/judged/a"]):
        assert full_folders(args) == [tmp_path / "judged"]
    assert full_folders(["eval", "small", "--out", f"{tmp_path}/elsewhere"]) == []
    suites = ",".join(["unseen_seeds"] * 50)  # longer than any name of a file
    assert full_folders(["eval", "small", "--suite", suites, "--out", f"{tmp_path}/judged"]) == [tmp_path / "judged"]


def test_the_cache_and_the_folder_of_runs_are_looked_at_unasked(tmp_path, monkeypatch):
    (tmp_path / "work" / "runs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fill(monkeypatch, tmp_path / "work" / "runs")
    assert full_folders(["train", "laptop"]) == [tmp_path / "work" / "runs"]
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fill(monkeypatch, tmp_path)
    assert full_folders(["train", "laptop"]) == [tmp_path]  # where the cache is going to be


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="this system keeps shared memory elsewhere")
def test_shared_memory_that_is_full_is_named_though_no_command_is_told_of_it(tmp_path, monkeypatch):
    fill(monkeypatch, Path("/dev/shm"))
    said = one_sentence(OSError(errno.ENOSPC, "No space left on device"), ["synth", "--out", str(tmp_path)])
    assert said == "mcrl: /dev/shm: the disk is full; free some of it, then run the same command again"


def test_the_sentence_names_it_where_the_error_does_not(tmp_path, monkeypatch):
    fill(monkeypatch, tmp_path)
    error = OSError(errno.ENOSPC, "No space left on device")
    said = one_sentence(error, ["synth", "--out", str(tmp_path)])
    assert said == f"mcrl: {tmp_path}: the disk is full; free some of it, then run the same command again"
