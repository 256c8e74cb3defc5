"""Mobs, arrows and items in the lanes: parts are listed once a view, then met by the tiles they may cover.

P parts, L lanes.

A part's row holds its frame, box, light and textures (see worlds.voxel.render_entities for what they mean), and the
tiles that it may touch.
"""

import math

import numba
import numpy as np

from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS
from worlds.voxel.render_entities import ENTITY_INSTANCE, HURT, MODEL, SCALE
from worlds.voxel.render_shapes import MISSED
from worlds.voxel.render_view import View
from worlds.voxel.scene import ModelLooks, Scene
from worlds.voxel.shading import AXIS_X, AXIS_Y, HALF, ONE, OPAQUE_FROM, ZERO, Real, Whole, f32, i32, u32
from worlds.voxel.trace_lanes import (
    ADDRESS,
    COLOR,
    DISTANCE,
    DX,
    DY,
    DZ,
    FETCHED,
    INSTANCE,
    LIGHT,
    NUM_LANES,
    PENDING,
    SPARE,
    SPARE_A,
    SPARE_B,
    TILE_HEIGHT_PX,
    TILE_WIDTH_PX,
    gather,
    inlined,
)

# Columns of a part's row. FRAME: nine numbers of the matrix, then the eye's place. Of faces: in the order of FACES.
FRAME, BOX, FACE_LIGHT, TEXTURE, DENSITY = 0, 12, 18, 24, 30
PART_SCALE, PART_HURT, PART_INSTANCE, FIRST_ROW, LAST_ROW, FIRST_COLUMN, LAST_COLUMN, NUM_PART_COLUMNS = range(33, 41)
NEAREST_CORNER = f32(0.02)  # blocks ahead of the eye: nearer ones have no place in the picture
ROUNDING_PX = f32(0.01)
FAR_OUT = f32(1e9)

_entity_place, _entity_light = CPU_KERNELS["entity_place"], CPU_KERNELS["entity_light"]
_part_frame, _turned_light = CPU_KERNELS["part_frame"], CPU_KERNELS["turned_light"]
_texels_of_face, _share_of_side = CPU_KERNELS["texels_of_face"], CPU_KERNELS["share_of_side"]
_meet_box, _sixteenth, _steer = CPU_KERNELS["meet_box"], CPU_KERNELS["sixteenth"], CPU_KERNELS["steer"]
_texel_on_face, _redden, _shade = CPU_KERNELS["texel_on_face"], CPU_KERNELS["redden"], CPU_KERNELS["shade"]


@numba.njit(**CPU_OPTIONS)
def num_parts_of(scene: Scene, model_looks: ModelLooks, world: int) -> int:
    """Return the number of parts of all entities of a world."""
    count = 0
    for m in range(scene.num_entities_W[world]):
        model = int(scene.entity_WMF[world, m, MODEL])
        if model >= 0:
            count += model_looks.part_count_K[model]
    return count


@numba.njit(**CPU_OPTIONS)
def list_parts(
    scene: Scene, model_looks: ModelLooks, view: View, world: int, height_px: int, width_px: int, part_PF: np.ndarray
) -> int:
    """Write the rows of the parts that may be seen; return their number."""
    count = 0
    for m in range(scene.num_entities_W[world]):
        row_F = scene.entity_WMF[world, m]
        model = int(row_F[MODEL])
        if model < 0:
            continue
        x, y, z = _entity_place(scene, view, world, m)
        scale = row_F[SCALE]
        middle, radius = model_looks.middle_K[model] * scale, model_looks.radius_K[model] * scale
        gap = math.sqrt(x * x + (y + middle) * (y + middle) + z * z)
        ahead = x * view.ahead_x + (y + middle) * view.ahead_y + z * view.ahead_z
        if gap - radius > view.range_blocks or ahead < -radius:
            continue
        light = _entity_light(scene, view, world, m, middle)
        start = model_looks.part_start_K[model]
        for part in range(start, start + model_looks.part_count_K[model]):
            frame = _part_frame(row_F, model_looks, part, x, y, z)
            box_6 = model_looks.part_box_P6[part]
            part_F = part_PF[count]
            if _place_on_picture(view, frame, box_6, scale, height_px, width_px, part_F):
                _dress(view, frame, box_6, model_looks.part_texture_P6[part], light, row_F, part_F)
                count += 1
    return count


