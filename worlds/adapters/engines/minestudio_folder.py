"""Where MineStudio finds its game and leaves its traces: a folder for one engine alone, gone when it ends.

MineStudio removes folders it takes for its own with rmtree, asks on stdin for leave to download when the game is
missing, and shares a database of processes between all that name the same folder. Here every engine has a fresh folder
in which the game is only linked to, and a missing game is an error before MineStudio could ask.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from worlds.adapters.engine import EngineError

JAR = Path("engine") / "build" / "libs" / "mcprec-6.13.jar"
# For the engine's interpreter: fetches the game without a question.
_DOWNLOAD = "from minestudio.simulator.entry import check_engine; check_engine(True)"
_LENT = ("engine", "runtime")


def game_folder(named: str | None = None) -> Path:
    """Return the folder that holds the game: the one named, $MINESTUDIO_DIR, or ~/.cache/mcrl/minestudio."""
    found = named or os.environ.get("MINESTUDIO_DIR") or "~/.cache/mcrl/minestudio"
    # Not Path.expanduser, which raises RuntimeError for a user that there is not: so it stays a folder without a game.
    return Path(os.path.expanduser(found)).absolute()


def download_command(folder: Path, python: str) -> str:
    """Return the command for a shell that downloads the game into a folder."""
    return f'MINESTUDIO_DIR={shlex.quote(str(folder))} {shlex.quote(python)} -c "{_DOWNLOAD}"'


def missing_programs() -> list[str]:
    """Return what MineStudio starts the game with and this machine lacks."""
    needed = ["bash", "java"]
    needed.append("vglrun" if os.environ.get("MINESTUDIO_GPU_RENDER") == "1" else "xvfb-run")
    return [name for name in needed if shutil.which(name) is None]


class PrivateFolder:
    """A folder in the temporary one, which MINESTUDIO_DIR names from now on; use it before minestudio is imported."""

    def __init__(self, game: Path) -> None:
        """Make it, with links to the game.

        Raises:
            EngineError: the game or what starts it is missing.
        """
        if not (game / JAR).is_file():
            raise EngineError(
                f"the game is not at {game / JAR}; after reading Mojang's EULA, download it with "
                f"`{download_command(game, sys.executable)}`, or see `mcrl doctor minestudio`"
            )
        if missing := missing_programs():
            raise EngineError(
                f"{', '.join(missing)} not found; `mcrl doctor minestudio` has the command that installs it"
            )
        self.path = Path(tempfile.mkdtemp(prefix="minestudio-"))
        for name in _LENT:
            if (game / name).is_dir():
                (self.path / name).symlink_to(game / name)
        os.environ["MINESTUDIO_DIR"] = str(self.path)
        # Else the game's log would go into ./logs of whoever started us.
        os.environ["MALMO_MINECRAFT_OUTPUT_LOGDIR"] = str(self.path)

    def remove(self) -> None:
        """Take it away; the game stays, for links are not followed."""
        shutil.rmtree(self.path, ignore_errors=True)
