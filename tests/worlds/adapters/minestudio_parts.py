"""What the tests of MineStudio share: its interpreter, a game that is our own engine, and tasks for both."""

import contextlib
import os
from functools import cache
from pathlib import Path

import pytest

from task_synthesis.look_mix import LookMix
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from tests.worlds.malmo.launched import install
from worlds.adapters.catalogue import side_python
from worlds.adapters.engine_choice import EngineChoice, Limits

SIDE_BLOCKS = 32
IMAGE_PX = 64
# The machine of a test may be busy; a game that has failed is found out by other means than these.
LIMITS = Limits(start_s=300.0, reset_s=300.0, answer_s=300.0, pulse_s=60.0)


def minestudio_python() -> Path:
    """Return the interpreter that has the real package; the test is skipped where there is none."""
    python = side_python("minestudio")
    if python is None or not python.is_file():
        pytest.skip("minestudio 1.1.6 is not installed; `mcrl doctor minestudio --install` builds its environment")
    return python


def launch_our_game(folder: Path, monkeypatch: pytest.MonkeyPatch, *, lowest_y: int = 0) -> Path:
    """Let MineStudio find our engine where it looks for Minecraft; return the folder of the game."""
    programs = install(folder, size_blocks=SIDE_BLOCKS, origin_blocks=(0, lowest_y, 0))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return folder


def choice(game: Path, **options: object) -> EngineChoice:
    """Return the engine, drawing as many pixels as it is asked for."""
    return EngineChoice(
        engine="minestudio",
        python=minestudio_python(),
        options={"folder": str(game), "render_scale": 1, **options},
    )


def processes_with(folder: Path) -> dict[int, str]:
    """Return the command lines, by id and oldest first, of live processes that have heard of a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(folder).encode() in (path / "environ").read_bytes() and int(path.name) != os.getpid():
                command = (path / "cmdline").read_bytes().decode(errors="replace")
                started_ticks = int((path / "stat").read_text().rpartition(")")[2].split()[19])
                found.append((started_ticks, int(path.name), command))
    return {pid: command for _, pid, command in sorted(found)}


@cache
def plain_tasks(skill: str, num_tasks: int = 2) -> list[TaskSpec]:
    """Return near tasks in worlds that the game makes of the same seeds; drawn as the game draws them."""
    config = SynthesisConfig(
        skills={skill: 1.0}, bands={"near": 1.0}, biomes=("plains",), detail="full", side_blocks=SIDE_BLOCKS,
        looks=LookMix(), num_same_kind=(0, 0), num_other_kind=(0, 1), tasks_per_world=2,
    )  # fmt: skip
    return Synthesizer(config, split="train", seed=5, num_parallel=4, num_threads=1).run(num_tasks)
