"""How well the best pixel of each cell of a view answers to the goal, and how far it stays behind the view's best.

A cell of 8 or 12 pixels a side is what convolutions make of them all, in which a pixel or two are lost; and whether a
likeness is a good one depends on what else is in view. X views, M likenesses, W pixels of a row, h w cells, K = h w.
"""

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional as F

from policies.precision import compute_dtype


def cell_matches(best_XMhw: Tensor) -> Tensor:
    """Return [X, K, 2 M] in the compute dtype, of uint8 best pixels: scaled to -1 .. 1, and less the view's best."""
    best_XKM = best_XMhw.flatten(2).transpose(1, 2).to(compute_dtype(best_XMhw.device)).sub_(127.5).mul_(1 / 127.5)
    return torch.cat([best_XKM, best_XKM - best_XKM.amax(1, keepdim=True)], -1)


def best_by_torch(likeness_XHWM: Tensor, cell_px: int) -> Tensor:
    """Return uint8 [X, M, h, w]: the largest of each cell of uint8 likenesses; the twin of `keep_best`."""
    return F.max_pool2d(likeness_XHWM.permute(0, 3, 1, 2).float(), cell_px).to(torch.uint8)


@njit(cache=True, nogil=True)
def keep_best(likeness_W: np.ndarray, best_W: np.ndarray) -> None:
    """Raise the best of each column of a row of cells to what one more of its rows of pixels has there."""
    for j in range(len(likeness_W)):
        best_W[j] = max(best_W[j], likeness_W[j])


def best_of_columns(best_XMhW: np.ndarray, cell_px: int) -> Tensor:
    """Return uint8 [X, M, h, w], of each cell the largest of its columns."""
    return torch.from_numpy(best_XMhW).unflatten(3, (-1, cell_px)).amax(4)
