"""The brush strokes of what has a silhouette: letter drawings, blades, stalks, rims. H W pixels, C = 4 channels.

A sprite is uint8 [16, 16, 4] RGBA whose alpha is 0 or 255. Letters name colours, '.' stays clear.
"""

from collections.abc import Sequence

import numpy as np

from worlds.textures.patterns import TEXTURE_PX, Color, Drawing, grain, shades

Palette = dict[str, Color]
OPAQUE = 255


def clear() -> np.ndarray:
    """Return a sprite without a single visible pixel."""
    return np.zeros((TEXTURE_PX, TEXTURE_PX, 4), np.uint8)


def with_alpha(image_HWC: np.ndarray) -> np.ndarray:
    """Return the picture with a fourth channel: an RGB picture becomes opaque, an RGBA one stays as it is."""
    if image_HWC.shape[-1] == 4:
        return image_HWC
    return np.concatenate([image_HWC, np.full((*image_HWC.shape[:2], 1), OPAQUE, np.uint8)], axis=-1)


def ramp(letters: str, color: Color, factors: Sequence[float]) -> Palette:
    """Return shades of one colour under one letter each."""
    return dict(zip(letters, shades(color, factors), strict=True))


def three(color: Color) -> Palette:
    """Return the colour of an item under the letters a (dark), b and c (bright)."""
    return ramp("abc", color, [0.72, 1.0, 1.25])


def mirrored(rows: Sequence[str]) -> list[str]:
    """Return the drawing whose left half is given."""
    return [row + row[::-1] for row in rows]


def put(sprite_HWC: np.ndarray, row: int, column: int, color: Color) -> None:
    """Set one pixel; pixels outside of the picture are ignored."""
    if 0 <= row < TEXTURE_PX and 0 <= column < TEXTURE_PX:
        sprite_HWC[row, column] = (*color, OPAQUE)


def drawn(rows: Sequence[str], palette: Palette, *, at: tuple[int, int] = (0, 0)) -> np.ndarray:
    """Return the letters as a sprite whose top left is `at` (row, column)."""
    return over(clear(), rows, palette, at=at)


def over(image_HWC: np.ndarray, rows: Sequence[str], palette: Palette, *, at: tuple[int, int] = (0, 0)) -> np.ndarray:
    """Return the sprite with a letter drawing on it. A letter without a colour is a slip of ours."""
    sprite_HWC = with_alpha(image_HWC).copy()
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter != ".":
                put(sprite_HWC, at[0] + r, at[1] + c, palette[letter])
    return sprite_HWC


def speckle(sprite_HWC: np.ndarray, seed: str, amount: float = 0.1) -> np.ndarray:
    """Return the sprite with every pixel made a little darker or brighter, alpha untouched."""
    factor_HW = 1.0 + amount * (2.0 * grain(seed, 50) - 1.0)
    result_HWC = sprite_HWC.copy()
    result_HWC[..., :3] = np.clip(sprite_HWC[..., :3] * factor_HW[..., None] + 0.5, 0, 255).astype(np.uint8)
    return result_HWC


def rimmed(sprite_HWC: np.ndarray, *, light: float = 0.8, dark: float = 0.45) -> np.ndarray:
    """Return the sprite with its border pixels darkened: less above and to the left, more below and to the right."""
    is_clear_HW = np.pad(sprite_HWC[..., 3] == 0, 1, constant_values=True)
    faces_light_HW = is_clear_HW[:-2, 1:-1] | is_clear_HW[1:-1, :-2]
    faces_dark_HW = is_clear_HW[2:, 1:-1] | is_clear_HW[1:-1, 2:]
    factor_HW = np.where(faces_dark_HW, dark, np.where(faces_light_HW, light, 1.0))
    result_HWC = sprite_HWC.copy()
    result_HWC[..., :3] = np.clip(sprite_HWC[..., :3] * factor_HW[..., None] + 0.5, 0, 255).astype(np.uint8)
    return result_HWC


def blades(seed: str, palette: Sequence[Color], *, low: int, high: int, count: int) -> np.ndarray:
    """Return blades of grass that grow from the lower edge, `low` to `high` pixels tall, leaning and bright-tipped."""
    sprite_HWC = clear()
    place = grain(seed, 1).ravel()
    for n in range(count):
        column = (n + 0.2 + 0.6 * place[4 * n]) * TEXTURE_PX / count
        height = low + int(place[4 * n + 1] * (high - low + 1))
        lean = 0.5 * (2.0 * place[4 * n + 2] - 1.0)
        for step in range(height):
            share = step / max(1, height - 1)
            # Blades bend outwards as they rise; roots stay dark, so that grass stands out from the ground below it.
            at = int(column + lean * step * (0.4 + 0.6 * share))
            tone = min(len(palette) - 1, int(share * len(palette) * 0.8 + place[4 * n + 3] * 1.4))
            put(sprite_HWC, TEXTURE_PX - 1 - step, at, palette[tone])
    return sprite_HWC


def stalk(seed: str, palette: Sequence[Color], *, top: int, column: int = 7, leaves: int = 2) -> np.ndarray:
    """Return a stem from the lower edge up to row `top`, with curved leaves at its foot."""
    sprite_HWC = clear()
    place = grain(seed, 2).ravel()
    for row in range(top, TEXTURE_PX):
        put(sprite_HWC, row, column, palette[1 + (row % 3 == 0)])
    for n in range(leaves):
        side = 1 if n % 2 else -1
        root = TEXTURE_PX - 1 - 2 * (n // 2)
        length = 3 + int(place[n] * 2.0)
        for step in range(1, length):
            put(sprite_HWC, root - step + (step > 2), column + side * step, palette[min(2, step // 2 + (side > 0))])
            put(sprite_HWC, root - step + 1 + (step > 2), column + side * step, palette[0])
    return sprite_HWC


def line(sprite_HWC: np.ndarray, start: tuple[int, int], end: tuple[int, int], colors: Sequence[Color]) -> None:
    """Draw a straight line of pixels from start to end (row, column), through the colours one after the other."""
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    for step in range(steps + 1):
        row = start[0] + (2 * (end[0] - start[0]) * step + steps) // (2 * steps)
        column = start[1] + (2 * (end[1] - start[1]) * step + steps) // (2 * steps)
        put(sprite_HWC, row, column, colors[min(len(colors) - 1, len(colors) * step // (steps + 1))])


def icon(rows: Sequence[str], palette: Palette, *, at: tuple[int, int]) -> Drawing:
    """Return a drawing of letters with a rim."""
    return lambda seed: rimmed(speckle(drawn(rows, palette, at=at), seed, 0.05))
