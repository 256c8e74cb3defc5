"""Textures of what grows on the ground but flowers: grasses, ferns, mushrooms, crops, saplings, vines. All cutouts."""

from collections.abc import Sequence

import numpy as np

from worlds.textures.patterns import COLUMN_HW, ROW_HW, TEXTURE_PX, Color, Drawing, grain, lumps, paint, scaled, shades
from worlds.textures.sprites import blades, clear, drawn, mirrored, over, put, ramp, speckle

_GREEN: list[Color] = [(52, 92, 30), (74, 122, 42), (98, 152, 54), (122, 178, 70)]


def _grasses(palette: Sequence[Color], *, low: int, high: int, count: int) -> Drawing:
    """Draw a tuft of blades."""
    return lambda seed: blades(seed, palette, low=low, high=high, count=count)


def _fern(seed: str) -> np.ndarray:
    """Draw fronds that arch to both sides of a rib."""
    sprite_HWC = clear()
    for row in range(3, 16):
        put(sprite_HWC, row, 7, _GREEN[1 + (row < 8)])
        put(sprite_HWC, row, 8, _GREEN[0])
    for n, row in enumerate(range(3, 15, 2)):
        reach = (2, 4, 5, 6, 6, 5)[n]
        for step in range(1, reach + 1):
            rise = row + step // 2 - 1
            for column in (7 - step, 8 + step):
                put(sprite_HWC, rise, column, _GREEN[2 + (step > reach // 2)])
                if (step + n) % 2 == 0:
                    put(sprite_HWC, rise + 1, column, _GREEN[1])
    return speckle(sprite_HWC, seed)


def _large_fern(*, is_top: bool) -> Drawing:
    def draw(seed: str) -> np.ndarray:
        sprite_HWC = clear()
        rows = range(2 if is_top else 0, 16)
        for row in rows:
            put(sprite_HWC, row, 7, _GREEN[1])
            put(sprite_HWC, row, 8, _GREEN[0])
        for n, row in enumerate(range(2 if is_top else 0, 15, 3)):
            reach = (3, 5, 6, 7, 7)[n] if is_top else (7, 7, 6, 6, 4)[n]
            for step in range(1, reach + 1):
                rise = row + (step * step) // 14
                for column in (7 - step, 8 + step):
                    put(sprite_HWC, rise, column, _GREEN[3 if step > reach - 3 else 2])
                    put(sprite_HWC, rise + 1, column, _GREEN[1 if step % 2 else 0])
        return speckle(sprite_HWC, seed)

    return draw


def _reed(seed: str) -> np.ndarray:
    """Draw three canes with nodes, as tall as the cell."""
    sprite_HWC = clear()
    for left, node in ((2, 3), (7, 7), (12, 1)):
        for row in range(TEXTURE_PX):
            is_node = (row + node) % 7 == 0
            put(sprite_HWC, row, left, (176, 214, 128) if not is_node else (118, 150, 74))
            put(sprite_HWC, row, left + 1, (142, 190, 98) if not is_node else (92, 126, 58))
            if (row + node) % 14 < 7:
                put(sprite_HWC, row, left + 2, (104, 150, 68))
        put(sprite_HWC, (16 - node) % 16 - 1, left - 1, (150, 196, 100))
        put(sprite_HWC, (16 - node) % 16 - 2, left - 2, (150, 196, 100))
    return speckle(sprite_HWC, seed, 0.06)


def _wheat(seed: str) -> np.ndarray:
    """Draw golden stalks that carry ears."""
    palette: list[Color] = [(150, 118, 38), (184, 150, 54), (212, 180, 78), (236, 210, 116)]
    sprite_HWC = blades(seed, palette, low=12, high=14, count=8)
    ear = ["l.", "lm", "ml", "lm", "md", ".d"]
    colors = {"l": palette[3], "m": palette[2], "d": palette[0]}
    for column in (1, 5, 9, 13):
        sprite_HWC = over(sprite_HWC, ear, colors, at=(1 + int(grain(seed, 3)[0, column] * 3), column))
    return sprite_HWC


def _berries(seed: str) -> np.ndarray:
    """Draw a thorny bush full of berries."""
    leaf: list[Color] = [(30, 66, 40), (44, 92, 54), (62, 118, 68), (84, 142, 84)]
    half_HW = np.minimum(7.4, 2.4 + (ROW_HW - 2) * 1.3)
    is_leaf_HW = (ROW_HW >= 2) & (np.abs(COLUMN_HW - 7.5) + 1.5 * grain(seed, 1) < half_HW)
    is_leaf_HW &= (lumps(seed, wide=2, tall=2, roughness=0.5) > 0.32) & ((ROW_HW < 14) | (grain(seed, 4) > 0.5))
    sprite_HWC = np.zeros((TEXTURE_PX, TEXTURE_PX, 4), np.uint8)
    sprite_HWC[..., :3] = paint(lumps(seed, wide=2, tall=2, roughness=0.6, layer=3), leaf)
    sprite_HWC[..., 3] = np.where(is_leaf_HW, 255, 0)
    berry = {"r": (202, 32, 32), "d": (124, 14, 22), "w": (246, 120, 110)}
    for at in ((4, 6), (7, 3), (8, 10), (11, 6), (5, 10), (11, 12), (12, 2)):
        sprite_HWC = over(sprite_HWC, ["wr", "rd"], berry, at=at)
    return sprite_HWC


def _sapling(leaf: Color, bark: Color, shape: Sequence[str]) -> Drawing:
    def draw(seed: str) -> np.ndarray:
        palette = ramp("abcd", leaf, [0.62, 0.85, 1.05, 1.3]) | ramp("tu", bark, [1.0, 0.7])
        return speckle(drawn(mirrored(shape), palette, at=(16 - len(shape), 0)), seed, 0.16)

    return draw


_ROUND = ["....bcdc", "..bcdccb", ".bcccbcc", ".acbccca", "..abcbcb", ".bcacccb", ".abbbabc", "..aabat."]
_ROUND += [".......t", "......ut", ".......t", "......ut"]
_CONE = [".......d", "......bc", ".......c", ".....bcc", "......ab", "....bccc", ".....abb", "...bcccc", "....aabb"]
_CONE += ["..bccccc", "...aabab", "......ut", ".......t", "......ut"]
_LOOSE = [".....cd.", "...bcdcb", "....acbc", "..cdb.at", ".bcdca.t", "..abb.ut", "...a.cut", "....bcbt", ".....abt"]
_LOOSE += [".......t", "......ut", ".......t", "......ut"]


def _seagrass(seed: str) -> np.ndarray:
    """Draw ribbons that sway."""
    sprite_HWC = clear()
    sway = (0, 0, 1, 1, 1, 0, 0, -1, -1, -1, 0, 0, 1, 1, 0, 0)
    for n, (column, top) in enumerate(((1, 6), (4, 2), (7, 5), (10, 1), (13, 4))):
        for row in range(top, 16):
            at = column + sway[(row + 3 * n) % 16]
            put(sprite_HWC, row, at, (52, 138, 44) if row % 5 else (78, 168, 58))
            put(sprite_HWC, row, at + 1, (30, 98, 34))
    return speckle(sprite_HWC, seed)


def _lily_pad(seed: str) -> np.ndarray:
    """Draw a round floating leaf with a notch, seen from above."""
    row_HW, column_HW = ROW_HW - 7.5, COLUMN_HW - 7.5
    radius_HW = row_HW * row_HW + column_HW * column_HW
    is_notch_HW = (row_HW > 0) & (np.abs(column_HW + 0.4 * row_HW) < 0.36 * row_HW)
    light_HW = np.where(radius_HW > 40, 0.72, np.where((ROW_HW + COLUMN_HW) % 5 == 0, 1.16, 1.0))
    sprite_HWC = np.zeros((TEXTURE_PX, TEXTURE_PX, 4), np.uint8)
    sprite_HWC[..., :3] = scaled(paint(grain(seed), shades((34, 120, 40), [0.92, 1.0, 1.06])), light_HW)
    sprite_HWC[..., 3] = np.where((radius_HW < 54) & ~is_notch_HW, 255, 0)
    return sprite_HWC


def _vine(seed: str) -> np.ndarray:
    """Draw hanging runners with leaves."""
    sprite_HWC = clear()
    for n, column in enumerate((1, 5, 9, 13)):
        for row in range(TEXTURE_PX):
            at = column + (row + 2 * n) // 3 % 2
            put(sprite_HWC, row, at, (44, 78, 24))
            if (row + 3 * n) % 4 < 2:
                for side in (-1, 1) if (row + n) % 3 else (1,):
                    put(sprite_HWC, row, at + side, (70, 124, 36) if side < 0 else (54, 102, 28))
                    if (row + 3 * n) % 4 == 0:
                        put(sprite_HWC, row, at + 2 * side, (88, 146, 46))
    return speckle(sprite_HWC, seed, 0.15)


def _mushroom(cap: Color, spots: bool) -> Drawing:
    shape = ["...bcc", "..bccd", ".bcccd", ".accdd", "...wwx", "....wx", "....wx", "....wx"]
    if not spots:
        shape = ["..bccc", ".bcccd", "abccdd", "aa..wx", "....wx", "....wx"]

    def draw(seed: str) -> np.ndarray:
        palette = ramp("abcd", cap, [0.6, 0.8, 1.0, 1.14]) | {"w": (224, 212, 190), "x": (196, 180, 156)}
        sprite_HWC = drawn(mirrored(shape), palette, at=(16 - len(shape), 2))
        for at in ((9, 6), (10, 10), (11, 4)) if spots else ():
            put(sprite_HWC, *at, (250, 240, 236))
        return sprite_HWC

    return draw


DRAWINGS: dict[str, Drawing] = {
    "birch_sapling": _sapling((120, 160, 74), (206, 204, 196), _LOOSE),
    "brown_mushroom": _mushroom((152, 112, 84), spots=False),
    "fern": _fern,
    "grass": _grasses(_GREEN, low=5, high=13, count=12),
    "large_fern_bottom": _large_fern(is_top=False),
    "large_fern_top": _large_fern(is_top=True),
    "lily_pad": _lily_pad,
    "oak_sapling": _sapling((80, 148, 44), (112, 86, 50), _ROUND),
    "red_mushroom": _mushroom((214, 40, 34), spots=True),
    "seagrass": _seagrass,
    "spruce_sapling": _sapling((56, 92, 62), (84, 60, 36), _CONE),
    "sugar_cane": _reed,
    "sweet_berry_bush_stage3": _berries,
    "tall_grass_bottom": _grasses([*_GREEN[:2], *_GREEN[:3]], low=13, high=16, count=11),
    "tall_grass_top": _grasses(_GREEN, low=6, high=15, count=9),
    "vine": _vine,
    "wheat_stage7": _wheat,
}
