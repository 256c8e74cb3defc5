"""Hand-made scenes for the renderers: a few states of every kind, noise for textures, and a model of three boxes."""

from dataclasses import dataclass

import numpy as np

from worlds.spec import BLOCK_BITS
from worlds.textures.atlas import MIP_OFFSETS, NUM_FACE_TEXELS
from worlds.voxel.field import build_distance
from worlds.voxel.looks import ElementLook, StateLook, pack_looks
from worlds.voxel.scene import (
    DRAW_CUBE,
    DRAW_ELEMENTS,
    DRAW_FLUID,
    DRAW_NOTHING,
    DRAW_VOID,
    ELEMENT_BOX,
    ELEMENT_DIAGONAL_A,
    ELEMENT_DIAGONAL_B,
    JOINT_FIXED,
    JOINT_LEG_A,
    JOINT_WING_B,
    MAX_ENTITIES,
    NUM_ENTITY_COLUMNS,
    ModelLooks,
    Picture,
    Scene,
)

SIZE = 32
EYE = (16.5, 30.5, 16.5)
WHOLE = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)

# Rows of the texture set. Every face of "dice" has its own.
GREY, NOISE, HOLED, BLUE, RED, STRIPES, CORNERS, DICE = range(8)
NUM_TEXTURES = DICE + 6


def _same(row):
    return (row,) * 6


def _box(x0, y0, z0, x1, y1, z1, row):
    return ElementLook(ELEMENT_BOX, (x0, y0, z0, x1, y1, z1), _same(row))


_STATES = {
    "air": StateLook(DRAW_NOTHING),
    "stone": StateLook(DRAW_CUBE, _same(GREY)),
    "gold": StateLook(DRAW_CUBE, _same(NOISE)),
    "corners": StateLook(DRAW_CUBE, _same(CORNERS)),
    "dice": StateLook(DRAW_CUBE, tuple(range(DICE, DICE + 6))),
    "lamp": StateLook(DRAW_CUBE, _same(RED), emission=15),
    "stripes": StateLook(DRAW_CUBE, _same(STRIPES)),
    "water": StateLook(DRAW_FLUID, _same(BLUE)),
    "void": StateLook(DRAW_VOID),
    "nothing": StateLook(DRAW_NOTHING),
    "slab": StateLook(DRAW_ELEMENTS, elements=(_box(0, 0, 0, 1, 0.5, 1, NOISE),)),
    "dice_slab": StateLook(
        DRAW_ELEMENTS, elements=(ElementLook(ELEMENT_BOX, (0, 0, 0, 1, 0.5, 1), tuple(range(DICE, DICE + 6))),)
    ),
    "stairs": StateLook(DRAW_ELEMENTS, elements=(_box(0, 0, 0, 1, 0.5, 1, NOISE), _box(0.5, 0.5, 0, 1, 1, 1, STRIPES))),
    "fence": StateLook(
        DRAW_ELEMENTS,
        elements=(
            _box(0.375, 0, 0.375, 0.625, 1, 0.625, NOISE),
            _box(0, 0.75, 0.4375, 0.375, 0.9375, 0.5625, STRIPES),
            _box(0.625, 0.375, 0.4375, 1, 0.5625, 0.5625, STRIPES),
        ),
    ),
    "glass": StateLook(DRAW_ELEMENTS, elements=(_box(*WHOLE, HOLED),)),
    "pane": StateLook(
        DRAW_ELEMENTS,
        elements=(ElementLook(ELEMENT_BOX, (0, 0, 0.4375, 1, 1, 0.5625), (-1, -1, -1, -1, NOISE, NOISE)),),
    ),
    "carpet": StateLook(DRAW_ELEMENTS, elements=(_box(0, 0, 0, 1, 0.0625, 1, RED),)),
    "plant": StateLook(
        DRAW_ELEMENTS,
        elements=(
            ElementLook(ELEMENT_DIAGONAL_A, WHOLE, _same(HOLED)),
            ElementLook(ELEMENT_DIAGONAL_B, WHOLE, _same(HOLED)),
        ),
    ),
    "sprout": StateLook(
        DRAW_ELEMENTS,
        elements=(
            ElementLook(ELEMENT_DIAGONAL_A, (0.2, 0, 0.2, 0.8, 0.5, 0.8), _same(HOLED)),
            ElementLook(ELEMENT_DIAGONAL_B, (0.2, 0, 0.2, 0.8, 0.75, 0.8), _same(NOISE)),
        ),
    ),
    "diagonal": StateLook(DRAW_ELEMENTS, elements=(ElementLook(ELEMENT_DIAGONAL_A, WHOLE, _same(CORNERS)),)),
}
STATE = {name: index for index, name in enumerate(_STATES)}
LOOKS = pack_looks(list(_STATES.values()))
OPAQUE = {"stone", "gold", "corners", "dice", "lamp", "stripes"}

