"""Textures of small things on floors and walls: torches, rails, bars, lanterns, webs; and of what burns or whirls."""

import numpy as np

from worlds.textures.patterns import COLUMN_HW, ROW_HW, TEXTURE_PX, Color, Drawing, lumps, paint, shades
from worlds.textures.sprites import clear, drawn, line, mirrored, put, ramp, speckle

_IRON: Color = (150, 152, 156)


def _torch(seed: str) -> np.ndarray:
    """Draw a stick two pixels wide with a glowing end; its box is columns 7 and 8, rows 6 to 15."""
    sprite_HWC = clear()
    for row in range(9, TEXTURE_PX):
        put(sprite_HWC, row, 7, (142, 108, 62) if row % 3 else (124, 92, 52))
        put(sprite_HWC, row, 8, (106, 78, 42) if row % 4 else (88, 64, 34))
    flame: list[Color] = [(255, 250, 196), (255, 222, 110), (248, 176, 54), (226, 124, 30)]
    for row, (left, right) in enumerate(((0, 1), (0, 1), (2, 3))):
        put(sprite_HWC, 6 + row, 7, flame[left])
        put(sprite_HWC, 6 + row, 8, flame[right])
    return sprite_HWC


def _lantern(seed: str) -> np.ndarray:
    """Draw a glowing pane in an iron cage under a ring."""
    rows = mirrored(["..kk", "..k.", "..kk", ".kii", ".ijj", "iikk", "iaab", "iabb", "iabb", "iaab", "ijjj"])
    palette = ramp("ab", (246, 190, 84), [0.84, 1.12]) | {"i": (66, 72, 88), "j": (92, 100, 118), "k": (44, 48, 60)}
    return drawn(rows, palette, at=(4, 4))


def _rail(seed: str) -> np.ndarray:
    """Draw two rails on four sleepers, seen from above."""
    sprite_HWC = clear()
    for top in (1, 5, 9, 13):
        for column in range(1, 15):
            put(sprite_HWC, top, column, (126, 96, 56))
            put(sprite_HWC, top + 1, column, (92, 68, 38))
    for left in (3, 11):
        for row in range(TEXTURE_PX):
            put(sprite_HWC, row, left, (190, 190, 192))
            put(sprite_HWC, row, left + 1, (116, 114, 116))
    return speckle(sprite_HWC, seed)


def _bars(seed: str) -> np.ndarray:
    """Draw upright iron bars with three cross ties."""
    sprite_HWC = clear()
    light, middle, dark = shades(_IRON, [1.12, 0.82, 0.56])
    for column in (1, 5, 9, 13):
        for row in range(TEXTURE_PX):
            put(sprite_HWC, row, column, light if row % 5 else middle)
            put(sprite_HWC, row, column + 1, dark)
    for row in (2, 8, 13):
        for column in range(TEXTURE_PX):
            if column % 4 in (3, 0):
                put(sprite_HWC, row, column, middle)
                put(sprite_HWC, row + 1, column, dark)
    return sprite_HWC


def _cobweb(seed: str) -> np.ndarray:
    """Draw eight threads from the centre, joined by sagging rings."""
    sprite_HWC = clear()
    thread: list[Color] = [(236, 238, 240), (214, 216, 220)]
    for end in ((0, 0), (0, 8), (0, 15), (7, 15), (15, 15), (15, 7), (15, 0), (8, 0)):
        line(sprite_HWC, (8 if end[0] > 7 else 7, 8 if end[1] > 7 else 7), end, thread)
    for reach in (3, 6):
        corner = reach * 3 // 4
        upper = [(-reach, 0), (-corner, corner), (0, reach), (corner, corner)]
        around = [*upper, *((-row, -column) for row, column in upper), upper[0]]
        for a, b in zip(around, around[1:], strict=False):
            line(sprite_HWC, (8 + a[0], 8 + a[1]), (8 + b[0], 8 + b[1]), thread[1:])
    return sprite_HWC


def _portal(seed: str) -> np.ndarray:
    """Draw a violet whirl."""
    row_HW, column_HW = np.abs(ROW_HW - 7.5), np.abs(COLUMN_HW - 7.5)
    swirl_HW = (row_HW * row_HW + column_HW * column_HW) * 0.09 + 3.0 * lumps(seed, wide=4, tall=4)
    tone_HW = np.abs((swirl_HW % 3.0) / 1.5 - 1.0) * 0.999
    return paint(tone_HW, [(58, 14, 116), (82, 22, 156), (104, 36, 190), (132, 62, 218), (172, 112, 242)])


def _lava(seed: str) -> np.ndarray:
    """Draw slow bright currents with darker crust."""
    colors: list[Color] = [(168, 48, 8), (206, 74, 12), (220, 94, 16), (232, 122, 26), (244, 166, 52), (254, 216, 106)]
    return paint(lumps(seed, wide=5, tall=4, roughness=0.12), colors)


DRAWINGS: dict[str, Drawing] = {
    "cobweb": _cobweb,
    "iron_bars": _bars,
    "lantern": _lantern,
    "lava": _lava,
    "nether_portal": _portal,
    "rail": _rail,
    "torch": _torch,
}
