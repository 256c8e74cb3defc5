"""The page as a person meets it: real headless Chromium against the real server. Screenshots are kept in artefacts."""

import json
import threading
from contextlib import ExitStack
from functools import partial
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from eval.viewer.app import ViewerApp  # noqa: E402
from eval.viewer.session import ViewerSession  # noqa: E402
from eval.viewer.shared import Shared  # noqa: E402
from eval.viewer.task_file import load_task  # noqa: E402
from tests.eval.viewer.chromium import (  # noqa: E402
    GOAL_PX,
    chromium,
    click_tab,
    field,
    keep,
    mask_in_page,
    needs_chromium,
    number_of_frames,
    opened,
    press,
    until,
)
from worlds.types import INSTANCE_FIRST_OBJECT  # noqa: E402

# A task that the expert solves in seconds, with its target in view of the goal camera.
EASY_TASK = "unseen_seeds:3"

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def app():
    served = ViewerApp(shared=Shared(), opening=lambda session: session.open_place(EASY_TASK))
    yield served
    served.close()


@pytest.fixture
def page(browser, app):
    with opened(browser, app.address) as shown:
        yield shown


def booth_of(page, app):
    return app.booth(urlsplit(page.url).path.strip("/").rpartition("/")[2])


def settled(booth):
    """Wait until the booth has done all that was asked of it."""
    done = []
    booth.do(lambda: done.append(True))
    until(lambda: done, what="the booth")


def ask(booth, deed):
    """Return what a call gives in the booth's own thread."""
    answer = []
    booth.do(lambda: answer.append(deed()))
    until(lambda: answer, what="an answer of the session")
    return answer[0]


def is_at_rest(page, booth) -> bool:
    """Tell whether the camera stays where it is for half a second."""
    before = ask(booth, lambda: booth.eye)
    page.wait_for_timeout(500)
    return np.allclose(ask(booth, lambda: booth.eye), before, atol=1e-3)


def looks_from_its_start(booth) -> bool:
    start = ask(booth, booth.session.scene).eye
    return np.allclose(ask(booth, lambda: booth.eye)[:3], (start.x, start.y + 3.0, start.z), atol=0.1)


def has_frames(page, num_frames: int) -> bool:
    return number_of_frames(page) >= num_frames


def engine_mask(session: ViewerSession) -> np.ndarray:
    """Return the target's pixels in the goal view, from an engine of our own."""
    draft = session.goal.draft
    views = session.goal.desk.engine.render_lens(
        [0], np.array([draft.goal_view]), image_px=(GOAL_PX, GOAL_PX), fov_deg_V=np.array([draft.look.fov_deg])
    )
    return views.instance_VHW[0] == INSTANCE_FIRST_OBJECT + draft.target_index


def test_a_person_flies_clicks_a_block_and_sees_its_exact_mask_and_saves_the_task(page, app, tmp_path):
    booth = booth_of(page, app)
    settled(booth)
    before = ask(booth, lambda: booth.eye)
    page.mouse.move(640, 500)
    page.keyboard.down("w")
    until(lambda: abs(booth.eye.x - before.x) + abs(booth.eye.z - before.z) > 1.0, what="the camera to fly")
    page.keyboard.up("w")
    until(lambda: is_at_rest(page, booth), what="the camera to come to rest")
    ask(booth, lambda: booth.jump("goal"))
    goal_eye = ask(booth, lambda: booth.session.goal.draft.goal_view)
    until(lambda: np.allclose(ask(booth, lambda: booth.eye)[:3], goal_eye[:3], atol=0.2), what="the goal camera's view")
    ask(booth, lambda: booth.session.goal.open_world(booth.session.goal.draft.world))
    # A click without anything chosen before: the view becomes the goal picture, the block the target.
    page.mouse.click(640, 640)
    page.wait_for_function("document.querySelector('#mcrl-goal-text').textContent !== ''")
    settled(booth)
    until(lambda: mask_in_page(page).any(), what="the mask in the page")
    wanted = ask(booth, lambda: engine_mask(booth.session))
    assert (mask_in_page(page) & wanted).sum() == (mask_in_page(page) | wanted).sum() > 0
    keep(page, "goal")
    path = tmp_path / "mine.jsonl"
    field(page, "File").fill(str(path))
    page.wait_for_timeout(500)
    press(page, "Save task")
    page.wait_for_function("document.querySelector('#mcrl-said').textContent.startsWith('Saved as')")
    task, _ = load_task(f"{path}:1")
    assert task == ask(booth, lambda: booth.session.goal.draft.task)


