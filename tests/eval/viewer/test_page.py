"""The page as a person meets it: real headless Chromium against the real server. Screenshots are kept in artefacts."""

import json

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
    ask,
    booth_of,
    click_tab,
    field,
    keep,
    mask_in_page,
    needs_chromium,
    number_of_frames,
    opened,
    press,
    settled,
    until,
)
from worlds.types import INSTANCE_FIRST_OBJECT  # noqa: E402

pytestmark = needs_chromium


def is_at_rest(page, booth) -> bool:
    """Tell whether the camera stays where it is for half a second."""
    before = ask(booth, lambda: booth.eye)
    page.wait_for_timeout(500)
    return np.allclose(ask(booth, lambda: booth.eye), before, atol=1e-3)


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
    press(page, "Check")
    report = page.get_by_text("world of the split")
    report.wait_for()
    ask(booth, lambda: booth.session.run.reset())  # which measures the goal, and makes it no other
    settled(booth)
    page.wait_for_timeout(500)
    assert report.is_visible()
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
    for height in (740, 700, 800):
        page.set_viewport_size({"width": 1280, "height": height})
        page.wait_for_timeout(300)
        curve = page.locator("#mcrl-curve").bounding_box()
        assert curve["y"] + curve["height"] <= height, f"the curve is cut off in a window {height} px high"
    press(page, "Take over")
    page.get_by_role("button", name="Hand back", exact=True).wait_for()
    page.wait_for_function("document.querySelector('#mcrl').classList.contains('by-hand')")
    press(page, "Play")
    camera_before = ask(booth, lambda: booth.eye)
    page.keyboard.down("s")
    until(lambda: "back" in ask(booth, lambda: booth.session.run.frame()).buttons, what="the key to reach the agent")
    page.wait_for_selector("#mcrl .cap.down[data-b=back]")
    page.keyboard.up("s")
    page.keyboard.down("r")
    page.wait_for_selector("#mcrl .cap.down[data-b=sprint]")
    page.keyboard.up("r")
    # Ctrl and W is the browser's: nothing is on Ctrl, and who presses it all the same is asked.
    page.keyboard.press("ControlLeft")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    page.wait_for_timeout(1000)
    assert asked == ["beforeunload"]
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
    page.mouse.move(640, 640)
    page.mouse.down()  # whatever it brings about, it is not what went wrong before
    assert page.inner_text("#mcrl-said") == ""
    page.mouse.up()


def test_the_name_of_a_row_is_shown_as_it_is_and_never_run(browser, judged_dir, tmp_path):
    row = '<iframe srcdoc="<script>parent.hasRun = true</script>"></iframe> *a* [b](c) __d__ `e`'
    for name in ("episodes.jsonl", "tasks.jsonl", "origin.json"):
        text = (judged_dir / name).read_text()
        (tmp_path / name).write_text(text.replace('"row":"random"', f'"row":{json.dumps(row)}'))
    app = ViewerApp(shared=Shared(), opening=lambda session: session.browse.open(str(tmp_path)))
    try:
        with opened(browser, app.address) as page:
            click_tab(page, "Browse")
            page.get_by_text(f"{row}: ").wait_for()
            page.wait_for_timeout(1000)
            assert page.evaluate("window.hasRun") is None
    finally:
        app.close()


def test_an_episode_of_an_evaluation_is_played_again(browser, judged_dir):
    app = ViewerApp(shared=Shared(), opening=lambda session: session.browse.open(str(judged_dir)))
    try:
        with opened(browser, app.address) as page:
            booth = booth_of(page, app)
            click_tab(page, "Browse")
            settled(booth)
            page.wait_for_timeout(1000)
            keep(page, "browse")
            assert booth._panel._browse._who.value == "rl"  # the judged row, not the floor that comes first
            press(page, "Replay")
            until(lambda: number_of_frames(page) > 3, what="the replay")
            ask(booth, lambda: booth.session.run.set_speed(8.0))
            page.wait_for_function("document.querySelector('#mcrl-banner').dataset.outcome !== ''")
            keep(page, "replay")
            ask(booth, lambda: booth.session.replay(1, "random", beside="rl"))
            click_tab(page, "Run")
            press(page, "Play")
            beside = page.wait_for_selector("#mcrl-rival-view:visible").bounding_box()
            assert beside["y"] + beside["height"] <= page.viewport_size["height"]  # not below the edge of the window
            keep(page, "beside")
            until(lambda: ask(booth, lambda: booth.session.rival.run.ticks) > 3, what="the one beside it")
            press(page, "Pause")
            page.get_by_role("button", name="Play", exact=True).wait_for()
            assert not ask(booth, lambda: booth.session.run.is_playing or booth.session.rival.is_playing)
            # What was asked of an evaluation's tasks, such as an outcome, is not asked of others.
            click_tab(page, "Browse")
            browse = booth._panel._browse
            for choice, value in ((browse._outcome, "success"), (browse._band, "hard")):
                ask(booth, lambda choice=choice, value=value: setattr(choice, "value", value))
            ask(booth, browse._find)
            page.get_by_text("as chosen under").wait_for()
            field(page, "Open").fill("laptop")
            page.wait_for_timeout(500)
            press(page, "Open")
            page.get_by_text("of 1024 (1024 in all").wait_for()
            assert (browse._outcome.value, browse._band.value) == ("any", "any")
    finally:
        app.close()
