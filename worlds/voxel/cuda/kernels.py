"""The engine's kernels compiled for CUDA, from the same sources as the CPU's. E envs, V views, T tally.

One thread an env for ticks, one an env for what is derived from its state, one a view for cameras and labels, one a
pixel for pictures. Nothing is compiled before the first launch; numba keeps the machine code on disk.

Physics is float64 without fast mathematics, and an env is computed by one thread, so a GPU gives the same bytes every
time. They may differ from a CPU's in the last bits: NVIDIA's compiler fuses multiply-adds, and its sines are its own.
"""

import math
from types import ModuleType
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from worlds.types import EYE_HEIGHT_BLOCKS, INSTANCE_SKY, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel import render, render_entities, render_shapes, render_view
from worlds.voxel.cuda import leap, pixel, views
from worlds.voxel.kernels import TICK_SOURCES
from worlds.voxel.link import Kernel, link
from worlds.voxel.scene import Scene

if not hasattr(np, "row_stack"):
    # numba-cuda (0.30 at least) asks numpy for this name when it first compiles, and numpy 2.5 has it no more.
    vars(np)["row_stack"] = np.vstack

cuda: Any = numba.cuda  # it has no types
KernelArray = Any

_IS_SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # type: ignore[attr-defined]

TILE_PX = 16  # a block draws a tile of 16 x 16 pixels, each of its 8 warps 8 x 4 of them: near rays take near ways
TILE_THREADS = TILE_PX * TILE_PX
# Three blocks of a tile fit on a multiprocessor with 80 registers a thread (13 words spilled, none in the loop), two
# with the 105 that the compiler would take (ptxas 13.4, sm_90). The simulator does not know the option.
_DRAW_OPTIONS: dict[str, int] = {} if _IS_SIMULATED else {"max_registers": 80}
MOST_VIEWS = 65_535  # of one launch: the grid's third side
VIEW_THREADS = 64  # threads a block of the kernels with one thread a view or env


class ViewScratch(NamedTuple):
    """What is known of V views before they are drawn."""

    real_VR: KernelArray  # float32, see worlds.voxel.cuda.views
    whole_VI: KernelArray  # int32
    seen_VMF: KernelArray  # float32, rows of worlds.voxel.scene.ENTITY_COLUMNS that the view may show
    num_seen_V: KernelArray  # int32
    tally_VT: KernelArray  # int32


# Columns of tally_VT: where the target's pixels are, kept in integers so that the order of threads cannot matter.
NUM_PIXELS, SUM_ROW, SUM_COLUMN, TOP, BOTTOM, LEFT, RIGHT = range(7)
NUM_TALLIES = 7


def for_device(**options: Any) -> Kernel:
    """Return what makes a device function of a source; the simulator runs plain Python and needs none."""
    return (lambda source: source) if _IS_SIMULATED else cuda.jit(device=True, **options)


def _floor(value):  # type: ignore[no-untyped-def]
    return int(math.floor(value))


def _ceil(value):  # type: ignore[no-untyped-def]
    return int(math.ceil(value))


def _math_of_python() -> ModuleType:
    """Return the module `math` with floor and ceil as in Python: to an integer. CUDA's give a float."""
    module = ModuleType("math")
    vars(module).update(vars(math))
    vars(module).update(floor=for_device()(_floor), ceil=for_device()(_ceil))
    return module


_KNOWN: dict[str, Any] = {"math": _math_of_python()}
_TICK = link(TICK_SOURCES, for_device(), _KNOWN)
_VIEW = link(
    (*render_view.SOURCES, render_entities.from_eye, render_entities.entity_place, *views.SOURCES), for_device(), _KNOWN
)
_PIXEL = link(
    (
        *render.LANE_SOURCES, *render_shapes.SOURCES, *render_entities.SOURCES, render.level_at, *leap.SOURCES,
        views.load_view, *pixel.SOURCES,
    ),
    for_device(fastmath=True),
    _KNOWN,
)  # fmt: skip
_tick_env, _list_entities, _is_cell_in_sight = (
    _TICK[name] for name in ("tick_env", "list_entities", "is_cell_in_sight")
)
_make_view, _store_view, _list_seen = (_VIEW[name] for name in ("make_view", "store_view", "list_seen"))
_draw_ray = _PIXEL["draw_ray"]


