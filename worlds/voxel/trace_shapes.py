"""What the lanes do in cells that are no full cube: plants, water, slabs. L lanes, R rows of scratch, N flat cells.

Plants and fluids, which fill whole pictures, are met by all lanes at once; the elements of other states lane by lane.
"""

import numba
import numpy as np

from worlds.spec import BLOCK_MASK
from worlds.textures.atlas import NUM_FACE_TEXELS, TEXTURE_PX
from worlds.voxel.looks import MAX_TEXTURES, PACKED_CROSS, PACKED_ROW, PACKED_SPECIAL
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS
from worlds.voxel.render_shapes import MISSED
from worlds.voxel.render_view import WORLD_HEIGHT, View
from worlds.voxel.scene import DRAW_ELEMENTS, DRAW_FLUID, DRAW_VOID, BlockLooks
from worlds.voxel.shading import AXIS_X, AXIS_Y, AXIS_Z, ONE, OPAQUE_FROM, ZERO, Real, Whole, f32, i32, u32
from worlds.voxel.trace_lanes import (
    AXIS,
    BASE_X,
    BASE_Y,
    BASE_Z,
    CELL,
    CELL_X,
    CELL_Y,
    CELL_Z,
    COLOR,
    DISTANCE,
    DX,
    DY,
    DZ,
    FETCHED,
    FLIP_X,
    FLIP_Y,
    FLIP_Z,
    INDEX,
    INVERSE_X,
    INVERSE_Y,
    INVERSE_Z,
    MET_ADDRESS,
    MET_DISTANCE,
    MET_LIGHT,
    NUM_LANES,
    PACKED,
    PENDING,
    SLOPE_X,
    SLOPE_Y,
    SLOPE_Z,
    SPARE,
    SPARE_A,
    SPARE_B,
    SPARE_TOO,
    START_X,
    START_Y,
    START_Z,
    Torus,
    gather,
    height_of,
    index_of,
    inlined,
    leave_box,
    locate,
)

CODE_BITS = i32((1 << PACKED_ROW) - 1)
_face_met, _face_light = CPU_KERNELS["face_met"], CPU_KERNELS["face_light"]
_texel_on_face = CPU_KERNELS["texel_on_face"]
_meet_elements, _meet_fluid = CPU_KERNELS["meet_elements"], CPU_KERNELS["meet_fluid"]
_meet_diagonal = CPU_KERNELS["meet_diagonal"]


@inlined
def classify(
    torus: Torus,
    view: View,
    block_N: np.ndarray,
    packed_N: np.ndarray,
    whole_RL: np.ndarray,
    real_RL: np.ndarray,
) -> Whole:
    """Set CELL, AXIS, DISTANCE and PACKED of the cells where the lanes stand; return how many are to be resolved.

    CELL is 0 where the ray has ended without a hit. PENDING holds the packed code of lanes that stand in a cell that is
    no cube and have met nothing yet, else 0. Air is such a cell too: the field stays 0 where a block was taken away.
    """
    locate(torus, whole_RL)
    gather(block_N, whole_RL, INDEX, FETCHED)
    for lane in range(NUM_LANES):
        # The face met is the wall of the cell that the ray reaches last.
        to_x = (f32(whole_RL[CELL_X, lane]) - real_RL[START_X, lane]) * real_RL[INVERSE_X, lane]
        to_y = (f32(whole_RL[CELL_Y, lane]) - real_RL[START_Y, lane]) * real_RL[INVERSE_Y, lane]
        to_z = (f32(whole_RL[CELL_Z, lane]) - real_RL[START_Z, lane]) * real_RL[INVERSE_Z, lane]
        distance = max(to_x, max(to_y, to_z))
        axis = i32(AXIS_X) if distance == to_x else (i32(AXIS_Y) if distance == to_y else i32(AXIS_Z))
        is_inside = (distance < view.range_blocks) & (u32(height_of(whole_RL, lane)) < u32(WORLD_HEIGHT))
        cell = whole_RL[FETCHED, lane] if is_inside else i32(0)
        face = _face_met(axis, real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane])
        whole_RL[CELL, lane], whole_RL[AXIS, lane], real_RL[DISTANCE, lane] = cell, axis, distance
        whole_RL[SPARE, lane] = i32(i32(i32(cell & i32(BLOCK_MASK)) << i32(3)) + face)
        whole_RL[PENDING, lane] = i32(is_inside)
    gather(packed_N, whole_RL, SPARE, PACKED)
    num_pending = i32(0)
    for lane in range(NUM_LANES):
        packed, cell = whole_RL[PACKED, lane], whole_RL[CELL, lane]
        code, met = i32(packed & CODE_BITS), real_RL[MET_DISTANCE, lane]
        is_special = (packed >= i32(PACKED_SPECIAL)) & (whole_RL[PENDING, lane] != 0)
        is_void = is_special & (code == i32(DRAW_VOID))
        is_pending = is_special & (not is_void) & (met < ZERO)
        whole_RL[CELL, lane] = i32(0) if is_void else cell
        # A cell of nothing has code 0: any other number stands for it.
        whole_RL[PENDING, lane] = max(code, i32(1)) if is_pending else i32(0)
        num_pending = i32(num_pending + i32(is_pending))
    return num_pending


