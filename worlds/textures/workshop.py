"""Textures of furniture: chests, tables, anvils, lamps, and of blocks with a pattern of their own."""

import numpy as np

from worlds.textures.crafted import boards, planks
from worlds.textures.natural import lumpy, ribbed
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
from worlds.textures.sprites import with_alpha


def _chest(part: str) -> Drawing:
    """Draw a chest's front, side, top or inside: its box is columns 1 to 14, rows 2 to 15, the lid above row 6."""

    def draw(seed: str) -> np.ndarray:
        image_HWC = paint(lumps("chest", wide=6, roughness=0.3), shades((164, 116, 44), [0.88, 0.96, 1.0, 1.06]))
        if part in ("front", "side"):
            image_HWC = scaled(image_HWC, np.where(ROW_HW == 6, 0.42, np.where(ROW_HW == 7, 0.72, 1.0)))
            is_rim_HW = (COLUMN_HW < 2) | (COLUMN_HW > 13) | (ROW_HW < 3) | (ROW_HW == 15)
            image_HWC = scaled(image_HWC, np.where(is_rim_HW, 0.52, np.where(ROW_HW == 11, 0.8, 1.0)))
        else:
            image_HWC = scaled(image_HWC, np.where(ring_index() < 2, 0.52, np.where(ROW_HW % 5 == 0, 0.82, 1.0)))
        if part == "inside":
            image_HWC = scaled(image_HWC, np.where(ring_index() < 2, 1.2, 0.38))
        if part == "front":
            image_HWC = stamped(
                image_HWC,
                ("ii", "ij", "ij", "kk"),
                {"i": (212, 212, 214), "j": (146, 146, 150), "k": (64, 64, 68)},
                at=(5, 7),
            )
        return image_HWC

    return draw


def _barrel_side(seed: str) -> np.ndarray:
    stave_W = np.array([1.06, 1.0, 0.96, 0.62])
    image_HWC = paint(lumps(seed, tall=6, roughness=0.3), shades((140, 104, 60), [0.9, 0.98, 1.03, 1.1]))
    image_HWC = scaled(image_HWC, stave_W[COLUMN_HW % 4])
    for row in (2, 3, 12, 13):
        image_HWC[row] = paint(grain(seed, 2), shades((94, 66, 36), [0.9, 1.0, 1.1]))[row]
    return scaled(image_HWC, np.where(np.isin(ROW_HW, (4, 14)), 0.7, 1.0))


def _barrel_end(*, is_open: bool) -> Drawing:
    def draw(seed: str) -> np.ndarray:
        image_HWC = scaled(boards((140, 104, 60))("barrel"), np.where(ring_index() < 2, 0.7, 1.02))
        if is_open:
            image_HWC = scaled(image_HWC, np.where(ring_index() > 1, 0.28, 1.0))
        return image_HWC

    return draw


def _enchanting(part: str) -> Drawing:
    """Draw a table of dark stone, 12 pixels tall: side rows 4 to 15 with gems under a red cloth."""

    def draw(seed: str) -> np.ndarray:
        dark: list[Color] = [(14, 11, 24), (20, 16, 34), (32, 24, 52), (46, 34, 74)]
        stone_HWC = paint(lumps("enchanting_table", wide=4, tall=3, roughness=0.5), dark)
        cloth_HWC = paint(grain(seed), shades((168, 34, 34), [0.86, 1.0, 1.1]))
        if part == "bottom":
            return stone_HWC
        if part == "top":
            image_HWC = np.where((ring_index() > 1)[..., None], cloth_HWC, stone_HWC)
            corner_HW = (np.abs(ROW_HW - 7.5) > 4.5) & (np.abs(COLUMN_HW - 7.5) > 4.5) & (ring_index() > 0)
            image_HWC[corner_HW] = (86, 226, 214)
            return scaled(image_HWC, np.where((ring_index() == 5), 0.72, 1.0))
        image_HWC = np.where((ROW_HW < 7 + (COLUMN_HW % 4 == 1))[..., None], cloth_HWC, stone_HWC)
        gem = (".d.", "dld", ".d.")
        for column in (1, 12):
            image_HWC = stamped(image_HWC, gem, {"d": (50, 170, 166), "l": (140, 250, 240)}, at=(9, column))
        return scaled(image_HWC, np.where(ROW_HW == 15, 0.7, 1.0))

    return draw


def _iron_plate(seed: str) -> np.ndarray:
    return paint(lumps(seed, wide=4, tall=2, roughness=0.4), shades((72, 72, 76), [0.86, 0.96, 1.0, 1.12]))