@numba.njit(**CPU_OPTIONS)
def _place_on_picture(
    view: View,
    frame: tuple[Real, ...],
    box_6: np.ndarray,
    scale: Real,
    height_px: int,
    width_px: int,
    part_F: np.ndarray,
) -> bool:
    """Write the tiles that a part may touch, those of its corners; tell whether there are any."""
    half_width = f32(math.sqrt(view.right_x * view.right_x + view.right_z * view.right_z))
    half_height = f32(math.sqrt(view.up_x * view.up_x + view.up_y * view.up_y + view.up_z * view.up_z))
    back = scale * scale  # the matrix is a rotation divided by the scale
    low_x, high_x, low_y, high_y = FAR_OUT, -FAR_OUT, FAR_OUT, -FAR_OUT
    num_behind = 0
    for corner in range(8):
        # The corner as seen from the eye, in the part's frame, then in the world's.
        x = box_6[3 if corner & 1 else 0] - frame[9]
        y = box_6[4 if corner & 2 else 1] - frame[10]
        z = box_6[5 if corner & 4 else 2] - frame[11]
        at_x = (frame[0] * x + frame[3] * y + frame[6] * z) * back
        at_y = (frame[1] * x + frame[4] * y + frame[7] * z) * back
        at_z = (frame[2] * x + frame[5] * y + frame[8] * z) * back
        ahead = at_x * view.ahead_x + at_y * view.ahead_y + at_z * view.ahead_z
        if ahead < NEAREST_CORNER:
            num_behind += 1
            continue
        aside = (at_x * view.right_x + at_z * view.right_z) / (half_width * half_width * ahead)
        below = -(at_x * view.up_x + at_y * view.up_y + at_z * view.up_z) / (half_height * half_height * ahead)
        low_x, high_x = min(low_x, aside), max(high_x, aside)
        low_y, high_y = min(low_y, below), max(high_y, below)
    if num_behind == 8:
        return False
    if num_behind > 0:
        # It reaches behind the eye's plane: its picture may end anywhere.
        low_x, high_x, low_y, high_y = -ONE, ONE, -ONE, ONE
    first_column, last_column = _span(low_x, high_x, width_px, TILE_WIDTH_PX)
    first_row, last_row = _span(low_y, high_y, height_px, TILE_HEIGHT_PX)
    part_F[FIRST_ROW], part_F[LAST_ROW] = first_row, last_row
    part_F[FIRST_COLUMN], part_F[LAST_COLUMN] = first_column, last_column
    return first_column <= last_column and first_row <= last_row


