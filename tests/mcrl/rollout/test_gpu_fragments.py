"""Claims about views that stay where the engine drew them: what is learned from them is the same.

Tensors on the CPU stand for those on a GPU where torch finds none.
"""

import dataclasses
import json
import os
import subprocess
import sys

import numba.cuda
import numpy as np
import pytest
import torch

from mcrl.assembly import PRODUCT, build_worker, make_tasks
from mcrl.engine_device import is_engine_on_gpu, word_of_engine
from mcrl.learning.batch import collate
from mcrl.learning.learner import Learner
from mcrl.recipes import RECIPES
from policies.device import CPU
from task_synthesis.playing.task_env import TaskEnv
from worlds.types import TickBatch
from worlds.voxel.backend import VoxelBackend

without_numba_cuda = pytest.mark.skipif(numba.cuda.is_available(), reason="numba can use a GPU here")
NUM_ENVS, SIDE, IMAGE_PX = 8, 32, 32
SMOKE = RECIPES["smoke"]()
CONFIG = dataclasses.replace(
    SMOKE,
    ppo=dataclasses.replace(
        SMOKE.ppo, fragments_per_batch=NUM_ENVS, kl_to_reference=None, privileged_critic=True, value_warmup_iterations=0
    ),
    rollout=dataclasses.replace(SMOKE.rollout, envs_per_worker=NUM_ENVS),
)


class TensorViews(VoxelBackend):
    """The CPU's engine, whose pictures are tensors as those of a GPU's are."""

    def step(self, actions, *, num_ticks=1) -> TickBatch:
        return with_tensors(super().step(actions, num_ticks=num_ticks))

    def observe(self) -> TickBatch:
        return with_tensors(super().observe())

    def observe_only(self, env_index_N) -> TickBatch:
        return with_tensors(super().observe_only(env_index_N))


def with_tensors(tick: TickBatch) -> TickBatch:
    return dataclasses.replace(tick, image_EHWC=torch.from_numpy(tick.image_EHWC))


def tensor_env(config, source, num_envs) -> TaskEnv:
    backend = TensorViews(num_envs, size_blocks=(SIDE, 64, SIDE), image_px=(IMAGE_PX, IMAGE_PX))
    return TaskEnv(backend, source, tells_situations=True)


@pytest.fixture(scope="module")
def tasks():
    # Short, so that episodes end and begin within a fragment.
    made = make_tasks(CONFIG, "train", 16, lambda num_done: None)
    return [dataclasses.replace(task, max_ticks=20 + 8 * (n % 4), task_id="") for n, task in enumerate(made)]


def with_engine(engine_device, **rollout):
    changed = dataclasses.replace(CONFIG.rollout, engine_device=engine_device, **rollout)
    return dataclasses.replace(CONFIG, rollout=changed)


def worker_of(tasks, make_env=PRODUCT.make_env):
    return build_worker(CONFIG, dataclasses.replace(PRODUCT, make_env=make_env), tasks, None, 0, 0)


def test_fragments_of_tensors_hold_what_those_of_arrays_hold(tasks):
    arrays, tensors = worker_of(tasks), worker_of(tasks, tensor_env)
    for _ in range(3):
        one, other = arrays.collect(), tensors.collect()
        assert isinstance(other[0].image_THWC, torch.Tensor)
        assert all(isinstance(memory, torch.Tensor) for memory in other[0].memory.values())
        expected = collate(one).tensors()
        for name, tensor in collate(other).tensors().items():
            assert torch.equal(tensor, expected[name]), name
    assert collate(other).first_BT[:, 1:].any()


def test_the_same_is_learned_from_tensors(tasks):
    weights = []
    for make_env in (PRODUCT.make_env, tensor_env):
        worker, policy = worker_of(tasks, make_env), PRODUCT.make_policy(CONFIG)
        learner = Learner(policy, CONFIG.ppo, precision="fp32", seed=0)
        for _ in range(2):
            learner.update(worker.collect())
        weights.append(torch.cat([parameter.detach().flatten() for parameter in policy.parameters()]))
    assert torch.equal(*weights)
    assert np.isfinite(weights[0].numpy()).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [({}, "the policy is on the CPU"), ({"placement": "ray"}, "inline"), ({"ring_groups": 2}, "ring_groups")],
)
def test_an_engine_on_a_gpu_that_cannot_be_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        is_engine_on_gpu(with_engine("cuda", **changes), CPU)


def test_a_gpu_that_the_engine_cannot_use_is_told():
    gpu = torch.device("cuda", 0)
    said = word_of_engine(with_engine("auto", placement="ray"), gpu)
    assert said.startswith("the engine stays on the CPU: workers act on the CPU; set rollout.placement")
    assert word_of_engine(with_engine("cpu"), gpu) is None
    assert word_of_engine(with_engine("auto"), CPU) is None


@without_numba_cuda
def test_a_numba_without_cuda_is_told_with_the_fix():
    gpu = torch.device("cuda", 0)
    assert "pip install 'mcrl[cuda]'" in word_of_engine(with_engine("auto"), gpu)
    with pytest.raises(ValueError, match="rollout.engine_device cuda: numba cannot use the GPU"):
        is_engine_on_gpu(with_engine("cuda"), gpu)


def test_without_a_gpu_auto_is_the_cpu():
    assert not is_engine_on_gpu(with_engine("auto"), CPU)


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_simulated",
    [True, pytest.param(False, marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU"))],
)
def test_an_env_on_cuda_tells_what_one_on_the_cpu_tells(pytestconfig, is_simulated):
    root = str(pytestconfig.rootpath)
    done = subprocess.run(
        [sys.executable, "tests/mcrl/rollout/gpu_env_played.py"],
        capture_output=True,
        text=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": root} | ({"NUMBA_ENABLE_CUDASIM": "1"} if is_simulated else {}),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    played = json.loads(done.stdout)
    assert played["num_ends"] >= 3
    for step in played["steps"]:
        assert step["mask_pixels"] == 0
        # A ray along an edge may fall to the other side of it.
        assert step["pixels"] + step["goal_pixels"] <= 2
        assert step["situation"] < 1e-6