def _anvil_top(seed: str) -> np.ndarray:
    image_HWC = scaled(_iron_plate(seed), 1.06)
    image_HWC = scaled(image_HWC, np.where((COLUMN_HW < 3) | (COLUMN_HW > 12), 0.62, 1.0))
    return scaled(image_HWC, np.where((COLUMN_HW == 3) | (ROW_HW == 0), 1.35, np.where(COLUMN_HW == 12, 0.75, 1.0)))


def _cauldron_side(seed: str) -> np.ndarray:
    """Draw a pot on feet: the gap between them, rows 13 to 15, is clear."""
    image_HWC = scaled(_iron_plate("cauldron"), np.where(ROW_HW == 0, 1.3, np.where(ROW_HW == 2, 0.66, 1.0)))
    sprite_HWC = with_alpha(image_HWC).copy()
    sprite_HWC[13:, 4:12, 3] = 0
    return sprite_HWC


def _cauldron_top(seed: str) -> np.ndarray:
    """Draw the rim around a clear hole."""
    sprite_HWC = with_alpha(scaled(_iron_plate("cauldron"), 1.15)).copy()
    sprite_HWC[2:14, 2:14, 3] = 0
    return sprite_HWC


def _cake(part: str) -> Drawing:
    """Draw a cake of 14 x 14 x 8 pixels: icing above a sponge, rows 8 to 15 of the side."""

    def draw(seed: str) -> np.ndarray:
        icing_HWC = paint(grain(seed), [(240, 236, 232), (248, 246, 244), (252, 252, 250)])
        crumb_HWC = paint(lumps(seed, wide=2, roughness=0.6), shades((176, 104, 54), [0.86, 0.96, 1.04, 1.12]))
        if part == "bottom":
            return scaled(crumb_HWC, 0.8)
        if part == "top":
            for row, column in ((3, 3), (3, 10), (7, 6), (11, 3), (10, 11), (6, 12)):
                icing_HWC[row : row + 2, column : column + 2] = (210, 34, 34)
            return scaled(icing_HWC, np.where(ring_index() < 2, 0.93, 1.0))
        drip_HW = ROW_HW < 10 + (grain(seed, 1)[0] * 2.6).astype(np.int64)[None]
        return np.where(drip_HW[..., None], icing_HWC, crumb_HWC)

    return draw


def _note_block(seed: str) -> np.ndarray:
    image_HWC = scaled(bevelled(planks(seed), light=1.1, dark=0.6), 0.66)
    note = ("....kk", "..kkkk", "..kk.k", "..k..k", "..k..k", ".kk.kk", "kkk.kk", "kk....")
    return stamped(image_HWC, note, {"k": (34, 22, 14)}, at=(4, 5))


def _jukebox_top(seed: str) -> np.ndarray:
    image_HWC = scaled(bevelled(planks(seed), light=1.12, dark=0.62), 0.72)
    image_HWC[7:9, 3:13] = (28, 20, 14)
    return image_HWC


def _lamp(seed: str) -> np.ndarray:
    """Draw four dull cells in a frame."""
    cell_HW = (np.minimum(ROW_HW % 8, 7 - ROW_HW % 8) + np.minimum(COLUMN_HW % 8, 7 - COLUMN_HW % 8)) / 6.0
    dull: list[Color] = [(58, 32, 18), (84, 48, 26), (110, 66, 36), (128, 80, 46)]
    image_HWC = paint(np.clip(cell_HW * 0.85 + 0.15 * grain(seed), 0, 0.999), dull)
    return scaled(image_HWC, np.where(ring_index() == 0, 0.62, 1.0))


def _honey(light: float) -> Drawing:
    """Draw thick amber with bubbles."""

    def draw(seed: str) -> np.ndarray:
        image_HWC = paint(lumps(seed, wide=4, tall=4), shades((244, 166, 42), [0.9, 0.98, 1.02, 1.06]))
        image_HWC[lumps(seed, wide=2, tall=2, roughness=0.1, layer=2) > 0.92] = (255, 216, 122)
        return scaled(image_HWC, light * np.where(ring_index() == 0, 0.8, 1.0))

    return draw


def _spawner(seed: str) -> np.ndarray:
    """Draw a cage of dark bars."""
    sprite_HWC = with_alpha(paint(grain(seed), shades((38, 52, 66), [0.8, 1.0, 1.3]))).copy()
    is_bar_HW = (ROW_HW % 5 == 0) | (COLUMN_HW % 5 == 0) | (ring_index() == 0)
    sprite_HWC[..., 3] = np.where(is_bar_HW, 255, 0)
    return sprite_HWC


