"""MineRL's interpreter, and games of ours that it can play in."""

import sys
from pathlib import Path

import pytest

from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import side_python
from worlds.adapters.engine_choice import EngineChoice, Limits

SIDE = 64
SIZE = (SIDE, 64, SIDE)


def minerl_python() -> Path:
    """Return the interpreter that has the real MineRL; skip the test where it was not built."""
    python = side_python("minerl")
    if python is None:
        pytest.skip("MineRL 0.4.4 is not installed beside; build it with `mcrl doctor minerl --install`")
    return python


def launch_words(*options: str) -> list[str]:
    """Return the command that starts a game in a process of its own."""
    return [sys.executable, "-m", "tests.worlds.malmo", "--size", str(SIDE), *options]


def minerl_backend(num_envs: int = 1, *, image_px: int = 64, timeout_s: float = 30.0, **options) -> ProcessBackend:
    """Return a backend of real MineRLs; options are those of the engine: `port` or `launch`."""
    return ProcessBackend(
        num_envs,
        EngineChoice(engine="minerl", python=minerl_python(), options={"timeout_s": timeout_s, **options}),
        size_blocks=SIZE,
        image_px=(image_px, image_px),
        limits=Limits(start_s=120.0, reset_s=120.0, answer_s=60.0),
    )


def fork_backend(*, port: int) -> ProcessBackend:
    """Return a backend of MineRL 1.0's client as MineStudio carries it; skip the test where that was not built."""
    python = side_python("minestudio")
    if python is None:
        pytest.skip("MineStudio is not installed beside; build it with `mcrl doctor minestudio --install`")
    return ProcessBackend(
        1,
        EngineChoice(
            engine=str(Path(__file__).with_name("minerl_fork_engine.py")),
            python=python,
            options={"timeout_s": 30.0, "port": port},
        ),
        size_blocks=SIZE,
        image_px=(64, 64),
    )
