"""How a block state looks and what its boxes are; state ids in, plain values out."""

from worlds.blocks.boxes import QUARTER, Box, collision_of, outline_of
from worlds.blocks.elements import Element, Six, elements_of, faces
from worlds.blocks.states import NUM_STATES, STATES
from worlds.types import FACE_DOWN, FACE_EAST, FACE_NORTH, FACE_SOUTH, FACE_UP, FACE_WEST
from worlds.voxel.scene import DRAW_CUBE, DRAW_ELEMENTS, DRAW_FLUID, DRAW_NOTHING, DRAW_VOID

__all__ = [
    "QUARTER", "Box", "Element", "block_texture_names", "collision_of", "cube_textures", "draw_of", "elements_of",
    "outline_of",
]  # fmt: skip

FACE_OF: dict[str, int] = {
    "west": FACE_WEST, "east": FACE_EAST, "down": FACE_DOWN, "up": FACE_UP, "north": FACE_NORTH, "south": FACE_SOUTH,
}  # fmt: skip
_OPPOSITE = (FACE_EAST, FACE_WEST, FACE_UP, FACE_DOWN, FACE_SOUTH, FACE_NORTH)


def draw_of(state_id: int) -> int:
    """Return how a state is drawn: DRAW_* of worlds.voxel.scene."""
    shape = STATES[state_id].kind.shape
    if shape == "air":
        return DRAW_NOTHING
    if shape == "void":
        return DRAW_VOID
    if shape == "fluid":
        return DRAW_FLUID
    return DRAW_ELEMENTS if elements_of(state_id) else DRAW_CUBE


def cube_textures(state_id: int) -> Six:
    """Return the textures of a cube's or fluid's faces in the order of worlds.types.FACES; "" for what is neither."""
    if draw_of(state_id) not in (DRAW_CUBE, DRAW_FLUID):
        return ("", "", "", "", "", "")
    state = STATES[state_id]
    side, top, bottom = state.kind.textures
    names = dict(state.properties)
    look = list(faces(side, top, bottom))
    if state.kind.shape == "column" and names["axis"] != "y":
        ends = (FACE_WEST, FACE_EAST) if names["axis"] == "x" else (FACE_NORTH, FACE_SOUTH)
        look = [top if face in ends else side for face in range(6)]
    elif state.kind.shape == "barrel":
        look = [side] * 6
        face = FACE_OF[names["facing"]]
        look[face] = state.kind.second if names["open"] == "true" else top
        look[_OPPOSITE[face]] = bottom
    elif state.kind.front:
        is_lit = names.get("lit") == "true"
        look[FACE_OF[names["facing"]]] = state.kind.second if is_lit else state.kind.front
    return (look[0], look[1], look[2], look[3], look[4], look[5])


def block_texture_names() -> set[str]:
    """Return the name of every texture that some block state shows."""
    names = {name for state_id in range(NUM_STATES) for name in cube_textures(state_id)}
    names |= {name for state_id in range(NUM_STATES) for part in elements_of(state_id) for name in part.textures}
    return names - {""}
