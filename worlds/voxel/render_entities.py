"""Mobs, arrows and dropped items as rays meet them: boxes of a model, each turned in its own frame.

M entities, P parts. A part's frame takes a vector from the eye's world into the part's box: a 3 x 3 matrix and where
the eye is. Distances along a ray stay what they are, so blocks and boxes can be compared.
"""

import math

from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.voxel.field import LIGHT_SHIFT
from worlds.voxel.link import Kernel
from worlds.voxel.render_shapes import MISSED, meet_box, sixteenth
from worlds.voxel.render_view import WORLD_HEIGHT
from worlds.voxel.scene import JOINT_LEG_A, JOINT_LEG_B, JOINT_WING_A, JOINT_WING_B
from worlds.voxel.shading import (
    AXIS_X,
    AXIS_Y,
    LIGHT_BOTTOM,
    LIGHT_TOP,
    LIGHT_X,
    LIGHT_Z,
    ONE,
    OPAQUE_FROM,
    ZERO,
    f32,
    face_met,
    i32,
    light_of_level,
    steer,
    texel_on_face,
)

# Columns of entity_WMF, see worlds.voxel.scene.
MODEL, PLACE_X, PLACE_Y, PLACE_Z, YAW, PITCH, SWING, HURT, ENTITY_INSTANCE, SCALE = range(10)
THINNEST = f32(1.0 / 64.0)  # sides of a face are at least this, so that a flat box has a size of texels


