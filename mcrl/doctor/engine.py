"""What an engine of the catalogue needs on this machine, and the command that mends each lack."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mcrl.doctor.java import examine_java
from mcrl.doctor.machine import Finding
from mcrl.doctor.minestudio import examine_minestudio
from worlds.adapters.catalogue import choice_of, entry_of, is_path
from worlds.adapters.engine_choice import EngineFaultError, Limits
from worlds.adapters.process import EngineProcess

_GAMES = "/usr/games"  # where Debian puts programs such as minetest, which is not on every PATH
_WAIT_S = 60
_TRY_PX = (64, 64)
_OLDEST_PYTHON = (3, 8)
# Of an engine; what else it cannot is done without, or refused where it is wanted.
_NEEDED = ("reset", "step", "observe")
_ASK_PYTHON = (
    "import sys\nprint(*sys.version_info[:2])\nimport importlib.metadata as found\nprint(found.version(sys.argv[1]))"
)


def examine_engine(name: str, python: str | None = None, *, with_start: bool = False) -> list[Finding]:
    """Look at this machine as a place to run an engine, in the interpreter `python` (None: as `--backend` would).

    `with_start` starts it too, and ends it; one of the user's own, by its path, always. ValueError: no such engine.
    """
    if is_path(name):
        return [_start(name, python)]
    entry = entry_of(name)
    interpreter = choice_of(name, python).python
    findings = examine_minestudio(interpreter) if name == "minestudio" else []
    findings += [_package(package, remedy, interpreter) for package, remedy in entry.packages]
    findings += [_program(program, package) for program, package in entry.programs]
    if entry.java:
        findings.append(examine_java(entry.java))
    if entry.needs_display:
        findings.append(_display())
    if with_start:
        findings.append(_start(name, python))
    findings += [Finding("note", "note", note) for note in entry.notes]
    return findings or [Finding("needs", "ok", "nothing that is not here")]


def _package(package: str, remedy: str, interpreter: Path | None) -> Finding:
    """Ask the engine's interpreter itself: what it has is not what ours has."""
    python = sys.executable if interpreter is None else str(interpreter)
    remedy = remedy.replace("PYTHON", python)
    environment = dict(os.environ)
    if interpreter is not None:
        environment = {key: value for key, value in environment.items() if not key.startswith("PYTHON")}
    try:
        asked = subprocess.run(
            [python, "-c", _ASK_PYTHON, package], capture_output=True, text=True, timeout=_WAIT_S, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(package, "bad", f"{python} cannot be run ({error})", remedy)
    version, _, found = asked.stdout.partition("\n")
    if not re.fullmatch(r"\d+ \d+", version):
        return Finding(package, "bad", f"{python} is no Python", "name the engine's interpreter with --engine-python")
    if tuple(int(part) for part in version.split()) < _OLDEST_PYTHON:
        return Finding(package, "bad", f"{python} is Python {version.replace(' ', '.')}, 3.8 is the oldest", remedy)
    if asked.returncode:
        return Finding(package, "bad", f"not installed in {python}", remedy)
    return Finding(package, "ok", f"{found.strip()} in {python}")


def _program(program: str, package: str) -> Finding:
    path = shutil.which(program) or shutil.which(program, path=_GAMES)
    if path is None:
        return Finding(program, "bad", "not found", f"apt-get install -y --no-install-recommends {package}")
    return Finding(program, "ok", path)


def _display() -> Finding:
    if os.environ.get("DISPLAY"):
        return Finding("display", "ok", os.environ["DISPLAY"])
    if shutil.which("Xvfb"):
        return Finding("display", "ok", "none, Xvfb takes its place: start with xvfb-run where the engine does not")
    return Finding("display", "bad", "neither a display nor Xvfb", "apt-get install -y --no-install-recommends xvfb")


def _start(name: str, python: str | None) -> Finding:
    try:
        process = EngineProcess(choice_of(name, python), _TRY_PX, Limits(start_s=300.0))
    except EngineFaultError as fault:
        return Finding("start", "bad", str(fault))
    try:
        process.hello()
    except EngineFaultError as fault:
        return Finding("start", "bad", str(fault))
    finally:
        process.close()
    can = f"it can {', '.join(sorted(process.methods)) or 'nothing'}"
    if lacking := [f"{name}()" for name in _NEEDED if name not in process.methods]:
        remedy = f"write {', '.join(lacking)}, see Engine in worlds/adapters/engine.py"
        return Finding("start", "bad", f"{can}, which plays no episode", remedy)
    return Finding("start", "ok", can)
