"""Claims about threads: what torch was set to stays, whatever numba does when it begins."""

import os
import subprocess
import sys

import numba
import pytest

from policies.threads import check_beside_each_other, use_threads

# Torch sets OpenMP's threads when it first computes or is asked for them: asked at the end alone, it would mend what
# numba has done.
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
torch.get_num_threads()
world = WorldSpec(seed=1, biome="plains", size_blocks=(32, 64, 32))
backend = VoxelBackend(1, size_blocks=world.size_blocks, image_px=(8, 8), renderer="scalar")
backend.reset([0], [Episode(world=world, start=Pose(0.5, 60.0, 0.5, 0.0, 0.0))])
"""
BY_A_SNAPSHOT = """
import torch
import numpy as np
from worlds.spec import Look
from worlds.voxel.backend import VoxelBackend, VoxelSnapshot
from worlds.voxel.state import empty_state
torch.set_num_threads(1)
torch.get_num_threads()
size = (32, 64, 32)
backend = VoxelBackend(1, size_blocks=size, image_px=(8, 8), renderer="scalar")
ground_NXZ = np.zeros((1, 32, 32), np.int16)
backend.restore([0], VoxelSnapshot(size, empty_state(1, size), ground_NXZ, ((Look(), 0),)))
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

ON_ONE_CORE = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import torch
from policies.threads import use_threads
use_threads(16)
print(torch.get_num_threads())
"""
CHECK = """
import sys
from policies.threads import check_beside_each_other, use_threads
use_threads(1)
try:
    check_beside_each_other("rollout.ring_groups 4")
except ValueError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize(
    "begin", [BY_USE, BY_THE_ENGINE, BY_A_SNAPSHOT], ids=["use_threads", "the engine", "a snapshot"]
)
def test_a_process_that_was_set_to_one_thread_keeps_to_it(begin):
    """In processes of their own: numba begins once."""
    done = subprocess.run([sys.executable, "-c", begin + ASK], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system ties no process to one core")
def test_there_are_no_more_threads_than_cores_that_may_be_used():
    done = subprocess.run([sys.executable, "-c", ON_ONE_CORE], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_rings_are_refused_where_numba_has_only_threads_of_its_own():
    environment = os.environ | {"NUMBA_THREADING_LAYER": "workqueue"}
    done = subprocess.run(
        [sys.executable, "-c", CHECK], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.startswith("rollout.ring_groups 4: numba finds no OpenMP here")


def test_they_are_taken_with_openmp():
    use_threads(1)
    if numba.threading_layer() == "workqueue":
        pytest.skip("numba finds neither OpenMP nor TBB on this machine")
    check_beside_each_other("rollout.ring_groups 4")