@cuda.jit(cache=True)
def tick_envs(num_ticks, state, tables, buttons_EB, camera_deg_E2):  # type: ignore[no-untyped-def]
    """Play the same actions for `num_ticks` ticks in every env, see worlds.voxel.kernels.run_ticks."""
    e = cuda.grid(1)
    if e < buttons_EB.shape[0]:
        _tick_env(e, num_ticks, state, tables, buttons_EB, camera_deg_E2)


@cuda.jit(cache=True)
def show_envs(  # type: ignore[no-untyped-def]
    bodies, mobs, arrows, drops, clock, tables, entity_EMF, num_entities_E, eye_E5, pose_E5, mob_EM6
):
    """Write what is derived from the state: entities to draw, eyes, and poses and mobs as a TickBatch has them."""
    e = cuda.grid(1)
    if e >= num_entities_E.shape[0]:
        return
    num_entities_E[e] = _list_entities(e, mobs, arrows, drops, clock, tables, entity_EMF[e])
    eye_height = SNEAK_EYE_HEIGHT_BLOCKS if bodies.is_sneaking_E[e] else EYE_HEIGHT_BLOCKS
    for axis in range(3):
        pose_E5[e, axis] = bodies.position_E3[e, axis]
        eye_E5[e, axis] = bodies.position_E3[e, axis]
    eye_E5[e, 1] = bodies.position_E3[e, 1] + eye_height
    pose_E5[e, 3], pose_E5[e, 4] = bodies.yaw_deg_E[e], bodies.pitch_deg_E[e]
    eye_E5[e, 3], eye_E5[e, 4] = bodies.yaw_deg_E[e], bodies.pitch_deg_E[e]
    for m in range(mob_EM6.shape[1]):
        mob_EM6[e, m, 0], mob_EM6[e, m, 1] = mobs.kind_EM[e, m], mobs.object_EM[e, m]
        for axis in range(3):
            mob_EM6[e, m, 2 + axis] = mobs.position_EM3[e, m, axis]
        mob_EM6[e, m, 5] = mobs.health_EM[e, m]


@cuda.jit(cache=True)
def make_views(  # type: ignore[no-untyped-def]
    scene, block_looks, model_looks, world_index_V, eye_V5, view_range_blocks, height_px, width_px, scratch
):
    """Write the View of every eye and the entities that it may see, and begin its tally."""
    v = cuda.grid(1)
    if v >= world_index_V.shape[0]:
        return
    view = _make_view(scene, block_looks, world_index_V[v], eye_V5[v], view_range_blocks, height_px, width_px)
    _store_view(view, scratch.real_VR[v], scratch.whole_VI[v])
    scratch.num_seen_V[v] = _list_seen(scene, model_looks, view, world_index_V[v], scratch.seen_VMF[v])
    tally_VT = scratch.tally_VT
    tally_VT[v, NUM_PIXELS], tally_VT[v, SUM_ROW], tally_VT[v, SUM_COLUMN] = 0, 0, 0
    tally_VT[v, TOP], tally_VT[v, BOTTOM] = height_px, 0
    tally_VT[v, LEFT], tally_VT[v, RIGHT] = width_px, 0


