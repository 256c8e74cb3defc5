"""The engines that come along, what each needs, and where its tasks come from."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from worlds.adapters.engine_choice import EngineChoice
from worlds.cache_home import cache_home

BUILT_IN = "voxel"


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineEntry:
    """One engine."""

    about: str
    """What it is, in one line."""
    module: str = ""
    """In worlds.adapters.engines; "" is the entry's own name."""
    source: str = ""
    """WorldSpec.source of the worlds that tasks are made in; "" where no tasks can be made."""
    lowest_y: int = 0
    """Level of the engine that becomes y = 0 of a scanned box where the surface lies at the sea's level."""
    skills: tuple[str, ...] = ("approach", "break")
    """That its tasks may have."""
    task_maker: str = ""
    """Module of task_synthesis whose `make_tasks` makes them, for engines without blocks; "" scans boxes."""
    packages: tuple[tuple[str, str], ...] = ()
    """(name that pip knows, how to install it) of what the engine's interpreter, there called PYTHON, must have.

    Of MineStudio neither packages nor programs: mcrl.doctor.minestudio looks closer, at the game too.
    """
    programs: tuple[tuple[str, str], ...] = ()
    """(program, package that apt knows) of what must be on the PATH or in /usr/games."""
    java: str = ""
    """Release of Java that it needs, "" for none."""
    needs_display: bool = False
    """Whether it needs an X display or Xvfb."""
    notes: tuple[str, ...] = ()
    """Licence, downloads, and what was not tested."""

    @property
    def has_blocks(self) -> bool:
        """Return whether its worlds are scanned block by block, so that they can be drawn."""
        return bool(self.source) and not self.task_maker


_DISPLAY = (("Xvfb", "xvfb"),)
_UNTESTED = (
    "tested through the real package against a server that speaks its protocol; Mojang's engine itself was not run"
)

ENGINES: dict[str, EngineEntry] = {
    "luanti": EngineEntry(
        about="Luanti (Minetest) with minetest_game: a voxel world by seed, held in lockstep",
        source="luanti:v7:minetest_game",
        lowest_y=-28,
        programs=(
            ("minetest", "minetest minetest-server minetest-data libgl1-mesa-dri"),
            ("cc", "gcc libc6-dev"),
            *_DISPLAY,
        ),
        notes=("code LGPL-2.1+, textures mostly CC-BY-SA-3.0",),
    ),
    "minestudio": EngineEntry(
        about="Minecraft 1.16.5 through MineStudio's MinecraftSim",
        source="minecraft:1.16.5",
        lowest_y=36,
        skills=("approach", "break", "interact", "hunt", "archery"),
        notes=(
            "MineStudio: MIT",
            "the game itself is Mojang's and is downloaded by the command that this doctor prints; its licence is "
            "yours to accept",
            _UNTESTED,
        ),
    ),
    "minerl": EngineEntry(
        about="Minecraft through MineRL, 0.4.4 (1.11.2) or the 1.0 line (1.16.5)",
        source="minecraft:minerl",
        lowest_y=36,
        packages=(("minerl", "mcrl doctor minerl --install"),),
        java="8",
        needs_display=True,
        programs=_DISPLAY,
        notes=(
            "MineRL: the sdist of 0.4.4 says MIT and carries a CC BY-NC-SA 4.0 licence text",
            "the game itself is Mojang's and is downloaded by the package at first use; its licence is yours to accept",
            _UNTESTED,
        ),
    ),
    "vizdoom": EngineEntry(
        about="Doom maps through ViZDoom: lockstep, exact masks, for zero-shot evaluation",
        source="vizdoom:rooms",
        skills=("approach",),
        task_maker="task_synthesis.foreign.thing_tasks",
        packages=(("vizdoom", "PYTHON -m pip install 'vizdoom>=1.3'"),),
        notes=("ViZDoom: MIT; Freedoom: BSD",),
    ),
    "miniworld": EngineEntry(
        about="MiniWorld rooms: lockstep, masks by an id render, for zero-shot evaluation",
        source="miniworld:rooms",
        skills=("approach",),
        task_maker="task_synthesis.foreign.thing_tasks",
        packages=(("miniworld", "PYTHON -m pip install 'miniworld>=2.1'"),),
        notes=(
            "MiniWorld: Apache-2.0",
            "it draws through EGL, without a display: libegl1, libgl1-mesa-dri and libglu1-mesa of Debian",
        ),
    ),
    "video": EngineEntry(
        about="an example to copy: frames of a video file or a webcam, actions written to a file",
        packages=(("opencv-python", "PYTHON -m pip install opencv-python"),),
    ),
    "voxel-process": EngineEntry(
        about="our own engine in a process of its own, its worlds seen in boxes: what the others are held to",
        module="voxel",
        source="voxel:plains:256:full",
        skills=("approach", "break", "interact", "hunt", "archery", "pick_up"),
    ),
}