@numba.njit(**CPU_OPTIONS)
def _span(low: Real, high: Real, side_px: int, tile_px: int) -> tuple[int, int]:
    """Return the first and last tile of what reaches from `low` to `high`, -1 .. 1 being the side of the picture."""
    low_px = (max(low, -ONE) + ONE) * HALF * f32(side_px) - ROUNDING_PX
    high_px = (min(high, ONE) + ONE) * HALF * f32(side_px) + ROUNDING_PX
    first, last = int(math.floor(low_px / f32(tile_px))), int(math.floor(high_px / f32(tile_px)))
    return max(first, 0), min(last, (side_px - 1) // tile_px)


@numba.njit(**CPU_OPTIONS)
def _dress(
    view: View,
    frame: tuple[Real, ...],
    box_6: np.ndarray,
    texture_6: np.ndarray,
    light: Real,
    row_F: np.ndarray,
    part_F: np.ndarray,
) -> None:
    """Write what a part looks like; `light` is that of the entity's cell."""
    scale = row_F[SCALE]
    for n in range(12):
        part_F[FRAME + n] = frame[n]
    for n in range(6):
        part_F[BOX + n] = box_6[n]
        part_F[TEXTURE + n] = texture_6[n]
    size_x, size_y, size_z = box_6[3] - box_6[0], box_6[4] - box_6[1], box_6[5] - box_6[2]
    for axis in range(3):
        x, y, z = part_F[FRAME + 3 * axis], part_F[FRAME + 3 * axis + 1], part_F[FRAME + 3 * axis + 2]
        part_F[FACE_LIGHT + 2 * axis] = _turned_light(-x, -y, -z, scale) * light
        part_F[FACE_LIGHT + 2 * axis + 1] = _turned_light(x, y, z, scale) * light
        part_F[DENSITY + axis] = _texels_of_face(axis, size_x, size_y, size_z, scale) * view.texels
    part_F[PART_SCALE], part_F[PART_HURT], part_F[PART_INSTANCE] = scale, row_F[HURT], row_F[ENTITY_INSTANCE]


@inlined
def _by_face(
    value_6: tuple[Real, Real, Real, Real, Real, Real], axis: Whole, own_x: Real, own_y: Real, own_z: Real
) -> Real:
    """Return the value for the face across `axis` that a ray along (own_x, own_y, own_z) meets."""
    value_x = value_6[0] if own_x > ZERO else value_6[1]
    value_y = value_6[2] if own_y > ZERO else value_6[3]
    value_z = value_6[4] if own_z > ZERO else value_6[5]
    return value_x if axis == AXIS_X else (value_y if axis == AXIS_Y else value_z)


@inlined
def _six(part_F: np.ndarray, column: int) -> tuple[Real, Real, Real, Real, Real, Real]:
    """Return six numbers of a part's row, out of memory: LLVM cannot prove that a loop over lanes leaves them alone."""
    return (
        part_F[column], part_F[column + 1], part_F[column + 2], part_F[column + 3], part_F[column + 4],
        part_F[column + 5],
    )  # fmt: skip


@inlined
def _meet_part(part_F: np.ndarray, atlas_N: np.ndarray, whole_RL: np.ndarray, real_RL: np.ndarray) -> None:
    """Let a part cover the lanes that meet it before what they have met so far: see cover."""
    left_x, left_y, left_z, up_x, up_y, up_z = _six(part_F, FRAME)
    on_x, on_y, on_z, eye_x, eye_y, eye_z = _six(part_F, FRAME + 6)
    x0, y0, z0, x1, y1, z1 = _six(part_F, BOX)
    texture_6, light_6 = _six(part_F, TEXTURE), _six(part_F, FACE_LIGHT)
    density_x, density_y, density_z, scale, hurt, instance = _six(part_F, DENSITY)
    num_met = i32(0)
    for lane in range(NUM_LANES):
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        own_x = _steer(left_x * dx + left_y * dy + left_z * dz)
        own_y = _steer(up_x * dx + up_y * dy + up_z * dz)
        own_z = _steer(on_x * dx + on_y * dy + on_z * dz)
        distance, _ = _meet_box(
            eye_x, eye_y, eye_z, ONE / own_x, ONE / own_y, ONE / own_z, x0, y0, z0, x1, y1, z1
        )  # fmt: skip
        num_met = i32(num_met + i32((distance > ZERO) & (distance < real_RL[DISTANCE, lane])))
    if num_met == 0:
        return
    for lane in range(NUM_LANES):
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        own_x = _steer(left_x * dx + left_y * dy + left_z * dz)
        own_y = _steer(up_x * dx + up_y * dy + up_z * dz)
        own_z = _steer(on_x * dx + on_y * dy + on_z * dz)
        distance, axis = _meet_box(
            eye_x, eye_y, eye_z, ONE / own_x, ONE / own_y, ONE / own_z, x0, y0, z0, x1, y1, z1
        )  # fmt: skip
        sub_x = _sixteenth(_share_of_side(eye_x + own_x * distance, x0, x1))
        sub_y = _sixteenth(_share_of_side(eye_y + own_y * distance, y0, y1))
        sub_z = _sixteenth(_share_of_side(eye_z + own_z * distance, z0, z1))
        density = density_x if axis == AXIS_X else (density_y if axis == AXIS_Y else density_z)
        texel = _texel_on_face(
            axis, sub_x, sub_y, sub_z, own_x * scale, own_y * scale, own_z * scale, distance * distance * density
        )  # fmt: skip
        row = i32(_by_face(texture_6, axis, own_x, own_y, own_z))
        is_met = (distance > ZERO) & (distance < real_RL[DISTANCE, lane]) & (row >= i32(0))
        whole_RL[SPARE, lane] = i32(i32(row * i32(NUM_FACE_TEXELS)) + texel) if is_met else i32(0)
        real_RL[SPARE_A, lane] = distance if is_met else MISSED
        real_RL[SPARE_B, lane] = _by_face(light_6, axis, own_x, own_y, own_z)
    gather(atlas_N, whole_RL, SPARE, FETCHED)
    instance_id = i32(instance)
    for lane in range(NUM_LANES):
        texel = u32(whole_RL[FETCHED, lane])
        is_seen = (real_RL[SPARE_A, lane] > ZERO) & (texel >= OPAQUE_FROM)
        distance = real_RL[SPARE_A, lane] if is_seen else real_RL[DISTANCE, lane]
        light = real_RL[SPARE_B, lane] if is_seen else real_RL[LIGHT, lane]
        packed = i32(_redden(texel, hurt)) if is_seen else whole_RL[ADDRESS, lane]
        own_instance = instance_id if is_seen else whole_RL[INSTANCE, lane]
        is_covered = i32(1) if is_seen else whole_RL[PENDING, lane]
        real_RL[DISTANCE, lane], real_RL[LIGHT, lane] = distance, light
        whole_RL[ADDRESS, lane], whole_RL[INSTANCE, lane], whole_RL[PENDING, lane] = packed, own_instance, is_covered


@inlined
def cover(
    view: View,
    part_PF: np.ndarray,
    index_P: np.ndarray,
    num_parts: int,
    tile: int,
    atlas_N: np.ndarray,
    whole_RL: np.ndarray,
    real_RL: np.ndarray,
) -> None:
    """Draw parts over the finished lanes of a tile: DISTANCE, INSTANCE and COLOR change where one is nearer.

    `index_P` holds the rows of the parts that may touch the tile's row; `tile` is its column.
    """
    num_tried = 0
    for n in range(num_parts):
        part_F = part_PF[index_P[n]]
        if part_F[FIRST_COLUMN] <= tile <= part_F[LAST_COLUMN]:
            if num_tried == 0:
                for lane in range(NUM_LANES):
                    whole_RL[PENDING, lane] = 0
            num_tried += 1
            _meet_part(part_F, atlas_N, whole_RL, real_RL)
    if num_tried == 0:
        return
    num_covered = i32(0)
    for lane in range(NUM_LANES):
        num_covered = i32(num_covered + whole_RL[PENDING, lane])
    if num_covered == 0:
        return
    for lane in range(NUM_LANES):
        dx, dy, dz = real_RL[DX, lane], real_RL[DY, lane], real_RL[DZ, lane]
        packed = _shade(
            view, u32(whole_RL[ADDRESS, lane]), True, real_RL[LIGHT, lane], view.hue_red, view.hue_green, view.hue_blue,
            real_RL[DISTANCE, lane], dx, dy, dz,
        )  # fmt: skip
        whole_RL[COLOR, lane] = i32(packed) if whole_RL[PENDING, lane] != 0 else whole_RL[COLOR, lane]
