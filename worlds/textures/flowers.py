"""Textures of flowers and of bushes in bloom. All cutouts."""

from collections.abc import Sequence

import numpy as np

from worlds.textures.patterns import COLUMN_HW, ROW_HW, TEXTURE_PX, Color, Drawing, grain, lumps, paint
from worlds.textures.sprites import Palette, clear, drawn, line, mirrored, over, put, ramp, speckle, stalk

_LEAF: list[Color] = [(52, 92, 30), (74, 122, 42), (98, 152, 54)]
_STEM: list[Color] = [(38, 82, 26), (58, 112, 36), (82, 140, 48)]
_YELLOW: Color = (250, 214, 60)
_DAISY = [".a.a.", "aabaa", ".byb.", "aabaa", ".a.a."]
_ORCHID = [".a.b.", "aab.b", ".aabb", "..ab.", ".bb..", "ab..."]
_BALL = [".aab.", "aabab", "abbab", "babbc", ".bcc."]


def _layered(below_HWC: np.ndarray, above_HWC: np.ndarray) -> np.ndarray:
    return np.where(above_HWC[..., 3:] > 0, above_HWC, below_HWC)


def _flower(
    head: Sequence[str], palette: Palette, *, at: tuple[int, int], top: int, leaves: int = 4, column: int = 7
) -> Drawing:
    """Draw a stem with leaves at its foot that carries a letter drawing."""
    return lambda seed: over(stalk(seed, _STEM, top=top, leaves=leaves, column=column), head, palette, at=at)


