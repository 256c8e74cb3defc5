"""Textures of what grows and lies around: soil, rock, ores, trees, fruit."""

import numpy as np

from worlds.textures.patterns import (
    COLUMN_HW,
    ROW_HW,
    TEXTURE_PX,
    Color,
    Drawing,
    grain,
    lumps,
    paint,
    ring_index,
    scaled,
    shades,
    stamped,
    stones,
)

COBBLE: list[Color] = [(66, 66, 66), (104, 104, 104), (124, 124, 124), (140, 140, 140), (170, 170, 170)]
GRASS: list[Color] = [(70, 113, 40), (82, 128, 46), (93, 143, 53), (93, 143, 53), (104, 156, 61), (119, 172, 73)]
_DIRT: list[Color] = [(92, 64, 43), (121, 85, 58), (134, 96, 67), (134, 96, 67), (150, 108, 74), (168, 122, 85)]
_STONE: list[Color] = [
    (106, 106, 106),
    (116, 116, 116),
    (126, 126, 126),
    (126, 126, 126),
    (126, 126, 126),
    (140, 140, 140),
]
SAND: list[Color] = [(205, 190, 142), (216, 202, 156), (219, 207, 163), (222, 211, 168), (231, 221, 182)]
SNOW: list[Color] = [(233, 243, 246), (243, 250, 251), (249, 253, 253), (253, 255, 255)]

# Letters of ore drawings: a dark rim below and to the right of the bright grain, as if set into the stone.
_ORE_GRAINS: tuple[tuple[str, ...], ...] = (
    (".ab.", "abbc", ".cc."),
    ("ab.", "bbc", "cc."),
    (".ab", "abc", "bc."),
    ("abb.", ".cbc"),
)
_ORE_PLACES: tuple[tuple[int, int], ...] = ((1, 3), (2, 10), (6, 6), (7, 13), (10, 1), (12, 9))


def dirt(name: str) -> np.ndarray:
    """Draw brown grain with a few pale pebbles."""
    image_HWC = paint(lumps("dirt", wide=2, roughness=0.8), _DIRT)
    image_HWC[grain("dirt", 7) > 0.97] = (130, 126, 122)
    return image_HWC


def overgrown(palette: list[Color]) -> Drawing:
    """Draw dirt under a fringe of `palette` that hangs down 2 to 5 pixels."""

    def draw(name: str) -> np.ndarray:
        depth_W = 2 + (lumps(name, wide=2, layer=3)[0] * 3.999).astype(np.int64)
        is_fringe_HW = ROW_HW < depth_W[None]
        cover_HWC = paint(lumps(name, roughness=1.0, layer=1), palette)
        # The last row of the fringe is in its own shadow: it keeps the edge legible from far away.
        cover_HWC = scaled(cover_HWC, np.where(ROW_HW == depth_W[None] - 1, 0.78, 1.0))
        return np.where(is_fringe_HW[..., None], cover_HWC, dirt(name))

    return draw


def lumpy(palette: list[Color], *, wide: int = 1, tall: int = 1, roughness: float = 0.5) -> Drawing:
    """Draw spots of `wide` x `tall` pixels in the palette's colours."""

    def draw(name: str) -> np.ndarray:
        return paint(lumps(name, wide=wide, tall=tall, roughness=roughness), palette)

    return draw


def pebbles(palette: list[Color], *, count: int) -> Drawing:
    """Draw stones of slightly different greys with dark gaps."""

    def draw(name: str) -> np.ndarray:
        index_HW, light_HW = stones(name, count=count)
        own_N = 0.88 + 0.24 * grain(name, 5).ravel()[:count]
        return scaled(paint(np.clip(light_HW + 0.16 * grain(name, 6) - 0.08, 0.0, 0.999), palette), own_N[index_HW])

    return draw


def mossy_cobblestone(name: str) -> np.ndarray:
    """Draw cobblestone with patches of moss."""
    image_HWC = pebbles(COBBLE, count=12)("cobblestone")
    moss_HWC = paint(grain(name, 1), [(66, 92, 40), (84, 112, 52), (101, 131, 64)])
    return np.where((lumps(name, wide=4, tall=4) > 0.55)[..., None], moss_HWC, image_HWC)


def sandstone(name: str) -> np.ndarray:
    """Draw level bands of sand."""
    band_H = np.array([0.86, 1.03, 1.04, 0.93, 1, 1, 1, 0.9, 0.97, 0.97, 0.84, 1, 1, 1.02, 0.9, 0.8])
    return scaled(paint(lumps(name, wide=5, roughness=0.4), SAND), band_H[ROW_HW] - 0.02)


def ice(name: str) -> np.ndarray:
    """Draw pale blue with white slanting cracks."""
    image_HWC = paint(lumps(name, wide=4, tall=4), [(131, 170, 243), (145, 184, 250), (157, 194, 253), (170, 204, 255)])
    streak_HW = ((ROW_HW + COLUMN_HW) % 11 == 2) & (lumps(name, wide=3, tall=3, layer=2) > 0.45)
    image_HWC[streak_HW] = (214, 231, 255)
    return image_HWC


def speckled(base: Color, factors: list[float], spot: Color, share: float) -> Drawing:
    """Draw a mottled rock with lumps of a second mineral."""

    def draw(name: str) -> np.ndarray:
        image_HWC = paint(lumps(name, wide=3, tall=2, roughness=0.6), shades(base, factors))
        image_HWC[lumps(name, wide=2, tall=2, roughness=0.2, layer=1) > 1.0 - share] = spot
        return image_HWC

    return draw


