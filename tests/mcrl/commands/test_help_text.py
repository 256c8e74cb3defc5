"""What the help of a command says of its options, and which ones it leaves out."""

import re

import pytest

from mcrl.cli import main

_TRAINING = ("train", "pretrain")


@pytest.fixture
def help_of(capsys, monkeypatch):
    """The help of a command, each text on one line."""
    monkeypatch.setenv("COLUMNS", "1000")

    def read(*command: str) -> str:
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        return capsys.readouterr().out

    return read


def test_play_says_how_many_mobs_there_may_be_and_what_a_biome_is_in_a_save(help_of):
    said = help_of("play")
    assert "start of the free world, 0 to 16." in said
    assert "with --save it decides which mobs there are around the start, and nothing else." in said


def test_pretrain_lists_no_option_of_ppo(help_of):
    listed = {name: set(re.findall(r"(?:  |\u2502 )(--[a-z][\w.-]*)", help_of(name, "smoke"))) for name in _TRAINING}
    sections = ("--ppo.", "--rollout.", "--learner.", "--tasks.curriculum.")
    of_ppo = {option for option in listed["train"] if option.startswith(sections)}
    assert len(of_ppo) > 50
    assert listed["train"] - listed["pretrain"] == of_ppo | {"--val-every", "--checkpoint-every"}
