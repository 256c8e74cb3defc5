"""Claims about the engine on CUDA: in numba's simulator, compiled for a GPU that is not there, and on one that is."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from worlds.voxel.cuda import views
from worlds.voxel.render_view import View

MOST_PARAMETER_BYTES = 32_764  # of a kernel, from CUDA 12.1 on


def run_script(root, name: str, **environment: str) -> dict:
    done = subprocess.run(
        [sys.executable, f"tests/worlds/voxel/{name}"],
        capture_output=True,
        text=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)} | environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def simulated(pytestconfig) -> dict:
    return run_script(pytestconfig.rootpath, "cuda_played.py", NUMBA_ENABLE_CUDASIM="1")


@pytest.fixture(scope="module")
def on_gpu(pytestconfig) -> dict:
    if not torch.cuda.is_available():
        pytest.skip("torch finds no CUDA GPU")
    return run_script(pytestconfig.rootpath, "cuda_played.py")


@pytest.mark.slow
def test_cuda_kernels_play_the_same_bytes_as_the_cpu(simulated):
    assert [step["state"] for step in simulated["steps"]] == [{}] * 5
    assert [step["tick"] for step in simulated["steps"]] == [[]] * 5
    assert sum(step["num_arrows"] for step in simulated["steps"]) > 0


@pytest.mark.slow
def test_cuda_begins_tasks_in_a_real_save(pytestconfig):
    cpu, cuda = run_script(pytestconfig.rootpath, "cuda_in_a_save.py", NUMBA_ENABLE_CUDASIM="1")
    assert cpu == cuda
    (stone, gold, air), beside = cpu[0][0][:2]
    assert (stone, 0, 0) == tuple(beside) == (stone, air, air)
    assert len({stone, gold, air}) == 3


@pytest.mark.slow
def test_cuda_pictures_and_masks_are_those_of_the_scalar_renderer(simulated):
    # The CPU's build fuses multiply-adds, the simulator does not: a pixel on an edge may fall to the other side.
    for step in simulated["steps"]:
        assert step["other_instances"] <= 2
        assert step["other_colors"] <= 2
        assert step["widest_depth_gap"] < 1e-3
    assert set(range(2, 8)) <= set(simulated["steps"][0]["instances"])


@pytest.mark.slow
def test_cuda_labels_are_those_of_the_scalar_renderer(simulated):
    assert simulated["steps"][0]["target_area"][0] > 0.01
    for step in simulated["steps"]:
        assert step["other_instances"] > 0 or step["target_gap"] == 0.0


@pytest.mark.slow
def test_cuda_snapshots_restore_into_another_env(simulated):
    assert simulated["restored_picture_is_the_same"]


@pytest.mark.slow
def test_cuda_draws_views_from_anywhere_and_looks_along_lines(simulated):
    assert simulated["num_view_instances"] >= 4
    assert simulated["is_line_clear"] == [True, True, False]


@pytest.mark.slow
def test_a_gpu_plays_what_the_cpu_plays_to_rounding(on_gpu):
    for step in on_gpu["steps"]:
        # NVIDIA's compiler fuses multiply-adds, and its sines are its own: positions differ by rounding, nothing else.
        assert max(step["state"].values(), default=0.0) < 1e-6
        assert set(step["tick"]) <= {"pose_E5", "mob_EM6"}
        assert step["other_instances"] <= 2
        assert step["other_colors"] <= 4
    assert sum(step["num_arrows"] for step in on_gpu["steps"]) > 0
    assert on_gpu["restored_picture_is_the_same"]
    assert on_gpu["is_line_clear"] == [True, True, False]


def test_a_stored_view_is_read_back_field_by_field():
    kinds = [
        "whole" if name in ("cell_x", "cell_y", "cell_z", "see_through", "sky_level") else "real"
        for name in View._fields
    ]
    view = View(*(np.int32(n) if kind == "whole" else np.float32(n) for n, kind in enumerate(kinds)))
    real_R, whole_I = np.zeros(views.NUM_REALS, np.float32), np.zeros(views.NUM_WHOLES, np.int32)
    views.store_view(view, real_R, whole_I)
    assert views.load_view(real_R, whole_I) == view


def test_a_machine_without_a_gpu_is_told_so_in_one_sentence(pytestconfig):
    script = (
        "import numba.cuda, sys\n"
        "from worlds.voxel.cuda.backend import CudaVoxelBackend\n"
        "if numba.cuda.is_available(): sys.exit('skip')\n"
        "try: CudaVoxelBackend(1)\n"
        "except ValueError as error: print(error)\n"
    )
    root = str(pytestconfig.rootpath)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=root, env=os.environ | {"PYTHONPATH": root}
    )
    if "skip" in done.stderr:
        pytest.skip("this machine has a GPU")
    assert done.stdout.startswith("the engine on a GPU: ")
    assert done.stdout.count("\n") == 1


@pytest.mark.slow
def test_every_kernel_compiles_for_a_gpu_with_parameters_that_fit(pytestconfig):
    sizes = run_script(pytestconfig.rootpath, "cuda_compiled.py")
    if "missing" in sizes:
        pytest.skip(sizes["missing"])
    assert len(sizes) == 7
    assert max(sizes.values()) <= MOST_PARAMETER_BYTES
