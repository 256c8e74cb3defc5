"""Which colours are typical of the goal's target, and where a view has one: a channel beside those of color_match.

The mean under a mask is the colour of no pixel where a target has several, as animals and ores have. And what is far
away has few pixels, each of one colour: by these alone the best pixel of a view lies on a target of 2 to 8 pixels more
often than a network of these sizes had learned to see it (eval/LOG.md).
X pictures, G goals, K colours, H W pixels.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor
from torch.nn import functional as F

from policies.cell_match import keep_best
from policies.context_match import NO_COLOR

NUM_PALETTE_CHANNELS = 1
# Colours are counted in cubes, so many a channel: finer than around a target.
_BINS = 12
# Squared distance (0 .. 1 a channel) that a colour keeps from those chosen before it.
_COLOR_GAP = 0.006
# Share of the pixels below which a colour is as good as absent, and what a colour counts that stands out nowhere.
_ABSENT_SHARE, _LEAST_LOG_RATIO = 0.003, 0.05
# Fall-off of the likeness, as in color_match but steeper.
_SHARPNESS = 60.0
# Sums of up to nine bytes times _ONE // n + 1, shifted, are divided by n and rounded down, exactly.
_SHIFT = 16
_ONE = 1 << _SHIFT


def palette_colors(image_GHWC: Tensor, mask_GHW: Tensor, num_colors: int) -> Tensor:
    """Return float32 [G, K, 3] in 0 .. 1: the colours under the mask that tell most that a pixel is the target's.

    For uint8 [G, H, W, 3] and bool [G, H, W]. Strongest first; NO_COLOR where there are no more. A colour b counts
    p_b max(log((p_b + _ABSENT_SHARE) / (q_b + _ABSENT_SHARE)), _LEAST_LOG_RATIO), with p_b its share of the pixels
    under the mask and q_b of the others. No gradient; found on the CPU, since goals come once an episode.
    """
    color_GK3 = np.full((len(image_GHWC), num_colors, 3), NO_COLOR, np.float32)
    _find_palette(
        np.ascontiguousarray(image_GHWC.cpu().numpy()), np.ascontiguousarray(mask_GHW.cpu().numpy()), color_GK3
    )
    return torch.from_numpy(color_GK3).to(image_GHWC.device)


def palette_channel_by_torch(image_XHWC: Tensor, color_XK3: Tensor) -> Tensor:
    """Return uint8 [X, H, W, 1]: the largest likeness of each pixel to one of the K colours.

    A likeness is 255 / (1 + sharpness * squared distance)^3; 0 where there are no colours.
    """
    pixel_XHW13 = image_XHWC.float().unsqueeze(3) / 255.0
    distance_XHWK = (pixel_XHW13 - color_XK3[:, None, None]).square().sum(-1)
    is_there_XK = color_XK3[:, None, None, :, 0] >= 0
    nearest_XHW1 = torch.where(is_there_XK, distance_XHWK, torch.inf).amin(-1, keepdim=True)
    return (255.0 * (1.0 + _SHARPNESS * nearest_XHW1) ** -3).to(torch.uint8)


def smooth_by_torch(likeness_XHW1: Tensor) -> Tensor:
    """Return uint8 [X, H, W, 1]: means of 3 x 3 pixels, fewer at a border, rounded down. A lone pixel wins none."""
    plane_X1HW = likeness_XHW1.permute(0, 3, 1, 2).float()
    mean_X1HW = F.avg_pool2d(plane_X1HW, 3, stride=1, padding=1, count_include_pad=False)
    return mean_X1HW.permute(0, 2, 3, 1).to(torch.uint8)


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def match_palette(
    image_XHWC: np.ndarray,
    color_XK3: np.ndarray,
    value_256: np.ndarray,
    out_XHWC: np.ndarray,
    cell_px: int,
    best_XMhW: np.ndarray,
) -> None:
    """Write that channel into the last of out_XHWC, each byte as the number that `value_256` has for it.

    The largest of each column of a cell, and of the smoothed ones, go into the last two of best_XMhW.
    """
    for x in prange(len(image_XHWC)):
        _match_one(image_XHWC[x], color_XK3[x], value_256, out_XHWC[x], cell_px, best_XMhW[x])


@njit(cache=True, nogil=True, error_model="numpy")
def _match_one(
    image_HWC: np.ndarray,
    color_K3: np.ndarray,
    value_256: np.ndarray,
    out_HWC: np.ndarray,
    cell_px: int,
    best_MhW: np.ndarray,
) -> None:
    height, width, _ = image_HWC.shape
    one, full = np.float32(1.0), np.float32(255.0)
    scale = np.float32(_SHARPNESS / 255.0**2)
    pixel_CW, least_W = np.empty((3, width), np.float32), np.empty(width, np.float32)
    likeness_HW, smooth_W = np.empty((height, width), np.uint8), np.empty(width, np.uint8)
    channel = out_HWC.shape[2] - 1
    for i in range(height):
        for j in range(width):
            for c in range(3):
                pixel_CW[c, j] = image_HWC[i, j, c]
            least_W[j] = np.float32(np.inf)
        for k in range(len(color_K3)):
            if color_K3[k, 0] < 0:
                continue
            red, green, blue = full * color_K3[k, 0], full * color_K3[k, 1], full * color_K3[k, 2]
            for j in range(width):
                dr, dg, db = pixel_CW[0, j] - red, pixel_CW[1, j] - green, pixel_CW[2, j] - blue
                least_W[j] = min(least_W[j], dr * dr + dg * dg + db * db)
        for j in range(width):
            near = one + scale * least_W[j]
            likeness_HW[i, j] = np.uint8(full / (near * near * near))
        for j in range(width):
            out_HWC[i, j, channel] = value_256[likeness_HW[i, j]]
        keep_best(likeness_HW[i], best_MhW[-2, i // cell_px])
    sum_W = np.empty(width + 2, np.int32)
    sum_W[0] = sum_W[width + 1] = 0
    for i in range(height):
        top, bottom = max(0, i - 1), min(height, i + 2)
        for j in range(width):
            sum_W[j + 1] = 0
        for row in range(top, bottom):
            for j in range(width):
                sum_W[j + 1] += likeness_HW[row, j]
        # The loop within is one of additions and a product, which the compiler turns into vectors; a division is not.
        ninth = np.int32(_ONE // (3 * (bottom - top)) + 1)
        for j in range(width):
            smooth_W[j] = ((sum_W[j] + sum_W[j + 1] + sum_W[j + 2]) * ninth) >> _SHIFT
        for j in (0, width - 1):
            smooth_W[j] = (sum_W[j] + sum_W[j + 1] + sum_W[j + 2]) // (2 * (bottom - top))
        keep_best(smooth_W, best_MhW[-1, i // cell_px])


@njit(parallel=True, cache=True, nogil=True)
def _find_palette(image_GHWC: np.ndarray, mask_GHW: np.ndarray, color_GK3: np.ndarray) -> None:
    height, width = mask_GHW.shape[1:]
    for g in prange(len(image_GHWC)):
        own_N, other_N = np.zeros(_BINS**3), np.zeros(_BINS**3)
        sum_N3 = np.zeros((_BINS**3, 3))
        for i in range(height):
            for j in range(width):
                n = 0
                for c in range(3):
                    n = n * _BINS + image_GHWC[g, i, j, c] * _BINS // 256
                if not mask_GHW[g, i, j]:
                    other_N[n] += 1
                    continue
                own_N[n] += 1
                for c in range(3):
                    sum_N3[n, c] += image_GHWC[g, i, j, c]
        num_own, num_others = max(1.0, own_N.sum()), max(1.0, other_N.sum())
        for k in range(color_GK3.shape[1]):
            best, best_score = -1, 0.0
            for n in range(_BINS**3):
                if own_N[n] == 0:
                    continue
                own, other = own_N[n] / num_own, other_N[n] / num_others
                is_new = True
                for before in range(k):
                    distance = 0.0
                    for c in range(3):
                        distance += (sum_N3[n, c] / own_N[n] / 255.0 - color_GK3[g, before, c]) ** 2
                    is_new = is_new and distance >= _COLOR_GAP
                score = own * max(np.log((own + _ABSENT_SHARE) / (other + _ABSENT_SHARE)), _LEAST_LOG_RATIO)
                if is_new and score > best_score:
                    best, best_score = n, score
            if best < 0:
                break
            for c in range(3):
                color_GK3[g, k, c] = sum_N3[best, c] / own_N[best] / 255.0
