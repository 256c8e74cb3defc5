"""The speed of the built-in engine on a GPU, on the standard scene: frames, parts of a step, floors. P poses."""

import logging
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from eval.benches.cuda_roofs import (
    INSTRUCTIONS_A_LEAP,
    INSTRUCTIONS_A_PIXEL,
    Marks,
    copy_bytes_per_s,
    instructions_per_s,
    leaps_per_ray,
    written_bytes_per_frame,
)
from eval.benches.standard_scene import (
    CONTENT_HASH,
    NAME,
    NUM_ENVS,
    NUM_POSES,
    SIDE_BLOCKS,
    content_hash,
    standard_actions,
    standard_episodes,
    standard_poses,
)
from eval.benches.throughput import Measurement, measured
from worlds.types import ActionBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.cuda.backend import CudaVoxelBackend
from worlds.voxel.cuda.memory import device_memory
from worlds.voxel.state import empty_state

_SIZE_BLOCKS = (SIDE_BLOCKS, 64, SIDE_BLOCKS)
_NUM_ENVS = (256, 512, 1024, 2048, 4096, 8192)
_IMAGE_PX = (64, 128, 224)
_LEAST_STEPS = 16  # a repeat; every agent stands at each of its 8 poses twice
_MEMORY_SHARE = 0.9  # of what is free: torch keeps some for itself
_logger = logging.getLogger(__name__)


