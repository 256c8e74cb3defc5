"""Claims about the tick that is compiled beside a command: it is the one that is played, and nobody is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mcrl.provenance import num_usable_cores
from tests.mcrl.watched_process import is_running, wait_until
from worlds.spec import Episode, WorldSpec
from worlds.types import ActionBatch, Pose
from worlds.voxel import kernels
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables

_AHEAD = "from mcrl.commands.compile_ahead import compile_tick_ahead; compile_tick_ahead()"
_KEEP_ONE = (
    "from pathlib import Path; import worlds; from worlds.kernel_cache import folder_of; "
    "(folder_of(Path(worlds.__file__)) / 'one.nbi').touch()"
)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _started(home: Path, *, before: str = "pass") -> subprocess.Popen:
    """Start a program that keeps kernels in `home`, compiles ahead, says so and waits for a line."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    env["XDG_CACHE_HOME"] = str(home)
    program = f"{before}; {_AHEAD}; print('begun', flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    return process


def test_what_is_compiled_ahead_is_what_a_step_takes():
    backend = VoxelBackend(1, size_blocks=(32, 64, 32), image_px=(8, 8))
    world = WorldSpec(seed=1, biome="plains", size_blocks=(32, 64, 32))
    backend.reset([0], [Episode(world=world, start=Pose(0.5, 60.0, 0.5, 0.0, 0.0))])
    backend.step(ActionBatch.noop(1))
    played = list(kernels._tick_envs.signatures)
    kernels.compile_ticks(engine_tables())
    assert played == list(kernels._tick_envs.signatures)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the helper through /proc")
@pytest.mark.skipif(num_usable_cores() < 2, reason="on one core nothing is compiled ahead")
@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_the_helper_ends_with_its_command(tmp_path, how):
    process = _started(tmp_path)
    (helper,) = _children(process.pid)
    assert is_running(helper)
    if how == "ends":
        process.communicate(b"\n")
        assert process.returncode == 0
    else:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    wait_until(lambda: not is_running(helper), "the helper to end")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for a helper through /proc")
def test_where_kernels_are_kept_nothing_is_started(tmp_path):
    process = _started(tmp_path, before=_KEEP_ONE)
    assert _children(process.pid) == []
    process.communicate(b"\n")
    assert process.returncode == 0


def test_the_helper_ends_when_the_tick_is_there_and_who_plays_reads_it():
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    program = [sys.executable, "-m", "worlds.voxel.compile_tick"]
    with subprocess.Popen(program, env=env, stdin=subprocess.PIPE) as process:
        assert process.wait(300) == 0  # its input is still open
    again = (
        "from worlds.voxel import kernels; from worlds.voxel.engine_tables import engine_tables; "
        "kernels.compile_ticks(engine_tables()); print(sum(kernels._tick_envs.stats.cache_hits.values()))"
    )
    assert subprocess.run([sys.executable, "-c", again], env=env, capture_output=True, text=True).stdout == "1\n"
