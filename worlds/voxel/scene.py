"""What the renderer reads, as tuples of arrays. W worlds, S block states, N elements, T textures, K models, P parts."""

from typing import NamedTuple

import numpy as np

# Columns of look_WL, float32: how a world is drawn.
LOOK_COLUMNS: tuple[str, ...] = (
    "fov_deg",  # vertical
    "brightness",  # multiplies every colour
    "daylight",  # 0 deep night .. 1 day: scales sky light and the sky's colour
    "sun_angle_deg",  # 0 sunrise in the east, 90 overhead, 180 sunset; the moon stands opposite
    "fog_density",  # 1 as designed; fog starts and ends nearer as it grows
    "rain",  # 0 clear .. 1 rain: greyer sky and light
    "tint_red",  # multiply the colours of the terrain: the palette
    "tint_green",
    "tint_blue",
    "texture_set",  # row of atlas_AN
)
NUM_LOOKS = len(LOOK_COLUMNS)

# Columns of entity_WMF, float32: a mob, arrow or dropped item as it is drawn.
ENTITY_COLUMNS: tuple[str, ...] = (
    "model",  # row of the model tables, -1 nothing here
    "x",  # feet, blocks, wrapped into the world
    "y",
    "z",
    "yaw_deg",
    "pitch_deg",  # of the whole body: arrows; 0 for mobs
    "swing_rad",  # angle of the legs
    "hurt",  # 1 drawn in red
    "instance",  # instance id of its pixels
    "scale",  # 1 as modelled
)
NUM_ENTITY_COLUMNS = len(ENTITY_COLUMNS)
MAX_ENTITIES = 40  # mobs, arrows and drops

# How a state is drawn.
DRAW_NOTHING, DRAW_CUBE, DRAW_ELEMENTS, DRAW_FLUID, DRAW_VOID = range(5)  # VOID stops the ray and shows the sky
ELEMENT_BOX, ELEMENT_DIAGONAL_A, ELEMENT_DIAGONAL_B = range(3)  # planes x = z and x = 1 - z, between y0 and y1
JOINT_FIXED, JOINT_LEG_A, JOINT_LEG_B, JOINT_WING_A, JOINT_WING_B = range(5)  # +swing, -swing about x; wings about z


class BlockLooks(NamedTuple):
    """How every block state is drawn. Faces are ordered as worlds.types.FACES."""

    draw_S: np.ndarray  # uint8 [S], DRAW_*
    texture_S6: np.ndarray  # int32 [S, 6], row of a texture set, of a cube's or fluid's faces; a fluid's are the same
    element_start_S: np.ndarray  # int32 [S]
    element_count_S: np.ndarray  # int32 [S]
    element_kind_N: np.ndarray  # uint8 [N], ELEMENT_*
    element_box_N6: np.ndarray  # float32 [N, 6] x0, y0, z0, x1, y1, z1 in blocks inside the cell
    element_texture_N6: np.ndarray  # int32 [N, 6], -1 this face is not drawn; the north one is that of a diagonal
    emission_S: np.ndarray  # uint8 [S], light 0 .. 15 that the state shows by itself
    packed_S8: np.ndarray  # int32 [S, 8], what the fast renderer needs of a face in one number, see worlds.voxel.looks


class ModelLooks(NamedTuple):
    """How mobs, arrows and items are drawn: boxes that turn about joints. A model looks along +z at yaw 0."""

    part_start_K: np.ndarray  # int32 [K]
    part_count_K: np.ndarray  # int32 [K]
    radius_K: np.ndarray  # float32 [K], of a sphere around the middle of the model that holds all parts in any pose
    middle_K: np.ndarray  # float32 [K], height of that sphere's centre above the feet
    part_box_P6: np.ndarray  # float32 [P, 6] x0, y0, z0, x1, y1, z1 in blocks, from the pivot
    part_pivot_P3: np.ndarray  # float32 [P, 3] from the feet
    part_joint_P: np.ndarray  # uint8 [P], JOINT_*
    part_texture_P6: np.ndarray  # int32 [P, 6], row of a texture set; the face's whole 16 x 16 picture is stretched


class Scene(NamedTuple):
    """W worlds as they stand at one moment."""

    block_WXZY: np.ndarray  # uint16 [W, X, Z, 64]
    field_WXZY: np.ndarray  # uint8 [W, X, Z, 64], see worlds.voxel.field
    look_WL: np.ndarray  # float32 [W, 10], LOOK_COLUMNS
    entity_WMF: np.ndarray  # float32 [W, 40, 10], ENTITY_COLUMNS
    num_entities_W: np.ndarray  # int32 [W], rows in use
    atlas_AN: np.ndarray  # uint32 [A, T * 341], texture sets, see worlds.textures.atlas; alpha in the highest byte


class Picture(NamedTuple):
    """What is written: V views. Empty (0, 0, 0) depth when none is wanted."""

    image_VHWC: np.ndarray  # uint8 [V, H, W, 3] RGB, row 0 the top
    instance_VHW: np.ndarray  # int32 [V, H, W]
    depth_VHW: np.ndarray  # float32 [V, H, W] blocks along the ray
    target_V7: np.ndarray  # float32 [V, 7], worlds.types.TARGET_LABELS
