"""The animal that a task is about: where it is, how it moves, and who stands on a line to it. M mobs, K mob kinds."""

from typing import NamedTuple

import numpy as np
from numba import njit

from policies.expert.mind import Mind
from worlds.voxel.combat import first_mob_hit as _first_mob_hit
from worlds.voxel.link import link
from worlds.voxel.raycast import nearest_image, ray_box
from worlds.voxel.state import NO_MOB, Mobs
from worlds.voxel.tables import MobTables

first_mob_hit = link((nearest_image, ray_box, _first_mob_hit), njit(nogil=True, error_model="numpy"), {})[
    "first_mob_hit"
]


class Herd(NamedTuple):
    """What a line can meet of the animals of all envs: the few arrays of Mobs that a kernel needs."""

    kind_EM: np.ndarray  # int32 [E, M]
    position_EM3: np.ndarray  # float64 [E, M, 3]


class Sizes(NamedTuple):
    """How large the kinds of mobs are."""

    half_width_K: np.ndarray  # float64 [K] blocks
    height_K: np.ndarray  # float64 [K] blocks


def herd_of(mobs: Mobs) -> Herd:
    """Return the animals as kernels want them, without a copy."""
    return Herd(mobs.kind_EM, mobs.position_EM3)


def sizes_of(mob_tables: MobTables) -> Sizes:
    """Return the sizes of the kinds as kernels want them."""
    return Sizes(mob_tables.half_width_K, mob_tables.height_K)


def find_mob(e: int, mobs: Mobs, slot: int) -> int:
    """Return the row of a placed mob, -1 when it has gone."""
    rows = np.flatnonzero((mobs.kind_EM[e] != NO_MOB) & (mobs.object_EM[e] == slot))
    return int(rows[0]) if len(rows) else -1


def watch(e: int, m: int, mind: Mind, mobs: Mobs, size_x: int, size_z: int, num_ticks: float) -> tuple[float, float]:
    """Return the velocity (x, z) of a mob in blocks a tick since the last decision, and remember where it is now."""
    x, y, z = mobs.position_EM3[e, m].tolist()
    vx, vz = 0.0, 0.0
    if mind.has_last_target_E[e]:
        last_x, _, last_z = mind.last_target_E3[e].tolist()
        vx = ((x - last_x + size_x / 2) % size_x - size_x / 2) / num_ticks
        vz = ((z - last_z + size_z / 2) % size_z - size_z / 2) / num_ticks
    mind.last_target_E3[e] = (x, y, z)
    mind.has_last_target_E[e] = True
    return vx, vz