# A body with a leg and a wing; a thin arrow; a cube whose faces differ.
ANIMAL, ARROW, DICE_MODEL = range(3)
MODELS = ModelLooks(
    part_start_K=np.array([0, 3, 4], np.int32),
    part_count_K=np.array([3, 1, 1], np.int32),
    radius_K=np.array([1.3, 0.55, 0.9], np.float32),
    middle_K=np.array([0.7, 0.0, 0.5], np.float32),
    part_box_P6=np.array(
        [
            (-0.4, -0.3, -0.6, 0.4, 0.3, 0.6), (-0.1, -0.5, -0.1, 0.1, 0.0, 0.1), (0.0, -0.05, -0.3, 0.4, 0.05, 0.3),
            (-0.05, -0.05, -0.5, 0.05, 0.05, 0.0), (-0.5, 0.0, -0.5, 0.5, 1.0, 0.5),
        ],
        np.float32,
    ),
    part_pivot_P3=np.array([(0, 0.8, 0), (0.2, 0.5, 0.4), (0.4, 1.0, 0), (0, 0, 0), (0, 0, 0)], np.float32),
    part_joint_P=np.array([JOINT_FIXED, JOINT_LEG_A, JOINT_WING_B, JOINT_FIXED, JOINT_FIXED], np.uint8),
    part_texture_P6=np.array(
        [(NOISE,) * 6, (STRIPES,) * 6, (HOLED,) * 6, (RED,) * 6, tuple(range(DICE, DICE + 6))], np.int32
    ),
)  # fmt: skip


def textures(*, is_plain=False):
    """Return uint8 [T, 16, 16, 4]; `is_plain` makes all of them the same grey without holes."""
    image_THWC = np.full((NUM_TEXTURES, 16, 16, 4), (128, 128, 128, 255), np.uint8)
    if is_plain:
        return image_THWC
    rng = np.random.default_rng(7)
    image_THWC[NOISE, ..., :3] = rng.integers(0, 256, (16, 16, 3))
    image_THWC[HOLED, ..., :3] = (40, 200, 60)
    image_THWC[HOLED, ..., 3] = (rng.random((16, 16)) < 0.4) * 255
    image_THWC[BLUE, ..., :3] = (60, 90, 230)
    image_THWC[RED, ..., :3] = (230, 60, 40)
    image_THWC[STRIPES, ::2, :, :3] = 30
    image_THWC[CORNERS, ..., :3] = 0
    image_THWC[CORNERS, :8, :8, :3] = (255, 0, 0)  # upper left
    image_THWC[CORNERS, :8, 8:, :3] = (0, 255, 0)  # upper right
    image_THWC[CORNERS, 8:, :8, :3] = (0, 0, 255)  # lower left
    for face in range(6):
        image_THWC[DICE + face, ..., :3] = 40 * face + 20
    return image_THWC


def pack_atlas(image_THWC):
    """Return one texture set, uint32 [1, T * 341], each size the mean of the one above; holes by majority."""
    level_THWC, parts = image_THWC.astype(np.float64), []
    while True:
        parts.append(level_THWC.reshape(len(level_THWC), -1, 4))
        size = level_THWC.shape[1] // 2
        if size == 0:
            break
        level_THWC = level_THWC.reshape(-1, size, 2, size, 2, 4).mean(axis=(2, 4))
    texel_TNC = np.rint(np.concatenate(parts, axis=1)).astype(np.uint32)
    texel_TNC[..., 3] = np.where(texel_TNC[..., 3] < 100, 0, 255)
    assert texel_TNC.shape[1] == NUM_FACE_TEXELS == MIP_OFFSETS[-1] + 1
    packed_TN = texel_TNC[..., 0] | texel_TNC[..., 1] << 8 | texel_TNC[..., 2] << 16 | texel_TNC[..., 3] << 24
    return packed_TN.reshape(1, -1).astype(np.uint32)


