"""Controls of the panel: what a person chose stands until the session has heard of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from eval.viewer.app_control import Choice, Forward


@dataclass
class Dropdown:
    """Does what viser's handle does for us."""

    value: str
    callbacks: list[Callable[[Any], None]] = field(default_factory=list)

    def on_update(self, callback: Callable[[Any], None]) -> None:
        self.callbacks.append(callback)

    def choose(self, value: str) -> None:
        self.value = value
        for callback in self.callbacks:
            callback(SimpleNamespace(client=object(), target=self))


class Stage:
    """A session with one value, and deeds that wait until they are done."""

    def __init__(self) -> None:
        self.player, self.deeds = "small", []
        self.control = Dropdown("small")
        self.choice = Choice(Forward(self.deeds.append), self.control, read=lambda: self.player, write=self.write)

    def write(self, name: str) -> None:
        if name == "nobody":
            raise ValueError("player: there is nobody")
        self.player = name

    def do_next(self) -> None:
        self.deeds.pop(0)()
        self.choice.update()


@pytest.fixture
def stage():
    return Stage()


def test_a_choice_is_not_taken_back_before_the_session_has_heard_of_it(stage):
    stage.control.choose("expert")
    stage.choice.update()
    assert stage.control.value == "expert"
    stage.do_next()
    assert (stage.player, stage.control.value) == ("expert", "expert")


def test_what_was_written_when_a_button_was_pressed_is_what_is_done(stage):
    field, done = Dropdown("mine.jsonl"), []
    press = Forward(stage.deeds.append).reading(done.append, field)
    press(SimpleNamespace(client=object(), target=object()))
    field.value = "another.jsonl"
    stage.deeds.pop()()
    assert done == ["mine.jsonl"]


def test_of_two_quick_choices_the_last_one_stands(stage):
    stage.control.choose("expert")
    stage.control.choose("noop")
    stage.do_next()
    assert (stage.player, stage.control.value) == ("expert", "noop")
    stage.do_next()
    assert (stage.player, stage.control.value) == ("noop", "noop")


def test_what_the_session_changes_itself_is_shown(stage):
    stage.player = "recording"
    stage.choice.update()
    assert stage.control.value == "recording"
    assert not stage.deeds


def test_a_refused_choice_is_taken_back_but_not_a_newer_one(stage):
    stage.control.choose("nobody")
    with pytest.raises(ValueError, match="nobody"):
        stage.do_next()
    assert stage.control.value == "small"
    stage.control.choose("nobody")
    stage.control.choose("expert")
    with pytest.raises(ValueError, match="nobody"):
        stage.do_next()
    assert stage.control.value == "expert"
    stage.do_next()
    assert (stage.player, stage.control.value) == ("expert", "expert")


def test_a_deed_gets_the_value_that_a_control_had_when_it_was_pressed():
    deeds, heard = [], []
    buttons = Dropdown("Step")
    buttons.on_update(Forward(deeds.append).valued(heard.append))
    buttons.choose("Step")
    buttons.choose("Reset")
    for deed in deeds:
        deed()
    assert heard == ["Step", "Reset"]


def test_a_control_that_we_set_ourselves_does_nothing():
    deeds = []
    Forward(deeds.append)(lambda: None)(SimpleNamespace(client=None, target=None))
    assert not deeds
