"""Claims about how the file of a user's engine is loaded."""

import colorsys
import sys
from pathlib import Path

import pytest

from worlds.adapters.engine_choice import EngineChoice, EngineFaultError, Limits
from worlds.adapters.engine_class import load_engine_class, overridden_methods
from worlds.adapters.process import EngineProcess

ENGINE = """
import colorsys
from worlds.adapters.engine import Engine

class Mine(Engine):
    white = colorsys.rgb_to_hsv(1.0, 1.0, 1.0)

    def observe(self):
        pass
"""


def test_a_file_may_have_the_name_of_a_module_that_it_imports(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys")
    path = tmp_path / "colorsys.py"
    path.write_text(ENGINE)
    engine_class = load_engine_class(str(path))
    assert engine_class.white == colorsys.rgb_to_hsv(1.0, 1.0, 1.0)
    assert overridden_methods(engine_class) == ["observe"]


def test_a_file_without_an_engine_is_one_sentence(tmp_path):
    path = tmp_path / "robot.py"
    path.write_text("")
    with pytest.raises(ValueError, match=r"robot.py: has 0 subclasses of worlds.adapters.engine.Engine, wanted is one"):
        load_engine_class(str(path))


@pytest.mark.parametrize("is_given", [True, False])
def test_an_interpreter_of_somebody_elses_does_not_look_among_our_packages(tmp_path, monkeypatch, is_given):
    monkeypatch.setenv("PYTHONPATH", "/of/ours")
    path = tmp_path / "robot.py"
    path.write_text(
        ENGINE
        + "    def __init__(self, *given):\n        raise ValueError(__import__('os').environ.get('PYTHONPATH'))\n"
    )
    choice = EngineChoice(engine=str(path), python=Path(sys.executable) if is_given else None)
    process = EngineProcess(choice, (16, 16), Limits(start_s=60, close_s=5))
    try:
        with pytest.raises(EngineFaultError, match="None" if is_given else "/of/ours"):
            process.hello()
    finally:
        process.kill()
