"""What the help of a command says of its options, and which ones it leaves out."""

import pytest

from mcrl.cli import main


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
