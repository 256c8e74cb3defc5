"""A process backend over our own engine and the engine itself, and what must be equal between them."""

import functools

import numpy as np

from tests.worlds.voxel.test_backend import SIZE, make_backend, standing_episode
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine_choice import EngineChoice
from worlds.types import ActionBatch

IMAGE_PX = (32, 32)
TICK_ARRAYS = (
    "image_EHWC", "instance_EHW", "depth_EHW", "target_E7", "pose_E5", "is_on_ground_E", "health_E", "item_ES",
    "count_ES", "selected_E", "mob_EM6", "event_EN4", "is_fault_E",
)  # fmt: skip
VIEW_ARRAYS = ("image_VHWC", "instance_VHW", "depth_VHW", "target_V7")


@functools.cache
def compile_kernels() -> None:
    """Compile the engine here where it was not yet: in two children at once it would take longer than a reset may."""
    backend = make_backend(1)
    backend.reset([0], [standing_episode(backend)])
    backend.step(ActionBatch.noop(1))


def process_backend(num_envs=2, *, options=None, **fields) -> ProcessBackend:
    compile_kernels()
    choice = EngineChoice(engine="voxel", options=options or {})
    return ProcessBackend(num_envs, choice, size_blocks=SIZE, image_px=IMAGE_PX, **fields)


def assert_same_bytes(ours, theirs, names):
    for name in names:
        left, right = getattr(ours, name), getattr(theirs, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.dtype == right.dtype, name
            assert left.shape == right.shape, name
            assert np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes(), name
