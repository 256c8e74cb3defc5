"""A contact sheet of textures, for a person to look at."""

import numpy as np

from worlds.textures.patterns import TEXTURE_PX

_CHECKER: tuple[int, int] = (96, 120)  # greys behind what is clear


def texture_sheet(
    textures: dict[str, np.ndarray], *, columns: int = 16, scale: int = 3, repeats: int = 1, gap_px: int = 4
) -> np.ndarray:
    """Return uint8 [H, W, 3]: all textures in the dict's order, row by row, on a grey checker.

    Args:
        textures: uint8 [16, 16, 4] by name.
        columns: textures in a row.
        scale: screen pixels a texel.
        repeats: each texture is laid out `repeats` x `repeats` times, to show its seams.
        gap_px: dark pixels between two textures.
    """
    side_px = TEXTURE_PX * scale * repeats
    rows = -(-len(textures) // columns)
    sheet_HWC = np.full((rows * (side_px + gap_px) + gap_px, columns * (side_px + gap_px) + gap_px, 3), 24, np.uint8)
    row_HW, column_HW = np.mgrid[0:side_px, 0:side_px]
    checker_HW = np.where((row_HW // (4 * scale) + column_HW // (4 * scale)) % 2 == 0, *_CHECKER)
    for index, image_HWC in enumerate(textures.values()):
        tile_HWC = np.tile(image_HWC, (repeats, repeats, 1)).repeat(scale, axis=0).repeat(scale, axis=1)
        share_HW1 = tile_HWC[..., 3:].astype(np.float64) / 255.0
        mixed_HWC = tile_HWC[..., :3] * share_HW1 + checker_HW[..., None] * (1.0 - share_HW1)
        top = gap_px + index // columns * (side_px + gap_px)
        left = gap_px + index % columns * (side_px + gap_px)
        sheet_HWC[top : top + side_px, left : left + side_px] = (mixed_HWC + 0.5).astype(np.uint8)
    return sheet_HWC
