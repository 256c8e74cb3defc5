"""Pictures of tools and weapons."""

from collections.abc import Sequence

import numpy as np

from worlds.textures.patterns import Color, Drawing
from worlds.textures.sprites import Palette, clear, drawn, icon, line, put, ramp, rimmed

_SHEARS = (
    "..........cc.",
    ".........ccb.",
    "........ccb..",
    ".......ccb...",
    "...c..ccb....",
    "..ccccccb....",
    ".rcccbccc....",
    "rr.rbbbccccc.",
    "r..rr...bbbb.",
    "rrrr.r.......",
    ".rr..rr......",
    ".....rr......",
)

_STEEL = (
    "....iiii....",
    "...iijjii...",
    "..iij..jii..",
    "..ij...jii..",
    "..ii...iij..",
    "...ii..jj...",
    "....i.......",
    "..ff........",
    ".fgggf......",
    "fggffff.....",
    "fgffffff....",
    ".ffffff.....",
)

MATERIALS: dict[str, Color] = {
    "wooden": (136, 104, 56),
    "stone": (138, 138, 138),
    "iron": (222, 222, 222),
    "golden": (246, 216, 66),
    "diamond": (74, 222, 206),
    "netherite": (78, 70, 74),
}
_HANDLE: Palette = {"s": (122, 90, 46), "t": (88, 62, 30)}

# Letters a b c: head from dark to bright, s t: handle.
TOOLS: dict[str, tuple[str, ...]] = {
    "pickaxe": (
        "................",
        "....bbccccb.....",
        "...bccbbbbccss..",
        "...bb....bbsst..",
        "..........ssbb..",
        ".........ssbbcb.",
        "........sst.bcb.",
        ".......sst..bcb.",
        "......sst...bcb.",
        ".....sst....bcb.",
        "....sst.....bb..",
        "...sst......b...",
        "..sst...........",
        ".sst............",
        ".st.............",
        "................",
    ),
    "axe": (
        "................",
        "........bccb....",
        ".......bcccbss..",
        "......bcccbbst..",
        "......bcccbssbb.",
        "......abbbsstcb.",
        ".......abssbccb.",
        "........sstbbba.",
        ".......sst......",
        "......sst.......",
        ".....sst........",
        "....sst.........",
        "...sst..........",
        "..sst...........",
        "..st............",
        "................",
    ),
    "shovel": (
        "................",
        "..........bccb..",
        ".........bccccb.",
        ".........ccccbb.",
        ".........bcccba.",
        "........sbcbba..",
        ".......sst......",
        "......sst.......",
        ".....sst........",
        "....sst.........",
        "...sst..........",
        "..sst...........",
        ".sst............",
        ".st.............",
        "................",
        "................",
    ),
    "hoe": (
        "................",
        "......bbcc......",
        ".....bccccbss...",
        "......aabbsst...",
        ".........sst....",
        "........sst.....",
        ".......sst......",
        "......sst.......",
        ".....sst........",
        "....sst.........",
        "...sst..........",
        "..sst...........",
        ".sst............",
        ".st.............",
        "................",
        "................",
    ),
    "sword": (
        "............bcc.",
        "...........bccc.",
        "..........bccbb.",
        ".........bccbb..",
        "........bccbb...",
        ".......bccbb....",
        "......bccbb.....",
        ".aa..bccbb......",
        ".abaccbb........",
        "..abbbb.........",
        "...abba.........",
        "..sstabb........",
        ".sst..aba.......",
        "sst....aa.......",
        "st..............",
        "................",
    ),
}


def _tool(shape: Sequence[str], color: Color) -> Drawing:
    palette = ramp("abc", color, [0.62, 0.88, 1.08]) | _HANDLE
    return lambda seed: rimmed(drawn(shape, palette), light=0.78, dark=0.5)


def _bow(seed: str) -> np.ndarray:
    """Draw a bent stave with its string from corner to corner."""
    sprite_HWC = clear()
    wood: list[Color] = [(100, 70, 34), (140, 102, 54), (140, 102, 54), (100, 70, 34)]
    bend = ((1, 9), (1, 6), (3, 3), (6, 1), (9, 1), (13, 2))
    for shift in (0, 1):
        for (r0, c0), (r1, c1) in zip(bend, bend[1:], strict=False):
            line(sprite_HWC, (r0 + shift, c0 + shift), (r1 + shift, c1 + shift), wood)
    sprite_HWC = rimmed(sprite_HWC, light=0.9, dark=0.6)
    line(sprite_HWC, (2, 11), (14, 4), [(222, 222, 222)])
    return sprite_HWC


def _arrow(seed: str) -> np.ndarray:
    sprite_HWC = clear()
    line(sprite_HWC, (12, 3), (3, 12), [(136, 104, 60), (112, 84, 46)])
    head: Color = (196, 196, 198)
    for at in ((1, 14), (1, 13), (2, 14), (2, 13), (1, 12), (3, 14), (2, 12), (3, 13)):
        put(sprite_HWC, *at, head)
    for at in ((12, 1), (13, 1), (14, 2), (14, 3), (12, 2), (13, 2), (13, 3), (11, 2), (13, 4)):
        put(sprite_HWC, *at, (232, 232, 232) if sum(at) % 2 else (190, 190, 190))
    return sprite_HWC


DRAWINGS: dict[str, Drawing] = {
    **{f"{name}_{kind}": _tool(rows, color) for name, color in MATERIALS.items() for kind, rows in TOOLS.items()},
    "arrow": _arrow,
    "bow": _bow,
    "flint_and_steel": icon(
        _STEEL, {"i": (206, 208, 214), "j": (176, 178, 186), "f": (62, 60, 64), "g": (112, 108, 112)}, at=(2, 3)
    ),
    "shears": icon(_SHEARS, {"b": (150, 150, 154), "c": (218, 218, 222), "r": (128, 84, 44)}, at=(2, 1)),
}
