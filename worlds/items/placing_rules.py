"""Which block state an item becomes where it is placed, by Minecraft's rules.

The floor of plants, doors, rails ... is not asked for here: worlds.voxel.placing looks at the cell below. Simplified: a
door's hinge is always left, slabs do not join to double ones, nothing hangs from a ceiling, and lily pads and seagrass
cannot be placed, as the pointer passes through water.
"""

from collections.abc import Callable

from worlds.blocks.kinds import BlockKind
from worlds.blocks.states import BLOCK_ID, BLOCKS, state_of
from worlds.types import FACE_DOWN, FACE_UP, FACES

# Where the player looks in each quadrant: yaw 0 is south, then clockwise.
QUADRANTS: tuple[str, ...] = ("south", "west", "north", "east")
_OPPOSITE = {"south": "north", "north": "south", "west": "east", "east": "west"}
_CLOCKWISE = {"north": "east", "east": "south", "south": "west", "west": "north"}
CANNOT = -1

Rule = Callable[[str, str, int, bool], int]  # kind's name, player's direction, face, upper half -> state id or CANNOT


def _is_side(face: int) -> bool:
    return face not in (FACE_UP, FACE_DOWN)


def _place_default(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return BLOCK_ID[name]


def _never(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return CANNOT


def _along_axis(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, axis="y" if not _is_side(face) else "x" if FACES[face] in ("west", "east") else "z")


def _facing_player(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, facing=_OPPOSITE[direction])


def _facing_away(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, facing=direction)


def _facing_across(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, facing=_CLOCKWISE[direction])


def _barrel(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    """A barrel faces the player; who clicks a floor looks down, who clicks a ceiling looks up."""
    return state_of(name, facing=_OPPOSITE[direction] if _is_side(face) else FACES[face])


def _half(face: int, is_upper_half: bool) -> str:
    return "top" if face == FACE_DOWN or (_is_side(face) and is_upper_half) else "bottom"


def _slab(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, type=_half(face, is_upper_half))


def _stairs(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, facing=direction, half=_half(face, is_upper_half))


def _trapdoor(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    facing = FACES[face] if _is_side(face) else _OPPOSITE[direction]
    return state_of(name, facing=facing, half=_half(face, is_upper_half))


def _on_wall(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return state_of(name, facing=FACES[face]) if _is_side(face) else CANNOT


def _on_wall_or_floor(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    return CANNOT if face == FACE_DOWN else state_of(name, facing=FACES[face])


def _torch(name: str, direction: str, face: int, is_upper_half: bool) -> int:
    if face == FACE_DOWN:
        return CANNOT
    return state_of(f"wall_{name}", facing=FACES[face]) if _is_side(face) else state_of(name)


_RULES: dict[str, Rule] = {
    "column": _along_axis, "front": _facing_player, "furnace": _facing_player, "chest": _facing_player,
    "anvil": _facing_across, "barrel": _barrel, "slab": _slab, "stairs": _stairs, "trapdoor": _trapdoor,
    "gate": _facing_away, "door": _facing_away, "bed": _facing_away, "ladder": _on_wall, "vine": _on_wall,
    "lever": _on_wall_or_floor, "button": _on_wall_or_floor, "torch": _torch, "lily_pad": _never,
}  # fmt: skip


def placed_state(kind: BlockKind, quadrant: int, face: int, is_upper_half: bool) -> int:
    """Return the state id that an item of `kind` becomes, CANNOT where it cannot be placed.

    Args:
        kind: of the block.
        quadrant: the player's direction, an index into QUADRANTS.
        face: face of the clicked block, an index into worlds.types.FACES.
        is_upper_half: whether the upper half of a side face was clicked.
    """
    if kind.name == "seagrass":
        return CANNOT
    rule = _RULES.get(kind.shape, _place_default)
    return rule(kind.name, QUADRANTS[quadrant], face, is_upper_half)


def placed_states(kind_name: str) -> list[list[list[int]]]:
    """Return the states of a kind by quadrant [4], face [6] and half [2]."""
    kind = BLOCKS[BLOCK_ID[kind_name]]
    return [
        [[placed_state(kind, quadrant, face, is_upper) for is_upper in (False, True)] for face in range(len(FACES))]
        for quadrant in range(len(QUADRANTS))
    ]
