"""Claims about threads: what torch was set to stays, whatever numba does when it begins."""

import subprocess
import sys

import pytest

BY_USE = """
import torch
from policies.threads import use_threads
use_threads(1)
"""
BY_THE_ENGINE = """
import torch
from worlds.spec import Episode, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
torch.set_num_threads(1)
world = WorldSpec(seed=1, biome="plains", size_blocks=(32, 64, 32))
backend = VoxelBackend(1, size_blocks=world.size_blocks, image_px=(8, 8), renderer="scalar")
backend.reset([0], [Episode(world=world, start=Pose(0.5, 60.0, 0.5, 0.0, 0.0))])
"""
ASK = """
import numba, numpy as np
@numba.njit(parallel=True)
def double(x_N):
    for n in numba.prange(len(x_N)):
        x_N[n] *= 2
double(np.zeros(4))
print(torch.get_num_threads())
"""


@pytest.mark.parametrize("begin", [BY_USE, BY_THE_ENGINE], ids=["use_threads", "the engine"])
def test_a_process_that_was_set_to_one_thread_keeps_to_it(begin):
    """In processes of their own: numba begins once."""
    done = subprocess.run([sys.executable, "-c", begin + ASK], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
