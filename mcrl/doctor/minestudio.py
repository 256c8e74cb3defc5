"""What MineStudio, and with it Minecraft 1.16.5, needs on this machine, and the command that mends each lack."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from mcrl.doctor.java import examine_java
from mcrl.doctor.machine import Finding
from worlds.adapters.engines.minestudio_folder import JAR, download_command, game_folder

_INSTALL = "mcrl doctor minestudio --install"
_WAIT_S = 120


def examine_minestudio(python: Path | None) -> list[Finding]:
    """Look at this machine as a place to run MineStudio in the interpreter `python`; None: there is no such one yet."""
    return [_package(python), examine_java("8"), _display(), _game(python)]


def _package(python: Path | None) -> Finding:
    if python is None:
        return Finding("minestudio", "bad", "its side environment has not been built", _INSTALL)
    try:
        # Imported for real, for its parts break each other easily; in a folder of its own, for it makes one.
        with tempfile.TemporaryDirectory(prefix="mcrl-doctor-") as folder:
            done = subprocess.run(
                [str(python), "-W", "ignore", "-c", "import minestudio.simulator, importlib.metadata as found\n"
                 "print('minestudio', found.version('minestudio'))"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_WAIT_S,
                env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}, "MINESTUDIO_DIR": folder},
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("minestudio", "bad", f"{python} cannot be run ({error})", _INSTALL)
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        return Finding("minestudio", "bad", f"{python}: {said[-1] if said else 'import failed'}", _INSTALL)
    version = re.search(r"^minestudio (\S+)$", done.stdout, re.MULTILINE)
    if version is None:
        return Finding("minestudio", "bad", f"{python} is no Python", _INSTALL)
    return Finding("minestudio", "ok", f"{version.group(1)} in {python}")


def _display() -> Finding:
    if os.environ.get("MINESTUDIO_GPU_RENDER") == "1":
        if shutil.which("vglrun"):
            return Finding("display", "ok", "VirtualGL, on the GPU")
        return Finding(
            "display", "bad", "no vglrun, which MINESTUDIO_GPU_RENDER=1 asks for", "see https://virtualgl.org"
        )
    if shutil.which("xvfb-run"):
        return Finding("display", "ok", "Xvfb, on the CPU; MINESTUDIO_GPU_RENDER=1 takes VirtualGL and a GPU")
    return Finding("display", "bad", "no xvfb-run", "apt-get install -y xvfb libgl1-mesa-dri")


def _game(python: Path | None) -> Finding:
    folder = game_folder()
    if (folder / JAR).is_file():
        return Finding("game", "ok", f"{folder / JAR}; Mojang's EULA applies")
    return Finding(
        "game",
        "bad",
        f"no {JAR} in {folder}; it is Minecraft 1.16.5, under Mojang's EULA: https://www.minecraft.net/eula",
        f"{_INSTALL}, then this doctor once more" if python is None else download_command(folder, str(python)),
    )
