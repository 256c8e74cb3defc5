"""Pieces of pictures, cut to the size of what they show: what lies around an object, whether it is near or far off.

X pictures, S windows around one place, P pixels a side of a piece, H W pixels of a picture. An extent is where a thing
is: the middle of its box, x and y, and the longer side of the box, in shares of the picture.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

# Of the longer side of what is cut out: it and its rim; the ground that it stands on; what it stands among.
WINDOW_SIDES = (2.5, 5.0, 10.0)
PATCH_PX = 32
# Shares of the picture: whatever is smaller or larger is cut out as if it had these sides.
_LEAST_SIDE, _MOST_SIDE = 0.03, 1.0


def patches(image_XHWC: Tensor, extent_X3: Tensor) -> Tensor:
    """Return float32 [X, 3 S, P, P] in -0.5 .. 0.5, windows of 2.5, 5 and 10 sides around the middle of each extent.

    For square uint8 [X, H, H, 3]. Each pixel is the mean of what it covers of the picture, at least one pixel's worth;
    black where there is no picture. No gradient.
    """
    if image_XHWC.is_cuda:
        return patches_by_torch(image_XHWC, extent_X3)
    out_XSCPP = np.empty((len(image_XHWC), len(WINDOW_SIDES), 3, PATCH_PX, PATCH_PX), np.float32)
    extent = np.ascontiguousarray(extent_X3.detach().float().numpy())
    _cut_all(np.ascontiguousarray(image_XHWC.numpy()), extent, out_XSCPP)
    return torch.from_numpy(out_XSCPP).flatten(1, 2)


@torch.no_grad()
def patches_by_torch(image_XHWC: Tensor, extent_X3: Tensor) -> Tensor:
    """Return what `patches` returns, by the share that each pixel of a patch covers of each row and column."""
    size = image_XHWC.shape[1]
    extent_X3 = extent_X3.detach().float()
    side_XS = torch.cat([extent_X3[:, 2:].clamp(_LEAST_SIDE, _MOST_SIDE) * size * sides for sides in WINDOW_SIDES], 1)

    def shares(middle_X: Tensor) -> Tensor:
        """Return [X, S, P, H], rows of sum 1 where they are within the picture."""
        step_XS1 = (side_XS / PATCH_PX).unsqueeze(-1)
        at_P = torch.arange(PATCH_PX, device=extent_X3.device) - PATCH_PX / 2 + 0.5
        center_XSP1 = (middle_X[:, None, None] * size + at_P * step_XS1).unsqueeze(-1)
        half_XS11 = step_XS1.clamp(min=1.0).unsqueeze(-1) / 2
        pixel_H = torch.arange(size, device=extent_X3.device)
        covered = torch.minimum(center_XSP1 + half_XS11, pixel_H + 1.0) - torch.maximum(
            center_XSP1 - half_XS11, pixel_H
        )
        return covered.clamp(min=0) / (2 * half_XS11)

    across_XSPW, down_XSPH = shares(extent_X3[:, 0]), shares(extent_X3[:, 1])
    patch_XSCPP = torch.einsum("xsph,xhwc,xsqw->xscpq", down_XSPH, image_XHWC.float(), across_XSPW)
    return (patch_XSCPP / 255.0 - 0.5).flatten(1, 2)


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _cut_all(image_XHWC: np.ndarray, extent_X3: np.ndarray, out_XSCPP: np.ndarray) -> None:
    for x in prange(len(image_XHWC)):
        size = np.float32(image_XHWC.shape[1])
        share = min(max(extent_X3[x, 2], np.float32(_LEAST_SIDE)), np.float32(_MOST_SIDE))
        for s in range(len(WINDOW_SIDES)):
            step = share * size * np.float32(WINDOW_SIDES[s]) / np.float32(PATCH_PX)
            _cut(image_XHWC[x], extent_X3[x, 0] * size, extent_X3[x, 1] * size, step, out_XSCPP[x, s])


@njit(cache=True, nogil=True, error_model="numpy")
def _reach(middle: np.float32, step: np.float32, p: int, size: int) -> tuple[np.float32, np.float32]:
    """Return from where to where in the picture pixel p of a patch reaches; nowhere if the second is not above."""
    half = max(step, np.float32(1.0)) * np.float32(0.5)
    center = middle + (np.float32(p) - np.float32(PATCH_PX // 2) + np.float32(0.5)) * step
    return max(center - half, np.float32(0.0)), min(center + half, np.float32(size))


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(
    image_HWC: np.ndarray, middle_x: np.float32, middle_y: np.float32, step: np.float32, out_CPP: np.ndarray
) -> None:
    """Sum along rows, then along columns, of those rows alone that any pixel of the patch reaches."""
    size = len(image_HWC)
    per_pixel = np.float32(1.0) / max(step, np.float32(1.0))
    scale = per_pixel / np.float32(255.0)
    sum_CP = np.empty((3, PATCH_PX), np.float32)
    out_CPP[:] = np.float32(-0.5)
    top, _ = _reach(middle_y, step, 0, size)
    _, bottom = _reach(middle_y, step, PATCH_PX - 1, size)
    for i in range(int(top), min(size, int(np.ceil(bottom)))):
        for p in range(PATCH_PX):
            left, right = _reach(middle_x, step, p, size)
            red = green = blue = np.float32(0.0)
            for j in range(int(left), min(size, int(np.ceil(right)))):
                covered = min(right, np.float32(j + 1)) - max(left, np.float32(j))
                red += covered * np.float32(image_HWC[i, j, 0])
                green += covered * np.float32(image_HWC[i, j, 1])
                blue += covered * np.float32(image_HWC[i, j, 2])
            sum_CP[0, p], sum_CP[1, p], sum_CP[2, p] = red * scale, green * scale, blue * scale
        for q in range(PATCH_PX):
            above, below = _reach(middle_y, step, q, size)
            covered = min(below, np.float32(i + 1)) - max(above, np.float32(i))
            if covered <= 0:
                continue
            covered *= per_pixel
            for c in range(3):
                for p in range(PATCH_PX):
                    out_CPP[c, q, p] += covered * sum_CP[c, p]
