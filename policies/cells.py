"""The cells of a view: a square grid, row by row. X views, N of their cells, K cells, S cells a side."""

import math

import torch
from torch import Tensor


def cells_of(box_X4: Tensor, num_cells: int) -> Tensor:
    """Return bool [..., K]: which cells boxes [..., left top right bottom], in 0 .. 1, reach into."""
    side = math.isqrt(num_cells)
    edge_S = torch.arange(side + 1, device=box_X4.device) / side  # low + 1 / side is not always the next low
    low_S, high_S = edge_S[:-1], edge_S[1:]
    left, top, right, bottom = box_X4.unsqueeze(-2).unbind(-1)
    is_column_XS = (left < high_S) & (right > low_S)
    is_row_XS = (top < high_S) & (bottom > low_S)
    return (is_row_XS.unsqueeze(-1) & is_column_XS.unsqueeze(-2)).flatten(-2)


def middles_of(cell_XN: Tensor, num_cells: int) -> Tensor:
    """Return float32 [X, N, 2], the middles of cells, x and y in 0 .. 1."""
    side = math.isqrt(num_cells)
    return (torch.stack([cell_XN % side, cell_XN // side], -1) + 0.5) / side


def best_cells(cell_logit_XK: Tensor, num: int) -> Tensor:
    """Return int64 [X, N]: the `num` cells with the highest logits, none of them beside one before it."""
    side = math.isqrt(cell_logit_XK.shape[1])
    left_XK = cell_logit_XK.detach()
    at_S = torch.arange(side, device=left_XK.device)
    found = []
    for _ in range(num):
        best_X1 = left_XK.argmax(1, keepdim=True)
        found.append(best_X1)
        is_row_XS = (at_S - best_X1 // side).abs() <= 1
        is_column_XS = (at_S - best_X1 % side).abs() <= 1
        left_XK = left_XK.masked_fill((is_row_XS.unsqueeze(2) & is_column_XS.unsqueeze(1)).flatten(1), -torch.inf)
    return torch.cat(found, 1)
