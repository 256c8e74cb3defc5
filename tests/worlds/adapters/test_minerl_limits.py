"""How long MineRL's game may take: the engine gives up on it before our process gives up on the engine."""

from worlds.adapters.engine_choice import Limits
from worlds.adapters.engines import minerl


def test_the_engine_itself_says_what_took_too_long():
    assert Limits().reset_s - 20 <= minerl._TIMEOUT_S < Limits().reset_s
    assert minerl._LAUNCH_S < Limits().start_s


def test_the_docstring_names_the_default():
    assert f"{minerl._TIMEOUT_S:.0f} by default" in minerl.__doc__
    assert f"waits {Limits().answer_s:.0f} s" in minerl.__doc__
