"""Claims about progress where stderr is no terminal."""

import logging
import time

import pytest

from mcrl.telemetry import progress
from mcrl.telemetry.progress import Bar


@pytest.fixture
def at(monkeypatch):
    """Sets the clock."""
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    return lambda now_s: clock.__setitem__(0, now_s)


def test_a_log_hears_every_half_minute_of_a_stage_without_notes(at, caplog):
    caplog.set_level(logging.INFO)
    bar = Bar("demos", 100)
    for now_s, done in ((10, 5), (29, 15), (31, 16), (60, 40), (62, 45), (63, 100)):
        at(now_s)
        bar.show(done)
    assert [message.split()[1] for message in caplog.messages] == ["16", "45", "100"]


def test_a_note_is_told_at_once_and_counts_as_a_line(at, caplog):
    caplog.set_level(logging.INFO)
    bar = Bar("imitation", 100)
    for now_s, done, note in ((20, 10, "loss 2"), (40, 20, ""), (51, 25, "")):
        at(now_s)
        bar.show(done, note)
    assert [message.split()[1] for message in caplog.messages] == ["10", "25"]


def test_a_long_wait_is_told_of_while_it_lasts(monkeypatch, caplog):
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0.02)
    with caplog.at_level(logging.INFO):
        bar = Bar("ppo", 10, done=3)
        with bar.waiting("fragments"):
            deadline_s = time.monotonic() + 30.0
            while len(caplog.messages) < 2 and time.monotonic() < deadline_s:
                time.sleep(0.01)
        num_told = len(caplog.messages)
        time.sleep(0.1)
    assert num_told >= 2
    assert len(caplog.messages) == num_told
    assert caplog.messages[0].startswith("ppo               3 / 10     fragments under way for 0 s")
