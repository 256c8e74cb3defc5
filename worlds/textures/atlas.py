"""The texture atlas: every texture at five sizes, packed so that one integer finds one texel.

T textures, N texels of one texture over all its sizes, C = 4 channels. The texel of texture `row` at `offset` is
atlas[row * NUM_FACE_TEXELS + offset]; offsets of a size start at MIP_OFFSETS[level] and run row by row from the top.
"""

import functools

import numpy as np

from worlds.textures.patterns import TEXTURE_PX
from worlds.textures.procedural import build_textures, texture_names

# Sizes 16, 8, 4, 2, 1 px lie one after the other; MIP_OFFSETS[level] is where a level starts.
MIP_OFFSETS: tuple[int, ...] = (0, 256, 320, 336, 340)
NUM_FACE_TEXELS = 341
_NUM_LEVELS = len(MIP_OFFSETS)

# A cutout seen as one texel is drawn when it covers at least this share: grass (0.3) stays, a lone flower goes.
_ONE_TEXEL_SHARE = 0.25

# These dress thin boxes, which cut them to shape: as smaller sizes they are opaque, or a far torch would dissolve.
_SHAPED_BY_BOX = frozenset({"torch"})


@functools.cache
def texture_rows() -> dict[str, int]:
    """Return the row of every texture of a set by its name: all names of blocks, items and mobs, sorted. Read-only."""
    return {name: row for row, name in enumerate(texture_names())}


@functools.lru_cache(maxsize=8)
def own_atlas(variant: int = 0) -> np.ndarray:
    """Return the atlas of our own textures (a variant of build_textures()), made once a process. Read-only."""
    atlas_N = build_atlas(build_textures(variant))
    atlas_N.setflags(write=False)
    return atlas_N


def build_atlas(textures: dict[str, np.ndarray]) -> np.ndarray:
    """Return the atlas the renderers read: uint32 [T * 341], red in the lowest byte, then green, blue, alpha.

    Smaller sizes hold the mean colour of what is seen. The alpha of a cutout is 0 or 255 at every size, and covers
    about the same share of the texture: far grass neither vanishes nor becomes a wall.

    Args:
        textures: uint8 [16, 16, 4] RGBA for every name in texture_rows().
    """
    rows = texture_rows()
    missing = [name for name in rows if name not in textures]
    if missing:
        raise ValueError(
            f"textures: {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''} missing of {len(rows)}; "
            "start from build_textures() and replace what should look otherwise"
        )
    for name in rows:
        image_HWC = textures[name]
        if image_HWC.shape != (TEXTURE_PX, TEXTURE_PX, 4) or image_HWC.dtype != np.uint8:
            raise ValueError(f"textures: {name!r} is {image_HWC.dtype} {image_HWC.shape}, wanted uint8 (16, 16, 4)")
    image_THWC = np.stack([textures[name] for name in rows])
    color_TNC, alpha_TN = _levels(image_THWC)
    alpha_TN[[rows[name] for name in _SHAPED_BY_BOX], MIP_OFFSETS[1] :] = 255
    red_TN, green_TN, blue_TN = np.moveaxis(np.rint(color_TNC).astype(np.uint32), -1, 0)
    return (red_TN | green_TN << 8 | blue_TN << 16 | alpha_TN.astype(np.uint32) << 24).reshape(-1)


def _levels(image_THWC: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all sizes of all textures: colour float32 [T, 341, 3] and alpha uint8 [T, 341]."""
    num_textures = len(image_THWC)
    color_THWC = image_THWC[..., :3].astype(np.float32)
    share_THW1 = image_THWC[..., 3:].astype(np.float32) / np.float32(255.0)
    is_cutout_T = (image_THWC[..., 3] == 0).any(axis=(1, 2))
    covered_T = (image_THWC[..., 3] >= 128).mean(axis=(1, 2))
    mean_T3 = _mean_color(color_THWC, share_THW1)
    color_TNC = [color_THWC.reshape(num_textures, -1, 3)]
    alpha_TN = [image_THWC[..., 3].reshape(num_textures, -1)]
    for _ in range(1, _NUM_LEVELS):
        size = color_THWC.shape[1] // 2
        quads = (num_textures, size, 2, size, 2)
        # Clear pixels have no say in the colour: whatever lies under them, it makes no dark fringe.
        sum_THW1 = share_THW1.reshape(*quads, 1).mean(axis=(2, 4))
        sum_THWC = (color_THWC * share_THW1).reshape(*quads, 3).mean(axis=(2, 4))
        color_THWC = np.where(
            sum_THW1 > 0, sum_THWC / np.maximum(sum_THW1, np.float32(1e-6)), mean_T3[:, None, None, :]
        ).astype(np.float32)
        share_THW1 = sum_THW1
        alpha_THW = np.rint(share_THW1[..., 0] * 255).astype(np.uint8)
        for t in np.flatnonzero(is_cutout_T):
            alpha_THW[t] = _cut(share_THW1[t, ..., 0], float(covered_T[t]))
        color_TNC.append(color_THWC.reshape(num_textures, -1, 3))
        alpha_TN.append(alpha_THW.reshape(num_textures, -1))
    return np.concatenate(color_TNC, axis=1), np.concatenate(alpha_TN, axis=1)


def _mean_color(color_THWC: np.ndarray, share_THW1: np.ndarray) -> np.ndarray:
    """Return the mean colour of what is seen of each texture, float32 [T, 3]; black where nothing is."""
    weight_T1 = share_THW1.sum(axis=(1, 2))
    return (color_THWC * share_THW1).sum(axis=(1, 2)) / np.maximum(weight_T1, np.float32(1e-6))


def _cut(share_HW: np.ndarray, covered: float) -> np.ndarray:
    """Return alpha 0 or 255: the most covered texels of one size, as many as cover the share of the full size."""
    size = share_HW.shape[0]
    if size == 1:
        return np.array([[255 if covered >= _ONE_TEXEL_SHARE else 0]], np.uint8)
    num_seen = int(covered * size * size + 0.5)
    # Equally covered texels are taken in a scattered order, so that a screen of pixels stays a screen.
    order = np.lexsort((_scattered(size).ravel(), -np.rint(share_HW * 1024).astype(np.int64).ravel()))
    alpha_N = np.zeros(size * size, np.uint8)
    alpha_N[order[:num_seen]] = 255
    return alpha_N.reshape(size, size)


def _scattered(size: int) -> np.ndarray:
    """Return the order of Bayer's dither matrix, int [size, size]; size is a power of two."""
    order_HW = np.zeros((1, 1), np.int64)
    while order_HW.shape[0] < size:
        order_HW = np.block([[4 * order_HW, 4 * order_HW + 2], [4 * order_HW + 3, 4 * order_HW + 1]])
    return order_HW