def test_clicks_and_strokes_in_the_goal_picture_change_the_mask(page, app):
    booth = booth_of(page, app)
    settled(booth)
    until(lambda: mask_in_page(page).any(), what="the mask of the opened task")
    exact = ask(booth, lambda: engine_mask(booth.session))
    assert (mask_in_page(page) == exact).all()
    page.get_by_text("Mask", exact=True).click()
    press(page, "brush")
    settled(booth)
    page.wait_for_timeout(500)
    box = page.locator("#mcrl-goal-view").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 60, steps=6)
    page.mouse.up()
    until(lambda: mask_in_page(page)[60, 62], what="the stroke")
    until(lambda: mask_in_page(page)[60, 88], what="the end of the stroke")
    press(page, "Reset mask")
    until(lambda: (mask_in_page(page) == exact).all(), what="the engine's own mask")


def test_the_shipped_policy_runs_pauses_and_is_taken_over_with_keys(page, app):
    booth = booth_of(page, app)
    ask(booth, lambda: booth.session.run.choose_player("small"))
    click_tab(page, "Run")
    press(page, "Play")
    until(lambda: number_of_frames(page) > 5, what="live pictures of the agent")
    press(page, "Pause")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    settled(booth)
    ticks = ask(booth, lambda: booth.session.run.run.ticks)
    page.wait_for_timeout(500)
    assert ask(booth, lambda: booth.session.run.run.ticks) == ticks
    keep(page, "policy")
    press(page, "Take over")
    page.get_by_role("button", name="Hand back", exact=True).wait_for()
    page.wait_for_function("document.querySelector('#mcrl').classList.contains('by-hand')")
    press(page, "Play")
    camera_before = ask(booth, lambda: booth.eye)
    page.keyboard.down("s")
    until(lambda: "back" in ask(booth, lambda: booth.session.run.frame()).buttons, what="the key to reach the agent")
    page.wait_for_selector("#mcrl .cap.down[data-b=back]")
    page.keyboard.up("s")
    # The same key flies the camera only where nobody plays.
    assert np.allclose(ask(booth, lambda: booth.eye), camera_before, atol=1e-3)
    keep(page, "by_hand")
    if not ask(booth, lambda: booth.session.run.run.is_over):
        press(page, "Hand back")
        page.get_by_role("button", name="Take over", exact=True).wait_for()


def test_the_experts_success_shows_a_banner(page, app):
    booth = booth_of(page, app)
    ask(booth, lambda: booth.session.run.choose_player("expert"))
    ask(booth, lambda: booth.session.run.set_speed(4.0))
    click_tab(page, "Run")
    press(page, "Play")
    page.wait_for_selector("#mcrl-banner[data-outcome=success]")
    assert page.inner_text("#mcrl-banner").startswith("Success: after")
    press(page, "Bird")
    page.wait_for_timeout(1500)
    keep(page, "success")


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


def test_mistakes_are_said_in_the_page_and_lose_nothing(page, app, tmp_path):
    booth = booth_of(page, app)
    draft = ask(booth, lambda: booth.session.goal.draft)
    said = "document.querySelector('#mcrl-said').textContent.includes({})"
    # Sky: the camera looks up from above all trees.
    ask(booth, lambda: booth._view.jump(booth.session.scene().eye._replace(y=63.0, pitch_deg=-60.0)))
    page.wait_for_timeout(1500)
    page.mouse.click(640, 300)
    page.wait_for_function(said.format(json.dumps("only sky")))
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    page.set_input_files("#mcrl-upload", broken)
    page.wait_for_function(said.format(json.dumps("picture:")))
    huge = tmp_path / "huge.png"
    huge.write_bytes(b"\0" * (9 * 2**20))
    page.set_input_files("#mcrl-upload", huge)
    page.wait_for_function(said.format(json.dumps("at most 8 MB")))
    page.get_by_text("World", exact=True).click()
    field(page, "Task").fill("nothing.jsonl:7")
    page.wait_for_timeout(500)
    press(page, "Open task")
    page.wait_for_function(said.format(json.dumps("nothing.jsonl")))
    assert ask(booth, lambda: booth.session.goal.draft) is draft
    keep(page, "mistake")


def test_an_episode_of_an_evaluation_is_played_again(browser, judged_dir):
    app = ViewerApp(shared=Shared(), opening=lambda session: session.browse.open(str(judged_dir)))
    try:
        with opened(browser, app.address) as page:
            booth = booth_of(page, app)
            click_tab(page, "Browse")
            settled(booth)
            page.wait_for_timeout(1000)
            keep(page, "browse")
            press(page, "Replay")
            until(lambda: number_of_frames(page) > 3, what="the replay")
            ask(booth, lambda: booth.session.run.set_speed(8.0))
            page.wait_for_function("document.querySelector('#mcrl-banner').dataset.outcome !== ''")
            keep(page, "replay")
    finally:
        app.close()


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
    until(lambda: page.title() != "before", what="the page to load again")
