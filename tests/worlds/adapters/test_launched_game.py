"""Claims about a game that a command starts."""

import sys
import time

import pytest

from worlds.adapters.engine import EngineError
from worlds.adapters.engines.launched_game import LaunchedGame

IN_TIME_S = 30.0
# More than a pipe holds, after a byte that begins no character; the file says that all of it was taken.
NOISY = """
import os, sys
print(12345, flush=True)
os.write(1, b"caf\\xe9\\n" + b"a line of the log\\n" * 20_000)
open(sys.argv[1], "w").close()
sys.stdin.read()
"""


def test_a_log_that_is_no_utf_8_does_not_stop_the_game(tmp_path, capfd):
    done = tmp_path / "done"
    game = LaunchedGame([sys.executable, "-c", NOISY, str(done)], timeout_s=IN_TIME_S)
    try:
        assert game.port == 12345
        until_s = time.monotonic() + IN_TIME_S
        while not done.exists() and time.monotonic() < until_s:
            time.sleep(0.05)
        assert done.exists()
    finally:
        game.close()
    assert "caf\ufffd" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["/no/such/game"], "'/no/such/game' cannot be started"),
        ([sys.executable, "-c", "print('hello')"], "was to print its port within 30 s, got 'hello'"),
    ],
)
def test_a_game_that_does_not_start_is_one_sentence(command, sentence):
    with pytest.raises(EngineError, match=sentence):
        LaunchedGame(command, timeout_s=IN_TIME_S)
