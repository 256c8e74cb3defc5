"""How states that do not fill their cell are drawn: boxes and diagonal planes with a texture for each face.

A face shows the texels at its own position in the cell. Simplified against the game: doors wear the same picture
whatever their hinge; beds, chests' lids, lanterns and torches on walls are built of boxes in textures of other blocks;
what leans in the game (torches on walls, levers) is made of upright boxes; lying logs keep the grain of standing ones.
"""

from typing import NamedTuple

from worlds.blocks.boxes import (
    FULL_BOX,
    LINK_EAST,
    LINK_NORTH,
    LINK_SOUTH,
    LINK_WEST,
    QUARTER,
    Box,
    collision_of,
    px,
    turned,
)
from worlds.blocks.states import STATES, BlockState
from worlds.voxel.scene import ELEMENT_BOX, ELEMENT_DIAGONAL_A, ELEMENT_DIAGONAL_B

Six = tuple[str, str, str, str, str, str]
_THIN_PX = 0.1  # planes get this thickness
_TURN = (5, 4, 2, 3, 0, 1)  # after a quarter turn face i shows what face _TURN[i] showed: west shows south


class Element(NamedTuple):
    """One part of a block."""

    kind: int  # ELEMENT_*
    box: Box  # in blocks, inside the cell
    textures: Six  # in the order of worlds.types.FACES, "" a face that is not drawn


def faces(side: str, top: str | None = None, bottom: str | None = None, *, north: str | None = None) -> Six:
    """Return six textures: `top` is the side's unless given, `bottom` the top's, north the side's."""
    top = side if top is None else top
    bottom = top if bottom is None else bottom
    return (side, side, bottom, top, side if north is None else north, side)


def _turn(element: Element, quarters: int) -> Element:
    """Return the element turned clockwise about the middle of its cell, seen from above."""
    textures = element.textures
    for _ in range(quarters % 4):
        textures = tuple(textures[face] for face in _TURN)  # type: ignore[assignment]
    return Element(element.kind, turned(element.box, quarters), textures)


def _box(box: Box, textures: Six) -> Element:
    return Element(ELEMENT_BOX, box, textures)


def elements_of(state_id: int) -> tuple[Element, ...]:
    """Return the parts of a state that is drawn as elements, else an empty tuple."""
    state = STATES[state_id]
    side, top, bottom = state.kind.textures
    match state.kind.shape:
        case "cross" | "tall_cross":
            return _cross(state)
        case "crop":
            return _crop(side)
        case "glass":
            return (_box(FULL_BOX, faces(side, top, bottom)),)
        case "fence":
            return _fence(int(state.get("links")), side)
        case "pane":
            return _pane(int(state.get("links")), side, top)
        case "torch" | "wall_torch" | "lever" | "button" | "lantern":
            return _fixture(state)
        case "chest" | "bed":
            return _furniture(state)
        case "cactus":
            return (_box(px(1, 0, 1, 15, 16, 15), faces(side, top, bottom)),)
        case "plate":
            return (_box(px(1, 0, 1, 15, 1, 15), faces(side)),)
        case "portal":
            plane = _box(px(0, 0, 6, 16, 16, 10), faces(side))
            return (_turn(plane, 0 if state.get("axis") == "x" else 1),)
        case "snow":
            layers = int(state.get("layers"))
            return (_box(px(0, 0, 0, 16, 2 * layers, 16), faces(side)),) if layers < 8 else ()
        case "rail" | "lily_pad":
            return (_box(px(0, 0.5, 0, 16, 0.5 + _THIN_PX, 16), faces("", side)),)
        case "gate":
            return _gate(state.get("open") == "true", side, QUARTER[state.get("facing")])
        case "ladder" | "vine":
            plane = _box(px(0, 0, 15.2, 16, 16, 15.2 + _THIN_PX), ("", "", "", "", side, side))
            return (_turn(plane, QUARTER[state.get("facing")]),)
        case "door":
            is_upper = state.get("half") == "upper"
            look = state.kind.second if is_upper else side
            return (_box(collision_of(state_id)[0], faces(look, look if is_upper else "", "" if is_upper else look)),)
        case "slab":
            return tuple(_box(box, faces(side, top, bottom)) for box in collision_of(state_id) if box != FULL_BOX)
        case "stairs" | "trapdoor" | "carpet" | "low" | "table" | "cake" | "anvil" | "cauldron":
            return tuple(_box(box, faces(side, top, bottom)) for box in collision_of(state_id))
    return ()


def _cross(state: BlockState) -> tuple[Element, ...]:
    """Return two crossing planes; an upper sunflower has its disc besides."""
    kind = state.kind
    is_upper = kind.shape == "tall_cross" and state.get("half") == "upper"
    look = faces(kind.second if is_upper else kind.textures[0])
    planes = (Element(ELEMENT_DIAGONAL_A, FULL_BOX, look), Element(ELEMENT_DIAGONAL_B, FULL_BOX, look))
    if is_upper and kind.front:
        disc = _box(px(9, 0, 0, 9 + _THIN_PX, 16, 16), (kind.front, kind.front, "", "", "", ""))
        return (*planes, disc)
    return planes


def _crop(look: str) -> tuple[Element, ...]:
    """Return four upright planes, two each way."""
    along_z = (look, look, "", "", "", "")
    return tuple(
        _turn(_box(px(offset, 0, 0, offset + _THIN_PX, 16, 16), along_z), quarters)
        for quarters in (0, 1)
        for offset in (4, 12)
    )


