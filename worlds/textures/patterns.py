"""The brush strokes that textures are made of: grain, lumps, stripes, stones, bevels. H W pixels, P palette colours.

A value picture is float64 [16, 16] in [0, 1) and tiles without a seam; `paint` turns it into colours. Only exact
arithmetic is used, so a texture has the same bytes on every machine.
"""

import zlib
from collections.abc import Callable, Sequence

import numpy as np

TEXTURE_PX = 16
Color = tuple[int, int, int]
Drawing = Callable[[str], np.ndarray]  # a seed, commonly the texture's name -> the picture

ROW_HW, COLUMN_HW = np.mgrid[0:TEXTURE_PX, 0:TEXTURE_PX]


def grain(name: str, layer: int = 0) -> np.ndarray:
    """Return independent random values, one a pixel, decided by the name and the layer alone."""
    bits = np.arange(TEXTURE_PX**2, dtype=np.uint64) + np.uint64(zlib.crc32(f"{name}/{layer}".encode()) << 16)
    bits = bits * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return ((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(TEXTURE_PX, TEXTURE_PX)


def ranked(value_HW: np.ndarray) -> np.ndarray:
    """Return each pixel's rank among all, in [0, 1): every palette colour then covers the same area."""
    order = np.argsort(value_HW.ravel(), kind="stable")
    rank_N = np.empty(order.size)
    rank_N[order] = np.arange(order.size) / order.size
    return rank_N.reshape(value_HW.shape)


def lumps(name: str, *, wide: int = 1, tall: int = 1, roughness: float = 0.3, layer: int = 0) -> np.ndarray:
    """Return ranked noise whose spots are `wide` x `tall` pixels, with a share of single-pixel grain on top."""
    value_HW = grain(name, layer)
    for axis, size in ((1, wide), (0, tall)):
        value_HW = np.mean([np.roll(value_HW, shift, axis) for shift in range(size)], axis=0)
    return ranked(ranked(value_HW) + roughness * grain(name, layer + 100))


def paint(value_HW: np.ndarray, palette: Sequence[Color]) -> np.ndarray:
    """Return uint8 [16, 16, 3]: each value in [0, 1) picks one colour of the palette, first to last."""
    palette_P3 = np.array(palette, np.uint8)
    index_HW = np.clip((value_HW * len(palette)).astype(np.int64), 0, len(palette) - 1)
    return palette_P3[index_HW]


def shades(color: Color, factors: Sequence[float]) -> list[Color]:
    """Return the colour made darker or brighter by each factor: a palette of one material."""
    return [(_clip(color[0] * f), _clip(color[1] * f), _clip(color[2] * f)) for f in factors]


def _clip(value: float) -> int:
    return max(0, min(255, int(value + 0.5)))


def scaled(image_HWC: np.ndarray, factor_HW: np.ndarray | float) -> np.ndarray:
    """Return the picture with every pixel made darker or brighter by its factor."""
    factor = np.asarray(factor_HW, np.float64)
    factor = factor[..., None] if factor.ndim else factor
    return np.clip(image_HWC * factor + 0.5, 0, 255).astype(np.uint8)


def ring_index() -> np.ndarray:
    """Return int [16, 16]: 0 on the border of the picture, 7 at its centre."""
    return np.minimum(np.minimum(ROW_HW, TEXTURE_PX - 1 - ROW_HW), np.minimum(COLUMN_HW, TEXTURE_PX - 1 - COLUMN_HW))


def bevelled(image_HWC: np.ndarray, *, light: float, dark: float, inset: int = 0) -> np.ndarray:
    """Return the picture with a lit upper and left edge and a shaded lower and right one, `inset` pixels in."""
    low, high = inset, TEXTURE_PX - 1 - inset
    is_inside = (ROW_HW >= low) & (ROW_HW <= high) & (COLUMN_HW >= low) & (COLUMN_HW <= high)
    factor_HW = np.ones((TEXTURE_PX, TEXTURE_PX))
    factor_HW[is_inside & ((ROW_HW == high) | (COLUMN_HW == high))] = dark
    factor_HW[is_inside & ((ROW_HW == low) | (COLUMN_HW == low)) & (ROW_HW + COLUMN_HW < low + high)] = light
    return scaled(image_HWC, factor_HW)


def stones(name: str, *, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return round stones that tile: the index of each pixel's stone, int [16, 16], and its light, float64 [16, 16].

    The light is low in the gaps between two stones and high on the upper left of each.
    """
    place = grain(name).ravel()
    distance_NHW = np.empty((count, TEXTURE_PX, TEXTURE_PX))
    tilt_NHW = np.empty_like(distance_NHW)
    side = int(count**0.5 + 0.999)
    for n in range(count):
        # One stone a square of a coarse grid, so that no two fall together.
        row = (n // side + place[2 * n]) * TEXTURE_PX / side
        column = (n % side + place[2 * n + 1]) * TEXTURE_PX / side
        d_row = (ROW_HW - row + 8.0) % TEXTURE_PX - 8.0
        d_column = (COLUMN_HW - column + 8.0) % TEXTURE_PX - 8.0
        distance_NHW[n] = np.sqrt(d_row * d_row + d_column * d_column)
        tilt_NHW[n] = -(d_row + d_column)
    nearest_HW = distance_NHW.argmin(axis=0)
    two_nearest = np.sort(distance_NHW, axis=0)[:2]
    gap_HW = two_nearest[1] - two_nearest[0]
    tilt_HW = np.take_along_axis(tilt_NHW, nearest_HW[None], axis=0)[0]
    light_HW = np.where(gap_HW < 0.9, 0.0, np.clip(0.55 + 0.09 * tilt_HW, 0.2, 0.999))
    return nearest_HW, light_HW


def stamped(image_HWC: np.ndarray, rows: Sequence[str], colors: dict[str, Color], *, at: tuple[int, int]) -> np.ndarray:
    """Return the picture with a small drawing on it; `at` is its top left (row, column), other letters are clear."""
    stamped_HWC = image_HWC.copy()
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter in colors:
                stamped_HWC[(at[0] + r) % TEXTURE_PX, (at[1] + c) % TEXTURE_PX] = colors[letter]
    return stamped_HWC