def _sponge(base: Color) -> Drawing:
    def draw(seed: str) -> np.ndarray:
        _, light_HW = stones(seed, count=10)
        image_HWC = paint(lumps(seed, wide=2, roughness=0.7), shades(base, [0.9, 0.97, 1.0, 1.06]))
        is_hole_HW = lumps(seed, wide=2, tall=2, roughness=0.15, layer=3) > 0.84
        return scaled(image_HWC, np.where(is_hole_HW, 0.58, np.where(light_HW == 0.0, 0.9, 1.0)))

    return draw


def _slime(seed: str) -> np.ndarray:
    image_HWC = paint(lumps(seed, wide=4, tall=4), shades((112, 192, 92), [0.95, 1.0, 1.04]))
    image_HWC = scaled(image_HWC, np.where(ring_index() == 0, 0.78, np.where(ring_index() == 3, 0.84, 1.0)))
    return scaled(image_HWC, np.where(ring_index() > 3, 0.76, 1.0))


def _carved(*, is_lit: bool) -> Drawing:
    """Draw a face cut into a pumpkin."""
    face = (
        "kk......kk",
        "kkk....kkk",
        "kkkk..kkkk",
        "..........",
        "....kk....",
        "k........k",
        "kkk.kk.kkk",
        ".kkkkkkkk.",
        "..kk..kk..",
    )

    def draw(seed: str) -> np.ndarray:
        image_HWC = ribbed((230, 142, 38), (146, 72, 10), 4)("pumpkin")
        hole: Color = (255, 226, 104) if is_lit else (66, 34, 8)
        image_HWC = stamped(image_HWC, face, {"k": shades(hole, [0.72])[0]}, at=(5, 3))
        return stamped(image_HWC, face, {"k": hole}, at=(4, 3))

    return draw


def _mushroom_skin(base: Color, spot: Color | None) -> Drawing:
    def draw(seed: str) -> np.ndarray:
        image_HWC = paint(lumps(seed, wide=3, tall=3, roughness=0.3), shades(base, [0.93, 1.0, 1.0, 1.06]))
        if spot is not None:
            for row, column, size in ((1, 2, 4), (3, 11, 3), (9, 6, 4), (12, 13, 3), (8, 0, 2), (14, 3, 2)):
                for r in range(row, row + size):
                    columns = np.arange(column, column + size) % TEXTURE_PX
                    image_HWC[r % TEXTURE_PX, columns] = spot
        return image_HWC

    return draw


DRAWINGS: dict[str, Drawing] = {
    "anvil": _iron_plate,
    "anvil_top": _anvil_top,
    "barrel_bottom": _barrel_end(is_open=False),
    "barrel_side": _barrel_side,
    "barrel_top": _barrel_end(is_open=False),
    "barrel_top_open": _barrel_end(is_open=True),
    "brown_mushroom_block": _mushroom_skin((150, 112, 82), None),
    "cake_bottom": _cake("bottom"),
    "cake_side": _cake("side"),
    "cake_top": _cake("top"),
    "carved_pumpkin": _carved(is_lit=False),
    "cauldron_bottom": lambda seed: scaled(_iron_plate("cauldron"), 0.7),
    "cauldron_side": _cauldron_side,
    "cauldron_top": _cauldron_top,
    "chest_bottom": _chest("bottom"),
    "chest_front": _chest("front"),
    "chest_inside": _chest("inside"),
    "chest_side": _chest("side"),
    "chest_top": _chest("top"),
    "enchanting_table_bottom": _enchanting("bottom"),
    "enchanting_table_side": _enchanting("side"),
    "enchanting_table_top": _enchanting("top"),
    "honey_block_bottom": _honey(0.82),
    "honey_block_side": _honey(0.92),
    "honey_block_top": _honey(1.0),
    "jack_o_lantern": _carved(is_lit=True),
    "jukebox": lambda seed: scaled(bevelled(planks(seed), light=1.12, dark=0.62), 0.72),
    "jukebox_top": _jukebox_top,
    "mushroom_stem": lumpy(shades((208, 204, 194), [0.92, 0.98, 1.0, 1.03]), tall=6, roughness=0.3),
    "note_block": _note_block,
    "red_mushroom_block": _mushroom_skin((196, 40, 36), (228, 218, 208)),
    "redstone_lamp": _lamp,
    "slime_block": _slime,
    "spawner": _spawner,
    "sponge": _sponge((196, 192, 74)),
}