def _fence(links: int, look: str) -> tuple[Element, ...]:
    """Return a post, and two rails to each linked side."""
    parts = [_box(px(6, 0, 6, 10, 16, 10), faces(look))]
    for quarters, bit in enumerate((LINK_NORTH, LINK_EAST, LINK_SOUTH, LINK_WEST)):
        if links & bit:
            for y in (6, 12):
                parts.append(_turn(_box(px(7, y, 0, 9, y + 3, 6), faces(look)), quarters))
    return tuple(parts)


def _pane(links: int, look: str, edge: str) -> tuple[Element, ...]:
    """Return a thin post, and a pane to each linked side."""
    arms = (LINK_WEST, LINK_EAST, 0, 0, LINK_NORTH, LINK_SOUTH)
    post: Six = tuple("" if links & bit else texture for bit, texture in zip(arms, faces(look, edge), strict=True))  # type: ignore[assignment]
    parts = [_box(px(7, 0, 7, 9, 16, 9), post)]
    for quarters, bit in enumerate((LINK_NORTH, LINK_EAST, LINK_SOUTH, LINK_WEST)):
        if links & bit:
            parts.append(_turn(_box(px(7, 0, 0, 9, 16, 7), (look, look, edge, edge, edge, "")), quarters))
    return tuple(parts)


def _gate(is_open: bool, look: str, quarters: int) -> tuple[Element, ...]:
    """Return two posts and two wings, which stand across or, open, swing to the front."""
    boxes = [px(0, 5, 7, 2, 16, 9), px(14, 5, 7, 16, 16, 9)]
    if is_open:
        for x in (0, 14):
            boxes += [px(x, 6, 1, x + 2, 9, 7), px(x, 12, 1, x + 2, 15, 7), px(x, 9, 1, x + 2, 12, 3)]
    else:
        boxes += [px(2, 6, 7, 14, 9, 9), px(2, 12, 7, 14, 15, 9), px(6, 9, 7, 10, 12, 9)]
    return tuple(_turn(_box(box, faces(look)), quarters) for box in boxes)


def _fixture(state: BlockState) -> tuple[Element, ...]:
    """Return lamps and switches."""
    side, top, _ = state.kind.textures
    shape = state.kind.shape
    if shape == "torch":
        return (_box(px(7, 0, 7, 9, 10, 9), faces(side)),)
    if shape == "lantern":
        return (
            _box(px(5, 0, 5, 11, 1, 11), faces(top)),
            _box(px(5.5, 1, 5.5, 10.5, 6, 10.5), faces(side)),
            _box(px(5, 6, 5, 11, 7, 11), faces(top)),
            _box(px(6, 7, 6, 10, 9, 10), faces(top)),
        )
    facing = state.get("facing")
    if shape == "wall_torch":
        # The torch's picture belongs to the middle of the cell: out here stick and flame have textures that fill it.
        parts = (
            _box(px(7, 3, 13.5, 9, 7, 15.5), faces("oak_log")),
            _box(px(7, 7, 12.5, 9, 11, 14.5), faces("oak_log")),
            _box(px(7, 11, 12, 9, 13, 14), faces("yellow_concrete")),
        )
        return tuple(_turn(part, QUARTER[facing]) for part in parts)
    is_on = state.get("powered") == "true"
    if shape == "button":
        depth = 1 if is_on else 2
        if facing == "up":
            return (_box(px(5, 0, 6, 11, depth, 10), faces(side)),)
        return (_turn(_box(px(5, 6, 16 - depth, 11, 10, 16), faces(side)), QUARTER[facing]),)
    assert shape == "lever"
    stick = faces(state.kind.front)
    if facing == "up":
        return (
            _box(px(5, 0, 4, 11, 3, 12), faces(side)),
            _box(px(7, 3, 10, 9, 12, 12) if is_on else px(7, 3, 4, 9, 12, 6), stick),
        )
    parts_on_wall = (
        _box(px(5, 4, 13, 11, 12, 16), faces(side)),
        _box(px(7, 4, 5, 9, 6, 13) if is_on else px(7, 10, 5, 9, 12, 13), stick),
    )
    return tuple(_turn(part, QUARTER[facing]) for part in parts_on_wall)


def _furniture(state: BlockState) -> tuple[Element, ...]:
    """Return chests and beds."""
    kind = state.kind
    side, top, bottom = kind.textures
    quarters = QUARTER[state.get("facing")]
    if kind.shape == "chest":
        if state.get("open") == "true":
            parts = [
                _box(px(1, 0, 1, 15, 9, 15), faces(side, kind.second, bottom, north=kind.front)),
                _box(px(1, 9, 12, 15, 16, 15), faces(top)),
            ]
        else:
            parts = [
                _box(px(1, 0, 1, 15, 14, 15), faces(side, top, bottom, north=kind.front)),
                _box(px(7, 7, 0, 9, 11, 1), faces("iron_block")),
            ]
        return tuple(_turn(part, quarters) for part in parts)
    is_head = state.get("part") == "head"
    legs = 0 if is_head else 13
    parts = [
        _box(px(0, 3, 0, 16, 9, 16), faces(side, side, bottom)),
        _box(px(0, 0, legs, 3, 3, legs + 3), faces(bottom)),
        _box(px(13, 0, legs, 16, 3, legs + 3), faces(bottom)),
    ]
    if is_head:
        parts.append(_box(px(1, 9, 1, 15, 10, 7), faces("white_wool")))
    return tuple(_turn(part, quarters) for part in parts)
