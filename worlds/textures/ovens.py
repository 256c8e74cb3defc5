"""Textures of furnaces, smokers and blast furnaces."""

import numpy as np

from worlds.textures import crafted
from worlds.textures.crafted import boards
from worlds.textures.natural import COBBLE, pebbles
from worlds.textures.patterns import (
    COLUMN_HW,
    ROW_HW,
    Color,
    Drawing,
    bevelled,
    lumps,
    paint,
    ring_index,
    scaled,
    shades,
    stamped,
)


def _oven_body(seed: str) -> np.ndarray:
    return bevelled(pebbles(COBBLE[1:], count=12)("furnace"), light=1.18, dark=0.6)


def _steel_body(seed: str) -> np.ndarray:
    image_HWC = paint(lumps("blast_furnace", wide=5, roughness=0.3), shades((104, 104, 108), [0.9, 1.0, 1.06]))
    image_HWC = bevelled(image_HWC, light=1.25, dark=0.6)
    image_HWC[8] = (72, 72, 76)
    for column in (2, 13):
        image_HWC[3, column] = image_HWC[12, column] = (158, 158, 162)
    return image_HWC


def _smoker_body(seed: str) -> np.ndarray:
    image_HWC = scaled(boards((100, 76, 46))("smoker"), 0.95)
    image_HWC[12:] = _oven_body(seed)[12:]
    image_HWC[:, :2] = image_HWC[:, 14:] = np.array((58, 48, 36), np.uint8)
    return image_HWC


def _mouth(body: Drawing, *, is_lit: bool, top: int = 7) -> Drawing:
    """Draw a front with a fire hole, dark or burning."""
    cold = (".kkkkkkkk.", "kkkkkkkkkk", "kkkkkkkkkk", "kkkkkkkkkk", "kkkkkkkkkk", "kkmkkmkkmk", "llllllllll")
    lit = (".kkkkkkkk.", "kkrrkkrkkk", "kroorkrork", "rooyoroyor", "oyywyoywyo", "oywwyywwyo", "llllllllll")
    colors: dict[str, Color] = {"k": (26, 24, 24), "l": (150, 150, 150), "m": (62, 58, 56)}
    colors |= {"r": (150, 52, 16), "o": (226, 112, 24), "y": (252, 196, 64), "w": (255, 246, 190)}

    def draw(seed: str) -> np.ndarray:
        return stamped(body(seed), lit if is_lit else cold, colors, at=(top, 3))

    return draw


def _oven_top(seed: str) -> np.ndarray:
    image_HWC = bevelled(_oven_body(seed), light=0.9, dark=0.7)
    return scaled(image_HWC, np.where((ring_index() > 3) & (ROW_HW % 3 == 0), 0.35, 1.0))


DRAWINGS: dict[str, Drawing] = {
    "blast_furnace_front": _mouth(_steel_body, is_lit=False),
    "blast_furnace_front_on": _mouth(_steel_body, is_lit=True),
    "blast_furnace_side": _steel_body,
    "blast_furnace_top": lambda seed: scaled(
        _steel_body(seed), np.where((ring_index() > 3) & (COLUMN_HW % 3 > 0), 0.4, 1)
    ),
    "furnace_front_on": _mouth(lambda seed: crafted.furnace("furnace"), is_lit=True),
    "furnace_side": _oven_body,
    "smoker_bottom": _oven_body,
    "smoker_front": _mouth(_smoker_body, is_lit=False, top=5),
    "smoker_front_on": _mouth(_smoker_body, is_lit=True, top=5),
    "smoker_side": _smoker_body,
    "smoker_top": _oven_top,
}
