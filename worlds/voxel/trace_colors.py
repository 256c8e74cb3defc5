"""From what the lanes have met to colours. L lanes, R rows of scratch, N flat cells or texels."""

import numpy as np

from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.voxel.field import LIGHT_SHIFT
from worlds.voxel.looks import MAX_TEXTURES, PACKED_LIGHT
from worlds.voxel.render import CPU_KERNELS
from worlds.voxel.render_view import WORLD_HEIGHT, View
from worlds.voxel.shading import AXIS_X, AXIS_Y, AXIS_Z, ZERO, i32, u32
from worlds.voxel.trace_lanes import (
    ADDRESS,
    AXIS,
    BASE_Y,
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
    FLIP_Y,
    INDEX,
    INSTANCE,
    LIGHT,
    MET_ADDRESS,
    MET_DISTANCE,
    MET_LIGHT,
    NUM_LANES,
    PACKED,
    SPARE,
    Torus,
    gather,
    index_of,
    inlined,
)
from worlds.voxel.trace_shapes import place_in_sixteenths

_texel_on_face, _shade = CPU_KERNELS["texel_on_face"], CPU_KERNELS["shade"]
_face_light, _light_of_level = CPU_KERNELS["face_light"], CPU_KERNELS["light_of_level"]
_instance_of = CPU_KERNELS["instance_of"]


@inlined
def _find_levels(torus: Torus, view: View, field_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray) -> None:
    """Set SPARE to the light levels: of the cell before the one that was met, of its own, or what it gives off."""
    num_met = i32(0)
    for lane in range(NUM_LANES):
        axis = whole_RL[AXIS, lane]
        x = i32(whole_RL[CELL_X, lane] - i32(axis == AXIS_X))
        y = i32(whole_RL[CELL_Y, lane] - i32(axis == AXIS_Y))
        z = i32(whole_RL[CELL_Z, lane] - i32(axis == AXIS_Z))
        whole_RL[SPARE, lane] = index_of(torus, whole_RL, lane, x, y, z)
        num_met = i32(num_met + i32(real_RL[MET_DISTANCE, lane] > ZERO))
    gather(field_N, whole_RL, SPARE, FETCHED)
    for lane in range(NUM_LANES):
        is_start = (whole_RL[CELL_X, lane] | whole_RL[CELL_Y, lane] | whole_RL[CELL_Z, lane]) == 0
        y = i32(whole_RL[CELL_Y, lane] - i32(whole_RL[AXIS, lane] == AXIS_Y))
        height = i32(whole_RL[BASE_Y, lane] + i32(y ^ whole_RL[FLIP_Y, lane]))
        front = i32(whole_RL[FETCHED, lane] >> i32(LIGHT_SHIFT))
        front = front if u32(height) < u32(WORLD_HEIGHT) else i32(view.sky_level)
        # The eye stands in the cell itself: nothing is before it.
        front = i32(0) if is_start else front
        whole_RL[SPARE, lane] = max(front, i32(i32(whole_RL[PACKED, lane] >> i32(PACKED_LIGHT)) & i32(15)))
    if num_met > 0:
        gather(field_N, whole_RL, INDEX, FETCHED)
        for lane in range(NUM_LANES):
            own = i32(whole_RL[FETCHED, lane] >> i32(LIGHT_SHIFT)) if real_RL[MET_DISTANCE, lane] > ZERO else i32(0)
            whole_RL[SPARE, lane] = max(whole_RL[SPARE, lane], own)


@inlined
def color(
    torus: Torus, view: View, field_N: np.ndarray, atlas_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray
) -> None:
    """Set COLOR, INSTANCE and DISTANCE from what the rays have met."""
    _find_levels(torus, view, field_N, whole_RL, real_RL)
    for lane in range(NUM_LANES):
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        axis, cell, distance = whole_RL[AXIS, lane], whole_RL[CELL, lane], real_RL[DISTANCE, lane]
        sub_x, sub_y, sub_z = place_in_sixteenths(whole_RL, real_RL, lane, distance)
        texel = _texel_on_face(axis, sub_x, sub_y, sub_z, dx, dy, dz, distance * distance * view.texels)
        row = i32(whole_RL[PACKED, lane] & i32(MAX_TEXTURES - 1))
        met, lit = real_RL[MET_DISTANCE, lane], _light_of_level(whole_RL[SPARE, lane])
        address = whole_RL[MET_ADDRESS, lane] if met > ZERO else i32(i32(row * i32(NUM_FACE_TEXELS)) + texel)
        light = real_RL[MET_LIGHT, lane] if met > ZERO else _face_light(axis, dy)
        distance = met if met > ZERO else distance
        whole_RL[ADDRESS, lane] = address if cell != 0 else i32(0)
        whole_RL[INSTANCE, lane] = _instance_of(cell) if cell != 0 else i32(0)
        real_RL[LIGHT, lane] = light * lit
        real_RL[DISTANCE, lane] = distance if cell != 0 else view.range_blocks
    gather(atlas_N, whole_RL, ADDRESS, FETCHED)
    for lane in range(NUM_LANES):
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        packed = _shade(
            view, u32(whole_RL[FETCHED, lane]), whole_RL[CELL, lane] != 0, real_RL[LIGHT, lane], view.tint_red,
            view.tint_green, view.tint_blue, real_RL[DISTANCE, lane], dx, dy, dz,
        )  # fmt: skip
        whole_RL[COLOR, lane] = i32(packed)
