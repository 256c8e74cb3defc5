"""Textures of timber: boards, logs and leaves of each species, doors, trapdoors, ladders."""

import numpy as np

from worlds.textures import natural
from worlds.textures.crafted import boards
from worlds.textures.patterns import COLUMN_HW, ROW_HW, TEXTURE_PX, Color, Drawing, grain, lumps, paint, scaled, shades
from worlds.textures.sprites import clear, line, put, with_alpha

OAK: Color = (162, 131, 78)
SPRUCE: Color = (114, 84, 48)
BIRCH: Color = (194, 177, 122)
JUNGLE: Color = (161, 115, 80)
ACACIA: Color = (170, 92, 50)
DARK_OAK: Color = (68, 44, 22)
_STEEL: Color = (214, 214, 214)


def _door(wood: Color, *, seed: str, pattern: str) -> np.ndarray:
    """Return a whole door, uint8 [32, 16, 4]: the upper half, then the lower one. The handle is on the right."""
    row_HW, column_HW = np.mgrid[0 : 2 * TEXTURE_PX, 0:TEXTURE_PX]
    board_HW = np.concatenate([lumps(seed, tall=5, roughness=0.3), lumps(seed, tall=5, roughness=0.3, layer=1)])
    tones = np.array([0.9, 0.97, 1.0, 1.05])
    factor_HW = tones[(board_HW * 4).astype(np.int64)]
    image_HWC = np.clip(np.array(wood) * factor_HW[..., None], 0, 255)

    def shade(where_HW: np.ndarray, factor: float) -> None:
        image_HWC[where_HW] = np.clip(image_HWC[where_HW] * factor, 0, 255)

    def panel(top: int, bottom: int, left: int, right: int) -> None:
        """Sink a rectangle: dark upper and left edge, bright lower and right one."""
        inside_HW = (row_HW >= top) & (row_HW <= bottom) & (column_HW >= left) & (column_HW <= right)
        shade(inside_HW, 0.84)
        shade(inside_HW & ((row_HW == top) | (column_HW == left)), 0.62)
        shade(inside_HW & ((row_HW == bottom) | (column_HW == right)), 1.42)

    is_open_HW = np.zeros(row_HW.shape, bool)

    def window(top: int, bottom: int, left: int, right: int) -> None:
        inside_HW = (row_HW >= top) & (row_HW <= bottom) & (column_HW >= left) & (column_HW <= right)
        rim_HW = (row_HW >= top - 1) & (row_HW <= bottom + 1) & (column_HW >= left - 1) & (column_HW <= right + 1)
        shade(rim_HW & ~inside_HW, 0.66)
        is_open_HW[inside_HW] = True

    shade((column_HW == 0) | (row_HW == 0), 1.14)
    shade((column_HW == 15) | (row_HW == 31), 0.56)
    if pattern == "lattice":  # four panes above, two sunk panels below
        for top in (3, 8):
            window(top, top + 3, 3, 6)
            window(top, top + 3, 9, 12)
        panel(15, 21, 2, 13)
        panel(24, 29, 2, 13)
    elif pattern == "braced":  # upright boards, two iron straps and a slanting brace
        shade((column_HW % 4 == 3) & (row_HW > 0), 0.66)
        brace_HW = np.abs((row_HW - 15) + 1.4 * (column_HW - 7.5)) < 2.0
        shade(brace_HW & (row_HW > 5) & (row_HW < 26), 1.3)
        for top in (4, 26):
            strap_HW = (row_HW >= top) & (row_HW < top + 2)
            image_HWC[strap_HW] = (70, 68, 66)
            shade(strap_HW & (column_HW % 5 == 2) & (row_HW == top), 1.9)
    elif pattern == "screen":  # many small panes above, pale boards below
        for top in (2, 6, 10, 14):
            for left in (2, 6, 10):
                window(top, top + 1, left + 1, left + 2)
        panel(19, 29, 2, 13)
        shade((row_HW > 19) & (row_HW < 29) & (column_HW == 8), 0.7)
    elif pattern == "plate":  # sheet metal with rivets and two small windows
        window(4, 6, 4, 6)
        window(4, 6, 9, 11)
        panel(10, 18, 2, 13)
        panel(21, 29, 2, 13)
        rivet_HW = (row_HW % 10 == 1) & ((column_HW == 1) | (column_HW == 14))
        shade(rivet_HW, 0.6)
    else:
        raise ValueError(f"textures: no door pattern {pattern!r}")
    image_HWC[16:18, 12:14] = (58, 54, 50)
    image_HWC[16, 12] = (150, 146, 140)
    sprite_HWC = np.zeros((*row_HW.shape, 4), np.uint8)
    sprite_HWC[..., :3] = (image_HWC + 0.5).clip(0, 255).astype(np.uint8)
    sprite_HWC[..., 3] = np.where(is_open_HW, 0, 255)
    return sprite_HWC


