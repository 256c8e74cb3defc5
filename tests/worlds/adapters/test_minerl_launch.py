"""What MineRL 0.4.4 is made to start: the real package, up to the game, which is not there."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.worlds.adapters.minerl_game import minerl_python

LAUNCH = """
import sys, types
package = types.ModuleType("worlds")
package.__path__ = [sys.argv[1]]
sys.modules["worlds"] = package
from minerl.env.malmo import MinecraftInstance
from worlds.adapters.engine import EngineError
from worlds.adapters.engines.minerl_env import make_env, make_spec
def launch(self, port, headless, minecraft_dir, replaceable=True):
    print(open(minecraft_dir + "/run/options.txt").read())
    raise EOFError("there is no game here")
MinecraftInstance._launch_minecraft = launch
try:
    make_env(make_spec((64, 64), is_old=True), None, is_old=True, timeout_s=1.0)
except EngineError as error:
    print(error)
"""


@pytest.mark.slow
def test_the_game_that_minerl_starts_draws_the_field_of_view_of_tasks(tmp_path):
    worlds = Path(__file__).resolve().parents[3] / "worlds"
    done = subprocess.run(
        [minerl_python(), "-c", LAUNCH, str(worlds)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert "there is no game here" in done.stdout, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("fov:")] == ["fov:0.0"]
    assert "renderDistance:4" in lines
