"""Compile every CUDA kernel to PTX for a Hopper GPU; print the size of each one's parameters as one JSON object.

No GPU is needed, but numba-cuda and NVVM are: run in a process of its own, since it tells numba which GPU to think of.
Where they are missing the object is {"missing": reason}.
"""

import importlib.util
import json
import re
import sys
from typing import Any

import numpy as np

COMPUTE_CAPABILITY = (9, 0)


class _Hopper:
    compute_capability = COMPUTE_CAPABILITY


def missing() -> str | None:
    """Return what compiling needs and this machine lacks."""
    if importlib.util.find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: pip install 'mcrl[cuda]'"
    from numba.cuda.cudadrv.nvvm import NVVM

    try:
        NVVM()
    except Exception as error:  # whatever it raises is why the compiler cannot be used
        return f"NVVM cannot be loaded: {str(error).splitlines()[0]}"
    return None


def signatures() -> dict[str, tuple[Any, ...]]:
    """Return the argument types that the engine launches each kernel with."""
    from numba import typeof, types

    from worlds.voxel.cuda.kernels import NUM_TALLIES, ViewScratch
    from worlds.voxel.cuda.views import NUM_REALS, NUM_WHOLES
    from worlds.voxel.engine_tables import engine_tables
    from worlds.voxel.look_book import LookBook
    from worlds.voxel.scene import MAX_ENTITIES, NUM_ENTITY_COLUMNS, Picture, Scene
    from worlds.voxel.state import empty_state

    state, tables, book = empty_state(1, (32, 64, 32)), typeof(engine_tables()), LookBook(1)
    scene = Scene(
        block_WXZY=state.terrain.block_EXZY,
        field_WXZY=state.terrain.field_EXZY,
        look_WL=book.look_EL,
        entity_WMF=np.zeros((1, MAX_ENTITIES, NUM_ENTITY_COLUMNS), np.float32),
        num_entities_W=np.zeros(1, np.int32),
        atlas_AN=book.atlas_AN,
    )
    scratch = ViewScratch(
        real_VR=np.zeros((1, NUM_REALS), np.float32),
        whole_VI=np.zeros((1, NUM_WHOLES), np.int32),
        seen_VMF=scene.entity_WMF,
        num_seen_V=scene.num_entities_W,
        tally_VT=np.zeros((1, NUM_TALLIES), np.int32),
    )
    picture = Picture(
        image_VHWC=np.zeros((1, 4, 4, 3), np.uint8),
        instance_VHW=np.zeros((1, 4, 4), np.int32),
        depth_VHW=np.zeros((1, 4, 4), np.float32),
        target_V7=np.zeros((1, 7), np.float32),
    )
    size, real = types.int64, types.float64
    wholes, wholes_2, reals_2 = types.int32[::1], types.int32[:, ::1], types.float32[:, ::1]
    index, doubles_2, doubles_3 = types.int64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
    entities = types.float32[:, :, ::1]
    shown = [typeof(group) for group in (state.bodies, state.mobs, state.arrows, state.drops, state.clock)]
    looks, models = typeof(book.block_looks), typeof(book.model_looks)
    scene, scratch = typeof(scene), typeof(scratch)
    return {
        "tick_envs": (size, typeof(state), tables, types.boolean[:, ::1], doubles_2),
        "show_envs": (*shown, tables, entities, wholes, doubles_2, doubles_2, doubles_3),
        "make_views": (scene, looks, models, index, doubles_2, real, size, size, scratch),
        "draw_pixels": (
            scene, types.uint16[::1], types.uint8[::1], looks, models, index, index, wholes, scratch, typeof(picture),
        ),
        "write_labels": (wholes_2, index, size, size, reals_2),
        "put_blocks": (
            typeof(state.terrain.block_EXZY), typeof(state.terrain.field_EXZY), index, types.int32[:, :, ::1], wholes,
        ),
        "look_along_lines": (
            typeof(state.terrain.block_EXZY), typeof(engine_tables().blocks.outline), index, doubles_2,
            types.int64[:, ::1], types.boolean[::1],
        ),
    }  # fmt: skip


def parameter_bytes(ptx: str) -> int:
    """Return how many bytes the parameters of the one kernel in a PTX text take."""
    head = ptx.split(".entry", 1)[1].split("{", 1)[0]
    return sum(int(bits) // 8 for bits in re.findall(r"^\s*\.param \.[a-z](\d+) ", head, re.MULTILINE))


def main() -> None:
    reason = missing()
    if reason is not None:
        json.dump({"missing": reason}, sys.stdout)
        return
    from numba import cuda
    from numba.cuda import dispatcher

    dispatcher.get_current_device = _Hopper
    from worlds.voxel.cuda import kernels, puts

    sizes = {}
    for name, types in signatures().items():
        kernel = getattr(kernels, name, None) or getattr(puts, name)
        ptx, _ = cuda.compile(
            kernel.py_func, types, device=False, abi="numba", cc=COMPUTE_CAPABILITY, output="ptx",
            fastmath=bool(kernel.targetoptions.get("fastmath")),
        )  # fmt: skip
        sizes[name] = parameter_bytes(ptx if isinstance(ptx, str) else ptx.decode())
    json.dump(sizes, sys.stdout)


if __name__ == "__main__":
    main()
