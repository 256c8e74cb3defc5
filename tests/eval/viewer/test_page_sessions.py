"""Pages and their sessions in real headless Chromium: several at once, ones that begin, are lost and begin anew."""

import threading
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from eval.viewer.app import ViewerApp  # noqa: E402
from eval.viewer.shared import Shared  # noqa: E402
from tests.eval.viewer.chromium import (  # noqa: E402
    ask,
    booth_of,
    click_tab,
    needs_chromium,
    number_of_frames,
    opened,
    press,
    ready,
    settled,
    until,
)
from worlds.types import Pose  # noqa: E402

pytestmark = needs_chromium


def looks_from_its_start(booth) -> bool:
    start = ask(booth, booth.session.scene).eye
    return np.allclose(ask(booth, lambda: booth.eye)[:3], (start.x, start.y + 3.0, start.z), atol=0.1)


def has_frames(page, num_frames: int) -> bool:
    return number_of_frames(page) >= num_frames


def test_a_page_whose_session_takes_its_time_says_so(browser):
    may_begin = threading.Event()
    served = ViewerApp(shared=Shared(), opening=lambda session: may_begin.wait(60))
    shown = browser.new_page()
    shown.goto(served.address)
    shown.wait_for_function("document.querySelector('#mcrl-banner')?.textContent.startsWith('The session begins.')")
    may_begin.set()
    shown.wait_for_function("document.querySelector('#mcrl-banner').textContent.startsWith('Fly with W A S D')")
    shown.close()
    served.close()


def test_another_world_shows_nothing_of_the_one_before(page, app):
    booth = booth_of(page, app)
    settled(booth)

    def drawn() -> set[str]:
        return {name for name in booth._client.scene._handle_from_node_name if not name.startswith("/world/")}

    of_tasks = {"/target", "/target_label", "/goal_camera"}
    assert of_tasks <= ask(booth, drawn)
    ask(booth, lambda: booth.session.rival.choose_player("noop"))
    ask(booth, lambda: booth.session.run.reset(seed=0))
    ask(booth, lambda: booth.session.rival.reset(seed=0))
    until(lambda: {"/rival", "/agent"} <= ask(booth, drawn), what="the second agent")
    ask(booth, lambda: booth.session.open_seed(5, "plains"))
    until(lambda: "/rival" not in ask(booth, drawn), what="the second agent to go")
    assert not {name for name in ask(booth, drawn) if name.startswith(("/target", "/goal_camera", "/rival"))}
    assert "/agent" in ask(booth, drawn)


def test_what_is_drawn_beyond_the_border_of_the_world_is_clicked_in_the_page(page, app):
    booth = booth_of(page, app)
    # Its start is half a block from the border, its target across it.
    ask(booth, lambda: booth.session.open_place("unseen_seeds:130"))
    settled(booth)
    animal = ask(booth, lambda: booth.session.goal.draft.target)
    x, y, z = animal.position
    ask(booth, lambda: booth._view.jump(Pose(x + 2.5, y + 9.0, z + 0.5, 0.0, 89.0)))
    page.wait_for_timeout(2000)  # the booth's eye is where it was told to be at once, the page's a little later
    page.mouse.click(640, 400)
    until(lambda: ask(booth, lambda: booth.session.goal.draft.target) != animal, what="the click to be heard")
    clicked = ask(booth, lambda: booth.session.goal.draft.target).position
    assert abs(clicked[0] - (x + 2)) <= 1
    assert abs(clicked[2] - z) <= 1


def test_a_lost_connection_in_a_run_loses_nothing(page, app):
    booth = booth_of(page, app)
    ask(booth, lambda: booth.session.run.choose_player("noop"))
    click_tab(page, "Run")
    press(page, "Play")
    until(lambda: number_of_frames(page) > 3, what="live pictures")
    run = ask(booth, lambda: booth.session.run.run)
    # Both lines break, as when a machine sleeps; the page finds its way back by itself, and after a reload too.
    booth.hands._loop.call_soon_threadsafe(booth.hands._connection.transport.abort)
    app.server._websock_server.disconnect_all_clients()
    page.wait_for_function("document.querySelector('#mcrl-banner').textContent.startsWith('Connection lost')")
    page.wait_for_function("document.querySelector('#mcrl-banner').textContent === 'Paused.'")
    page.reload()
    page.get_by_role("tab", name="Run").wait_for()
    settled(booth)
    assert booth_of(page, app) is booth
    assert ask(booth, lambda: booth.session.run.run) is run
    page.wait_for_function("document.querySelector('#mcrl-agent').dataset.frames > 0")
    click_tab(page, "Run")
    ticks = ask(booth, lambda: run.ticks)
    press(page, "Play")
    until(lambda: run.ticks > ticks, what="the run to go on")


def test_two_browsers_do_not_disturb_each_other(browser, page, app):
    with opened(browser, app.address) as other:
        mine, theirs = booth_of(page, app), booth_of(other, app)
        assert mine is not theirs
        before = ask(theirs, lambda: theirs.session.goal.draft)
        ask(mine, lambda: mine.session.run.choose_player("noop"))
        click_tab(page, "Run")
        press(page, "Play")
        until(lambda: number_of_frames(page) > 3, what="my agent")
        assert number_of_frames(other) == 0
        assert ask(theirs, lambda: theirs.session.run.run) is None
        assert ask(theirs, lambda: theirs.session.goal.draft) is before


def test_every_new_page_looks_from_where_its_session_says(browser, app):
    for _ in range(4):
        with opened(browser, app.address) as shown:
            until(partial(looks_from_its_start, booth_of(shown, app)), what="the first eye")


def test_four_sessions_play_at_once(browser, app):
    with ExitStack() as stack:
        pages = [stack.enter_context(opened(browser, app.address, size_px=(1000, 700))) for _ in range(4)]
        players = ("small", "expert", "random", "noop")
        for page, player in zip(pages, players, strict=True):
            run = booth_of(page, app).session.run
            ask(booth_of(page, app), partial(run.choose_player, player))
            booth_of(page, app).do(run.play)
        for page in pages:
            until(partial(has_frames, page, 10), what="ten live pictures")
        runs = [booth_of(page, app).session.run.run for page in pages]
        assert [run.casting.name for run in runs] == list(players)
        assert all(run.ticks > 0 for run in runs)


def test_a_page_says_that_the_engine_is_compiled_and_begins_anew_with_a_viewer_that_was_started_again(page, app):
    booth = booth_of(page, app)
    settled(booth)
    compiling = page.locator("#mcrl-compiling")
    booth.hands.show_compiling(True)
    until(lambda: "the engine is compiled" in compiling.inner_text(), what="the word about compiling")
    booth.hands.show_compiling(False)
    until(lambda: not compiling.is_visible(), what="its end")
    page.evaluate("document.title = 'before'")
    booth.hands.show_server("another")
    page.wait_for_function("document.title !== 'before'")
    # A page that is still loading can keep its browser from closing.
    ready(page)