def door_half(wood: Color, pattern: str, *, half: int) -> Drawing:
    """Draw the upper (half 0) or lower (half 1) picture of a door."""

    def draw(seed: str) -> np.ndarray:
        return _door(wood, seed=f"{pattern}_door{seed.partition('~')[2]}", pattern=pattern)[16 * half : 16 * half + 16]

    return draw


def trapdoor(wood: Color, *, has_windows: bool) -> Drawing:
    """Draw a hatch: a frame around four openings, or solid boards with iron bands."""

    def draw(seed: str) -> np.ndarray:
        image_HWC = paint(lumps(seed, wide=5, roughness=0.3), shades(wood, [0.9, 0.98, 1.0, 1.06]))
        edge_HW = (ROW_HW == 0) | (COLUMN_HW == 0)
        image_HWC = scaled(image_HWC, np.where(edge_HW, 1.12, 1.0))
        image_HWC = scaled(image_HWC, np.where((ROW_HW == 15) | (COLUMN_HW == 15), 0.6, 1.0))
        if not has_windows:
            image_HWC = scaled(image_HWC, np.where((ROW_HW % 4 == 3) & (COLUMN_HW % 15 > 0), 0.66, 1.0))
            for left in (2, 12):
                image_HWC[:, left : left + 2] = np.where((ROW_HW[:, :2] % 6 == 2)[..., None], 128, 66)
            return image_HWC
        sprite_HWC = with_alpha(image_HWC).copy()
        for top in (3, 9):
            for left in (3, 9):
                sprite_HWC[top - 1 : top + 5, left - 1 : left + 5, :3] = sprite_HWC[
                    top - 1 : top + 5, left - 1 : left + 5, :3
                ] * np.float64(0.72)
                sprite_HWC[top : top + 4, left : left + 4, 3] = 0
        return sprite_HWC

    return draw


def ladder(seed: str) -> np.ndarray:
    """Draw two rails and four rungs."""
    sprite_HWC = clear()
    dark, middle, light = shades((150, 118, 68), [0.66, 1.0, 1.2])
    for top in (1, 5, 9, 13):
        for column in range(1, 15):
            put(sprite_HWC, top, column, light if grain(seed, 1)[top, column] > 0.25 else middle)
            put(sprite_HWC, top + 1, column, dark)
    for left in (2, 12):
        for row in range(TEXTURE_PX):
            put(sprite_HWC, row, left, light if grain(seed, 2)[row, left] > 0.3 else middle)
            put(sprite_HWC, row, left + 1, dark)
    return sprite_HWC


def dead_bush(seed: str) -> np.ndarray:
    """Draw bare twigs that fork."""
    sprite_HWC = clear()
    twig = shades((124, 86, 42), [0.8, 1.0, 1.15])
    for start, end in (
        ((15, 7), (9, 7)),
        ((15, 8), (11, 8)),
        ((11, 7), (5, 2)),
        ((9, 7), (3, 7)),
        ((11, 8), (4, 13)),
        ((8, 4), (8, 1)),
        ((7, 10), (3, 10)),
        ((13, 8), (9, 13)),
        ((13, 7), (10, 2)),
        ((6, 7), (2, 5)),
    ):
        line(sprite_HWC, start, end, twig)
    return sprite_HWC


DRAWINGS: dict[str, Drawing] = {
    "acacia_leaves": natural.leaves((118, 134, 42)),
    "acacia_log": natural.bark((104, 97, 88)),
    "acacia_log_top": natural.log_top((176, 96, 54), (104, 97, 88)),
    "acacia_planks": boards(ACACIA),
    "birch_door_bottom": door_half((214, 200, 158), "screen", half=1),
    "birch_door_top": door_half((214, 200, 158), "screen", half=0),
    "birch_planks": boards(BIRCH),
    "dark_oak_leaves": natural.leaves((44, 96, 22)),
    "dark_oak_log": natural.bark((58, 46, 30)),
    "dark_oak_log_top": natural.log_top((78, 52, 28), (58, 46, 30)),
    "dark_oak_planks": boards(DARK_OAK),
    "dead_bush": dead_bush,
    "iron_door_bottom": door_half(_STEEL, "plate", half=1),
    "iron_door_top": door_half(_STEEL, "plate", half=0),
    "jungle_leaves": natural.leaves((52, 126, 30)),
    "jungle_log": natural.bark((86, 68, 24)),
    "jungle_log_top": natural.log_top((164, 120, 82), (86, 68, 24)),
    "jungle_planks": boards(JUNGLE),
    "ladder": ladder,
    "oak_door_bottom": door_half((150, 118, 68), "lattice", half=1),
    "oak_door_top": door_half((150, 118, 68), "lattice", half=0),
    "oak_trapdoor": trapdoor(OAK, has_windows=True),
    "spruce_door_bottom": door_half((108, 80, 46), "braced", half=1),
    "spruce_door_top": door_half((108, 80, 46), "braced", half=0),
    "spruce_planks": boards(SPRUCE),
    "spruce_trapdoor": trapdoor(SPRUCE, has_windows=False),
}
