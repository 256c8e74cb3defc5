"""The engine that a name or a path means. Runs in the child process."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from worlds.adapters.engine import Engine

_METHODS = ("reset", "step", "observe", "look_from", "lines_clear", "scan")


def overridden_methods(engine_class: type[Engine]) -> list[str]:
    """Return what an engine can be asked for: the methods that it does not leave alone."""
    return [name for name in _METHODS if getattr(engine_class, name) is not getattr(Engine, name)]


def load_engine_class(name: str) -> type[Engine]:
    """Return the one engine in a module beside this file, by name, or in a file, by a path that ends in .py."""
    if name.endswith(".py"):
        # Not by its stem alone: an engine in gymnasium.py could not import gymnasium.
        spec = importlib.util.spec_from_file_location(f"mcrl_engine_{Path(name).stem}", name)
        if spec is None or spec.loader is None or not Path(name).is_file():
            raise ValueError(f"{name}: no such file; name a Python file with an Engine in it")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(f"worlds.adapters.engines.{name}")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Engine) and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise ValueError(f"{name}: has {len(found)} subclasses of worlds.adapters.engine.Engine, wanted is one")
    return found[0]
