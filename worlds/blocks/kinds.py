"""What a kind of block is: one row of the block table, and how rows of common sorts are made."""

from dataclasses import dataclass
from typing import Literal

from worlds.voxel.tables import FLUID_NONE

Shape = Literal[
    "air", "cube", "column", "front", "fluid", "glass", "slab", "stairs", "fence", "gate", "door", "trapdoor", "pane",
    "ladder", "vine", "torch", "wall_torch", "lantern", "chest", "barrel", "anvil", "cauldron", "cake", "lever",
    "button", "plate", "rail", "snow", "carpet", "low", "bed", "portal", "cross", "tall_cross", "crop", "lily_pad",
    "cactus", "table", "honey", "furnace", "soul_sand", "void",
]  # fmt: skip
Use = Literal["", "toggle", "press", "open"]

_LEVEL = ("north", "east", "south", "west")
_FLAG = ("false", "true")

# Properties of each shape by name, in alphabetical order; the first value is the default.
SHAPE_PROPERTIES: dict[Shape, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "column": (("axis", ("y", "x", "z")),),
    "front": (("facing", _LEVEL),),
    "furnace": (("facing", _LEVEL), ("lit", _FLAG)),
    "slab": (("type", ("bottom", "top", "double")),),
    "stairs": (("facing", _LEVEL), ("half", ("bottom", "top"))),
    "fence": (("links", tuple(str(links) for links in range(16))),),
    "pane": (("links", tuple(str(links) for links in range(16))),),
    "gate": (("facing", _LEVEL), ("open", _FLAG)),
    "door": (("facing", _LEVEL), ("half", ("lower", "upper")), ("hinge", ("left", "right")), ("open", _FLAG)),
    "trapdoor": (("facing", _LEVEL), ("half", ("bottom", "top")), ("open", _FLAG)),
    "ladder": (("facing", _LEVEL),),
    "vine": (("facing", _LEVEL),),
    "wall_torch": (("facing", _LEVEL),),
    "chest": (("facing", _LEVEL), ("open", _FLAG)),
    "barrel": (("facing", (*_LEVEL, "up", "down")), ("open", _FLAG)),
    "anvil": (("facing", _LEVEL),),
    # "up": on a floor; otherwise away from the wall.
    "lever": (("facing", (*_LEVEL, "up")), ("powered", _FLAG)),
    "button": (("facing", (*_LEVEL, "up")), ("powered", _FLAG)),
    "snow": (("layers", tuple(str(layers) for layers in range(1, 9))),),
    "bed": (("facing", _LEVEL), ("part", ("foot", "head"))),
    "portal": (("axis", ("x", "z")),),
    "tall_cross": (("half", ("lower", "upper")),),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockKind:
    """One row of the table. Numbers are those of Java Edition 1.16.5."""

    name: str
    hardness: float  # -1 cannot be broken
    tool: str = ""  # a name in worlds.blocks.tools.TOOL_CLASSES: what breaks it faster, "" nothing
    needs_tier: int = -1  # -1 drops by hand, else the lowest tier of `tool`: 0 wood, 1 stone, 2 iron, 3 diamond
    drop: str = ""  # item, "" nothing
    drop_count: int = 1  # the mean number, rounded down, where the game draws one
    shape: Shape = "cube"
    textures: tuple[str, str, str] = ("", "", "")  # side, top, bottom
    front: str = ""  # texture of the face that looks to `facing`, "" as the sides
    second: str = ""  # texture of the other look: a lit front, an open top, the upper half
    fluid: int = FLUID_NONE
    emission: int = 0  # light 0 .. 15 given off; when the kind has a property `lit`, only while it is "true"
    opacity: int = 15  # light lost on the way through
    slipperiness: float = 0.6
    speed_factor: float = 1.0
    jump_factor: float = 1.0
    hurt: int = 0  # half hearts of a touch
    use: Use = ""
    press_ticks: int = 0  # a pressed button comes back after so long
    link_class: int = 0  # 1 wooden fences and gates, 2 nether brick fences, 3 panes and bars
    is_replaceable: bool = False
    needs_floor: bool = False
    is_climbable: bool = False
    is_web: bool = False

    @property
    def properties(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and values of the properties that tell its states apart."""
        return SHAPE_PROPERTIES.get(self.shape, ())


def cube(
    name: str,
    hardness: float,
    tool: str = "",
    tier: int = -1,
    *,
    side: str = "",
    top: str = "",
    bottom: str = "",
    drop: str | None = None,
    count: int = 1,
    shape: Shape = "cube",
    **more: object,
) -> BlockKind:
    """Return a kind that drops itself unless told otherwise; missing textures follow the name, then the side."""
    side = side or name
    top = top or side
    return BlockKind(
        name=name, hardness=hardness, tool=tool, needs_tier=tier, textures=(side, top, bottom or top), shape=shape,
        drop=name if drop is None else drop, drop_count=count, **more,  # type: ignore[arg-type]
    )  # fmt: skip
