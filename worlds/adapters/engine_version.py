"""Which version of an engine is installed, as far as its files tell without its being started."""

import sys
from importlib.metadata import distributions
from pathlib import Path

from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.engines.luanti_files import find_minetest
from worlds.spec import GENERATOR_VERSION


def engine_version(choice: EngineChoice) -> list[str]:
    """Return marks that another version would not have; none where no file tells, as of an engine of one's own."""
    if "/" in choice.engine:
        return []
    if choice.engine == "voxel":
        return [f"generator {GENERATOR_VERSION}"]
    marks = {f"{found.name} {found.version}" for found in distributions(name=choice.engine, path=_packages(choice))}
    if choice.engine == "luanti":
        program = find_minetest()
        if program is not None:
            stat = Path(program).stat()
            marks.add(f"minetest {stat.st_size} {stat.st_mtime_ns}")
    return sorted(marks)


def _packages(choice: EngineChoice) -> list[str]:
    """Return the folders in which the engine's interpreter has its packages, as a virtual environment lays them out."""
    if choice.python is None:
        return sys.path
    return [str(folder) for folder in choice.python.parent.parent.glob("lib*/python3*/*-packages")]
