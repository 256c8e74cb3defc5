"""Booths and the sockets of their pages, without a browser: whose booth is whose, and which keys are down."""

import contextlib
import queue
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")

from websockets.sync.client import connect  # noqa: E402

from eval.viewer.app import ViewerApp  # noqa: E402
from eval.viewer.app_deeds import Deeds  # noqa: E402
from eval.viewer.session import ViewerSession  # noqa: E402
from tests.eval.viewer.conftest import EASY_TASK  # noqa: E402


def begin_by_hand(session: ViewerSession) -> None:
    session.open_place(EASY_TASK)
    session.run.choose_player("human")
    session.run.reset()


@pytest.fixture
def served(shared):
    """A viewer whose sessions begin with a person at the keys."""
    app = ViewerApp(shared=shared, opening=begin_by_hand)
    yield app
    app.close()


@contextlib.contextmanager
def hands_of(app: ViewerApp, tab: str):
    """The second socket of a page, once its session is there."""
    with connect(f"ws://127.0.0.1:{app.server.get_port()}/tab/{tab}/hands") as page:
        until(lambda: app.booth(tab).hands.is_open and hasattr(app.booth(tab), "session"))
        yield page


def until(condition) -> None:
    end_s = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def held(app: ViewerApp, tab: str) -> set[str]:
    run = app.booth(tab).session.run.run
    return set() if run is None else set(run.held._held)


def test_keys_that_are_down_when_a_page_goes_come_up(served):
    with hands_of(served, "one") as page:
        page.send('{"do": "keys", "held": ["forward", "sprint"]}')
        until(lambda: held(served, "one") == {"forward", "sprint"})
    until(lambda: not held(served, "one"))


def test_a_page_that_comes_before_its_lost_line_is_noticed_has_no_key_down(served):
    with hands_of(served, "one") as lost:
        lost.send('{"do": "keys", "held": ["forward"]}')
        until(lambda: held(served, "one") == {"forward"})
        with hands_of(served, "one") as page:
            until(lambda: not held(served, "one"))
            page.send('{"do": "keys", "held": ["back"]}')
            until(lambda: held(served, "one") == {"back"})
            lost.close()
            time.sleep(0.5)
            assert held(served, "one") == {"back"}


def test_a_page_that_is_still_loading_keeps_its_booth_and_one_that_has_gone_does_not(served, monkeypatch):
    monkeypatch.setattr("eval.viewer.app.MAX_BOOTHS", 1)
    with hands_of(served, "loading"):
        booth = served.booth("loading")
        with pytest.raises(ValueError, match="1 pages are open"):
            served.booth("another")
        client = SimpleNamespace()
        booth._newest = client
        booth.detach(client)  # its other line broke
        assert booth.left_at_s is None
    until(lambda: booth.left_at_s is not None)
    assert served.booth("another") is not booth


def test_a_page_that_comes_back_is_not_swept_away_before_it_is_all_there(served):
    booth = served.booth("one")
    booth.detach(None)
    assert booth.left_at_s is not None
    assert served.booth("one") is booth
    assert booth.left_at_s is None


def test_deeds_end_where_another_thread_takes_them_at_the_same_time():
    class Raced(queue.Queue):
        def get_nowait(self):
            super().get_nowait()  # that is the other thread
            return super().get_nowait()

    deeds = Deeds()
    deeds._waiting = Raced(3)
    for _ in range(3):
        deeds.add(lambda: None)
    deeds.end()
    assert deeds.next(wait_s=1.0) is None


def test_too_many_deeds_are_left_out_and_the_end_takes_the_place_of_what_waits():
    deeds, done = Deeds(), []
    for number in range(250):
        deeds.add(lambda number=number: done.append(number))
    for _ in range(200):
        deeds.next()()
    assert done == list(range(200))
    with pytest.raises(queue.Empty):
        deeds.next()
    for _ in range(250):
        deeds.add(done.clear)
    deeds.end()
    assert deeds.next() is None


def test_words_of_a_page_that_are_too_many_or_none_are_not_heard(served):
    with hands_of(served, "one") as page:
        for words in ('{"do": "keys", "held": ["forward"], "more": "%s"}' % ("x" * 4096), "[" * 4000, "[1]", "keys"):
            page.send(words)
        page.send('{"do": "keys", "held": ["back"]}')
        until(lambda: held(served, "one") == {"back"})
        assert served.booth("one").session.run.run.held._tapped == {"back"}


def test_a_session_whose_page_stays_away_is_swept_away_and_another_one_is_not(served, monkeypatch):
    monkeypatch.setattr("eval.viewer.app.KEPT_S", 0.0)
    gone = served.booth("gone")
    with hands_of(served, "here"):
        here = served.booth("here")
        gone.detach(None)
        until(lambda: not gone._thread.is_alive())
        assert served.booth("gone") is not gone
        assert served.booth("here") is here
