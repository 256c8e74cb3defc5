"""Claims about options of engines: what is misspelt or of another type is said in one sentence before a game starts."""

import pytest

from worlds.adapters.catalogue import choice_of
from worlds.adapters.engine import EngineError
from worlds.adapters.engine_choice import EngineFaultError
from worlds.adapters.engines.engine_options import (
    count,
    integer,
    read_options,
    seconds,
    text,
    text_or_integer,
    truth,
    words,
)
from worlds.adapters.engines.luanti import Luanti
from worlds.adapters.engines.minerl import MineRL
from worlds.adapters.engines.minestudio import MineStudio
from worlds.adapters.process import EngineProcess

PX = (16, 16)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("prot", 9, "no such option 'prot'; did you mean port[?]"),
        ("colour", "red", "no such option 'colour'; it has port, launch$"),
        ("port", "nine", "option port is 'nine', wanted is an integer of at least 1"),
    ],
)
def test_what_is_wrong_with_an_option_is_one_sentence(name, value, sentence):
    with pytest.raises(EngineError, match=sentence):
        read_options({name: value}, {"port": count, "launch": words})


def test_options_are_read_and_those_that_are_not_given_stay_away():
    known = {"port": count, "wait_s": seconds, "file": text, "is_on": truth}
    assert read_options({"port": 9, "wait_s": 5}, known) == {"port": 9, "wait_s": 5.0}


def test_depth_may_be_asked_of_any_engine():
    assert read_options({"with_depth": True}, {}) == {"with_depth": True}


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (truth, 1), (truth, "true"), (integer, True), (integer, 1.5), (integer, "1"), (count, 0), (seconds, 0),
        (seconds, float("nan")), (seconds, "5m"), (seconds, True), (text, 3), (text, ""), (text_or_integer, None),
        (words, 3), (words, []), (words, ""), (words, "'java"), (words, ["java", 3]),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_none(read, value):
    with pytest.raises(ValueError, match="^(a|an|true) "):
        read(value)


def test_a_command_is_one_text_or_its_words():
    assert words("java -jar 'my game.jar'") == ["java", "-jar", "my game.jar"]
    assert words(["java", "-jar", "my game.jar"]) == ["java", "-jar", "my game.jar"]


@pytest.mark.parametrize("engine", [Luanti, MineRL, MineStudio])
def test_an_engine_refuses_what_it_does_not_know_before_it_starts_anything(engine):
    with pytest.raises(EngineError, match="no such option 'colour'"):
        engine(PX, {"colour": "red"})


@pytest.mark.parametrize("engine", ["video", "voxel-process"])
def test_what_an_engine_refuses_is_said_with_its_name(engine):
    process = EngineProcess(choice_of(engine, options=["has_mask=false"]), PX)
    try:
        with pytest.raises(EngineFaultError, match="^(video|voxel): no such option 'has_mask'; "):
            process.hello()
    finally:
        process.kill()