def from_eye(place, cell, inside, size):  # type: ignore[no-untyped-def]
    """Return how far from the eye a wrapped coordinate is, by the shorter way round the torus."""
    gap = f32(place - f32(cell & (size - 1))) - inside
    half = f32(size // 2)
    return gap - f32(size) if gap > half else (gap + f32(size) if gap < -half else gap)


def entity_place(scene, view, world, m):  # type: ignore[no-untyped-def]
    """Return x, y, z of an entity's feet, seen from the eye."""
    _, size_x, size_z, _ = scene.block_WXZY.shape
    x = from_eye(scene.entity_WMF[world, m, PLACE_X], view.cell_x, view.px, size_x)
    y = f32(scene.entity_WMF[world, m, PLACE_Y] - f32(view.cell_y)) - view.py
    z = from_eye(scene.entity_WMF[world, m, PLACE_Z], view.cell_z, view.pz, size_z)
    return x, y, z


def entity_light(scene, view, world, m, middle):  # type: ignore[no-untyped-def]
    """Return the share of full light in the cell around the middle of an entity."""
    _, size_x, size_z, _ = scene.block_WXZY.shape
    x = i32(math.floor(scene.entity_WMF[world, m, PLACE_X])) & (size_x - 1)
    y = i32(math.floor(scene.entity_WMF[world, m, PLACE_Y] + middle))
    z = i32(math.floor(scene.entity_WMF[world, m, PLACE_Z])) & (size_z - 1)
    level = i32(view.sky_level)
    if 0 <= y < WORLD_HEIGHT:
        level = i32(scene.field_WXZY[world, x, z, y] >> LIGHT_SHIFT)
    return light_of_level(level)


def meet_sphere(x, y, z, radius, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Tell whether a ray from the eye may meet a sphere around x, y, z."""
    ahead = x * dx + y * dy + z * dz
    return (ahead > -radius) & (x * x + y * y + z * z - ahead * ahead <= radius * radius)


def part_frame(row_F, model_looks, part, x, y, z):  # type: ignore[no-untyped-def]
    """Return a part's frame: nine numbers of the matrix, row by row, then the eye's place in the part's box.

    `row_F` is the entity's row; x, y, z its feet seen from the eye.
    """
    yaw, pitch = math.radians(row_F[YAW]), math.radians(row_F[PITCH])
    joint, swing = model_looks.part_joint_P[part], row_F[SWING]
    sin_yaw, cos_yaw, sin_pitch, cos_pitch = math.sin(yaw), math.cos(yaw), math.sin(pitch), math.cos(pitch)
    shrink = ONE / row_F[SCALE]
    # Rows are the model's own axes in the world: x to its left, y up, z ahead.
    left_x, left_y, left_z = cos_yaw * shrink, ZERO * shrink, sin_yaw * shrink
    up_x, up_y, up_z = -sin_yaw * sin_pitch * shrink, cos_pitch * shrink, cos_yaw * sin_pitch * shrink
    on_x, on_y, on_z = -sin_yaw * cos_pitch * shrink, -sin_pitch * shrink, cos_yaw * cos_pitch * shrink
    eye_x = -(left_x * x + left_y * y + left_z * z) - model_looks.part_pivot_P3[part, 0]
    eye_y = -(up_x * x + up_y * y + up_z * z) - model_looks.part_pivot_P3[part, 1]
    eye_z = -(on_x * x + on_y * y + on_z * z) - model_looks.part_pivot_P3[part, 2]
    if joint == JOINT_LEG_B or joint == JOINT_WING_B:
        swing = -swing
    sin, cos = math.sin(swing), math.cos(swing)
    if joint == JOINT_LEG_A or joint == JOINT_LEG_B:
        up_x, on_x = up_x * cos + on_x * sin, on_x * cos - up_x * sin
        up_y, on_y = up_y * cos + on_y * sin, on_y * cos - up_y * sin
        up_z, on_z = up_z * cos + on_z * sin, on_z * cos - up_z * sin
        eye_y, eye_z = eye_y * cos + eye_z * sin, eye_z * cos - eye_y * sin
    if joint == JOINT_WING_A or joint == JOINT_WING_B:
        left_x, up_x = left_x * cos + up_x * sin, up_x * cos - left_x * sin
        left_y, up_y = left_y * cos + up_y * sin, up_y * cos - left_y * sin
        left_z, up_z = left_z * cos + up_z * sin, up_z * cos - left_z * sin
        eye_x, eye_y = eye_x * cos + eye_y * sin, eye_y * cos - eye_x * sin
    return (
        f32(left_x), f32(left_y), f32(left_z), f32(up_x), f32(up_y), f32(up_z), f32(on_x), f32(on_y), f32(on_z),
        f32(eye_x), f32(eye_y), f32(eye_z),
    )  # fmt: skip


def turned_light(x, y, z, scale):  # type: ignore[no-untyped-def]
    """Return the light on a face that looks along (x, y, z), a vector of length 1 / scale."""
    upwards = LIGHT_TOP if y > ZERO else LIGHT_BOTTOM
    return f32((x * x * LIGHT_X + y * y * upwards + z * z * LIGHT_Z) * scale * scale)


def share_of_side(place, low, high):  # type: ignore[no-untyped-def]
    """Return how far between `low` and `high` a place is, 0 .. 1."""
    return (place - low) / max(high - low, THINNEST)


def texels_of_face(axis, size_x, size_y, size_z, scale):  # type: ignore[no-untyped-def]
    """Return how many textures a block's face would hold if it were as dense as this face's stretched one."""
    x, y, z = max(size_x, THINNEST), max(size_y, THINNEST), max(size_z, THINNEST)
    area = y * z if axis == AXIS_X else (x * z if axis == AXIS_Y else x * y)
    return ONE / (area * scale * scale)


def meet_part(row_F, model_looks, part, atlas_N, texels, x, y, z, dx, dy, dz, nearest):  # type: ignore[no-untyped-def]
    """Return (distance, address of the texel, light of the face) where a ray meets a part before `nearest`."""
    left_x, left_y, left_z, up_x, up_y, up_z, on_x, on_y, on_z, eye_x, eye_y, eye_z = part_frame(
        row_F, model_looks, part, x, y, z
    )
    own_x = steer(left_x * dx + left_y * dy + left_z * dz)
    own_y = steer(up_x * dx + up_y * dy + up_z * dz)
    own_z = steer(on_x * dx + on_y * dy + on_z * dz)
    x0, x1 = model_looks.part_box_P6[part, 0], model_looks.part_box_P6[part, 3]
    y0, y1 = model_looks.part_box_P6[part, 1], model_looks.part_box_P6[part, 4]
    z0, z1 = model_looks.part_box_P6[part, 2], model_looks.part_box_P6[part, 5]
    distance, axis = meet_box(
        eye_x, eye_y, eye_z, ONE / own_x, ONE / own_y, ONE / own_z, x0, y0, z0, x1, y1, z1
    )  # fmt: skip
    if distance < ZERO or distance >= nearest:
        return MISSED, i32(0), ZERO
    scale = row_F[SCALE]
    sub_x = sixteenth(share_of_side(eye_x + own_x * distance, x0, x1))
    sub_y = sixteenth(share_of_side(eye_y + own_y * distance, y0, y1))
    sub_z = sixteenth(share_of_side(eye_z + own_z * distance, z0, z1))
    density = texels_of_face(axis, x1 - x0, y1 - y0, z1 - z0, scale)
    spread = distance * distance * texels * density
    texel = texel_on_face(
        axis, sub_x, sub_y, sub_z, own_x * scale, own_y * scale, own_z * scale, spread
    )  # fmt: skip
    row = model_looks.part_texture_P6[part, face_met(axis, own_x, own_y, own_z)]
    address = i32(row * NUM_FACE_TEXELS + texel)
    if row < 0 or atlas_N[address] < OPAQUE_FROM:
        return MISSED, i32(0), ZERO
    if axis == AXIS_X:
        side = ONE if own_x < ZERO else -ONE
        light = turned_light(side * left_x, side * left_y, side * left_z, scale)
    elif axis == AXIS_Y:
        side = ONE if own_y < ZERO else -ONE
        light = turned_light(side * up_x, side * up_y, side * up_z, scale)
    else:
        side = ONE if own_z < ZERO else -ONE
        light = turned_light(side * on_x, side * on_y, side * on_z, scale)
    return distance, address, light


def meet_entities(scene, model_looks, view, world, atlas_N, dx, dy, dz, nearest):  # type: ignore[no-untyped-def]
    """Return (row of the entity, distance, address, light) of the first entity before `nearest`; row -1 for none."""
    best, best_m, best_address, best_light = nearest, i32(-1), i32(0), ZERO
    for m in range(scene.num_entities_W[world]):
        row_F = scene.entity_WMF[world, m]
        model = int(row_F[MODEL])
        if model < 0:
            continue
        x, y, z = entity_place(scene, view, world, m)
        middle = model_looks.middle_K[model] * row_F[SCALE]
        if not meet_sphere(x, y + middle, z, model_looks.radius_K[model] * row_F[SCALE], dx, dy, dz):
            continue
        start = model_looks.part_start_K[model]
        for part in range(start, start + model_looks.part_count_K[model]):
            distance, address, light = meet_part(
                row_F, model_looks, part, atlas_N, view.texels, x, y, z, dx, dy, dz, best
            )
            if distance > ZERO:
                best, best_m, best_address, best_light = distance, i32(m), address, light
    if best_m >= 0:
        model = int(scene.entity_WMF[world, best_m, MODEL])
        middle = model_looks.middle_K[model] * scene.entity_WMF[world, best_m, SCALE]
        best_light *= entity_light(scene, view, world, best_m, middle)
    return best_m, best, best_address, best_light


LANE_SOURCES: tuple[Kernel, ...] = (share_of_side, texels_of_face)
SOURCES: tuple[Kernel, ...] = (
    from_eye, entity_place, entity_light, meet_sphere, part_frame, turned_light, meet_part, meet_entities,
)  # fmt: skip
