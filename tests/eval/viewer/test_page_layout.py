"""Claims about where things stand in windows of many sizes: nothing of ours lies over the panel."""

import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from tests.eval.viewer.chromium import (  # noqa: E402
    ask,
    booth_of,
    click_tab,
    keep,
    needs_chromium,
    number_of_frames,
    press,
    settled,
    until,
)

pytestmark = needs_chromium

SIZES_PX = [
    (width, height) for width in (375, 420, 480, 560, 577, 640, 760, 959, 960, 1280) for height in (640, 740, 900)
]
# Ours, and viser's notifications, which we put elsewhere.
OVER_PANEL = """() => {
  const panel = document.querySelector("[role=tab]").closest(".mantine-Paper-root").getBoundingClientRect();
  const ours = "#mcrl .card, #mcrl-banner, #mcrl-said, #mcrl-compiling, .mantine-Notification-root";
  return [...document.querySelectorAll(ours)].filter((each) => {
    const box = each.getBoundingClientRect();
    const clip = each.matches(".card") ? each.parentElement.getBoundingClientRect() : box;
    const [right, bottom] = [Math.min(box.right, clip.right), Math.min(box.bottom, clip.bottom)];
    return box.width && box.left < panel.right && right > panel.left && box.top < panel.bottom && bottom > panel.top;
  }).map((each) => each.id || each.className);
}"""
SIGHT = """() => {
  const text = document.querySelector("#mcrl-sight-text").getBoundingClientRect();
  const bar = document.querySelector(".sight div").getBoundingClientRect();
  const view = document.querySelector("#mcrl-agent-view").getBoundingClientRect();
  return [bar.bottom, text.top, text.bottom, view.bottom];
}"""


def test_nothing_of_ours_lies_over_the_panel_in_a_window_of_any_width(page, app):
    booth = booth_of(page, app)
    settled(booth)
    booth.hands.show_compiling(True)
    for has_rival in (False, True):
        if has_rival:
            ask(booth, lambda: booth.session.rival.choose_player("noop"))
            ask(booth, lambda: (booth.session.run.reset(), booth.session.rival.reset()))
            ask(booth, lambda: booth.session.run.take_over())
            page.wait_for_selector("#mcrl-rival-view:visible")
        for width, height in SIZES_PX:
            page.set_viewport_size({"width": width, "height": height})
            booth.say("a sentence of many words that takes as much room as it is given. " * 3)
            page.wait_for_function("document.querySelector('#mcrl-said').textContent !== ''")
            page.wait_for_timeout(400)  # viser lays its panel out after a frame
            assert page.evaluate(OVER_PANEL) == [], (width, height, has_rival)
            for name in ("Run", "Task"):
                click_tab(page, name)
                assert page.get_by_role("tab", name=name).get_attribute("aria-selected") == "true"
            if height == 740 and width in (420, 640):
                keep(page, f"width_{width}")


def test_how_sure_a_policy_is_of_its_target_is_legible_in_windows_of_all_heights(page, app):
    booth = booth_of(page, app)
    ask(booth, lambda: booth.session.run.choose_player("small"))
    click_tab(page, "Run")
    press(page, "Step")
    until(lambda: number_of_frames(page) > 0, what="a picture of the agent")
    page.wait_for_function("document.querySelector('#mcrl-sight-text').textContent.startsWith('sees the target: ')")
    for height in (640, 740, 800):
        page.set_viewport_size({"width": 1160, "height": height})
        page.wait_for_timeout(300)
        edges = page.evaluate(SIGHT)
        assert edges == sorted(edges), f"bar, words and picture overlap in a window {height} px high"
