"""Engines with things, for tests: which interpreter has them, and an episode in their rooms."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.engines.floor_plan import Room, floor_plan
from worlds.adapters.thing_worlds import SIZE_BLOCKS, THING_WORLDS
from worlds.spec import Episode, Placement
from worlds.types import Pose

ENGINES = ("vizdoom", "miniworld")
NUM_THINGS = 3


@cache
def python_with(engine: str) -> Path | None:
    """Return an interpreter that can import the engine: MCRL_TEST_PYTHON_VIZDOOM, say, or ours."""
    python = os.environ.get(f"MCRL_TEST_PYTHON_{engine.upper()}", sys.executable)
    script = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({engine!r}) is None)"
    return Path(python) if subprocess.run([python, "-c", script]).returncode == 0 else None


def choice_or_skip(engine: str) -> EngineChoice:
    python = python_with(engine)
    if python is None:
        pytest.skip(f"{engine} is not installed; install it with `pip install {engine}`, .ci/run does")
    return EngineChoice(engine=engine, python=python)


def make_backend(engine: str, num_envs: int, *, image_px: int = 64) -> ProcessBackend:
    return ProcessBackend(num_envs, choice_or_skip(engine), size_blocks=SIZE_BLOCKS, image_px=(image_px, image_px))


def largest_room(seed: int) -> Room:
    return max(floor_plan(seed).rooms, key=lambda room: (room.x1 - room.x0) * (room.z1 - room.z0))


def room_episode(engine: str, seed: int, *, kinds: tuple[str, ...] | None = None) -> Episode:
    """An episode in the largest room: the agent at its north wall looks south at a row of things, the target first."""
    worlds = next(each for each in THING_WORLDS[engine] if each.source.endswith(":rooms"))
    room = largest_room(seed)
    middle_x = (room.x0 + room.x1) // 2
    names = kinds if kinds is not None else worlds.kinds[:NUM_THINGS]
    off_x, off_y, off_z = worlds.origin_blocks
    placements = tuple(
        Placement(kind=name, position=(middle_x - 2 + 2 * index - off_x, -off_y, room.z0 + 4 - off_z))
        for index, name in enumerate(names)
    )
    start = Pose(middle_x + 0.5 - off_x, float(-off_y), room.z0 + 0.5 - off_z, 0.0, 11.25)
    return Episode(
        world=worlds.spec(seed),
        placements=placements,
        start=start,
        target_index=0 if placements else -1,
        seed=seed,
    )
