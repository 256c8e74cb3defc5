"""The MineRL engine on the client of MineRL 1.0, of which MineStudio carries a copy: runs in MineStudio's interpreter.

MineRL 1.0 itself is on no package index. Its copy gets MineRL's name, and the folder that it asks for in addition.
"""

import functools
import importlib
import os
import sys
import tempfile

from worlds.adapters.engines import minerl

os.environ["MINESTUDIO_DIR"] = tempfile.mkdtemp()  # in the process's own temporary folder; importing it makes one
_COPY = "minestudio.simulator.minerl"
sys.modules["minerl"] = importlib.import_module(_COPY)
for _part in (
    "herobraine", "herobraine.env_spec", "herobraine.hero", "herobraine.hero.handlers", "herobraine.hero.spaces",
    "herobraine.hero.handler", "herobraine.hero.handlers.agent.action", "herobraine.hero.handlers.translation",
    "env._multiagent", "env._singleagent", "env.malmo",
):  # fmt: skip
    sys.modules[f"minerl.{_part}"] = importlib.import_module(f"{_COPY}.{_part}")
_malmo = sys.modules["minerl.env.malmo"]
_malmo.MinecraftInstance = functools.partial(_malmo.MinecraftInstance, os.environ["MINESTUDIO_DIR"])
minerl.is_old_line = lambda: False


class MineRLFork(minerl.MineRL):
    """MineRL 1.0's client, and names of 1.16.5."""
