"""Claims about a person who plays in the page: where clicks hit, and what the button that takes over says."""

import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from tests.eval.viewer.chromium import (  # noqa: E402
    ask,
    booth_of,
    click_tab,
    field,
    needs_chromium,
    press,
    settled,
    until,
)

pytestmark = needs_chromium
GROUND_PX = (640, 640)  # of the world, where no card and no panel is


def test_who_plays_hits_in_the_agents_picture_and_changes_no_goal_by_a_click_into_the_world(page, app):
    booth = booth_of(page, app)
    ask(booth, lambda: booth.session.run.choose_player("noop"))
    click_tab(page, "Run")
    take_over = page.get_by_role("button", name="Take over: Play first", exact=True)
    assert take_over.is_disabled()
    press(page, "Play")
    press(page, "Take over")
    page.get_by_role("button", name="Hand back", exact=True).wait_for()
    before = ask(booth, lambda: booth.session.goal.draft)
    page.mouse.click(*GROUND_PX)
    page.wait_for_function("document.querySelector('#mcrl-said').textContent.includes(\"in the agent's picture\")")
    assert ask(booth, lambda: booth.session.goal.draft) == before
    page.wait_for_function("document.querySelector('#mcrl-banner').textContent.includes(\"in the agent's picture\")")
    page.locator("#mcrl-agent-view").click()
    page.wait_for_function("document.pointerLockElement?.id === 'mcrl-agent-view'")
    page.mouse.down()
    until(lambda: "attack" in ask(booth, lambda: booth.session.run.frame()).buttons, what="the click to hit")
    page.mouse.up()
    page.evaluate("document.exitPointerLock()")
    press(page, "Hand back")
    page.get_by_role("button", name="Take over", exact=True).wait_for()
    page.mouse.click(*GROUND_PX)
    until(lambda: ask(booth, lambda: booth.session.goal.draft) != before, what="the click to be heard")


def test_a_page_with_a_task_names_its_place_under_browse_and_says_that_nothing_is_listed(page, app):
    booth = booth_of(page, app)
    settled(booth)
    click_tab(page, "Browse")
    page.get_by_text("No tasks are listed yet").wait_for()
    assert field(page, "Open").input_value() == "unseen_seeds:3"
    press(page, "Open")
    page.get_by_text("task 3: ").wait_for()
