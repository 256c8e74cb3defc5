"""Claims about what engine processes leave behind in ours: nothing, however they end."""

import os
import resource
import threading
from pathlib import Path

import pytest

from tests.worlds.adapters.test_engine_drills import ENGINE, LIMITS
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.process import EngineProcess


def test_an_engine_that_cannot_be_told_what_to_do_leaves_nothing_behind():
    before = len(os.listdir("/proc/self/fd")), len(_children())
    with pytest.raises(TypeError, match="not JSON serializable"):
        EngineProcess(EngineChoice(engine=ENGINE, options={"file": {"a set"}}), (16, 16), LIMITS)
    assert (len(os.listdir("/proc/self/fd")), len(_children())) == before


def test_an_engine_lives_also_where_more_than_a_thousand_files_are_open():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, limits[1]))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    engine = EngineProcess(EngineChoice(engine=ENGINE), (16, 16), LIMITS)
    try:
        engine.hello()
        assert engine._process.poll() is None  # the keeper, whose descriptors have our numbers
    finally:
        engine.kill()
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.slow
def test_two_hundred_starts_and_ends_leak_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def counts() -> tuple[int, int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count(), len(_children())

    EngineProcess(EngineChoice(engine=ENGINE), (64, 64), LIMITS).kill()
    before = counts()
    memory_kib = _memory_kib()
    for number in range(200):
        engine = EngineProcess(EngineChoice(engine=ENGINE), (64, 64), LIMITS)
        if number % 3:
            engine.hello()
        if number % 2:
            engine.close()
        else:
            engine.kill()
    assert counts() == before
    assert _memory_kib() - memory_kib < 20_000
    assert not list(tmp_path.iterdir())


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _memory_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
