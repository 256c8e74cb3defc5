"""What stops a body and what a pointer meets: boxes of every block state, those of Java Edition 1.16.5."""

from worlds.blocks.kinds import Shape
from worlds.blocks.states import STATES, BlockState

Box = tuple[float, float, float, float, float, float]  # x0, y0, z0, x1, y1, z1 in blocks
QUARTER: dict[str, int] = {"north": 0, "east": 1, "south": 2, "west": 3}  # turns clockwise, seen from above
FULL_BOX: Box = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
LINK_NORTH, LINK_EAST, LINK_SOUTH, LINK_WEST = 1, 2, 4, 8


def px(x0: float, y0: float, z0: float, x1: float, y1: float, z1: float) -> Box:
    """Return a box given in sixteenths of a block."""
    return (x0 / 16, y0 / 16, z0 / 16, x1 / 16, y1 / 16, z1 / 16)


def turned(box: Box, quarters: int) -> Box:
    """Return the box turned clockwise (north to east), seen from above, about the middle of its cell."""
    x0, y0, z0, x1, y1, z1 = box
    for _ in range(quarters % 4):
        x0, z0, x1, z1 = 1 - z1, x0, 1 - z0, x1
    return (x0, y0, z0, x1, y1, z1)


# Shapes whose collision box never changes.
_FIXED: dict[Shape, tuple[Box, ...]] = {
    **dict.fromkeys(("cube", "column", "front", "furnace", "glass", "barrel", "void"), (FULL_BOX,)),  # type: ignore[dict-item]
    "soul_sand": (px(0, 0, 0, 16, 14, 16),),
    "honey": (px(1, 0, 1, 15, 15, 15),),
    "lantern": (px(5, 0, 5, 11, 7, 11), px(6, 7, 6, 10, 9, 10)),
    "chest": (px(1, 0, 1, 15, 14, 15),),
    "table": (px(0, 0, 0, 16, 12, 16),),
    "cake": (px(1, 0, 1, 15, 8, 15),),
    "carpet": (px(0, 0, 0, 16, 1, 16),),
    "low": (px(0, 0, 0, 16, 15, 16),),
    "lily_pad": (px(1, 0, 1, 15, 1.5, 15),),
    "cactus": (px(1, 0, 1, 15, 15, 15),),
    "cauldron": (
        px(2, 3, 2, 14, 4, 14),
        px(0, 3, 0, 16, 16, 2), px(0, 3, 14, 16, 16, 16), px(0, 3, 2, 2, 16, 14), px(14, 3, 2, 16, 16, 14),
        px(0, 0, 0, 4, 3, 2), px(0, 0, 2, 2, 3, 4), px(12, 0, 0, 16, 3, 2), px(14, 0, 2, 16, 3, 4),
        px(0, 0, 14, 4, 3, 16), px(0, 0, 12, 2, 3, 14), px(12, 0, 14, 16, 3, 16), px(14, 0, 12, 16, 3, 14),
    ),
}  # fmt: skip
_NO_COLLISION: frozenset[Shape] = frozenset(
    ("air", "fluid", "vine", "torch", "wall_torch", "lever", "button", "plate", "rail", "portal", "cross", "tall_cross",
     "crop")
)  # fmt: skip
_SLABS: dict[str, Box] = {"bottom": px(0, 0, 0, 16, 8, 16), "top": px(0, 8, 0, 16, 16, 16), "double": FULL_BOX}
# Outlines of crosses by name; the others fill their cell.
_FLOWER = (px(5, 0, 5, 11, 10, 11),)
_CROSS_OUTLINE: dict[str, tuple[Box, ...]] = {
    **dict.fromkeys(("grass", "fern", "dead_bush"), (px(2, 0, 2, 14, 13, 14),)),
    **dict.fromkeys(("brown_mushroom", "red_mushroom"), (px(5, 0, 5, 11, 6, 11),)),
    **dict.fromkeys(("oak_sapling", "birch_sapling", "spruce_sapling", "seagrass"), (px(2, 0, 2, 14, 12, 14),)),
    "sugar_cane": (px(2, 0, 2, 14, 16, 14),),
    **dict.fromkeys(("sweet_berry_bush", "cobweb"), (FULL_BOX,)),
}


def collision_of(state_id: int) -> tuple[Box, ...]:
    """Return the boxes that stop a body; a fence reaches up to 1.5."""
    state = STATES[state_id]
    shape = state.kind.shape
    if shape in _NO_COLLISION:
        return ()
    if shape in _FIXED:
        return _FIXED[shape]
    if shape == "snow":
        layers = int(state.get("layers"))
        return (px(0, 0, 0, 16, 2 * (layers - 1), 16),) if layers > 1 else ()
    if shape == "fence":
        return _linked(int(state.get("links")), 6, 10, 24)
    if shape == "gate":
        if state.get("open") == "true":
            return ()
        return (turned(px(0, 0, 6, 16, 24, 10), QUARTER[state.get("facing")]),)
    return _turning(state)