@cuda.jit(cache=True, fastmath=True, **_DRAW_OPTIONS)
def draw_pixels(  # type: ignore[no-untyped-def]
    scene, block_N, field_N, block_looks, model_looks, world_index_V, row_V, target_instance_E, scratch, picture
):
    """Draw view v into row row_V[v] of the picture, one block a tile, and count the target's pixels.

    The grid is (tiles across, tiles down, views). `block_N` and `field_N` are the scene's arrays, flat. A block counts
    in its own shared memory and adds up once: a target that fills the picture would otherwise send 16,384 atomic
    additions to one address.
    """
    tally_T, tally_VT = cuda.shared.array(NUM_TALLIES, np.int32), scratch.tally_VT
    _, height_px, width_px = picture.instance_VHW.shape
    v, thread = cuda.blockIdx.z, cuda.threadIdx.x
    lane, warp = thread & 31, thread >> 5
    row = cuda.blockIdx.y * TILE_PX + (warp >> 1) * 4 + (lane >> 3)
    column = cuda.blockIdx.x * TILE_PX + (warp & 1) * 8 + (lane & 7)
    if thread < NUM_TALLIES:
        tally_T[thread] = tally_VT[v, thread] if thread == TOP or thread == LEFT else 0
    cuda.syncthreads()
    world, target = world_index_V[v], target_instance_E[world_index_V[v]]
    if row < height_px and column < width_px:
        num_cells = scene.block_WXZY.shape[1] * scene.block_WXZY.shape[2] * scene.block_WXZY.shape[3]
        first, last = world * num_cells, (world + 1) * num_cells
        # The view's own world alone, with the entities that it may see alone.
        own = Scene(
            scene.block_WXZY[world : world + 1],
            scene.field_WXZY[world : world + 1],
            scene.look_WL[world : world + 1],
            scratch.seen_VMF[v : v + 1],
            scratch.num_seen_V[v : v + 1],
            scene.atlas_AN,
        )
        instance = _draw_ray(
            own, block_N[first:last], field_N[first:last], block_looks, model_looks, scratch.real_VR[v],
            scratch.whole_VI[v], row_V[v], row, column, picture,
        )  # fmt: skip
        if target != INSTANCE_SKY and instance == target:
            cuda.atomic.add(tally_T, NUM_PIXELS, 1)
            cuda.atomic.add(tally_T, SUM_ROW, row)
            cuda.atomic.add(tally_T, SUM_COLUMN, column)
            cuda.atomic.min(tally_T, TOP, row)
            cuda.atomic.max(tally_T, BOTTOM, row + 1)
            cuda.atomic.min(tally_T, LEFT, column)
            cuda.atomic.max(tally_T, RIGHT, column + 1)
    cuda.syncthreads()
    if thread == 0 and tally_T[NUM_PIXELS] > 0:
        cuda.atomic.add(tally_VT, (v, NUM_PIXELS), tally_T[NUM_PIXELS])
        cuda.atomic.add(tally_VT, (v, SUM_ROW), tally_T[SUM_ROW])
        cuda.atomic.add(tally_VT, (v, SUM_COLUMN), tally_T[SUM_COLUMN])
        cuda.atomic.min(tally_VT, (v, TOP), tally_T[TOP])
        cuda.atomic.max(tally_VT, (v, BOTTOM), tally_T[BOTTOM])
        cuda.atomic.min(tally_VT, (v, LEFT), tally_T[LEFT])
        cuda.atomic.max(tally_VT, (v, RIGHT), tally_T[RIGHT])


@cuda.jit(cache=True)
def write_labels(tally_VT, row_V, height_px, width_px, target_V7):  # type: ignore[no-untyped-def]
    """Write the labels of every view's target, the same numbers as worlds.voxel.render_labels.label_target."""
    v = cuda.grid(1)
    if v >= row_V.shape[0]:
        return
    row, num_pixels = row_V[v], int(tally_VT[v, NUM_PIXELS])
    for column in range(target_V7.shape[1]):
        target_V7[row, column] = 0.0
    if num_pixels > 0:
        target_V7[row, 0] = num_pixels / (height_px * width_px)
        target_V7[row, 1] = (tally_VT[v, SUM_COLUMN] / num_pixels + 0.5) / width_px
        target_V7[row, 2] = (tally_VT[v, SUM_ROW] / num_pixels + 0.5) / height_px
        target_V7[row, 3], target_V7[row, 4] = tally_VT[v, LEFT] / width_px, tally_VT[v, TOP] / height_px
        target_V7[row, 5], target_V7[row, 6] = tally_VT[v, RIGHT] / width_px, tally_VT[v, BOTTOM] / height_px


@cuda.jit(cache=True)
def look_along_lines(block_EXZY, outline, env_index_V, from_V3, cell_V3, is_clear_V):  # type: ignore[no-untyped-def]
    """Tell for each row whether its ray meets its cell first, see worlds.voxel.raycast.is_line_clear."""
    v = cuda.grid(1)
    if v < is_clear_V.shape[0]:
        is_clear_V[v] = _is_cell_in_sight(
            block_EXZY[env_index_V[v]], outline, from_V3[v, 0], from_V3[v, 1], from_V3[v, 2],
            cell_V3[v, 0], cell_V3[v, 1], cell_V3[v, 2],
        )  # fmt: skip
