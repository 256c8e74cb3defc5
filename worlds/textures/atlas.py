"""The texture atlas: every face of every block at five sizes, packed so that one integer finds one texel.

K block kinds, F faces, N texels of one face over all its sizes.
"""

import numpy as np

from worlds.blocks import BLOCKS, NUM_BLOCKS

TEXTURE_PX = 16
FACE_SIDE, FACE_TOP, FACE_BOTTOM = 0, 1, 2  # the order of BlockKind.textures
NUM_FACES = 3

# Sizes 16, 8, 4, 2, 1 px lie one after the other; MIP_OFFSETS[level] is where a level starts.
MIP_OFFSETS: tuple[int, ...] = (0, 256, 320, 336, 340)
NUM_FACE_TEXELS = 341


def box_filtered_levels(texture_HWC: np.ndarray) -> list[np.ndarray]:
    """Return the texture at 16, 8, 4, 2 and 1 px: float32 [size, size, 3], each texel the mean of the four above it."""
    levels = [texture_HWC.astype(np.float32)]
    while levels[-1].shape[0] > 1:
        size = levels[-1].shape[0] // 2
        levels.append(levels[-1].reshape(size, 2, size, 2, 3).mean(axis=(1, 3)))
    return levels


def _pack(texture_HWC: np.ndarray) -> np.ndarray:
    """Return uint32 [341] texels, red in the lowest byte, then green, then blue; all levels, rows from the top."""
    channels_NC = np.concatenate([level.reshape(-1, 3) for level in box_filtered_levels(texture_HWC)])
    red_N, green_N, blue_N = np.rint(channels_NC).astype(np.uint32).T
    return red_N | green_N << 8 | blue_N << 16


def build_atlas(textures: dict[str, np.ndarray]) -> np.ndarray:
    """Return the atlas the renderers read: uint32 [K, 3, 341], one row for each block id and face.

    Args:
        textures: uint8 [16, 16, 3] RGB by the names that worlds.blocks.BLOCKS uses.
    """
    atlas_KFN = np.zeros((NUM_BLOCKS, NUM_FACES, NUM_FACE_TEXELS), np.uint32)
    for block_id, kind in enumerate(BLOCKS):
        for face, name in enumerate(kind.textures):
            if not name:
                continue
            if name not in textures:
                raise ValueError(
                    f"textures: {name!r} of block {kind.name!r} is missing; add a {name}.png of 16 x 16 px"
                )
            texture_HWC = textures[name]
            if texture_HWC.shape != (TEXTURE_PX, TEXTURE_PX, 3) or texture_HWC.dtype != np.uint8:
                raise ValueError(
                    f"textures: {name!r} is {texture_HWC.dtype} {texture_HWC.shape}, wanted uint8 (16, 16, 3)"
                )
            atlas_KFN[block_id, face] = _pack(texture_HWC)
    return atlas_KFN
