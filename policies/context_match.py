"""What stands out around the goal's target, and where a view has it: two extra channels beside those of color_match.

Objects of one kind differ by what is next to them. A network would learn to compare surroundings in time; a small one
that learned from 300,000 pairs of pictures had not begun to (eval/LOG.md), and with these channels has after 30,000.
X pictures, G goals, K colours, H W pixels.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor
from torch.nn import functional as F

from policies.cell_match import keep_best
from policies.color_match import NUM_MATCHED_CHANNELS, NUM_PICTURE_CHANNELS

NUM_CONTEXT_CHANNELS = 2
# A colour that is not there: a goal without a mask, or nothing stands out. Colours are 0 .. 1.
NO_COLOR = -1.0
# Colours are counted in cubes, so many a channel.
_BINS = 6
# Within this of the target's box is around it: times the root of the target's pixels, at least a share of a side.
_REACH, _LEAST_REACH = 2.2, 1 / 16
# A colour of fewer pixels around the target is grain; of more than this share of the target's, more tells no more.
_LEAST_PIXELS, _MOST_SHARE = 3, 0.6
# Squared distances (0 .. 1 a channel) that a colour keeps from the target's mean, and from those chosen before it.
_TARGET_GAP, _COLOR_GAP = 0.02, 0.03
# Pixels elsewhere in the picture that make a colour common, whatever its share.
_COMMON_PIXELS = 4.0
# What is as colourful as this (largest minus smallest channel, 0 .. 255) counts twice.
_COLORFUL = 128.0
# Fall-off of the likeness in colour, as in color_match, but to the fourth power: what is a little alike does not count.
_SHARPNESS = 24.0
# How far around a pixel the two channels look, as shares of a side.
_NEAR_SHARE, _FAR_SHARE = 1 / 16, 5 / 32


def context_colors(image_GHWC: Tensor, mask_GHW: Tensor, num_colors: int) -> Tensor:
    """Return float32 [G, K, 3] in 0 .. 1: the colours around the mask that the rest of the picture has least of.

    For uint8 [G, H, W, 3] and bool [G, H, W]. Strongest first; NO_COLOR where there are no more. A colour b counts
    min(near_b, _MOST_SHARE * mask) * log(pixels / (elsewhere_b + _COMMON_PIXELS))^2, and more if it is colourful: as a
    word that is frequent here and rare elsewhere. No gradient; found on the CPU, since goals come once an episode.
    """
    color_GK3 = np.full((len(image_GHWC), num_colors, 3), NO_COLOR, np.float32)
    _find_colors(
        np.ascontiguousarray(image_GHWC.cpu().numpy()), np.ascontiguousarray(mask_GHW.cpu().numpy()), color_GK3
    )
    return torch.from_numpy(color_GK3).to(image_GHWC.device)


def look_around(
    image_XHWC: np.ndarray,
    color_XK3: np.ndarray,
    value_256: np.ndarray,
    out_XHWC: np.ndarray,
    cell_px: int,
    best_XMhW: np.ndarray,
) -> None:
    """Write the channels of context_channels_by_torch into those of out_XHWC after the five of color_match.

    Each byte becomes the number that `value_256` has for it. The largest of each column of a cell, of an even
    side, go into best_XMhW after the two of color_match, unless `cell_px` is 0.
    """
    near, far = _reaches(image_XHWC.shape[1])
    _look_around(image_XHWC, color_XK3, near, far, value_256, out_XHWC, cell_px, best_XMhW)


def context_channels_by_torch(image_XHWC: Tensor, color_XK3: Tensor) -> Tensor:
    """Return uint8 [X, H, W, 2]: how much of the K colours is to be found near each pixel, and less near.

    Per colour the largest likeness within a square around the pixel, 1 / (1 + sharpness * squared distance)^4, and
    their mean over K; at half the resolution, so H and W are even.
    """
    pixel_X1HWC = image_XHWC.float().unsqueeze(1) / 255.0
    distance_XKHW = (pixel_X1HWC - color_XK3[:, :, None, None, :]).square().sum(-1)
    is_there_XK11 = (color_XK3[:, :, :1] >= 0).unsqueeze(-1)
    likeness_XKHW = torch.where(is_there_XK11, (1.0 + _SHARPNESS * distance_XKHW) ** -4, 0.0)
    half_XKhw = F.max_pool2d(likeness_XKHW, 2)
    channels = [
        F.max_pool2d(half_XKhw, 2 * reach + 1, stride=1, padding=reach).mean(1)
        for reach in _reaches(image_XHWC.shape[1])
    ]
    near_X2hw = torch.stack(channels, 1)
    return (255.0 * F.interpolate(near_X2hw, scale_factor=2)).to(torch.uint8).permute(0, 2, 3, 1)


def _reaches(side_px: int) -> tuple[int, int]:
    """Return how far the channels look around, in pairs of pixels."""
    return max(1, round(side_px * _NEAR_SHARE / 2)), max(2, round(side_px * _FAR_SHARE / 2))


@njit(parallel=True, cache=True, nogil=True)
def _find_colors(image_GHWC: np.ndarray, mask_GHW: np.ndarray, color_GK3: np.ndarray) -> None:
    height, width = mask_GHW.shape[1:]
    for g in prange(len(image_GHWC)):
        num_target = 0
        left, right, top, bottom = width, -1, height, -1
        target_3 = np.zeros(3)
        for i in range(height):
            for j in range(width):
                if mask_GHW[g, i, j]:
                    num_target += 1
                    left, right, top, bottom = min(left, j), max(right, j), min(top, i), max(bottom, i)
                    for c in range(3):
                        target_3[c] += image_GHWC[g, i, j, c]
        if num_target == 0:
            continue
        target_3 /= num_target
        reach = max(height * _LEAST_REACH, _REACH * np.sqrt(num_target))
        near_N, all_N = np.zeros(_BINS**3), np.zeros(_BINS**3)
        mean_N3 = np.zeros((_BINS**3, 3))
        for i in range(height):
            for j in range(width):
                if mask_GHW[g, i, j]:
                    continue
                n = 0
                for c in range(3):
                    n = n * _BINS + image_GHWC[g, i, j, c] * _BINS // 256
                all_N[n] += 1
                dx, dy = max(0, left - j, j - right), max(0, top - i, i - bottom)
                if dx * dx + dy * dy <= reach * reach:
                    near_N[n] += 1
                    for c in range(3):
                        mean_N3[n, c] += image_GHWC[g, i, j, c]
        total = all_N.sum()
        for k in range(color_GK3.shape[1]):
            best, best_score = -1, 0.0
            for n in range(_BINS**3):
                if near_N[n] < _LEAST_PIXELS:
                    continue
                from_target = 0.0
                least, most = 255.0, 0.0
                for c in range(3):
                    value = mean_N3[n, c] / near_N[n]
                    from_target += ((value - target_3[c]) / 255.0) ** 2
                    least, most = min(least, value), max(most, value)
                is_new = from_target >= _TARGET_GAP
                for before in range(k):
                    distance = 0.0
                    for c in range(3):
                        distance += (mean_N3[n, c] / near_N[n] / 255.0 - color_GK3[g, before, c]) ** 2
                    is_new = is_new and distance >= _COLOR_GAP
                if not is_new:
                    continue
                rarity = np.log(total / (all_N[n] - near_N[n] + _COMMON_PIXELS))
                score = min(near_N[n], _MOST_SHARE * num_target) * rarity**2 * (1.0 + (most - least) / _COLORFUL)
                if score > best_score:
                    best, best_score = n, score
            if best < 0:
                break
            for c in range(3):
                color_GK3[g, k, c] = mean_N3[best, c] / near_N[best] / 255.0


@njit(parallel=True, cache=True, nogil=True)
def _look_around(
    image_XHWC: np.ndarray,
    color_XK3: np.ndarray,
    near: int,
    far: int,
    value_256: np.ndarray,
    out_XHWC: np.ndarray,
    cell_px: int,
    best_XMhW: np.ndarray,
) -> None:
    for x in prange(len(image_XHWC)):
        _look_around_one(image_XHWC[x], color_XK3[x], near, far, value_256, out_XHWC[x], cell_px, best_XMhW[x])


@njit(cache=True, nogil=True)
def _look_around_one(
    image_HWC: np.ndarray,
    color_K3: np.ndarray,
    near: int,
    far: int,
    value_256: np.ndarray,
    out_HWC: np.ndarray,
    cell_px: int,
    best_MhW: np.ndarray,
) -> None:
    height, width, _ = image_HWC.shape
    num_colors = len(color_K3)
    full, one = np.float32(255.0), np.float32(1.0)
    scale = np.float32(_SHARPNESS / 255.0**2)
    # Plane by plane and row by row: what the compiler turns into vectors (73 to 30 us a picture of 64 px). Loops are
    # spelled out, since expressions of whole arrays take numba three times as long to compile.
    plane_CHW = np.empty((3, height, width), np.float32)
    for i in range(height):
        for j in range(width):
            for c in range(3):
                plane_CHW[c, i, j] = image_HWC[i, j, c]
    least_HW = np.empty((height, width), np.float32)
    likeness_hw = np.empty((height // 2, width // 2), np.float32)
    row_hw, near_hw, far_hw = np.empty_like(likeness_hw), np.empty_like(likeness_hw), np.empty_like(likeness_hw)
    sum_2hw = np.zeros((NUM_CONTEXT_CHANNELS, height // 2, width // 2), np.float32)
    for k in range(num_colors):
        if color_K3[k, 0] < 0:
            continue
        red, green, blue = full * color_K3[k, 0], full * color_K3[k, 1], full * color_K3[k, 2]
        for i in range(height):
            for j in range(width):
                dr, dg, db = plane_CHW[0, i, j] - red, plane_CHW[1, i, j] - green, plane_CHW[2, i, j] - blue
                least_HW[i, j] = dr * dr + dg * dg + db * db
        for i in range(height // 2):
            for j in range(width // 2):
                least = min(
                    min(least_HW[2 * i, 2 * j], least_HW[2 * i, 2 * j + 1]),
                    min(least_HW[2 * i + 1, 2 * j], least_HW[2 * i + 1, 2 * j + 1]),
                )
                root = (one + scale * least) * (one + scale * least)
                likeness_hw[i, j] = one / (root * root)
        _spread(likeness_hw, 1, near, row_hw, near_hw)
        # Near squares from `near + 1` to `far - near` off make up the far one, two of them inside a picture and
        # more at its border, beyond which the outermost lies: far <= 3 near + 1.
        _spread(near_hw, min(near + 1, far - near), far - near, row_hw, far_hw)
        for i in range(height // 2):
            for j in range(width // 2):
                sum_2hw[0, i, j] += near_hw[i, j]
                sum_2hw[1, i, j] += far_hw[i, j]
    byte_w = np.empty(width // 2, np.uint8)
    for which in range(NUM_CONTEXT_CHANNELS):
        for i in range(height // 2):
            for j in range(width // 2):
                byte_w[j] = np.uint8(full * sum_2hw[which, i, j] / num_colors)
                value = value_256[byte_w[j]]
                for side in range(4):
                    out_HWC[2 * i + side // 2, 2 * j + side % 2, NUM_MATCHED_CHANNELS + which] = value
            if cell_px:
                after = NUM_MATCHED_CHANNELS - NUM_PICTURE_CHANNELS
                keep_best(byte_w, best_MhW[after + which, 2 * i // cell_px, ::2])


@njit(cache=True, nogil=True)
def _spread(of_hw: np.ndarray, least: int, most: int, row_hw: np.ndarray, out_hw: np.ndarray) -> None:
    """Fill out_hw with the largest of each pixel and those `least` to `most` off in a row, a column or both."""
    height, width = of_hw.shape
    for i in range(height):
        for j in range(width):
            row_hw[i, j] = of_hw[i, j]
    for off in range(least, most + 1):
        for i in range(height):
            for j in range(width - off):
                row_hw[i, j] = max(row_hw[i, j], of_hw[i, j + off])
            for j in range(width - off):
                row_hw[i, j + off] = max(row_hw[i, j + off], of_hw[i, j])
    for i in range(height):
        for j in range(width):
            out_hw[i, j] = row_hw[i, j]
    for off in range(least, most + 1):
        for i in range(height - off):
            for j in range(width):
                out_hw[i, j] = max(out_hw[i, j], row_hw[i + off, j])
            for j in range(width):
                out_hw[i + off, j] = max(out_hw[i + off, j], row_hw[i, j])