def stone(name: str) -> np.ndarray:
    """Draw grey with level streaks."""
    return paint(lumps("stone", wide=5, roughness=0.35), _STONE)


def ore(light: Color, middle: Color, dark: Color) -> Drawing:
    """Draw stone with six grains of ore."""

    def draw(name: str) -> np.ndarray:
        image_HWC = stone(name)
        pick = (grain(name, 2).ravel() * len(_ORE_GRAINS)).astype(np.int64)
        nudge = (grain(name, 3).ravel() * 2).astype(np.int64)
        for n, (row, column) in enumerate(_ORE_PLACES):
            at = (row + int(nudge[2 * n]), column + int(nudge[2 * n + 1]))
            image_HWC = stamped(image_HWC, _ORE_GRAINS[pick[n]], {"a": light, "b": middle, "c": dark}, at=at)
        return image_HWC

    return draw


def bark(base: Color) -> Drawing:
    """Draw upright ridges and furrows."""

    def draw(name: str) -> np.ndarray:
        ridge_HW = lumps(name, tall=7, roughness=0.25)
        return paint(ridge_HW, shades(base, [0.62, 0.8, 0.95, 1.05, 1.22]))

    return draw


def birch_log(name: str) -> np.ndarray:
    """Draw white bark with short dark dashes."""
    image_HWC = paint(
        lumps(name, wide=3, roughness=0.4), [(199, 198, 190), (214, 213, 208), (226, 226, 222), (238, 238, 236)]
    )
    for row, column, length in ((1, 2, 4), (3, 10, 3), (6, 13, 5), (8, 5, 3), (11, 0, 3), (13, 8, 5), (14, 9, 2)):
        dash_W = (np.arange(length) + column) % TEXTURE_PX
        image_HWC[row, dash_W] = (52, 50, 46)
        image_HWC[(row + 1) % TEXTURE_PX, dash_W[: length // 2]] = (128, 125, 117)
    return image_HWC


def log_top(wood: Color, bark: Color) -> Drawing:
    """Draw the rings of a cut trunk inside its bark."""

    def draw(name: str) -> np.ndarray:
        ring_HW = ring_index()
        ring_light = np.array([1.0, 0.74, 1.08, 0.96, 0.8, 1.08, 0.92, 0.76])
        image_HWC = scaled(paint(lumps(name, roughness=1.0), shades(wood, [0.95, 1.0, 1.04])), ring_light[ring_HW])
        return np.where((ring_HW == 0)[..., None], paint(grain(name, 2), shades(bark, [0.75, 1.0, 1.2])), image_HWC)

    return draw


def leaves(base: Color) -> Drawing:
    """Draw clumps of bright leaves over dark gaps."""

    def draw(name: str) -> np.ndarray:
        return paint(lumps(name, wide=2, tall=2, roughness=0.7), shades(base, [0.38, 0.62, 0.82, 1.0, 1.1, 1.35]))

    return draw


def cactus(name: str) -> np.ndarray:
    """Draw upright ribs with pale spines."""
    rib_W = np.array([0.55, 0.9, 1.12, 0.95, 0.62, 0.95, 1.15, 0.98, 0.62, 0.95, 1.15, 0.95, 0.62, 1.0, 0.9, 0.55])
    image_HWC = scaled(paint(grain(name), shades((86, 137, 46), [0.94, 1.0, 1.06])), rib_W[COLUMN_HW])
    spine_HW = (COLUMN_HW % 4 == 2) & ((ROW_HW + 2 * (COLUMN_HW // 4)) % 5 == 1)
    image_HWC[spine_HW] = (216, 222, 172)
    return image_HWC


def cactus_top(name: str) -> np.ndarray:
    """Draw rings that grow bright towards the centre."""
    ring_light = np.array([0.6, 0.95, 1.15, 0.92, 1.1, 0.95, 1.15, 1.25])
    return scaled(paint(grain(name), shades((98, 150, 56), [0.94, 1.0, 1.06])), ring_light[ring_index()])


def ribbed(light: Color, dark: Color, rib: int) -> Drawing:
    """Draw vertical ribs, `rib` pixels each, bright in their middle and dark in the grooves."""

    def draw(name: str) -> np.ndarray:
        phase_HW = (COLUMN_HW % rib + 0.5) / rib
        swell_HW = 4.0 * phase_HW * (1.0 - phase_HW)
        mix = swell_HW[..., None]
        image_HWC = np.array(dark) * (1.0 - mix) + np.array(light) * mix
        return scaled(image_HWC, 0.93 + 0.14 * lumps(name, tall=3, roughness=0.5))

    return draw


def fruit_top(light: Color, dark: Color, stem: Color) -> Drawing:
    """Draw grooves that meet at a stem."""

    def draw(name: str) -> np.ndarray:
        row_HW, column_HW = np.abs(ROW_HW - 7.5), np.abs(COLUMN_HW - 7.5)
        is_groove_HW = (np.abs(row_HW - column_HW) < 0.8) | (np.minimum(row_HW, column_HW) < 0.6)
        palette = shades(light, [0.93, 1.0, 1.06])
        image_HWC = np.where(is_groove_HW[..., None], np.array(dark, np.uint8), paint(lumps(name, wide=2), palette))
        image_HWC[np.maximum(row_HW, column_HW) < 2.0] = stem
        return scaled(image_HWC, np.where(ring_index() == 0, 0.85, 1.0))

    return draw