def _thicket(leaf: Sequence[Color], blooms: Palette, bloom: Sequence[str], *, is_top: bool, spots: int) -> Drawing:
    """Draw a rounded bush over one or two cells with blooms on it."""

    def draw(seed: str) -> np.ndarray:
        height_HW = ROW_HW + (0 if is_top else TEXTURE_PX)
        edge_HW = np.abs(COLUMN_HW - 7.5) + 1.6 * (grain(seed, 1) - 0.5)
        half = (
            np.clip(1.5 + 1.7 * np.sqrt(np.maximum(height_HW - 1, 0)), 0, 7.6)
            if is_top
            else np.where(height_HW < 29, 7.4, 2.2)
        )
        is_leaf_HW = (edge_HW < half) & (lumps(seed, wide=2, tall=2, roughness=0.4) > 0.2) & (height_HW > 0)
        sprite_HWC = np.zeros((TEXTURE_PX, TEXTURE_PX, 4), np.uint8)
        sprite_HWC[..., :3] = paint(lumps(seed, wide=2, tall=2, roughness=0.5, layer=3), list(leaf))
        sprite_HWC[..., 3] = np.where(is_leaf_HW, 255, 0)
        place = grain(seed, 2).ravel()
        for n in range(spots):
            row = 1 + int((n + place[2 * n]) * 13 / spots)
            reach = 2 + min(4, row // 2) if is_top else 5
            # Left, middle and right in turn: blooms drawn freely fall together in the middle.
            column = 7 + int((0.4 + 0.6 * place[2 * n + 1]) * reach * (-1.0, 0.3, 1.0)[n % 3])
            sprite_HWC = over(sprite_HWC, bloom, blooms, at=(row, column))
        return sprite_HWC

    return draw


def _sunflower(*, is_top: bool) -> Drawing:
    def draw(seed: str) -> np.ndarray:
        sprite_HWC = clear()
        for row in range(6 if is_top else 0, 16):
            put(sprite_HWC, row, 7, _STEM[2])
            put(sprite_HWC, row, 8, _STEM[0])
        leaf = mirrored(["bb......", "gbbb....", ".ggbb...", "...ggb.."]) if not is_top else [".bbb.", "ggb..", "gg..."]
        sprite_HWC = over(sprite_HWC, leaf, {"b": _STEM[2], "g": _STEM[1]}, at=(5, 0) if not is_top else (11, 9))
        if not is_top:
            return speckle(over(sprite_HWC, leaf, {"b": _STEM[2], "g": _STEM[1]}, at=(10, 0)), seed)
        return _layered(sprite_HWC, _sunflower_face(seed))

    return draw


def _sunflower_face(seed: str) -> np.ndarray:
    """Draw the disc of seeds inside its petals, in the upper part of the picture."""
    rows = mirrored(
        ["..y..y", ".yyyyo", "yoyykk", ".yokkk", "yyokkd", ".yykkd", "yoyokk", ".yyyyk", "..yoyy", "...y.y"]
    )
    colors = {"y": (250, 206, 44), "o": (224, 156, 28), "k": (92, 58, 24), "d": (62, 38, 18)}
    return speckle(drawn(rows, colors, at=(1, 2)), seed)


def _tulip(petal: Color) -> Drawing:
    head = ["a.b.a", "abbba", "abbbc", "abbcc", ".ccc."]
    return _flower(head, ramp("abc", petal, [1.12, 1.0, 0.72]), at=(4, 5), top=8)


def _bells(seed: str) -> np.ndarray:
    """Draw white bells that hang from an arched stem."""
    sprite_HWC = stalk(seed, _STEM, top=5, column=6, leaves=4)
    line(sprite_HWC, (4, 6), (3, 9), _STEM)
    line(sprite_HWC, (4, 10), (5, 12), _STEM)
    bell = ["aa", "ab", "bb"]
    for at in ((5, 8), (6, 11), (8, 8), (6, 3)):
        sprite_HWC = over(sprite_HWC, bell, {"a": (250, 250, 250), "b": (214, 222, 214)}, at=at)
    return sprite_HWC


DRAWINGS: dict[str, Drawing] = {
    "allium": _flower(_BALL, ramp("abc", (184, 118, 234), [1.12, 1.0, 0.72]), at=(2, 5), top=6),
    "azure_bluet": lambda seed: over(
        _flower(["awa", "wyw", "awa"], {"a": (214, 222, 232), "w": (248, 250, 252), "y": _YELLOW}, at=(8, 6), top=10)(
            seed
        ),
        ["awa....awa", "wyw....wyw", "awa....awa"],
        {"a": (214, 222, 232), "w": (248, 250, 252), "y": _YELLOW},
        at=(11, 2),
    ),
    "blue_orchid": _flower(_ORCHID, ramp("ab", (42, 172, 250), [1.0, 0.78]), at=(4, 5), top=8),
    "cornflower": _flower(
        ["a.b.a", ".aab.", "babbc", ".abc.", "c.b.c"], ramp("abc", (82, 116, 232), [1.1, 0.9, 0.66]), at=(4, 5), top=8
    ),
    "dandelion": _flower(
        [".aab.", "aabbb", ".bcb."], ramp("abc", (252, 224, 48), [1.0, 0.92, 0.76]), at=(8, 5), top=10
    ),
    "lilac_bottom": _thicket(_LEAF, {"p": (214, 158, 214)}, ["p"], is_top=False, spots=3),
    "lilac_top": _thicket(
        _LEAF, ramp("abc", (206, 148, 208), [1.14, 1.0, 0.78]), ["ab", "bc", ".c"], is_top=True, spots=11
    ),
    "lily_of_the_valley": _bells,
    "oxeye_daisy": _flower(_DAISY, {"a": (250, 250, 250), "b": (214, 216, 214), "y": _YELLOW}, at=(4, 5), top=8),
    "poppy": _flower(
        [".aab.", "aabbb", "abkbc", ".bbc."],
        ramp("abc", (232, 44, 30), [1.08, 0.9, 0.62]) | {"k": (40, 20, 20)},
        at=(5, 5),
        top=9,
    ),
    "red_tulip": _tulip((226, 40, 32)),
    "rose_bush_bottom": _thicket(_LEAF, {"r": (206, 26, 30)}, ["r"], is_top=False, spots=4),
    "rose_bush_top": _thicket(_LEAF, ramp("abc", (214, 26, 32), [1.16, 1.0, 0.64]), ["ab", "bc"], is_top=True, spots=8),
    "sunflower_bottom": _sunflower(is_top=False),
    "sunflower_front": _sunflower_face,
    "sunflower_top": _sunflower(is_top=True),
}
