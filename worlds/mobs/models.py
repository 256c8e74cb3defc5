"""Models of everything that moves: mobs, arrows, items on the ground. K models, P parts.

The order is fixed: model k is mob kind k, then the arrow, then item i at ITEM_MODEL_START + i.
"""

from collections.abc import Iterator

import numpy as np

from worlds.blocks import BLOCK_ID
from worlds.blocks.shapes import cube_textures, draw_of, elements_of
from worlds.items import ITEMS, ItemKind
from worlds.mobs.anatomy import Anatomy, Part, part
from worlds.mobs.animals import ANIMALS
from worlds.mobs.kinds import MOBS, NUM_MOB_KINDS
from worlds.mobs.monsters import MONSTERS
from worlds.voxel.scene import DRAW_CUBE, ELEMENT_BOX, JOINT_FIXED, ModelLooks

ARROW_MODEL = NUM_MOB_KINDS
ITEM_MODEL_START = ARROW_MODEL + 1
NUM_MODELS = ITEM_MODEL_START + len(ITEMS)

ANATOMIES: dict[str, Anatomy] = {**ANIMALS, **MONSTERS}
# An arrow flies along +z, its tip at the origin.
ARROW = Anatomy(
    parts=(
        part((-0.4, -0.4, -11, 0.4, 0.4, -1.5), "arrow_shaft"),
        part((-0.9, -0.9, -1.8, 0.9, 0.9, 0), "arrow_tip"),
        part((-1.6, -0.1, -12, 1.6, 0.1, -8.5), "arrow_feather"),
        part((-0.1, -1.6, -12, 0.1, 1.6, -8.5), "arrow_feather"),
    )
)

_PIXEL_BLOCKS = 1.0 / 16.0
NO_TEXTURE = -1
# An item on the ground is drawn at a quarter of its size; a flat one is twice as large as a block, as in the game.
_SPRITE_PX = 30.0


def build_model_looks(texture_row: dict[str, int]) -> ModelLooks:
    """Return all models as arrays; a face without a picture has texture -1 and is not drawn.

    Args:
        texture_row: row of a texture set by texture name, see worlds.textures.atlas.texture_rows.
    """
    anatomies = [*(ANATOMIES[kind.name] for kind in MOBS), ARROW, *(_item_anatomy(item) for item in ITEMS)]
    parts_KP = [anatomy.parts for anatomy in anatomies]
    count_K = np.array([len(parts) for parts in parts_KP], np.int32)
    scale_P = np.repeat([anatomy.scale * _PIXEL_BLOCKS for anatomy in anatomies], count_K)[:, None]
    pieces = [piece for parts in parts_KP for piece in parts]
    pivot_P3 = np.array([piece.pivot for piece in pieces]) * scale_P
    box_P6 = np.array([piece.box for piece in pieces]) * scale_P - np.tile(pivot_P3, 2)
    spheres_K2 = np.array([_sphere(anatomy) for anatomy in anatomies])
    return ModelLooks(
        part_start_K=np.concatenate([[0], np.cumsum(count_K)[:-1]]).astype(np.int32),
        part_count_K=count_K,
        radius_K=spheres_K2[:, 1].astype(np.float32),
        middle_K=spheres_K2[:, 0].astype(np.float32),
        part_box_P6=box_P6.astype(np.float32),
        part_pivot_P3=pivot_P3.astype(np.float32),
        part_joint_P=np.array([piece.joint for piece in pieces], np.uint8),
        part_texture_P6=np.array(
            [[_row_of(name, texture_row) for name in piece.textures] for piece in pieces], np.int32
        ),
    )


def model_texture_names() -> set[str]:
    """Return the name of every texture that some mob or the arrow wears."""
    anatomies = (*(ANATOMIES[kind.name] for kind in MOBS), ARROW)
    return {name for anatomy in anatomies for piece in anatomy.parts for name in piece.textures} - {""}


def _row_of(name: str, texture_row: dict[str, int]) -> int:
    if not name:
        return NO_TEXTURE
    if name not in texture_row:
        raise ValueError(f"models: the texture set has no {name!r}; draw it in worlds/mobs/skins.py or worlds/textures")
    return texture_row[name]


def _item_anatomy(item: ItemKind) -> Anatomy:
    """Return an item as it lies on the ground, a block wide: its block, or its picture as an upright sheet."""
    return Anatomy(parts=(_sheet(item.sprite),) if item.sprite else tuple(_block_parts(item.block)))


def _sheet(texture: str) -> Part:
    half = _SPRITE_PX / 2
    return Part(box=(-half, 0, 0, half, _SPRITE_PX, 0), textures=("", "", "", "", texture, texture))


def _block_parts(kind: str) -> Iterator[Part]:
    """Yield the boxes of a block's default state, centred over the origin."""
    state = BLOCK_ID[kind]
    if draw_of(state) == DRAW_CUBE:
        yield Part(box=(-8, 0, -8, 8, 16, 8), textures=cube_textures(state))
        return
    for element in elements_of(state):
        if element.kind == ELEMENT_BOX:
            x0, y0, z0, x1, y1, z1 = (16 * side for side in element.box)
            yield Part(box=(x0 - 8, y0, z0 - 8, x1 - 8, y1, z1 - 8), textures=element.textures)


def _sphere(anatomy: Anatomy) -> tuple[float, float]:
    """Return (height of the centre, radius) in blocks of a sphere that holds every part however it has turned.

    A part that turns about its pivot stays within its farthest corner's distance of it.
    """
    if not anatomy.parts:
        return 0.0, 0.0
    boxes_P6 = np.array([piece.box for piece in anatomy.parts], float)
    middle = (boxes_P6[:, 1].min() + boxes_P6[:, 4].max()) / 2
    radius = 0.0
    for piece in anatomy.parts:
        corners = np.array([[piece.box[3 * i + j] for j in range(3)] for i in range(2)], float)
        around = np.array(piece.pivot if piece.joint != JOINT_FIXED else (0.0, middle, 0.0), float)
        reach = np.linalg.norm(np.abs(corners - around).max(axis=0))
        radius = max(radius, float(reach + np.linalg.norm(around - (0.0, middle, 0.0))))
    scale = anatomy.scale * _PIXEL_BLOCKS
    return float(middle * scale), radius * scale
