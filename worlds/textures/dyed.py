"""Textures in sixteen dyes: wool, concrete, terracotta, glass."""

import numpy as np

from worlds.textures.crafted import wool
from worlds.textures.masonry import smooth
from worlds.textures.patterns import (
    COLUMN_HW,
    ROW_HW,
    Color,
    Drawing,
    grain,
    paint,
    ring_index,
    scaled,
    shades,
)
from worlds.textures.sprites import with_alpha

# Cloth as bright as the dye allows; the two that were drawn first keep their colour.
DYES: dict[str, Color] = {
    "white": (232, 236, 236),
    "orange": (240, 118, 22),
    "magenta": (190, 70, 180),
    "light_blue": (62, 176, 218),
    "yellow": (248, 200, 42),
    "lime": (114, 186, 28),
    "pink": (238, 142, 172),
    "gray": (64, 68, 72),
    "light_gray": (144, 144, 138),
    "cyan": (22, 138, 146),
    "purple": (122, 42, 174),
    "blue": (54, 58, 158),
    "brown": (116, 72, 40),
    "green": (86, 110, 28),
    "red": (162, 40, 36),
    "black": (24, 24, 28),
}
_GLASS_DYES = ("white", "red", "blue", "green", "yellow", "black")
_CLAY: Color = (152, 94, 68)


def _mix(a: Color, b: Color, share: float) -> Color:
    """Return the colour `share` of the way from a to b."""
    return (
        int(a[0] + (b[0] - a[0]) * share + 0.5),
        int(a[1] + (b[1] - a[1]) * share + 0.5),
        int(a[2] + (b[2] - a[2]) * share + 0.5),
    )


def _fired(dye: Color) -> Color:
    """Return what the dye makes of clay: duller, browner."""
    return _mix(_mix(dye, (128, 100, 84), 0.3), _CLAY, 0.28)


def glass(rim: Color, streak: Color, *, is_stained: bool) -> Drawing:
    """Draw a frame around a clear pane with a gleam.

    The renderer has no half-transparent faces but water: a stained pane is a screen of every second pixel, which reads
    as a tint from a few blocks away.
    """

    def draw(name: str) -> np.ndarray:
        image_HWC = paint(grain(name), shades(rim, [0.96, 1.0, 1.04]))
        image_HWC = scaled(image_HWC, np.where((ROW_HW == 15) | (COLUMN_HW == 15), 0.84, 1.0))
        is_gleam_HW = np.isin(ROW_HW + COLUMN_HW, (9, 10)) & (ROW_HW > 2) & (COLUMN_HW > 2)
        is_gleam_HW &= (ROW_HW < 8) & (COLUMN_HW < 8)
        is_gleam_HW |= (ROW_HW + COLUMN_HW == 21) & (ROW_HW > 8) & (COLUMN_HW > 8)
        image_HWC[is_gleam_HW] = streak
        is_seen_HW = (ring_index() == 0) | is_gleam_HW
        if is_stained:
            is_seen_HW |= (ROW_HW + COLUMN_HW) % 2 == 0
        sprite_HWC = with_alpha(image_HWC).copy()
        sprite_HWC[..., 3] = np.where(is_seen_HW, 255, 0)
        return sprite_HWC

    return draw


def pane_edge(rim: Color) -> Drawing:
    """Draw the narrow side of a pane: a bright bar."""
    return lambda name: scaled(paint(grain(name), shades(rim, [0.94, 1.0, 1.05])), np.where(ROW_HW == 15, 0.84, 1.0))


def _drawings() -> dict[str, Drawing]:
    table: dict[str, Drawing] = {
        "glass": glass((206, 228, 232), (244, 252, 252), is_stained=False),
        "glass_pane_top": pane_edge((190, 214, 218)),
        "terracotta": smooth(_CLAY, 0.04),
    }
    for dye, color in DYES.items():
        if dye not in ("white", "magenta"):  # drawn in worlds.textures.procedural
            table[f"{dye}_wool"] = wool(color)
        table[f"{dye}_concrete"] = smooth(_mix(color, (90, 90, 90), 0.1), 0.02)
        table[f"{dye}_terracotta"] = smooth(_fired(color), 0.04)
        if dye in _GLASS_DYES:
            table[f"{dye}_stained_glass"] = glass(color, _mix(color, (255, 255, 255), 0.5), is_stained=True)
    return table


DRAWINGS = _drawings()
