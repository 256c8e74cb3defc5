"""The quads that every block state is drawn with, and which of its sides let nothing through.

S block states, Q quads of all states, N texels of one texture. A quad has four corners counter-clockwise seen from
outside. Textures lie on faces as worlds.voxel.shading puts them there: upright, and not mirrored seen from outside.
"""

import functools
from dataclasses import dataclass
from itertools import product

import numpy as np

from worlds.blocks import AIR
from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.textures.patterns import TEXTURE_PX
from worlds.types import FACE_DOWN, FACE_EAST, FACE_NORTH, FACE_SOUTH, FACE_UP, FACE_WEST, FACES
from worlds.voxel.render_view import FLUID_HEIGHT
from worlds.voxel.scene import (
    DRAW_CUBE,
    DRAW_ELEMENTS,
    DRAW_FLUID,
    DRAW_VOID,
    ELEMENT_BOX,
    ELEMENT_DIAGONAL_A,
    BlockLooks,
)
from worlds.voxel.shading import LIGHT_BOTTOM, LIGHT_TOP, LIGHT_X, LIGHT_Z

NUM_FACES = len(FACES)
NOT_FLUSH = -1  # of a quad that lies inside its cell: no neighbour hides it
_WHOLE = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
_OPAQUE_FROM = 128  # alpha
_NUM_TEXELS = 256  # of the full size, which come first
FACE_LIGHT: dict[int, float] = {
    FACE_WEST: float(LIGHT_X), FACE_EAST: float(LIGHT_X), FACE_DOWN: float(LIGHT_BOTTOM), FACE_UP: float(LIGHT_TOP),
    FACE_NORTH: float(LIGHT_Z), FACE_SOUTH: float(LIGHT_Z),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class MeshTable:
    """The quads of all states; those of state s are start_S[s] .. start_S[s] + count_S[s]."""

    start_S: np.ndarray  # int64 [S]
    count_S: np.ndarray  # int64 [S]
    deep_start_S: np.ndarray  # int64 [S], the same for a cell with its own fluid above; else as start_S
    deep_count_S: np.ndarray  # int64 [S]
    corner_Q43: np.ndarray  # float32 [Q, 4, 3], blocks from the corner of the cell
    uv_Q42: np.ndarray  # float32 [Q, 4, 2] in [0, 1] of the texture, from its upper left corner
    row_Q: np.ndarray  # int32 [Q], row of a texture set
    light_Q: np.ndarray  # float32 [Q], share of light by where the quad looks
    face_Q: np.ndarray  # int8 [Q], the side of the cell that the quad lies in, else NOT_FLUSH
    covers_S6: np.ndarray  # bool [S, 6], nothing is seen through this side of the state
    is_fluid_S: np.ndarray  # bool [S]
    is_cube_S: np.ndarray  # bool [S]
    has_inner_S: np.ndarray  # bool [S], some quad lies inside the cell


@dataclass(frozen=True, slots=True)
class _Quad:
    corner_43: np.ndarray
    uv_42: np.ndarray
    row: int
    light: float
    face: int


def build_mesh_table(looks: BlockLooks, atlas_N: np.ndarray) -> MeshTable:
    """Return the quads of every block state.

    Args:
        looks: how states are drawn.
        atlas_N: uint32 [T * 341] of the texture set, see worlds.textures.atlas; its holes decide what covers.
    """
    alpha_TN = (atlas_N.reshape(-1, NUM_FACE_TEXELS)[:, :_NUM_TEXELS] >> 24).astype(np.uint8)
    is_opaque_T = alpha_TN.min(axis=1) >= _OPAQUE_FROM
    num_states = len(looks.draw_S)

    def shown(state: int, *, has_same_above: bool) -> list[_Quad]:
        quads = _quads(looks, state, has_same_above=has_same_above)
        return [quad for quad in quads if looks.draw_S[state] != DRAW_ELEMENTS or _has_texels(quad, alpha_TN)]

    plain = [shown(state, has_same_above=False) for state in range(num_states)]
    deep = [
        shown(state, has_same_above=True) if looks.draw_S[state] == DRAW_FLUID else [] for state in range(num_states)
    ]
    quads = [quad for of_state in (*plain, *deep) for quad in of_state]
    count_S, deep_count_S = (np.array([len(of_state) for of_state in part], np.int64) for part in (plain, deep))
    start_S = np.cumsum(count_S) - count_S
    is_fluid_S = looks.draw_S == DRAW_FLUID
    deep_start_S = count_S.sum() + np.cumsum(deep_count_S) - deep_count_S
    return MeshTable(
        start_S=start_S,
        count_S=count_S,
        deep_start_S=np.where(is_fluid_S, deep_start_S, start_S),
        deep_count_S=np.where(is_fluid_S, deep_count_S, count_S),
        corner_Q43=np.array([quad.corner_43 for quad in quads], np.float32),
        uv_Q42=np.array([quad.uv_42 for quad in quads], np.float32),
        row_Q=np.array([quad.row for quad in quads], np.int32),
        light_Q=np.array([quad.light for quad in quads], np.float32),
        face_Q=np.array([quad.face for quad in quads], np.int8),
        covers_S6=np.array([_covers(looks, state, is_opaque_T) for state in range(num_states)]),
        is_fluid_S=is_fluid_S,
        is_cube_S=looks.draw_S == DRAW_CUBE,
        has_inner_S=np.array([any(quad.face == NOT_FLUSH for quad in of_state) for of_state in plain]),
    )


def _quads(looks: BlockLooks, state: int, *, has_same_above: bool) -> list[_Quad]:
    draw = looks.draw_S[state]
    if state == AIR:
        return []
    if draw == DRAW_CUBE:
        return [_box_quad(_WHOLE, face, int(looks.texture_S6[state, face])) for face in range(NUM_FACES)]
    if draw == DRAW_FLUID:
        height = 1.0 if has_same_above else float(FLUID_HEIGHT)
        body = (0.0, 0.0, 0.0, 1.0, height, 1.0)
        faces = [face for face in range(NUM_FACES) if not (face == FACE_UP and has_same_above)]
        return [_box_quad(body, face, int(looks.texture_S6[state, face])) for face in faces]
    if draw != DRAW_ELEMENTS:
        return []
    start = int(looks.element_start_S[state])
    elements = range(start, start + int(looks.element_count_S[state]))
    boxes = [_box(looks, n) for n in elements if looks.element_kind_N[n] == ELEMENT_BOX]
    quads: list[_Quad] = []
    for n in elements:
        box = _box(looks, n)
        if looks.element_kind_N[n] == ELEMENT_BOX:
            rows = looks.element_texture_N6[n].tolist()
            # What another box of the same state swallows, no ray meets.
            shown = [face for face in range(NUM_FACES) if rows[face] >= 0 and not _is_swallowed(box, face, boxes)]
            quads += [_box_quad(box, face, rows[face]) for face in shown]
        else:
            turn = 1 if looks.element_kind_N[n] == ELEMENT_DIAGONAL_A else -1
            quads += _diagonal_quads(box, turn, int(looks.element_texture_N6[n, FACE_NORTH]))
    return quads


def _has_texels(quad: _Quad, alpha_TN: np.ndarray) -> bool:
    """Tell whether anything but holes is on a quad: the edge of a thin plane may lie in an empty row."""
    first_2, last_2 = quad.uv_42.min(axis=0) * TEXTURE_PX, quad.uv_42.max(axis=0) * TEXTURE_PX
    (left, top), (right, bottom) = np.floor(first_2 + 1e-4).astype(int), np.ceil(last_2 - 1e-4).astype(int)
    alpha_HW = alpha_TN[quad.row].reshape(TEXTURE_PX, TEXTURE_PX)
    return bool((alpha_HW[top : max(bottom, top + 1), left : max(right, left + 1)] >= _OPAQUE_FROM).any())


def _box(looks: BlockLooks, n: int) -> tuple[float, ...]:
    return tuple(float(side) for side in looks.element_box_N6[n])


def _side(box: tuple[float, ...], face: int) -> tuple[int, float]:
    """Return the axis across a face and where the face lies on it."""
    axis = face // 2
    return axis, box[axis + 3 * (face % 2)]


def _is_swallowed(box: tuple[float, ...], face: int, boxes: list[tuple[float, ...]]) -> bool:
    """Tell whether another box lies against all of a face, on its outer side."""
    axis, place = _side(box, face)
    others = [a for a in range(3) if a != axis]
    for other in boxes:
        spans = all(other[a] <= box[a] and other[a + 3] >= box[a + 3] for a in others)
        is_beyond = other[axis] <= place < other[axis + 3] if face % 2 else other[axis] < place <= other[axis + 3]
        if other != box and spans and is_beyond:
            return True
    return False


def _box_quad(box: tuple[float, ...], face: int, row: int) -> _Quad:
    corner_43 = box_corners(box, face)
    _, place = _side(box, face)
    is_flush = place == face % 2
    return _Quad(corner_43, face_uv(corner_43, face), row, FACE_LIGHT[face], face if is_flush else NOT_FLUSH)


def box_corners(box: tuple[float, ...], face: int) -> np.ndarray:
    """Return the corners of a box's face, counter-clockwise seen from outside; float32 [4, 3]."""
    return np.array([[box[axis + 3 * bits[axis]] for axis in range(3)] for bits in _corner_bits(face)], np.float32)


@functools.cache
def _corner_bits(face: int) -> list[tuple[int, ...]]:
    """Return the four corners of a face as bits along x, y, z, counter-clockwise seen from outside."""
    axis, side = face // 2, face % 2
    first, second = (axis + 1) % 3, (axis + 2) % 3
    around = [(0, 0), (1, 0), (1, 1), (0, 1)] if side else [(0, 0), (0, 1), (1, 1), (1, 0)]
    return [tuple({axis: side, first: i, second: j}[a] for a in range(3)) for i, j in around]


def face_uv(corner_43: np.ndarray, face: int) -> np.ndarray:
    """Return where in its texture each corner of a face lies, see worlds.voxel.shading; float32 [4, 2]."""
    x, y, z = corner_43.T
    across, down = {
        FACE_WEST: (z, 1 - y), FACE_EAST: (1 - z, 1 - y), FACE_DOWN: (x, 1 - z), FACE_UP: (x, z),
        FACE_NORTH: (1 - x, 1 - y), FACE_SOUTH: (x, 1 - y),
    }[face]  # fmt: skip
    return np.stack([across, down], axis=1)


def _diagonal_quads(box: tuple[float, ...], turn: int, row: int) -> list[_Quad]:
    """Return both sides of the plane x = z (`turn` 1) or x = 1 - z (-1); on both the picture reads left to right."""
    x0, y0, _, x1, y1, _ = box
    quads = []
    for side in (1, -1):
        left, right = (x0, x1) if side == 1 else (x1, x0)
        points = [(left, y0), (right, y0), (right, y1), (left, y1)]
        corner_43 = np.array([(x, y, x if turn == 1 else 1 - x) for x, y in points], np.float32)
        across = corner_43[:, 0] if side == 1 else 1 - corner_43[:, 0]
        quads.append(_Quad(corner_43, np.stack([across, 1 - corner_43[:, 1]], axis=1), row, 1.0, NOT_FLUSH))
    return quads


def _covers(looks: BlockLooks, state: int, is_opaque_T: np.ndarray) -> list[bool]:
    """Tell for each side of a state whether no ray gets through it."""
    if looks.draw_S[state] in (DRAW_CUBE, DRAW_VOID):
        return [True] * NUM_FACES
    covers = [False] * NUM_FACES
    if looks.draw_S[state] != DRAW_ELEMENTS:
        return covers
    start = int(looks.element_start_S[state])
    for n, face in product(range(start, start + int(looks.element_count_S[state])), range(NUM_FACES)):
        rows, box = looks.element_texture_N6[n], _box(looks, n)
        axis, place = _side(box, face)
        is_whole = all(box[a] <= 0 and box[a + 3] >= 1 for a in range(3) if a != axis) and place == face % 2
        if looks.element_kind_N[n] == ELEMENT_BOX and is_whole and rows.min() >= 0 and is_opaque_T[rows].all():
            covers[face] = True
    return covers