def bench_cuda(
    *,
    num_frames: int,
    repeats: int,
    seed: int,
    num_envs: Sequence[int] = _NUM_ENVS,
    image_px: Sequence[int] = _IMAGE_PX,
) -> list[Measurement]:
    """Measure frames/s on `standard_v1`, every env with a world of its own, for batches and pictures of several sizes.

    A step is one tick of everything and a picture with its mask. Batches that do not fit into the GPU's memory are left
    out, with a warning.

    Args:
        num_frames: at least so many a repeat.
        repeats: measurements of each kind.
        seed: of the actions.
        num_envs: sizes of the batch, multiples of 16.
        image_px: sides of the pictures.
    """
    device_memory()  # says what is missing
    cpu = VoxelBackend(NUM_ENVS, size_blocks=_SIZE_BLOCKS, image_px=(8, 8))
    cpu.reset(range(NUM_ENVS), standard_episodes())
    pose_EP5 = standard_poses(cpu)
    found = content_hash(cpu, pose_EP5)
    if found != CONTENT_HASH:
        raise ValueError(
            f"bench cuda: scene {NAME} has hash {found}, {CONTENT_HASH} is frozen; see eval/benches/sim_bench.py"
        )
    has_gpu = torch.cuda.is_available()
    bytes_per_s, instructions = (copy_bytes_per_s(), instructions_per_s()) if has_gpu else (1e9, 1e9)
    measurements = []
    for side in image_px:
        floor_s = {
            "memory": written_bytes_per_frame(side) / bytes_per_s,
            "arithmetic": side
            * side
            * (leaps_per_ray(cpu, pose_EP5, image_px=side) * INSTRUCTIONS_A_LEAP + INSTRUCTIONS_A_PIXEL)
            / instructions,
        }
        for count in num_envs:
            if has_gpu and not _fits(count, side):
                _logger.warning("bench cuda: %d worlds with pictures of %d px do not fit, left out", count, side)
                continue
            num_steps = max(_LEAST_STEPS, -(-num_frames // count)) if has_gpu else 1
            measurements += _measure(count, side, num_steps, repeats, seed, pose_EP5, floor_s)
    cpu.close()
    return measurements


def _fits(num_envs: int, image_px: int) -> bool:
    """Tell whether a batch fits into the GPU's free memory."""
    row = empty_state(1, _SIZE_BLOCKS)
    num_bytes = sum(array.nbytes for group in row for array in group) + written_bytes_per_frame(image_px)
    torch.cuda.empty_cache()
    return num_envs * num_bytes < _MEMORY_SHARE * torch.cuda.mem_get_info()[0]


def _measure(
    num_envs: int,
    image_px: int,
    num_steps: int,
    repeats: int,
    seed: int,
    pose_EP5: np.ndarray,
    floor_s: dict[str, float],
) -> list[Measurement]:
    """Measure one size of batch and picture."""
    backend = CudaVoxelBackend(num_envs, size_blocks=_SIZE_BLOCKS, image_px=(image_px, image_px))
    backend.reset(range(NUM_ENVS), standard_episodes())
    begun = backend.snapshot(range(NUM_ENVS))
    poses = [_upload(np.tile(pose_EP5[:, p], (num_envs // NUM_ENVS, 1))) for p in range(NUM_POSES)]
    actions = [
        ActionBatch(
            buttons_EB=_upload(np.tile(action.buttons_EB, (num_envs // NUM_ENVS, 1))),
            camera_deg_E2=_upload(np.tile(action.camera_deg_E2.astype(np.float64), (num_envs // NUM_ENVS, 1))),
        )
        for action in standard_actions(NUM_POSES, seed=seed)
    ]
    per_s: list[float] = []
    part_ms: dict[str, list[float]] = {"physics": [], "entities": [], "render": []}
    for repeat in range(repeats + 1):
        for first in range(0, num_envs, NUM_ENVS):
            backend.restore(range(first, first + NUM_ENVS), begun)
        _wait()
        started_s = time.perf_counter()
        marks = _play(backend, poses, actions, num_steps)
        _wait()
        wall_s = time.perf_counter() - started_s
        if repeat == 0:
            continue  # compiles; not counted
        per_s.append(num_steps * num_envs / wall_s)
        gaps_ms = np.array(marks.gaps_ms() + [0.0]).reshape(num_steps, 4)
        for name, gap_ms in zip(part_ms, gaps_ms.mean(axis=0), strict=False):
            part_ms[name].append(float(gap_ms))
    backend.close()
    return _rows(num_envs, image_px, per_s, part_ms, floor_s)


def _play(backend: CudaVoxelBackend, poses: Sequence[Any], actions: Sequence[ActionBatch], num_steps: int) -> Marks:
    """Step from pose to pose, with marks before physics, entities and rendering and after them."""
    marks, bodies = Marks(), backend.state.bodies
    for step in range(num_steps):
        pose_E5 = poses[step % NUM_POSES]
        bodies.position_E3[:] = pose_E5[:, :3]
        bodies.yaw_deg_E[:], bodies.pitch_deg_E[:] = pose_E5[:, 3], pose_E5[:, 4]
        bodies.velocity_E3[:], bodies.fall_blocks_E[:], bodies.health_E[:] = 0.0, 0.0, 20.0
        marks.set()
        backend.play(actions[step % NUM_POSES])
        marks.set()
        backend.show()
        marks.set()
        backend.draw()
        marks.set()
    return marks


def _rows(
    num_envs: int,
    image_px: int,
    per_s: Sequence[float],
    part_ms: dict[str, list[float]],
    floor_s: dict[str, float],
) -> list[Measurement]:
    """Return what one size of batch and picture gave."""
    fields: dict[str, str | int | float] = {
        "scene": NAME,
        "num_worlds": num_envs,
        "image": f"{image_px} x {image_px}",
        "worlds": "128 x 64 x 128",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "written_bytes_per_frame": written_bytes_per_frame(image_px),
    }
    rows = [measured("frames_per_s", "frames/s", per_s, fields)]
    rows += [measured(f"{name}_ms", "GPU-ms a step", gaps_ms, fields) for name, gaps_ms in part_ms.items()]
    for name, seconds in floor_s.items():
        shares = [100.0 * 1000.0 * seconds * num_envs / render_ms for render_ms in part_ms["render"]]
        rows.append(measured(f"render_at_{name}_floor", "% of the floor's speed", shares, fields))
    return rows


def _upload(host: np.ndarray) -> Any:
    return torch.from_numpy(np.ascontiguousarray(host)).cuda() if torch.cuda.is_available() else host


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
