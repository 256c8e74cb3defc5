"""How alike each pixel is to the colour of the goal's target: two extra channels beside red, green and blue.

X pictures, H W pixels. A network would learn this product of picture and goal in time; it is what says where to look.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

from policies.cell_match import keep_best

NUM_PICTURE_CHANNELS = 3
NUM_MATCHED_CHANNELS = NUM_PICTURE_CHANNELS + 2
# Fall-off of the two likenesses: in colour (0 .. 1 a channel), and in tint (colour over brightness).
_COLOR_SHARPNESS, _TINT_SHARPNESS = 24.0, 12.0
# Added to the brightness that tints are divided by, so that black has no tint.
_TINT_FLOOR = 0.1


def matched_channels_by_torch(image_XHWC: Tensor, color_X3: Tensor) -> Tensor:
    """Return uint8 [X, H, W, 5]: the picture, its likeness in colour, and in tint, to `color_X3` (0 .. 1).

    A likeness is 255 / (1 + sharpness * squared distance)^2.
    """
    pixel = image_XHWC.float() / 255.0
    color = color_X3[:, None, None, :]
    color_distance = (pixel - color).square().sum(-1)
    tint_distance = (_tint(pixel) - _tint(color)).square().sum(-1)
    likeness = torch.stack(
        [
            255.0 / (1.0 + _COLOR_SHARPNESS * color_distance) ** 2,
            255.0 / (1.0 + _TINT_SHARPNESS * tint_distance) ** 2,
        ],
        -1,
    )
    return torch.cat([image_XHWC, likeness.to(torch.uint8)], -1)


def _tint(pixel: Tensor) -> Tensor:
    brightness = pixel.mean(-1, keepdim=True)
    return (pixel - brightness) / (brightness + _TINT_FLOOR)


# A divisor is 1 or more, or the floor of the tint: the test for zero would keep the loops from becoming vectors.
@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def match_colors(
    image_XHWC: np.ndarray,
    color_X3: np.ndarray,
    value_256: np.ndarray,
    out_XHWC: np.ndarray,
    cell_px: int,
    best_XMhW: np.ndarray,
) -> None:
    """Write those channels into the first five of out_XHWC, each byte as the number that `value_256` has for it.

    The largest bytes of each column of a cell go into the first two of best_XMhW, zeros before, unless `cell_px` is 0.
    """
    for x in prange(len(image_XHWC)):
        _match_one(image_XHWC[x], color_X3[x], value_256, out_XHWC[x], cell_px, best_XMhW[x])


@njit(cache=True, nogil=True, error_model="numpy")
def _match_one(
    image_HWC: np.ndarray,
    color_3: np.ndarray,
    value_256: np.ndarray,
    out_HWC: np.ndarray,
    cell_px: int,
    best_MhW: np.ndarray,
) -> None:
    height, width, _ = image_HWC.shape
    scale = np.float32(1.0 / 255.0)
    third, one, full = np.float32(1.0 / 3.0), np.float32(1.0), np.float32(255.0)
    floor, color_k, tint_k = np.float32(_TINT_FLOOR), np.float32(_COLOR_SHARPNESS), np.float32(_TINT_SHARPNESS)
    red, green, blue = color_3[0], color_3[1], color_3[2]
    mean = (red + green + blue) * third
    norm = one / (mean + floor)
    red_tint, green_tint, blue_tint = (red - mean) * norm, (green - mean) * norm, (blue - mean) * norm
    pixel_CW = np.empty((3, width), np.float32)
    likeness_NW = np.empty((2, width), np.uint8)
    for i in range(height):
        for j in range(width):
            for c in range(3):
                pixel_CW[c, j] = np.float32(image_HWC[i, j, c]) * scale
        for j in range(width):
            r, g, b = pixel_CW[0, j], pixel_CW[1, j], pixel_CW[2, j]
            near = one + color_k * ((r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2)
            m = (r + g + b) * third
            n = one / (m + floor)
            tint = (r - m) * n - red_tint, (g - m) * n - green_tint, (b - m) * n - blue_tint
            alike = one + tint_k * (tint[0] * tint[0] + tint[1] * tint[1] + tint[2] * tint[2])
            likeness_NW[0, j] = np.uint8(full / (near * near))
            likeness_NW[1, j] = np.uint8(full / (alike * alike))
        for j in range(width):
            for c in range(3):
                out_HWC[i, j, c] = value_256[image_HWC[i, j, c]]
            out_HWC[i, j, 3] = value_256[likeness_NW[0, j]]
            out_HWC[i, j, 4] = value_256[likeness_NW[1, j]]
        if cell_px:
            for which in range(2):
                keep_best(likeness_NW[which], best_MhW[which, i // cell_px])
