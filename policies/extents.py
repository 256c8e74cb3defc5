"""Extents: the middle of a thing's box, x and y, and the box's longer side, in shares of the picture.

X things, G pictures, H W pixels.
"""

import torch
from torch import Tensor


def extents_of_boxes(box_X4: Tensor) -> Tensor:
    """Return the extents, [..., 3], of boxes [..., left top right bottom] in 0 .. 1."""
    left, top, right, bottom = box_X4.unbind(-1)
    return torch.stack([(left + right) / 2, (top + bottom) / 2, torch.maximum(right - left, bottom - top)], -1)


def squares_of(extent_X3: Tensor) -> Tensor:
    """Return the boxes, [..., left top right bottom], that have the extent's side each way."""
    half_X1 = extent_X3[..., 2:] / 2
    return torch.cat([extent_X3[..., :2] - half_X1, extent_X3[..., :2] + half_X1], -1)


def extents_of_masks(mask_GHW: Tensor) -> Tensor:
    """Return float32 [G, 3] of what is marked in bool [G, H, W]; of the whole picture where nothing is."""
    height, width = mask_GHW.shape[1:]
    is_row_GH, is_column_GW = mask_GHW.any(2).float(), mask_GHW.any(1).float()
    top_G, left_G = is_row_GH.argmax(1), is_column_GW.argmax(1)
    bottom_G, right_G = height - is_row_GH.flip(1).argmax(1), width - is_column_GW.flip(1).argmax(1)
    return extents_of_boxes(torch.stack([left_G / width, top_G / height, right_G / width, bottom_G / height], 1))


def corrected(extent_X3: Tensor, off_X3: Tensor) -> Tensor:
    """Return extents moved by so many of their sides, x and y, and scaled by the exponential of the third number."""
    side_X1 = extent_X3[:, 2:]
    return torch.cat([extent_X3[:, :2] + side_X1 * off_X3[:, :2], side_X1 * off_X3[:, 2:].exp()], 1)


def correction_to(extent_X3: Tensor, true_X3: Tensor) -> Tensor:
    """Return the three numbers by which `corrected` makes the one the other; sides are above 0."""
    side_X1 = extent_X3[:, 2:]
    return torch.cat([(true_X3[:, :2] - extent_X3[:, :2]) / side_X1, (true_X3[:, 2:] / side_X1).log()], 1)
