"""What limits pictures on a GPU: the memory that a frame must move and the instructions that its rays must take.

Both are floors of the time of a frame, from below: pictures written once at the speed of a plain copy, and the leaps of
the rays alone, with every lane busy and every scheduler issuing in every cycle.
"""

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import torch
from numba import cuda

from eval.benches.standard_scene import NUM_ENVS, NUM_POSES
from worlds.types import EYE_HEIGHT_BLOCKS
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.cuda import leap
from worlds.voxel.link import link
from worlds.voxel.look_book import LookBook
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS
from worlds.voxel.scene import BlockLooks, Scene

# Of one leap over free cells in draw_pixels: counted in the machine code for sm_90 (numba-cuda 0.30, ptxas 13.4).
INSTRUCTIONS_A_LEAP = 64
# Of everything else in a pixel that meets a full cube and no mob, at least: ray, cell, texel, light, fog, stores.
INSTRUCTIONS_A_PIXEL = 600
_SCHEDULERS, _LANES = 4, 32  # of a multiprocessor; of a warp
_COPY_BYTES = 2**30

_CPU = link(leap.SOURCES, numba.njit(**CPU_OPTIONS), CPU_KERNELS)
_make_view, _pixel_ray, _torus_of, _leap_ray = (
    _CPU[name] for name in ("make_view", "pixel_ray", "torus_of", "leap_ray")
)


@numba.njit(cache=True, **CPU_OPTIONS)
def _count_leaps(
    scene: Scene, block_looks: BlockLooks, eye_E5: np.ndarray, view_range_blocks: float, image_px: int
) -> int:
    """Return the leaps of all rays of one view into every world."""
    num_leaps, atlas_N = 0, scene.atlas_AN[0]
    for e in range(len(eye_E5)):
        view = _make_view(scene, block_looks, e, eye_E5[e], view_range_blocks, image_px, image_px)
        block_XZY = scene.block_WXZY[e]
        block_N, field_N, torus = block_XZY.reshape(-1), scene.field_WXZY[e].reshape(-1), _torus_of(block_XZY)
        for row in range(image_px):
            for column in range(image_px):
                dx, dy, dz = _pixel_ray(view, row, column)
                num_leaps += _leap_ray(block_N, field_N, torus, block_looks, atlas_N, view, dx, dy, dz)[5]
    return num_leaps


def leaps_per_ray(backend: VoxelBackend, pose_EP5: np.ndarray, *, image_px: int) -> float:
    """Return how many leaps a ray of the standard scene takes on average; `backend` shows its 16 worlds."""
    book, terrain = LookBook(NUM_ENVS), backend.state.terrain
    for e in range(NUM_ENVS):
        book.set_look(e, book.look_of(e)[0], target_instance=0)
    scene = Scene(
        block_WXZY=terrain.block_EXZY,
        field_WXZY=terrain.field_EXZY,
        look_WL=book.look_EL,
        entity_WMF=np.zeros((NUM_ENVS, 1, 1), np.float32),
        num_entities_W=np.zeros(NUM_ENVS, np.int32),
        atlas_AN=book.atlas_AN,
    )
    num_leaps = 0
    for p in range(NUM_POSES):
        eye_E5 = pose_EP5[:, p].copy()
        eye_E5[:, 1] += EYE_HEIGHT_BLOCKS
        num_leaps += _count_leaps(scene, book.block_looks, eye_E5, backend.view_range_blocks, image_px)
    return num_leaps / (NUM_ENVS * NUM_POSES * image_px * image_px)


def written_bytes_per_frame(image_px: int) -> int:
    """Return the bytes of a picture (RGB, uint8) and its instance mask (int32)."""
    return image_px * image_px * (3 + 4)


def copy_bytes_per_s() -> float:
    """Return how many bytes a second a plain copy on the GPU reads and writes, together."""
    source = torch.empty(_COPY_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    target.copy_(source)
    num_copies = 10
    seconds = gpu_ms(lambda: [target.copy_(source) for _ in range(num_copies)]) / 1000.0
    return 2 * _COPY_BYTES * num_copies / seconds


def instructions_per_s() -> float:
    """Return the most instructions of single lanes a second, from the GPU's multiprocessors and highest clock."""
    device = cuda.get_current_device()
    return device.MULTIPROCESSOR_COUNT * _SCHEDULERS * _LANES * device.CLOCK_RATE * 1000.0


def gpu_ms(work: Callable[[], object]) -> float:
    """Run `work` and return how long the GPU took, in ms."""
    marks = Marks()
    marks.set()
    work()
    marks.set()
    return marks.gaps_ms()[0]


class Marks:
    """Points in the GPU's work, and the time between them; on the host's clock where there is no GPU."""

    def __init__(self) -> None:
        self._marks: list[Any] = []

    def set(self) -> None:
        """Set a mark after what has been asked for so far."""
        if not torch.cuda.is_available():
            self._marks.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self._marks.append(event)

    def gaps_ms(self) -> list[float]:
        """Wait for the last mark and return the time between each mark and the next."""
        pairs = list(zip(self._marks[:-1], self._marks[1:], strict=True))
        if not torch.cuda.is_available():
            return [1000.0 * (after - before) for before, after in pairs]
        self._marks[-1].synchronize()
        return [before.elapsed_time(after) for before, after in pairs]
