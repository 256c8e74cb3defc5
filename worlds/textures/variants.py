"""Recoloured sets of our textures: domain variation that changes how the world looks, not what is in it.

Only additions, multiplications and roots are used (no sine, no power), so that a set has the same bytes everywhere.
"""

import numpy as np

from worlds.textures.dyed import DYES
from worlds.textures.patterns import grain

# Things that meet in one picture shift together: the soil under grass is the soil beside it.
_GROUPS: dict[str, str] = {
    **dict.fromkeys(("grass", "dirt", "coarse", "podzol", "mycelium", "farmland", "fern", "tall", "large"), "soil"),
    **dict.fromkeys(("coal", "iron", "gold", "diamond", "redstone", "lapis", "emerald"), "gem"),
}
_RED, _GREEN, _BLUE = 0.299, 0.587, 0.114  # BT.601 luma


def _group(name: str) -> str:
    if name.endswith("_ore"):
        return "stone"
    word = name.removeprefix("light_").partition("_")[0]
    return _GROUPS.get(word, word)


def _draw(seed: str, index: int, reach: float) -> float:
    """Return a number in [-reach, reach), decided by the seed and the index alone."""
    return reach * (2.0 * float(grain(seed, 60).ravel()[index]) - 1.0)


def recoloured(textures: dict[str, np.ndarray], variant: int) -> dict[str, np.ndarray]:
    """Return the set in other hues, saturation, contrast and brightness: alike for all, and a little by material."""
    whole = f"variant/{variant}"
    result = {}
    for name, image_HWC in textures.items():
        group = f"{whole}/{_group(name)}"
        # A dye is known by its colour alone: red must not become brown.
        reach = 0.6 if _group(name) in DYES else 1.0
        # tan(angle / 2) of the hue: 0.14 is 16 degrees.
        turn = _draw(whole, 0, 0.09 * reach) + _draw(group, 0, 0.05 * reach)
        saturation = (1.0 + _draw(whole, 1, 0.26 * reach)) * (1.0 + _draw(group, 1, 0.12 * reach))
        contrast = (1.0 + _draw(whole, 2, 0.22)) * (1.0 + _draw(group, 2, 0.1))
        brightness = (1.0 + _draw(whole, 3, 0.1 * reach)) * (1.0 + _draw(group, 3, 0.07 * reach))
        result[name] = _graded(image_HWC, turn, saturation, contrast, brightness)
    return result


def _graded(image_HWC: np.ndarray, turn: float, saturation: float, contrast: float, brightness: float) -> np.ndarray:
    """Return the picture in other colours; alpha stays. `turn` is tan(angle / 2) of the hue."""
    rgb_HWC = image_HWC[..., :3].astype(np.float64)
    is_seen_HW = image_HWC[..., 3] > 0
    if not is_seen_HW.any():
        return image_HWC.copy()
    luma_HW = _RED * rgb_HWC[..., 0] + _GREEN * rgb_HWC[..., 1] + _BLUE * rgb_HWC[..., 2]
    # Colour differences of BT.601 span the plane in which hue is an angle.
    blue_HW = 0.564 * (rgb_HWC[..., 2] - luma_HW)
    red_HW = 0.713 * (rgb_HWC[..., 0] - luma_HW)
    cosine, sine = (1.0 - turn * turn) / (1.0 + turn * turn), 2.0 * turn / (1.0 + turn * turn)
    turned_blue_HW = saturation * (cosine * blue_HW - sine * red_HW)
    turned_red_HW = saturation * (sine * blue_HW + cosine * red_HW)
    mean = float(luma_HW[is_seen_HW].mean())
    luma_HW = brightness * (mean + contrast * (luma_HW - mean))
    result_HWC = image_HWC.copy()
    result_HWC[..., 0] = _byte(luma_HW + turned_red_HW / 0.713)
    result_HWC[..., 1] = _byte(luma_HW - (_RED / 0.713 * turned_red_HW + _BLUE / 0.564 * turned_blue_HW) / _GREEN)
    result_HWC[..., 2] = _byte(luma_HW + turned_blue_HW / 0.564)
    return result_HWC


def _byte(value_HW: np.ndarray) -> np.ndarray:
    return np.clip(value_HW + 0.5, 0, 255).astype(np.uint8)
