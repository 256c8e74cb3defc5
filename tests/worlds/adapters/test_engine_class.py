"""Claims about how the file of a user's engine is loaded."""

import colorsys
import sys

import pytest

from worlds.adapters.engine_class import load_engine_class, overridden_methods

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
