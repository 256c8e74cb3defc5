"""Claims about work spread over processes; a killed one, and Ctrl-C, are in test_library.py and tests/eval."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import worlds
from task_synthesis.libraries.processes import results_by_processes
from worlds.kernel_cache import folder_of


def num_seen(item: tuple[Path, str, float], tell: Callable[[int], None]) -> int:
    """Leave a file, wait until another item has left one or for so many seconds, and return how many there are."""
    folder, name, limit_s = item
    tell(1)
    (folder / name).write_text("")
    until_s = time.monotonic() + limit_s
    while len(list(folder.iterdir())) < 2 and time.monotonic() < until_s:
        time.sleep(0.01)
    tell(2)
    return len(list(folder.iterdir()))


@pytest.fixture
def marks(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_LOCATOR_CLASSES", "worlds.kernel_locator.KernelLocator")
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def test_where_the_engine_was_never_compiled_the_first_item_goes_alone(marks):
    items = [(marks, name, 0.5) for name in "abc"]
    assert next(results_by_processes(num_seen, items, num_workers=3)) == 1


def test_where_it_was_compiled_they_go_together(marks):
    (folder_of(Path(worlds.__file__)) / "kernel.nbi").write_text("")
    items = [(marks, name, 60.0) for name in "ab"]
    assert list(results_by_processes(num_seen, items, num_workers=2)) == [2, 2]


def test_what_is_done_of_an_item_is_heard_while_it_is_worked_on(marks):
    heard: list[int] = []
    items = [(marks, "a", 3.0)]  # alone, it waits for as long
    assert list(results_by_processes(num_seen, items, num_workers=1, on_progress=heard.append)) == [1]
    assert 1 in heard
    assert heard[-1] == 2


def test_no_item_is_lost_or_done_twice(marks):
    items = [(marks, name, 0.0) for name in "abcde"]
    assert len(list(results_by_processes(num_seen, items, num_workers=2))) == 5
    assert {path.name for path in marks.iterdir()} == set("abcde")
