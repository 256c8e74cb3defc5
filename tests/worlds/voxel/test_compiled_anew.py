"""Claims about compiled code: what a picture shows does not depend on when its kernels were compiled.

Code fresh from the compiler and the same code from the cache are two: functions that several kernels share are inlined
here and called there. They draw the same only if every operation is rounded as IEEE 754 says, which fastmath lets go.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policies import color_match
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes

DRAW = """
import hashlib, json, numpy as np
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from worlds.types import EYE_HEIGHT_BLOCKS
from worlds.voxel.backend import VoxelBackend

tasks = Synthesizer(SynthesisConfig(detail="full"), split="train", seed=5).run(8)
size_blocks = tasks[0].world.size_blocks
for renderer in ("lanes", "scalar"):
    backend = VoxelBackend(8, size_blocks=size_blocks, image_px=(96, 96), with_depth=True, renderer=renderer)
    backend.reset(range(8), [task.episode() for task in tasks])
    views = backend.render_views(range(8), np.array([task.goal_view for task in tasks]))
    for name in ("image_VHWC", "instance_VHW", "depth_VHW"):
        print(renderer, name, hashlib.sha256(getattr(views, name).tobytes()).hexdigest())
print([task.task_id for task in tasks])
"""


@pytest.mark.parametrize("kernel", [render_lanes, render_scalar, color_match.match_colors])
def test_no_kernel_that_makes_pictures_may_round_as_it_likes(kernel):
    assert not kernel.targetoptions.get("fastmath")


@pytest.mark.slow
def test_the_run_that_compiles_draws_what_later_runs_draw(tmp_path):
    first, second = drawn(tmp_path), drawn(tmp_path)
    assert len(first.splitlines()) == 7
    assert first == second


def drawn(cache: Path) -> str:
    """Return hashes of what a process draws whose kernels are kept in `cache`: with depth, to the last bit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    return subprocess.run(
        [sys.executable, "-c", DRAW],
        env={**kept, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
