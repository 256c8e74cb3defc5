"""Claims about progress where stderr is no terminal."""

import logging

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