def outline_of(state_id: int) -> tuple[Box, ...]:
    """Return the boxes that a pointer or an arrow meets; none for air and fluids."""
    state = STATES[state_id]
    shape = state.kind.shape
    if shape in ("air", "fluid"):
        return ()
    if shape in ("soul_sand", "honey"):
        return (FULL_BOX,)
    if shape == "cactus":
        return (px(1, 0, 1, 15, 16, 15),)
    if shape == "snow":
        return (px(0, 0, 0, 16, 2 * int(state.get("layers")), 16),)
    if shape == "fence":
        return _linked(int(state.get("links")), 6, 10, 16)
    if shape == "gate":
        return (turned(px(0, 0, 6, 16, 16, 10), QUARTER[state.get("facing")]),)
    if shape == "cross":
        return _CROSS_OUTLINE.get(state.kind.name, _FLOWER)
    if shape in ("tall_cross", "crop"):
        return (FULL_BOX,)
    if shape in _NO_COLLISION:
        return _thin_outline(state)
    return collision_of(state_id)


def _thin_outline(state: BlockState) -> tuple[Box, ...]:
    """Return the outline of what has no collision and is no plant."""
    shape = state.kind.shape
    if shape == "torch":
        return (px(6, 0, 6, 10, 10, 10),)
    if shape == "rail":
        return (px(0, 0, 0, 16, 2, 16),)
    if shape == "plate":
        return (px(1, 0, 1, 15, 1, 15),)
    if shape == "portal":
        return (px(0, 0, 6, 16, 16, 10) if state.get("axis") == "x" else px(6, 0, 0, 10, 16, 16),)
    facing = state.get("facing")
    if shape == "vine":
        return (turned(px(0, 0, 15, 16, 16, 16), QUARTER[facing]),)
    if shape == "wall_torch":
        return (turned(px(5.5, 3, 11, 10.5, 13, 16), QUARTER[facing]),)
    if shape == "lever":
        return (px(5, 0, 4, 11, 6, 12) if facing == "up" else turned(px(5, 4, 10, 11, 12, 16), QUARTER[facing]),)
    assert shape == "button"
    depth = 1 if state.get("powered") == "true" else 2
    if facing == "up":
        return (px(5, 0, 6, 11, depth, 10),)
    return (turned(px(5, 6, 16 - depth, 11, 10, 16), QUARTER[facing]),)


def _turning(state: BlockState) -> tuple[Box, ...]:
    """Return the collision boxes of shapes that depend on `facing`, `half` or `type`."""
    shape = state.kind.shape
    if shape == "slab":
        return (_SLABS[state.get("type")],)
    if shape == "pane":
        return _linked(int(state.get("links")), 7, 9, 16)
    quarters = QUARTER[state.get("facing")]
    if shape == "stairs":
        is_top = state.get("half") == "top"
        step = px(0, 0, 0, 16, 8, 8) if is_top else px(0, 8, 0, 16, 16, 8)
        return (px(0, 8, 0, 16, 16, 16) if is_top else px(0, 0, 0, 16, 8, 16), turned(step, quarters))
    if shape == "door":
        if state.get("open") == "true":
            quarters += 1 if state.get("hinge") == "left" else -1
        return (turned(px(0, 0, 13, 16, 16, 16), quarters),)
    if shape == "trapdoor":
        if state.get("open") == "true":
            return (turned(px(0, 0, 13, 16, 16, 16), quarters),)
        return (px(0, 13, 0, 16, 16, 16) if state.get("half") == "top" else px(0, 0, 0, 16, 3, 16),)
    if shape == "ladder":
        return (turned(px(0, 0, 13, 16, 16, 16), quarters),)
    if shape == "bed":
        legs = 0 if state.get("part") == "head" else 13
        boxes = (px(0, 3, 0, 16, 9, 16), px(0, 0, legs, 3, 3, legs + 3), px(13, 0, legs, 16, 3, legs + 3))
        return tuple(turned(box, quarters) for box in boxes)
    assert shape == "anvil"
    parts = (px(2, 0, 2, 14, 4, 14), px(4, 4, 3, 12, 5, 13), px(6, 5, 4, 10, 10, 12), px(3, 10, 0, 13, 16, 16))
    return tuple(turned(box, quarters) for box in parts)


def _linked(links: int, low: float, high: float, top: float) -> tuple[Box, ...]:
    """Return a post from `low` to `high` with an arm for each link, `top` sixteenths high."""
    boxes = [px(low, 0, low, high, top, high)]
    for quarters, bit in enumerate((LINK_NORTH, LINK_EAST, LINK_SOUTH, LINK_WEST)):
        if links & bit:
            boxes.append(turned(px(low, 0, 0, high, top, low), quarters))
    return tuple(boxes)
