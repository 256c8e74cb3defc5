"""Compiles the engine before the tests, each part in one of pytest's processes and not all of it in every one."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from worlds.kernel_cache import folder_of

# Whoever runs these needs all parts.
_OF_THE_ENGINE = "tests/worlds/voxel/"


def compile_side_by_side(session: pytest.Session) -> None:
    """Give this process compiled kernels: its own part it compiles, the others it waits for and reads.

    The engine takes 120 s of a core to compile. Two processes that begin with tests of it at the same time would both
    compile all of it.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")  # gw0, gw1, ...
    if worker is None or not any(item.nodeid.startswith(_OF_THE_ENGINE) for item in session.items):
        return
    # From both ends: the last one to be left over is short.
    parts = (_pictures, _worlds, _ticks)
    for part in parts if int(worker.removeprefix("gw")) % 2 == 0 else parts[::-1]:
        # An engine that cannot be compiled or played is for the tests to tell of.
        with contextlib.suppress(Exception), _in_turn(part.__name__):
            part()


@contextlib.contextmanager
def _in_turn(part: str) -> Iterator[None]:
    """Keep other processes of the same sources out meanwhile.

    Raises:
        OSError: kernels, or locks, cannot be kept here, so nothing is gained by compiling ahead.
    """
    from worlds.voxel import backend

    with (folder_of(Path(backend.__file__)) / f"tests{part}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go by closing it
        yield


def _pictures() -> None:
    """Compile the renderer that takes long: 37 s."""
    from tests.worlds.voxel.scenes import EYE, draw_scene, empty_world, make_scene
    from worlds.voxel.render_lanes import render_lanes

    draw_scene(render_lanes, make_scene([empty_world()]), [(*EYE, 0.0, 0.0)], px=(8, 8))


def _ticks() -> None:
    """Compile what plays: 50 s."""
    from worlds.voxel.engine_tables import engine_tables
    from worlds.voxel.kernels import compile_ticks

    compile_ticks(engine_tables())


def _worlds() -> None:
    """Compile what makes a world and what draws it plainly: 25 s."""
    from worlds.spec import Episode, WorldSpec
    from worlds.types import Pose
    from worlds.voxel.backend import VoxelBackend

    world = WorldSpec(seed=1, biome="plains", size_blocks=(32, 64, 32))
    backend = VoxelBackend(1, size_blocks=world.size_blocks, image_px=(8, 8), renderer="scalar")
    backend.reset([0], [Episode(world=world, start=Pose(0.5, 60.0, 0.5, 0.0, 0.0))])
