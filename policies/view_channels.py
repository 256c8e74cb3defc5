"""What the network is given of a picture: its pixels and how they answer to a goal's colours, as numbers in -1 .. 1.

X pictures, H W pixels, C channels. N colours of a goal: the mean of its target first, see color_match; then, if any,
those that are typical of it, see palette_match; then those of its surroundings, see context_match.
"""

import functools
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from policies.cell_match import best_by_torch, best_of_columns
from policies.color_match import NUM_MATCHED_CHANNELS, NUM_PICTURE_CHANNELS, match_colors, matched_channels_by_torch
from policies.context_match import NUM_CONTEXT_CHANNELS, context_channels_by_torch, look_around
from policies.palette_match import NUM_PALETTE_CHANNELS, match_palette, palette_channel_by_torch, smooth_by_torch
from policies.precision import compute_dtype


def num_view_channels(*, num_palette_colors: int, num_context_colors: int) -> int:
    """Return C: 5, 2 more for colours of the surroundings, 1 more for a palette."""
    return (
        NUM_MATCHED_CHANNELS
        + (NUM_CONTEXT_CHANNELS if num_context_colors else 0)
        + (NUM_PALETTE_CHANNELS if num_palette_colors else 0)
    )


def num_likenesses(num_channels: int) -> int:
    """Return M: every channel but the picture's, and the palette's once more, smoothed."""
    return num_channels - NUM_PICTURE_CHANNELS + 1


class ViewChannels(NamedTuple):
    """What is made of X pictures."""

    channel_XCHW: Tensor
    """Picture and likenesses in -1 .. 1, in the compute dtype, channels last in memory."""
    best_XMhw: Tensor | None
    """uint8, the largest likenesses of each cell of pixels, the smoothed palette's last; None without a palette."""


def view_channels(
    image_XHWC: Tensor, color_XN3: Tensor, *, num_palette_colors: int = 0, cell_px: int = 0
) -> ViewChannels:
    """Return the channels of uint8 [X, H, W, 3] for colours in 0 .. 1; cells of an even side matter with a palette.

    In order: the picture, its likenesses to the target's mean, to its surroundings and to its palette. Carries no
    gradient. On a CPU compiled loops write each channel once, where it is wanted and as the number it is to be: to set
    bytes side by side and to scale them in bf16 took as long as to find them.
    """
    if image_XHWC.device.type != "cpu":
        return view_channels_by_torch(image_XHWC, color_XN3, num_palette_colors=num_palette_colors, cell_px=cell_px)
    num_context_colors = color_XN3.shape[1] - 1 - num_palette_colors
    num_channels = num_view_channels(num_palette_colors=num_palette_colors, num_context_colors=num_context_colors)
    num_views, height, width = image_XHWC.shape[:3]
    out_XHWC = torch.empty(num_views, height, width, num_channels, dtype=compute_dtype(image_XHWC.device))
    value_256, raw_XHWC = _value_of_byte(out_XHWC.dtype), _raw(out_XHWC)
    cell_px = cell_px if num_palette_colors else 0
    num_rows = height // cell_px if cell_px else 0
    best_XMhW = np.zeros((num_views, num_likenesses(num_channels), num_rows, width), np.uint8)
    image, color = np.ascontiguousarray(image_XHWC.numpy()), color_XN3.detach().float().numpy()
    mean, palette, context = (
        np.ascontiguousarray(part)
        for part in (color[:, 0], color[:, 1 : 1 + num_palette_colors], color[:, 1 + num_palette_colors :])
    )
    match_colors(image, mean, value_256, raw_XHWC, cell_px, best_XMhW)
    if num_context_colors:
        look_around(image, context, value_256, raw_XHWC, cell_px, best_XMhW)
    if num_palette_colors:
        match_palette(image, palette, value_256, raw_XHWC, cell_px, best_XMhW)
    return ViewChannels(out_XHWC.permute(0, 3, 1, 2), best_of_columns(best_XMhW, cell_px) if cell_px else None)


def view_channels_by_torch(
    image_XHWC: Tensor, color_XN3: Tensor, *, num_palette_colors: int = 0, cell_px: int = 0
) -> ViewChannels:
    """Return the same, spelled out in tensors: the twin that tests compare with, and the path of other devices."""
    color_XN3 = color_XN3.detach().float()
    palette_XK3, context_XK3 = color_XN3[:, 1 : 1 + num_palette_colors], color_XN3[:, 1 + num_palette_colors :]
    parts = [matched_channels_by_torch(image_XHWC, color_XN3[:, 0])]
    if context_XK3.shape[1]:
        parts.append(context_channels_by_torch(image_XHWC, context_XK3))
    best_XMhw = None
    if num_palette_colors:
        parts.append(palette_channel_by_torch(image_XHWC, palette_XK3))
        likeness_XHWM = torch.cat([*parts, smooth_by_torch(parts[-1])], -1)[..., NUM_PICTURE_CHANNELS:]
        best_XMhw = best_by_torch(likeness_XHWM, cell_px)
    # Permuted, it already is channels-last, so nothing is transposed.
    channel_XCHW = _scaled(torch.cat(parts, -1).permute(0, 3, 1, 2), compute_dtype(image_XHWC.device))
    return ViewChannels(channel_XCHW, best_XMhw)


def _scaled(byte: Tensor, dtype: torch.dtype) -> Tensor:
    return byte.to(dtype).sub_(127.5).mul_(1 / 127.5)


@functools.cache
def _value_of_byte(dtype: torch.dtype) -> np.ndarray:
    """Return the number that each of the 256 bytes becomes, as `_raw` has it."""
    return _raw(_scaled(torch.arange(256, dtype=torch.uint8), dtype))


def _raw(tensor: Tensor) -> np.ndarray:
    """Return the tensor's memory; numbers of two bytes as integers, since numpy and numba know no bf16."""
    raw: np.ndarray = (tensor.view(torch.int16) if tensor.element_size() == 2 else tensor).numpy()
    return raw
