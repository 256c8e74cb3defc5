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
    black where there is no picture. No gradient. In memory the channels of a pixel lie side by side, as convolutions
    on CPUs like them.
    """
    if image_XHWC.is_cuda:
        return patches_by_torch(image_XHWC, extent_X3)
    patch_XPPN = np.empty((len(image_XHWC), PATCH_PX, PATCH_PX, 3 * len(WINDOW_SIDES)), np.float32)
    image_XHR = np.ascontiguousarray(image_XHWC.numpy()).reshape(*image_XHWC.shape[:2], -1)
    _cut_all(image_XHR, np.ascontiguousarray(extent_X3.detach().float().numpy()), patch_XPPN)
    return torch.from_numpy(patch_XPPN).permute(0, 3, 1, 2)


@torch.no_grad()
def patches_by_torch(image_XHWC: Tensor, extent_X3: Tensor) -> Tensor:
    """Return what `patches` returns, by the share that each pixel of a patch covers of each row and column."""
    size = image_XHWC.shape[1]
    extent_X3 = extent_X3.detach().float()
    side_X1 = extent_X3[:, 2:].clamp(_LEAST_SIDE, _MOST_SIDE) * size
    side_XS = torch.cat([side_X1 * sides for sides in WINDOW_SIDES], 1)

    def shares(middle_X: Tensor) -> Tensor:
        """Return [X, S, P, H], rows of sum 1 where they are within the picture."""
        step_XS1 = (side_XS / PATCH_PX).unsqueeze(-1)
        at_P = torch.arange(PATCH_PX, device=extent_X3.device) - PATCH_PX / 2 + 0.5
        center_XSP1 = (middle_X[:, None, None] * size + at_P * step_XS1).unsqueeze(-1)
        half_XS11 = step_XS1.clamp(min=1.0).unsqueeze(-1) / 2
        pixel_H = torch.arange(size, device=extent_X3.device)
        low, high = center_XSP1 - half_XS11, center_XSP1 + half_XS11
        covered = torch.minimum(high, pixel_H + 1.0) - torch.maximum(low, pixel_H)
        return covered.clamp(min=0) / (2 * half_XS11)

    across_XSPW, down_XSPH = shares(extent_X3[:, 0]), shares(extent_X3[:, 1])
    with torch.autocast(image_XHWC.device.type, enabled=False):
        patch_XPPSC = torch.einsum("xsph,xhwc,xsqw->xpqsc", down_XSPH, image_XHWC.float(), across_XSPW)
    return (patch_XPPSC / 255.0 - 0.5).flatten(3).permute(0, 3, 1, 2)


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _cut_all(image_XHR: np.ndarray, extent_X3: np.ndarray, out_XPPN: np.ndarray) -> None:
    """Fill the patches; R is 3 W, the bytes of a row."""
    for x in prange(len(image_XHR)):
        size = np.float32(image_XHR.shape[1])
        share = min(max(extent_X3[x, 2], np.float32(_LEAST_SIDE)), np.float32(_MOST_SIDE))
        for s in range(len(WINDOW_SIDES)):
            step = share * size * np.float32(WINDOW_SIDES[s]) / np.float32(PATCH_PX)
            _cut(image_XHR[x], extent_X3[x, 0] * size, extent_X3[x, 1] * size, step, out_XPPN[x], 3 * s)


@njit(cache=True, nogil=True, error_model="numpy")
def _reach(middle: np.float32, step: np.float32, p: int, size: int) -> tuple[np.float32, np.float32]:
    """Return from where to where in the picture pixel p of a patch reaches; nowhere if the second is not above."""
    half = max(step, np.float32(1.0)) * np.float32(0.5)
    center = middle + (np.float32(p) - np.float32(PATCH_PX // 2) + np.float32(0.5)) * step
    return max(center - half, np.float32(0.0)), min(center + half, np.float32(size))


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(
    image_HR: np.ndarray,
    middle_x: np.float32,
    middle_y: np.float32,
    step: np.float32,
    out_PPN: np.ndarray,
    channel: int,
) -> None:
    """Fill three channels: for each row of the patch add up rows of the picture, then columns of the sum.

    The first loop within is over bytes side by side, which the compiler turns into vectors.
    """
    size = len(image_HR)
    per_pixel = np.float32(1.0) / max(step, np.float32(1.0))
    scale = per_pixel * per_pixel / np.float32(255.0)
    left_P, right_P = np.empty(PATCH_PX, np.float32), np.empty(PATCH_PX, np.float32)
    from_P, to_P = np.empty(PATCH_PX, np.int64), np.empty(PATCH_PX, np.int64)
    for p in range(PATCH_PX):
        left_P[p], right_P[p] = _reach(middle_x, step, p, size)
        from_P[p], to_P[p] = int(left_P[p]), min(size, int(np.ceil(right_P[p])))
    start, stop = 3 * from_P[0], 3 * to_P[-1]
    sum_R = np.empty(3 * size, np.float32)
    for q in range(PATCH_PX):
        above, below = _reach(middle_y, step, q, size)
        for r in range(start, stop):
            sum_R[r] = np.float32(0.0)
        for i in range(int(above), min(size, int(np.ceil(below)))):
            covered = (min(below, np.float32(i + 1)) - max(above, np.float32(i))) * scale
            for r in range(start, stop):
                sum_R[r] += covered * np.float32(image_HR[i, r])
        for p in range(PATCH_PX):
            red = green = blue = np.float32(-0.5)
            for j in range(from_P[p], to_P[p]):
                covered = min(right_P[p], np.float32(j + 1)) - max(left_P[p], np.float32(j))
                red += covered * sum_R[3 * j]
                green += covered * sum_R[3 * j + 1]
                blue += covered * sum_R[3 * j + 2]
            out_PPN[q, p, channel], out_PPN[q, p, channel + 1], out_PPN[q, p, channel + 2] = red, green, blue
