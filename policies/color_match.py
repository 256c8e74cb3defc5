"""How alike each pixel is to the colour of the goal's target: two extra channels beside red, green and blue.

X pictures, H W pixels. A network would learn this product of picture and goal in time; it is what says where to look.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

NUM_MATCHED_CHANNELS = 5
# Fall-off of the two likenesses: in colour (0 .. 1 a channel), and in tint (colour over brightness).
_COLOR_SHARPNESS, _TINT_SHARPNESS = 24.0, 12.0
# Added to the brightness that tints are divided by, so that black has no tint.
_TINT_FLOOR = 0.1


def matched_channels(image_XHWC: Tensor, color_X3: Tensor) -> Tensor:
    """Return uint8 [X, H, W, 5]: the picture, its likeness in colour, and in tint, to `color_X3` (0 .. 1).

    A likeness is 255 / (1 + sharpness * squared distance)^2. Carries no gradient. CPU pictures take a compiled loop.
    """
    color_X3 = color_X3.detach().float()
    if image_XHWC.device.type == "cpu":
        out_XHW5 = np.empty((*image_XHWC.shape[:3], NUM_MATCHED_CHANNELS), np.uint8)
        _match(np.ascontiguousarray(image_XHWC.numpy()), np.ascontiguousarray(color_X3.numpy()), out_XHW5)
        return torch.from_numpy(out_XHW5)
    return matched_channels_by_torch(image_XHWC, color_X3)


def matched_channels_by_torch(image_XHWC: Tensor, color_X3: Tensor) -> Tensor:
    """Return the same, spelled out in tensors: the twin that tests compare with, and the path of other devices."""
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


@njit(parallel=True, cache=True, nogil=True)
def _match(image_XHWC: np.ndarray, color_X3: np.ndarray, out_XHW5: np.ndarray) -> None:
    num_pictures, height, width, _ = image_XHWC.shape
    scale = np.float32(1.0 / 255.0)
    third, one, full = np.float32(1.0 / 3.0), np.float32(1.0), np.float32(255.0)
    floor, color_k, tint_k = np.float32(_TINT_FLOOR), np.float32(_COLOR_SHARPNESS), np.float32(_TINT_SHARPNESS)
    for x in prange(num_pictures):
        red, green, blue = color_X3[x, 0], color_X3[x, 1], color_X3[x, 2]
        mean = (red + green + blue) * third
        norm = one / (mean + floor)
        red_tint, green_tint, blue_tint = (red - mean) * norm, (green - mean) * norm, (blue - mean) * norm
        for i in range(height):
            for j in range(width):
                r = np.float32(image_XHWC[x, i, j, 0]) * scale
                g = np.float32(image_XHWC[x, i, j, 1]) * scale
                b = np.float32(image_XHWC[x, i, j, 2]) * scale
                near = one + color_k * ((r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2)
                m = (r + g + b) * third
                n = one / (m + floor)
                tint = (r - m) * n - red_tint, (g - m) * n - green_tint, (b - m) * n - blue_tint
                alike = one + tint_k * (tint[0] * tint[0] + tint[1] * tint[1] + tint[2] * tint[2])
                out_XHW5[x, i, j, 0] = image_XHWC[x, i, j, 0]
                out_XHW5[x, i, j, 1] = image_XHWC[x, i, j, 1]
                out_XHW5[x, i, j, 2] = image_XHWC[x, i, j, 2]
                out_XHW5[x, i, j, 3] = np.uint8(full / (near * near))
                out_XHW5[x, i, j, 4] = np.uint8(full / (alike * alike))