@inlined
def _eye_from_cell(view: View, whole_RL: np.ndarray, lane: int) -> tuple[Real, Real, Real]:
    """Return where the eye is, seen from the corner of a lane's cell."""
    x = i32(i32(whole_RL[BASE_X, lane] + i32(whole_RL[CELL_X, lane] ^ whole_RL[FLIP_X, lane])) - view.cell_x)
    y = i32(i32(whole_RL[BASE_Y, lane] + i32(whole_RL[CELL_Y, lane] ^ whole_RL[FLIP_Y, lane])) - view.cell_y)
    z = i32(i32(whole_RL[BASE_Z, lane] + i32(whole_RL[CELL_Z, lane] ^ whole_RL[FLIP_Z, lane])) - view.cell_z)
    return view.px - f32(x), view.py - f32(y), view.pz - f32(z)


@inlined
def _meet_plants(view: View, atlas_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray) -> None:
    """Let the pending lanes that stand in a plant meet its two planes."""
    # Loops read all that they need before they write: LLVM gives up on a read that follows a write to another row.
    for lane in range(NUM_LANES):
        ox, oy, oz = _eye_from_cell(view, whole_RL, lane)
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        is_plant = whole_RL[PENDING, lane] == i32(PACKED_CROSS)
        row = i32(i32(whole_RL[PACKED, lane] >> i32(PACKED_ROW)) & i32(MAX_TEXTURES - 1))
        near_a, texel_a = _meet_diagonal(ox, oy, oz, dx, dy, dz, ONE, ZERO, ZERO, ONE, ONE, view.texels)
        near_b, texel_b = _meet_diagonal(ox, oy, oz, dx, dy, dz, -ONE, ZERO, ZERO, ONE, ONE, view.texels)
        first = i32(row * i32(NUM_FACE_TEXELS))
        is_a, is_b = is_plant & (near_a < view.range_blocks), is_plant & (near_b < view.range_blocks)
        real_RL[SPARE_A, lane] = near_a if is_a else MISSED
        real_RL[SPARE_B, lane] = near_b if is_b else MISSED
        whole_RL[SPARE, lane] = i32(first + texel_a) if is_a else i32(0)
        whole_RL[SPARE_TOO, lane] = i32(first + texel_b) if is_b else i32(0)
    gather(atlas_N, whole_RL, SPARE, FETCHED)
    gather(atlas_N, whole_RL, SPARE_TOO, COLOR)
    for lane in range(NUM_LANES):
        is_plant = whole_RL[PENDING, lane] == i32(PACKED_CROSS)
        near_a = real_RL[SPARE_A, lane] if u32(whole_RL[FETCHED, lane]) >= OPAQUE_FROM else MISSED
        near_b = real_RL[SPARE_B, lane] if u32(whole_RL[COLOR, lane]) >= OPAQUE_FROM else MISSED
        is_b = (near_b > ZERO) & ((near_a < ZERO) | (near_b < near_a))
        near, address = near_b if is_b else near_a, whole_RL[SPARE_TOO, lane] if is_b else whole_RL[SPARE, lane]
        near = near if is_plant else real_RL[MET_DISTANCE, lane]
        light = ONE if is_plant else real_RL[MET_LIGHT, lane]
        address = address if is_plant else whole_RL[MET_ADDRESS, lane]
        real_RL[MET_DISTANCE, lane], real_RL[MET_LIGHT, lane], whole_RL[MET_ADDRESS, lane] = near, light, address


@inlined
def place_in_sixteenths(
    whole_RL: np.ndarray, real_RL: np.ndarray, lane: int, distance: Real
) -> tuple[Whole, Whole, Whole]:
    """Return in which sixteenths 0 .. 15 of its cell a lane is after `distance`."""
    sixteenth_x = i32((real_RL[START_X, lane] + real_RL[SLOPE_X, lane] * distance) * f32(TEXTURE_PX))
    sixteenth_y = i32((real_RL[START_Y, lane] + real_RL[SLOPE_Y, lane] * distance) * f32(TEXTURE_PX))
    sixteenth_z = i32((real_RL[START_Z, lane] + real_RL[SLOPE_Z, lane] * distance) * f32(TEXTURE_PX))
    sub_x = i32(i32(sixteenth_x ^ whole_RL[FLIP_X, lane]) & i32(TEXTURE_PX - 1))
    sub_y = i32(i32(sixteenth_y ^ whole_RL[FLIP_Y, lane]) & i32(TEXTURE_PX - 1))
    sub_z = i32(i32(sixteenth_z ^ whole_RL[FLIP_Z, lane]) & i32(TEXTURE_PX - 1))
    return sub_x, sub_y, sub_z


