"""Views as rows of arrays, so that one kernel makes them and the threads of another read them. M entities, F columns.

A view costs about as much as tracing a ray (sines and cosines in float64), so it is made once by one thread and not
once a pixel. The sources here know nothing of CUDA: see worlds.voxel.link.
"""

import math

from worlds.voxel.link import Kernel
from worlds.voxel.render_entities import MODEL, SCALE, entity_place
from worlds.voxel.render_view import View

# Where the int32 fields lie among the float32 ones: the eye's cell, then see_through and sky_level.
_CELL, _AFTER_CELL = View._fields.index("cell_x"), View._fields.index("cell_z") + 1
_STATE, _AFTER_STATE = View._fields.index("see_through"), View._fields.index("sky_level") + 1
NUM_WHOLES = _AFTER_CELL - _CELL + _AFTER_STATE - _STATE
NUM_REALS = len(View._fields) - NUM_WHOLES
ANGLE_MARGIN_RAD = 1e-3  # for the rounding of float32


def store_view(view, real_R, whole_I):  # type: ignore[no-untyped-def]
    """Write a View into a float32 row and an int32 row."""
    to_cell, to_state, to_end = view[:_CELL], view[_AFTER_CELL:_STATE], view[_AFTER_STATE:]
    for i in range(len(to_cell)):
        real_R[i] = to_cell[i]
    for i in range(len(to_state)):
        real_R[len(to_cell) + i] = to_state[i]
    for i in range(len(to_end)):
        real_R[len(to_cell) + len(to_state) + i] = to_end[i]
    whole_I[0], whole_I[1], whole_I[2] = view.cell_x, view.cell_y, view.cell_z
    whole_I[3], whole_I[4] = view.see_through, view.sky_level


def load_view(r, w):  # type: ignore[no-untyped-def]
    """Return the View that store_view wrote into the float32 row `r` and the int32 row `w`."""
    return View(
        r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9],
        w[0], w[1], w[2],
        r[10], r[11], r[12], r[13], r[14], r[15], r[16], r[17],
        w[3], w[4],
        r[18], r[19], r[20], r[21], r[22], r[23], r[24], r[25], r[26], r[27], r[28], r[29],
        r[30], r[31], r[32], r[33], r[34], r[35], r[36], r[37], r[38], r[39], r[40], r[41],
    )  # fmt: skip


def is_in_view(view, x, y, z, radius):  # type: ignore[no-untyped-def]
    """Tell whether a sphere at x, y, z from the eye may be in range and in the cone around the picture."""
    distance = math.sqrt(x * x + y * y + z * z)
    if distance <= radius:
        return True
    if distance - radius > view.range_blocks:
        return False
    half_width = math.sqrt(view.right_x * view.right_x + view.right_z * view.right_z)
    half_height = math.sqrt(view.up_x * view.up_x + view.up_y * view.up_y + view.up_z * view.up_z)
    cone = math.atan(math.sqrt(half_width * half_width + half_height * half_height)) + math.asin(radius / distance)
    ahead = (x * view.ahead_x + y * view.ahead_y + z * view.ahead_z) / distance
    return math.acos(min(1.0, max(-1.0, ahead))) <= cone + ANGLE_MARGIN_RAD


def list_seen(scene, model_looks, view, world, seen_MF):  # type: ignore[no-untyped-def]
    """Write the rows of the entities that a view may show, in their order, and return their number."""
    num_seen = 0
    for m in range(scene.num_entities_W[world]):
        row_F = scene.entity_WMF[world, m]
        model = int(row_F[MODEL])
        if model < 0:
            continue
        x, y, z = entity_place(scene, view, world, m)
        scale = row_F[SCALE]
        if not is_in_view(view, x, y + model_looks.middle_K[model] * scale, z, model_looks.radius_K[model] * scale):
            continue
        for column in range(seen_MF.shape[1]):
            seen_MF[num_seen, column] = row_F[column]
        num_seen += 1
    return num_seen


SOURCES: tuple[Kernel, ...] = (store_view, load_view, is_in_view, list_seen)
