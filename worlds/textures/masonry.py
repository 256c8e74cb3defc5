"""Textures of rock, bricks, glowing and nether stone, ice and soil that the first set lacks."""

import numpy as np

from worlds.textures.natural import dirt, lumpy, overgrown
from worlds.textures.patterns import (
    COLUMN_HW,
    ROW_HW,
    TEXTURE_PX,
    Color,
    Drawing,
    bevelled,
    grain,
    lumps,
    paint,
    ring_index,
    scaled,
    shades,
    stamped,
    stones,
)

_BRICK_GREY: Color = (122, 121, 122)
_RED_SAND: list[Color] = [(168, 88, 26), (182, 98, 32), (190, 102, 34), (196, 108, 40), (208, 120, 52)]
_PODZOL: list[Color] = [(74, 50, 20), (92, 62, 22), (106, 70, 26), (122, 84, 32), (140, 100, 44)]
_MYCELIUM: list[Color] = [(86, 78, 84), (104, 92, 100), (116, 102, 112), (126, 112, 120), (150, 138, 144)]


def courses(base: Color, *, tall: int = 8, wide: int = 16) -> Drawing:
    """Draw cut blocks, `wide` x `tall` pixels, lit above and shaded below, every other course shifted by a half."""

    def draw(name: str) -> np.ndarray:
        course_HW = ROW_HW // tall
        at_HW = (COLUMN_HW + wide // 2 * (course_HW % 2)) % TEXTURE_PX
        own_N = 0.92 + 0.16 * grain(name, 4).ravel()
        image_HWC = paint(lumps(name, wide=3, tall=2, roughness=0.4), shades(base, [0.9, 0.97, 1.0, 1.03, 1.1]))
        image_HWC = scaled(image_HWC, own_N[at_HW // wide + 4 * course_HW])
        row_HW, column_HW = ROW_HW % tall, at_HW % wide
        factor_HW = np.where((row_HW == tall - 1) | (column_HW == wide - 1), 0.58, 1.0)
        is_lit_HW = ((row_HW == 0) | (column_HW == 0)) & (factor_HW == 1.0)
        return scaled(image_HWC, np.where(is_lit_HW, 1.17, factor_HW))

    return draw


def _mossy(name: str) -> np.ndarray:
    moss_HWC = paint(grain(name, 1), [(66, 86, 38), (82, 104, 48), (100, 124, 60)])
    return np.where(
        (lumps(name, wide=4, tall=4, layer=8) > 0.62)[..., None], moss_HWC, courses(_BRICK_GREY)("stone_bricks")
    )


def _cracked(name: str) -> np.ndarray:
    image_HWC = courses(_BRICK_GREY)("stone_bricks")
    for start, steps in (((1, 4), 9), ((9, 11), 8), ((4, 12), 5), ((10, 3), 6)):
        row, column = start
        for step in range(steps):
            image_HWC[row % TEXTURE_PX, column % TEXTURE_PX] = (62, 61, 62)
            turn = grain(name, 3)[row % TEXTURE_PX, column % TEXTURE_PX]
            row, column = row + (turn > 0.35), column + (-1 if turn < 0.3 else int(turn > 0.6 or step % 2))
    return image_HWC


def polished(base: Color, amount: float = 0.06) -> Drawing:
    """Draw a smooth slab of rock with a fine bevel."""

    def draw(name: str) -> np.ndarray:
        factors = [1 - 1.5 * amount, 1 - 0.5 * amount, 1.0, 1 + amount]
        image_HWC = paint(lumps(name, wide=3, tall=2, roughness=0.5), shades(base, factors))
        return bevelled(image_HWC, light=1.15, dark=0.72)

    return draw


def smooth(base: Color, amount: float = 0.03, *, wide: int = 3, tall: int = 2) -> Drawing:
    """Draw an even surface with a faint mottle."""
    return lumpy(shades(base, [1 - amount, 1 - amount / 3, 1.0, 1 + amount]), wide=wide, tall=tall, roughness=0.4)


def _red_sandstone(name: str) -> np.ndarray:
    band_H = np.array([0.86, 1.03, 1.04, 0.93, 1, 1, 1, 0.9, 0.97, 0.97, 0.84, 1, 1, 1.02, 0.9, 0.8])
    return scaled(paint(lumps(name, wide=5, roughness=0.4), _RED_SAND), band_H[ROW_HW])


def _obsidian(name: str) -> np.ndarray:
    image_HWC = paint(
        lumps(name, wide=4, tall=3, roughness=0.5), [(8, 6, 14), (14, 11, 24), (20, 16, 34), (32, 24, 52), (60, 42, 92)]
    )
    image_HWC[grain(name, 9) > 0.985] = (112, 84, 150)
    return image_HWC


def _magma(name: str) -> np.ndarray:
    index_HW, light_HW = stones(name, count=9)
    crust_HWC = paint(np.clip(light_HW, 0, 0.999), [(96, 34, 14), (74, 30, 18), (86, 38, 24), (104, 48, 30)])
    glow_HWC = paint(grain(name, 1), [(206, 86, 14), (232, 120, 22), (250, 176, 50)])
    return np.where((light_HW == 0.0)[..., None], glow_HWC, crust_HWC)


def _glowstone(name: str) -> np.ndarray:
    _, light_HW = stones(name, count=16)
    colors: list[Color] = [(112, 72, 34), (160, 110, 54), (206, 158, 84), (240, 204, 126), (255, 240, 190)]
    return paint(np.clip(light_HW + 0.3 * grain(name, 6) - 0.1, 0, 0.999), colors)


def _sea_lantern(name: str) -> np.ndarray:
    light_8 = np.array([0.62, 0.78, 0.9, 0.84, 0.95, 1.02, 1.08, 1.12])
    image_HWC = scaled(paint(grain(name), shades((206, 226, 218), [0.95, 1.0, 1.04])), light_8[ring_index()])
    cross_HW = (np.abs(ROW_HW - COLUMN_HW) < 1) | (np.abs(ROW_HW + COLUMN_HW - 15) < 1)
    return scaled(image_HWC, np.where(cross_HW & (ring_index() < 5), 0.84, 1.0))


def _quartz_pillar_cap(name: str) -> np.ndarray:
    return bevelled(smooth((236, 230, 223), 0.02)(name), light=1.04, dark=0.86)


def _soul_sand(name: str) -> np.ndarray:
    image_HWC = lumpy(shades((82, 62, 50), [0.8, 0.93, 1.0, 1.08, 1.18]), wide=2, roughness=0.8)(name)
    face = ("kk.kk", "kk.kk", ".....", ".kkk.", ".k.k.")
    for at in ((1, 2), (8, 9)):
        image_HWC = stamped(image_HWC, face, {"k": (48, 34, 27)}, at=at)
    return image_HWC


def _netherrack(name: str) -> np.ndarray:
    palette: list[Color] = [(70, 22, 22), (92, 32, 32), (104, 40, 40), (118, 50, 48), (146, 76, 72)]
    return paint(lumps(name, wide=4, tall=1, roughness=0.5), palette)


def _prismarine(name: str) -> np.ndarray:
    index_HW, light_HW = stones(name, count=11)
    tint = np.array([[94, 160, 148], [104, 152, 166], [84, 146, 130], [112, 172, 152]])
    factor_HW = np.where(light_HW == 0.0, 0.62, 0.86 + 0.3 * light_HW)
    return scaled(tint[index_HW % 4], factor_HW)


def _end_stone(name: str) -> np.ndarray:
    palette: list[Color] = [(196, 196, 140), (214, 216, 156), (222, 224, 166), (228, 230, 176), (240, 242, 200)]
    return paint(lumps(name, wide=3, tall=3, roughness=0.35), palette)


def _cracked_ice(base: Color, streak: Color, share: float) -> Drawing:
    def draw(name: str) -> np.ndarray:
        image_HWC = paint(lumps(name, wide=4, tall=4), shades(base, [0.94, 0.98, 1.0, 1.04]))
        is_streak_HW = ((ROW_HW + 2 * COLUMN_HW) % 13 == 3) & (lumps(name, wide=3, tall=3, layer=2) > share)
        image_HWC[is_streak_HW | (((ROW_HW - COLUMN_HW) % 16 == 5) & (grain(name, 3) > 0.5))] = streak
        return image_HWC

    return draw


def _bone_side(name: str) -> np.ndarray:
    image_HWC = paint(lumps(name, tall=5, roughness=0.3), shades((222, 216, 196), [0.92, 0.98, 1.0, 1.04]))
    image_HWC[np.isin(ROW_HW, (4, 11)) & (grain(name, 2) > 0.3)] = (184, 176, 148)
    return scaled(image_HWC, np.where((COLUMN_HW == 0) | (COLUMN_HW == 15), 0.86, 1.0))


def _bone_end(name: str) -> np.ndarray:
    light = np.array([0.84, 1.0, 0.98, 0.72, 0.98, 1.0, 0.8, 0.6])
    return scaled(paint(grain(name), shades((222, 216, 196), [0.96, 1.0, 1.03])), light[ring_index()])


def _farmland(base: Color) -> Drawing:
    def draw(name: str) -> np.ndarray:
        furrow_H = np.array([0.62, 0.8, 1.0, 1.1])
        return scaled(
            paint(lumps(name, wide=3, roughness=0.7), shades(base, [0.86, 0.95, 1.0, 1.08])), furrow_H[ROW_HW % 4]
        )

    return draw


def _path_top(name: str) -> np.ndarray:
    image_HWC = paint(lumps(name, wide=2, tall=2, roughness=0.6), shades((150, 124, 68), [0.86, 0.95, 1.0, 1.04, 1.12]))
    return scaled(image_HWC, np.where(ring_index() == 0, 0.86, 1.0))


def _coarse_dirt(name: str) -> np.ndarray:
    image_HWC = scaled(dirt(name), 0.9)
    is_stone_HW = lumps(name, wide=2, tall=2, roughness=0.2, layer=4) > 0.8
    return np.where(is_stone_HW[..., None], paint(grain(name, 5), [(104, 92, 82), (126, 112, 100)]), image_HWC)


DRAWINGS: dict[str, Drawing] = {
    "blue_ice": _cracked_ice((112, 164, 250), (170, 204, 255), 0.3),
    "bone_block_side": _bone_side,
    "bone_block_top": _bone_end,
    "clay": smooth((160, 166, 178), 0.05, wide=4),
    "coarse_dirt": _coarse_dirt,
    "cracked_stone_bricks": _cracked,
    "end_stone": _end_stone,
    "farmland": _farmland((142, 102, 70)),
    "glowstone": _glowstone,
    "grass_path_side": overgrown(shades((150, 124, 68), [0.8, 0.9, 1.0, 1.08])),
    "grass_path_top": _path_top,
    "magma": _magma,
    "mossy_stone_bricks": _mossy,
    "mycelium_side": overgrown(_MYCELIUM),
    "mycelium_top": lumpy(_MYCELIUM, wide=2, roughness=0.9),
    "nether_bricks": courses((50, 26, 32), tall=4, wide=8),
    "netherrack": _netherrack,
    "obsidian": _obsidian,
    "packed_ice": _cracked_ice((146, 184, 250), (180, 208, 255), 0.5),
    "podzol_side": overgrown(_PODZOL),
    "podzol_top": lumpy(_PODZOL, wide=2, roughness=0.9),
    "polished_andesite": polished((134, 137, 136)),
    "polished_diorite": polished((198, 198, 200)),
    "polished_granite": polished((156, 108, 90)),
    "prismarine": _prismarine,
    "quartz_block_side": _quartz_pillar_cap,
    "quartz_block_top": _quartz_pillar_cap,
    "red_sand": lumpy(_RED_SAND, wide=2, roughness=0.9),
    "red_sandstone": _red_sandstone,
    "red_sandstone_top": lumpy(_RED_SAND, wide=4, tall=2, roughness=0.3),
    "sea_lantern": _sea_lantern,
    "smooth_stone": lambda name: bevelled(smooth((160, 160, 160), 0.035)(name), light=0.8, dark=0.74),
    "soul_sand": _soul_sand,
    "stone_bricks": courses(_BRICK_GREY),
}
