"""How every block state is drawn, as arrays: from the shapes of worlds.blocks and the rows of a texture set.

S block states, N elements. `packed_S8` holds what the fast renderer needs to know of a full cube in one number a face
(six, then two unused): the row of its texture, and from bit PACKED_LIGHT on the light that it gives off. For a state
that is no cube PACKED_SPECIAL is set, the low PACKED_ROW bits are its DRAW_* or PACKED_CROSS, and the row follows them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from worlds.blocks import NUM_STATES, STATES, build_block_tables
from worlds.blocks.shapes import cube_textures, draw_of, elements_of
from worlds.voxel.scene import (
    DRAW_CUBE,
    DRAW_ELEMENTS,
    DRAW_FLUID,
    ELEMENT_BOX,
    ELEMENT_DIAGONAL_A,
    ELEMENT_DIAGONAL_B,
    BlockLooks,
)

PACKED_ROW, PACKED_LIGHT, PACKED_SPECIAL = 4, 24, 1 << 30
PACKED_CROSS = 15  # two whole crossing planes that wear one texture: most plants
MAX_TEXTURES = 1 << (PACKED_LIGHT - PACKED_ROW)
NO_TEXTURE = -1
_WHOLE_CELL = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)


class ElementLook(NamedTuple):
    """A part of a state that does not fill its cell."""

    kind: int  # ELEMENT_*
    box: Sequence[float]  # x0, y0, z0, x1, y1, z1 in blocks inside the cell
    rows: Sequence[int]  # rows of the texture set, in the order of worlds.types.FACES, -1 not drawn


class StateLook(NamedTuple):
    """A block state."""

    draw: int  # DRAW_*
    rows: Sequence[int] = (0, 0, 0, 0, 0, 0)  # rows of the texture set, of the faces of a cube or fluid
    elements: Sequence[ElementLook] = ()
    emission: int = 0  # light level that it shows by itself


def pack_looks(looks: Sequence[StateLook]) -> BlockLooks:
    """Return the looks of all states as the arrays that renderers read."""
    draw_S = np.array([look.draw for look in looks], np.uint8)
    texture_S6 = np.array([look.rows for look in looks], np.int32)
    emission_S = np.array([look.emission for look in looks], np.uint8)
    assert 0 <= texture_S6.min() <= texture_S6.max() < MAX_TEXTURES
    assert all(len(set(look.rows)) == 1 for look in looks if look.draw == DRAW_FLUID), "a fluid wears one texture"
    count_S = np.array([len(look.elements) for look in looks], np.int32)
    elements = [_with_one_picture(element) for look in looks for element in look.elements]
    packed_S8 = np.zeros((len(looks), 8), np.int32)
    for state, look in enumerate(looks):
        packed_S8[state, :6] = _packed(look)
    return BlockLooks(
        draw_S=draw_S,
        texture_S6=texture_S6,
        element_start_S=(np.cumsum(count_S) - count_S).astype(np.int32),
        element_count_S=count_S,
        element_kind_N=np.array([element.kind for element in elements], np.uint8),
        element_box_N6=np.array([element.box for element in elements], np.float32).reshape(-1, 6),
        element_texture_N6=np.array([element.rows for element in elements], np.int32).reshape(-1, 6),
        emission_S=emission_S,
        packed_S8=packed_S8,
    )


def _with_one_picture(element: ElementLook) -> ElementLook:
    """Return a diagonal with the same row for all faces, boxes as they are."""
    if element.kind == ELEMENT_BOX:
        return element
    row = next((row for row in element.rows if row >= 0), NO_TEXTURE)
    return element._replace(rows=(row,) * 6)


def _cross_row(look: StateLook) -> int:
    """Return the row of the texture that two whole crossing planes wear; -1 for any other look."""
    if [element.kind for element in look.elements] != [ELEMENT_DIAGONAL_A, ELEMENT_DIAGONAL_B]:
        return NO_TEXTURE
    first, second = (_with_one_picture(element) for element in look.elements)
    is_whole = tuple(first.box) == tuple(second.box) == _WHOLE_CELL
    return first.rows[0] if is_whole and first.rows[0] == second.rows[0] else NO_TEXTURE


def _packed(look: StateLook) -> list[int]:
    """Return the numbers of packed_S8 for the six faces."""
    light = look.emission << PACKED_LIGHT
    if look.draw == DRAW_CUBE:
        return [light | row for row in look.rows]
    code, row = look.draw, look.rows[0] if look.draw == DRAW_FLUID else 0
    if look.draw == DRAW_ELEMENTS and _cross_row(look) != NO_TEXTURE:
        code, row = PACKED_CROSS, _cross_row(look)
    return [PACKED_SPECIAL | light | row << PACKED_ROW | code] * 6


def build_block_looks(texture_rows: Mapping[str, int]) -> BlockLooks:
    """Return the looks of all of worlds.blocks.STATES.

    Args:
        texture_rows: row of each texture of a set by its name, see worlds.textures.atlas.texture_rows.
    """
    emission_S = build_block_tables().emission_S
    return pack_looks([_state_look(state, int(emission_S[state]), texture_rows) for state in range(NUM_STATES)])


def _state_look(state_id: int, emission: int, texture_rows: Mapping[str, int]) -> StateLook:
    def row(name: str, absent: int) -> int:
        if name and name not in texture_rows:
            raise ValueError(
                f"worlds/textures: nothing draws {name!r}, which block {STATES[state_id].kind.name} wears; write "
                "its drawing, see worlds/blocks/README.md"
            )
        return texture_rows[name] if name else absent

    elements = [
        ElementLook(part.kind, part.box, [row(name, NO_TEXTURE) for name in part.textures])
        for part in elements_of(state_id)
    ]
    rows = [row(name, 0) for name in cube_textures(state_id)]
    return StateLook(draw_of(state_id), rows, elements, emission)
