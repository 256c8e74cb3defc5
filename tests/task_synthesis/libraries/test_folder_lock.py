"""Claims about folders held by one process at a time."""

import os
from contextlib import contextmanager

import pytest

from task_synthesis.libraries import library_build
from task_synthesis.libraries.folder_lock import locked
from task_synthesis.libraries.library import load_tasks
from task_synthesis.libraries.library_build import build_library
from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.synthesis_config import SynthesisConfig


def test_a_held_folder_is_refused_until_it_is_let_go(tmp_path):
    folder = tmp_path / "new" / "folder"
    with locked(folder, other="counts sheep"):
        with pytest.raises(
            ValueError, match=f"another process counts sheep; wait for it, .* first .process {os.getpid()}"
        ):
            with locked(folder, other="counts sheep"):
                pass
    with locked(folder, other="counts sheep"):
        pass


def test_a_failure_inside_lets_the_folder_go(tmp_path):
    with pytest.raises(OSError, match="disk"):
        with locked(tmp_path, other="works"):
            raise OSError("disk")
    with locked(tmp_path, other="works"):
        pass


def test_what_stays_in_the_folder_does_not_tell_who_held_it(tmp_path):
    with locked(tmp_path, other="works"):
        assert (tmp_path / "lock").read_bytes() == f"{os.getpid()}\n".encode()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("lock", b"")]


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="file.*: a file stands where a folder is wanted"):
            with locked(folder, other="works"):
                pass


def test_a_library_that_was_made_between_a_look_and_the_lock_is_kept(tmp_path, monkeypatch):
    config = SynthesisConfig(side_blocks=32)
    mine, theirs = (LibraryPlan(num_tasks=2, split="train", seed=seed, config=config) for seed in (0, 1))

    @contextmanager
    def late(folder, *, other):
        monkeypatch.undo()
        build_library(tmp_path, theirs)
        with locked(folder, other=other):
            yield

    monkeypatch.setattr(library_build, "locked", late)
    with pytest.raises(ValueError, match="holds a library with seed 1"):
        build_library(tmp_path, mine)
    assert len(load_tasks(tmp_path, split="train")) == 2


def test_a_library_that_another_process_makes_is_refused_and_left_alone(tmp_path):
    plan = LibraryPlan(num_tasks=2, split="train", seed=0, config=SynthesisConfig(side_blocks=32))
    with locked(tmp_path, other="makes this library"), pytest.raises(ValueError, match="another process makes this"):
        build_library(tmp_path, plan)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
