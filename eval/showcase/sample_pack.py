"""A small resource pack of our own drawing, in the standard folder layout: shows that the loader works. H W C image."""

import json
from pathlib import Path

import cv2
import numpy as np

from eval.episodes.picture_file import write_picture
from worlds.textures.procedural import build_textures

_SIDE_PX = 32  # twice ours, so that the loader has to scale
_NUM_SHADES = 4
_NAMES = (
    "stone", "cobblestone", "grass_block_side", "dirt", "sand", "gravel", "oak_planks", "oak_log", "oak_log_top",
    "oak_leaves", "bricks", "glass", "sandstone", "spruce_planks", "birch_planks", "stone_bricks", "bookshelf",
)  # fmt: skip
_GREY_NAMES = ("grass_block_top", "grass")  # kept grey in packs, the loader gives them the biome's colour


def write_sample_pack(folder: Path) -> Path:
    """Write the pack into `folder` and return it: our textures in few shades, with dark outlines as in a comic."""
    textures = build_textures()
    blocks = folder / "assets" / "minecraft" / "textures" / "block"
    blocks.mkdir(parents=True)
    mcmeta = {"pack": {"pack_format": 6, "description": "mcrl: few shades, dark outlines"}}
    (folder / "pack.mcmeta").write_text(json.dumps(mcmeta), encoding="utf-8")
    for name in (*_NAMES, *_GREY_NAMES):
        if name not in textures:
            continue
        picture_HWC = _outlined(textures[name], is_grey=name in _GREY_NAMES)
        write_picture(blocks / f"{name}.png", picture_HWC[..., [2, 1, 0, 3]])
    return folder


def _outlined(texture_HWC: np.ndarray, *, is_grey: bool) -> np.ndarray:
    """Return the texture at twice the size in few shades, framed in dark; cutouts keep no frame."""
    large_HWC = cv2.resize(texture_HWC, (_SIDE_PX, _SIDE_PX), interpolation=cv2.INTER_NEAREST)
    color_HWC = large_HWC[..., :3].astype(np.float64)
    if is_grey:
        color_HWC = np.repeat(color_HWC.mean(axis=2, keepdims=True), 3, axis=2) * 1.3
    low, high = color_HWC.min(), max(color_HWC.max(), color_HWC.min() + 1)
    share_HWC = np.round((color_HWC - low) / (high - low) * _NUM_SHADES) / _NUM_SHADES
    color_HWC = low + share_HWC * (high - low)
    if large_HWC[..., 3].min() > 0:
        for edge in (color_HWC[:2], color_HWC[-2:], color_HWC[:, :2], color_HWC[:, -2:]):
            edge *= 0.45
    return np.concatenate([color_HWC.clip(0, 255).astype(np.uint8), large_HWC[..., 3:]], axis=2)
