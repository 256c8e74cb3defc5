"""The engine's kernels compiled for the CPU, over all envs. E envs."""

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

from worlds.blocks import tools
from worlds.types import BUTTONS
from worlds.voxel import (
    arrows,
    body,
    bow,
    cells,
    chance,
    combat,
    drops,
    entities,
    free_boxes,
    hands,
    harm,
    inventory,
    landing,
    log,
    mining,
    mobs,
    motion,
    placing,
    raycast,
    tick,
    using,
)
from worlds.voxel.link import Kernel, link
from worlds.voxel.state import EnvState, empty_state
from worlds.voxel.tables import Tables

# Every module of the tick, callees before callers; the GPU build links the same list.
TICK_MODULES = (
    tools, chance, log, body, raycast, free_boxes, cells, inventory, drops, combat, arrows, landing, motion, harm,
    mining, placing, using, bow, hands, mobs, entities, tick,
)  # fmt: skip
TICK_SOURCES: tuple[Kernel, ...] = tuple(source for module in TICK_MODULES for source in module.SOURCES)

# Nothing here allocates: without reference counts calls cost a twentieth and compile in half the time. Wrappers that
# nobody calls are not made either.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_CPU = link(TICK_SOURCES, numba.njit(**_OPTIONS, **_NO_WRAPPERS), {})
_tick_env, _list_entities, _narrow_boxes = (_CPU[name] for name in ("tick_env", "list_entities", "narrow_boxes"))


@numba.njit(cache=True, nogil=True)
def narrow_boxes(field_XZY, x, y, z):  # type: ignore[no-untyped-def]
    """Bring a field up to date after a block was put at a cell, see worlds.voxel.free_boxes."""
    _narrow_boxes(field_XZY, x, y, z)


@numba.njit(cache=True, **_OPTIONS)
def _tick_envs(first, last, num_ticks, state, tables, buttons_EB, camera_deg_E2):  # type: ignore[no-untyped-def]
    for e in range(first, last):
        _tick_env(e, num_ticks, state, tables, buttons_EB, camera_deg_E2)


@functools.cache
def _threads(num_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(num_threads, thread_name_prefix="mcrl-ticks")


# A pool's threads do not come along into a forked process, and it would wait for them.
os.register_at_fork(after_in_child=_threads.cache_clear)


def run_ticks(
    num_ticks: int, state: EnvState, tables: Tables, buttons_EB: np.ndarray, camera_deg_E2: np.ndarray
) -> None:
    """Play the same actions for `num_ticks` ticks in every env, on numba's number of threads; the state changes.

    numba's own parallel loops cannot take nested tuples, so the envs are dealt out to threads here: the kernel releases
    the interpreter lock, and what happens in an env does not depend on who computes it.

    Args:
        num_ticks: at least 1.
        state: all envs.
        tables: the engine's tables.
        buttons_EB: bool [E, 20], in the order of worlds.types.BUTTONS.
        camera_deg_E2: float64 [E, 2], change of pitch and yaw a tick.
    """
    num_envs, num_parts = len(buttons_EB), min(numba.get_num_threads(), len(buttons_EB))
    if num_parts == 1:
        _tick_envs(0, num_envs, num_ticks, state, tables, buttons_EB, camera_deg_E2)
        return
    borders = [num_envs * part // num_parts for part in range(num_parts + 1)]
    parts = [
        _threads(num_parts).submit(_tick_envs, first, last, num_ticks, state, tables, buttons_EB, camera_deg_E2)
        for first, last in zip(borders[:-1], borders[1:], strict=True)
    ]
    for part in parts:
        part.result()


def compile_ticks(tables: Tables) -> None:
    """Compile run_ticks, half of the engine, or read it from where kernels are kept; nothing is played."""
    num_envs = 1
    buttons_EB, camera_deg_E2 = np.zeros((num_envs, len(BUTTONS)), bool), np.zeros((num_envs, 2))
    _tick_envs(0, 0, 1, empty_state(num_envs, (16, 16, 16)), tables, buttons_EB, camera_deg_E2)


@numba.njit(cache=True, **_OPTIONS)
def list_all_entities(  # type: ignore[no-untyped-def]
    mobs, arrows, drops, clock, tables, entity_EMF: np.ndarray, num_entities_E: np.ndarray
) -> None:
    """Write every env's mobs, arrows and dropped items as the renderer wants them."""
    for e in range(len(num_entities_E)):
        num_entities_E[e] = _list_entities(e, mobs, arrows, drops, clock, tables, entity_EMF[e])