ATLAS, PLAIN_ATLAS = pack_atlas(textures()), pack_atlas(textures(is_plain=True))


@dataclass
class Drawn:
    image: np.ndarray
    instance: np.ndarray
    depth: np.ndarray
    target: np.ndarray


def empty_world(size=SIZE):
    return np.zeros((size, size, 64), np.uint16)


def put(block_XZY, x, y, z, state="stone", slot=None):
    """Set a cell, as the object of a slot if one is given."""
    bits = 0 if slot is None else (slot + 1) << BLOCK_BITS
    block_XZY[x % block_XZY.shape[0], z % block_XZY.shape[1], y] = STATE[state] | bits


def look_row(
    fov=70.0, brightness=1.0, daylight=1.0, sun_angle=90.0, fog=1.0, rain=0.0, tint=(1.0, 1.0, 1.0), texture_set=0
):
    return np.array([fov, brightness, daylight, sun_angle, fog, rain, *tint, texture_set], np.float32)


def entity(model, x, y, z, yaw=0.0, pitch=0.0, swing=0.0, hurt=0.0, instance=1, scale=1.0):
    return (model, x, y, z, yaw, pitch, swing, hurt, instance, scale)


def make_scene(worlds, *, looks=None, entities=(), atlas=ATLAS, level=15):
    """Return the scene of worlds [X, Z, Y]: distances built, cells lit by `level` (one, or an array) if not opaque."""
    block_WXZY = np.stack(worlds)
    field_WXZY = np.empty(block_WXZY.shape, np.uint8)
    for block_XZY, field_XZY in zip(block_WXZY, field_WXZY, strict=True):
        build_distance(block_XZY, field_XZY)
    is_opaque_S = np.array([name in OPAQUE for name in STATE])
    level_WXZY = np.where(is_opaque_S[block_WXZY & 0xFFF], 0, level).astype(np.uint8)
    field_WXZY |= level_WXZY << 4
    num_worlds = len(worlds)
    entity_WMF = np.full((num_worlds, MAX_ENTITIES, NUM_ENTITY_COLUMNS), -1.0, np.float32)
    num_entities_W = np.zeros(num_worlds, np.int32)
    for world, rows in enumerate(entities):
        num_entities_W[world] = len(rows)
        entity_WMF[world, : len(rows)] = np.array(rows, np.float32).reshape(-1, NUM_ENTITY_COLUMNS)
    look_WL = np.stack(looks) if looks is not None else np.tile(look_row(), (num_worlds, 1))
    return Scene(block_WXZY, field_WXZY, look_WL, entity_WMF, num_entities_W, atlas)


def draw_scene(render, scene, eyes, *, px=(32, 32), range_blocks=16.0, target=0, has_depth=True):
    """Draw one view a world; more views than worlds go round."""
    eye_V5 = np.array(eyes, np.float64)
    num_views = len(eye_V5)
    drawn = Drawn(
        np.full((num_views, *px, 3), 77, np.uint8),
        np.full((num_views, *px), -1, np.int32),
        np.full((num_views, *px) if has_depth else (0, 0, 0), -1.0, np.float32),
        np.full((num_views, 7), -1.0, np.float32),
    )
    picture = Picture(drawn.image, drawn.instance, drawn.depth, drawn.target)
    world_index_V = np.arange(num_views) % len(scene.block_WXZY)
    target_V = np.full(num_views, target, np.int32)
    render(scene, LOOKS, MODELS, world_index_V, eye_V5, target_V, range_blocks, picture)
    return drawn


def draw(render, worlds, eyes, *, px=(32, 32), range_blocks=16.0, target=0, **options):
    """Draw views of worlds; further options are those of make_scene."""
    return draw_scene(render, make_scene(worlds, **options), eyes, px=px, range_blocks=range_blocks, target=target)