@inlined
def _meet_fluids(torus: Torus, view: View, block_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray) -> None:
    """Let the pending lanes that stand in a fluid meet its surface or its side."""
    for lane in range(NUM_LANES):
        x, y, z = whole_RL[CELL_X, lane], whole_RL[CELL_Y, lane], whole_RL[CELL_Z, lane]
        is_top = height_of(whole_RL, lane) == i32(WORLD_HEIGHT - 1)
        whole_RL[SPARE, lane] = i32(index_of(torus, whole_RL, lane, x, y, z) + (i32(0) if is_top else i32(1)))
    gather(block_N, whole_RL, SPARE, FETCHED)
    for lane in range(NUM_LANES):
        x, y, z = whole_RL[CELL_X, lane], whole_RL[CELL_Y, lane], whole_RL[CELL_Z, lane]
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        has_same_above = i32(i32(whole_RL[FETCHED, lane] ^ whole_RL[CELL, lane]) & i32(BLOCK_MASK)) == 0
        to_x = (f32(i32(x + i32(1))) - real_RL[START_X, lane]) * real_RL[INVERSE_X, lane]
        to_y = (f32(i32(y + i32(1))) - real_RL[START_Y, lane]) * real_RL[INVERSE_Y, lane]
        to_z = (f32(i32(z + i32(1))) - real_RL[START_Z, lane]) * real_RL[INVERSE_Z, lane]
        leave = min(to_x, min(to_y, to_z))
        _, oy, _ = _eye_from_cell(view, whole_RL, lane)
        distance, axis = _meet_fluid(has_same_above, real_RL[DISTANCE, lane], leave, whole_RL[AXIS, lane], oy, dy)
        sub_x, sub_y, sub_z = place_in_sixteenths(whole_RL, real_RL, lane, distance)
        texel = _texel_on_face(axis, sub_x, sub_y, sub_z, dx, dy, dz, distance * distance * view.texels)
        row = i32(i32(whole_RL[PACKED, lane] >> i32(PACKED_ROW)) & i32(MAX_TEXTURES - 1))
        address = i32(i32(row * i32(NUM_FACE_TEXELS)) + texel)
        distance = distance if distance < view.range_blocks else MISSED
        is_fluid = whole_RL[PENDING, lane] == i32(DRAW_FLUID)
        distance = distance if is_fluid else real_RL[MET_DISTANCE, lane]
        light = _face_light(axis, dy) if is_fluid else real_RL[MET_LIGHT, lane]
        address = address if is_fluid else whole_RL[MET_ADDRESS, lane]
        real_RL[MET_DISTANCE, lane], real_RL[MET_LIGHT, lane], whole_RL[MET_ADDRESS, lane] = distance, light, address


@numba.njit(**CPU_OPTIONS)
def _meet_elements_of_lane(
    view: View, looks: BlockLooks, atlas_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray, lane: int
) -> None:
    """Let a pending lane meet the elements of its cell."""
    ox, oy, oz = _eye_from_cell(view, whole_RL, lane)
    dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
    state = whole_RL[CELL, lane] & BLOCK_MASK
    distance, address, light = _meet_elements(looks, atlas_N, view.texels, state, ox, oy, oz, dx, dy, dz)
    if ZERO < distance < view.range_blocks:
        real_RL[MET_DISTANCE, lane], whole_RL[MET_ADDRESS, lane], real_RL[MET_LIGHT, lane] = distance, address, light


@inlined
def resolve(
    torus: Torus,
    view: View,
    looks: BlockLooks,
    block_N: np.ndarray,
    atlas_N: np.ndarray,
    whole_RL: np.ndarray,
    real_RL: np.ndarray,
) -> None:
    """Let the pending lanes meet what is in their cells: MET_DISTANCE, MET_ADDRESS, MET_LIGHT (of the face).

    Those that meet nothing step out of the cell.
    """
    num_plants, num_fluids, num_elements = i32(0), i32(0), i32(0)
    for lane in range(NUM_LANES):
        code = whole_RL[PENDING, lane]
        num_plants = i32(num_plants + i32(code == i32(PACKED_CROSS)))
        num_fluids = i32(num_fluids + i32(code == i32(DRAW_FLUID)))
        num_elements = i32(num_elements + i32(code == i32(DRAW_ELEMENTS)))
    if num_plants > 0:
        _meet_plants(view, atlas_N, whole_RL, real_RL)
    if num_fluids > 0:
        _meet_fluids(torus, view, block_N, whole_RL, real_RL)
    if num_elements > 0:
        for lane in range(NUM_LANES):
            if whole_RL[PENDING, lane] == DRAW_ELEMENTS:
                _meet_elements_of_lane(view, looks, atlas_N, whole_RL, real_RL, lane)
    for lane in range(NUM_LANES):
        is_passed = (whole_RL[PENDING, lane] != 0) & (real_RL[MET_DISTANCE, lane] < ZERO)
        leave_box(whole_RL, real_RL, lane, i32(is_passed), i32(is_passed))