def entry_of(name: str) -> EngineEntry:
    """Return an engine of the catalogue; ValueError names the nearest for an unknown one."""
    if name not in ENGINES:
        close = get_close_matches(name, ENGINES, n=1, cutoff=0.7)
        hint = f"did you mean {close[0]}?" if close else f"there are {BUILT_IN}, {', '.join(ENGINES)}"
        raise ValueError(f"{name}: no such engine; {hint}")
    return ENGINES[name]


def is_path(name: str) -> bool:
    """Tell whether a backend is named by the path of a user's own engine."""
    return "/" in name or name.endswith(".py")


def in_full(name: str) -> str:
    """Return the path of an engine or of its interpreter so that it is found from every folder.

    Not Path.expanduser, which raises RuntimeError for a user that there is not: so it stays a file that is none. Not
    resolved: what a file is to us, Python or a program, is in the name that was given, and a virtual environment's
    python is a link, which knows its packages by where the link is.
    """
    return str(Path(os.path.expanduser(name)).absolute())


def choice_of(name: str, python: str | None = None, options: Sequence[str] = ()) -> EngineChoice:
    """Return how to start the engine `name` of the catalogue, or one by its path; see EnvConfig for the arguments.

    Raises:
        ValueError: no such engine, file or interpreter, or options that cannot be read.
    """
    if is_path(name):
        path = Path(in_full(name))
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no such file"
            raise ValueError(f"backend {name}: {what}; name a .py file with an Engine, or a program")
        if path.suffix != ".py" and not os.access(path, os.X_OK):
            raise ValueError(f"backend {name}: is no program that can be run; `chmod +x` it, or name a .py file")
        engine = str(path)
    else:
        engine = entry_of(name).module or name
    interpreter = None if python is None else Path(in_full(python))
    if interpreter is not None and not interpreter.is_file():
        raise ValueError(f"--engine-python {python}: no such program; name the Python interpreter of the engine")
    if interpreter is None and not is_path(name):
        interpreter = side_python(name)
    return EngineChoice(engine=engine, python=interpreter, options=options_of(options, where="--engine-options"))


def side_root() -> Path:
    """Return the folder of the side environments of engines, which `mcrl doctor ENGINE --install` builds."""
    return cache_home("engines")


def side_python(name: str) -> Path | None:
    """Return the interpreter of the side environment that was built here last for an engine; None without one."""
    stamps = sorted(side_root().glob(f"{name}-{platform.machine()}-*/complete"), key=lambda path: path.stat().st_mtime)
    return stamps[-1].parent / "bin" / "python" if stamps else None


def options_of(texts: Sequence[str], *, where: str) -> dict[str, Any]:
    """Return NAME=VALUE options as a dict; a VALUE that is JSON is read as such, all else is text."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"{where} {text}: write it as NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):  # also of integers too long and lists too deep to be read
            options[name] = value
    return options
