"""Claims about the folder Conditions in a browser: one step of the history, shown as the draft is, drawn at once."""

import dataclasses

import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from tests.eval.viewer.chromium import (  # noqa: E402
    ask,
    booth_of,
    field,
    keep,
    needs_chromium,
    press,
    settled,
    until,
)

pytestmark = needs_chromium


def test_the_hour_that_a_person_sets_is_drawn_and_taken_back_with_one_undo(page, app):
    booth = booth_of(page, app)
    settled(booth)
    before = ask(booth, lambda: booth.session.goal.draft)
    bright = ask(booth, lambda: booth.session.goal.view().image_HWC.mean())
    page.get_by_text("Conditions", exact=True).click()
    assert field(page, "Hour").input_value() == "12"
    field(page, "Hour").fill("23")
    field(page, "Fog").fill("2.5")
    press(page, "Set them")
    until(lambda: ask(booth, lambda: booth.session.goal.draft is not before), what="the draft to change")
    draft = ask(booth, lambda: booth.session.goal.draft)
    assert draft == before.changed(look=draft.look)
    assert (draft.look.time_ticks, draft.look.fog, draft.look.weather) == (17000, 2.5, "clear")
    assert ask(booth, lambda: booth.session.goal.view().image_HWC.mean()) < bright / 2
    keep(page, "night")
    press(page, "Undo")
    until(lambda: field(page, "Hour").input_value() == "12", what="the hour of before")
    assert ask(booth, lambda: booth.session.goal.draft) == before


def test_a_page_of_a_task_in_the_last_moment_before_midnight_has_its_panel(page, app):
    booth = booth_of(page, app)
    look = ask(booth, lambda: booth.session.goal.draft.look)
    late = dataclasses.replace(look, time_ticks=17998)
    ask(booth, lambda: booth.session.goal.set_conditions(look=late))
    page.reload()
    page.get_by_text("Conditions", exact=True).click()
    until(lambda: field(page, "Hour").input_value() == "23.99", what="the task's hour")
    field(page, "Limit s").fill("7")
    press(page, "Set them")
    until(lambda: ask(booth, lambda: booth.session.goal.draft.max_ticks) == 140, what="the limit")
    assert ask(booth, lambda: booth.session.goal.draft.look) == late


def test_what_is_not_touched_keeps_the_digits_that_are_not_shown(page, app):
    booth = booth_of(page, app)
    settled(booth)
    look = ask(booth, lambda: booth.session.goal.draft.look)
    odd = type(look)(time_ticks=9876, fog=1.23456)
    ask(booth, lambda: booth.session.goal.set_conditions(look=odd))
    settled(booth)
    page.get_by_text("Conditions", exact=True).click()
    until(lambda: field(page, "Hour").input_value() == "15.88", what="the task's hour")
    field(page, "Limit s").fill("7")
    press(page, "Set them")
    until(lambda: ask(booth, lambda: booth.session.goal.draft.max_ticks) == 140, what="the limit")
    assert ask(booth, lambda: booth.session.goal.draft.look) == odd
