"""What the network is given of a picture: its pixels and how they answer to a goal's colours, as numbers in -1 .. 1.

X pictures, H W pixels, N colours of a goal, C channels.
"""

import functools

import numpy as np
import torch
from torch import Tensor

from policies.color_match import NUM_MATCHED_CHANNELS, match_colors, matched_channels_by_torch
from policies.context_match import NUM_CONTEXT_CHANNELS, context_channels_by_torch, look_around
from policies.precision import compute_dtype


def num_view_channels(*, sees_context: bool) -> int:
    """Return C: 5, or 7 where a goal has more colours than its target's."""
    return NUM_MATCHED_CHANNELS + (NUM_CONTEXT_CHANNELS if sees_context else 0)


def view_channels(image_XHWC: Tensor, color_XN3: Tensor) -> Tensor:
    """Return [X, C, H, W], channels last in memory, in the compute dtype, for uint8 [X, H, W, 3] and colours in 0 .. 1.

    The first colour is the target's, see color_match; those after it, if any, of its surroundings, see context_match.
    Carries no gradient. On a CPU compiled loops write each channel once, where it is wanted and as the number it is to
    be: to set bytes side by side and to scale them in bf16 took as long as to find them.
    """
    if image_XHWC.device.type != "cpu":
        return view_channels_by_torch(image_XHWC, color_XN3)
    num_channels = num_view_channels(sees_context=color_XN3.shape[1] > 1)
    out_XHWC = torch.empty(*image_XHWC.shape[:3], num_channels, dtype=compute_dtype(image_XHWC.device))
    value_256, raw_XHWC = _value_of_byte(out_XHWC.dtype), _raw(out_XHWC)
    image, color = np.ascontiguousarray(image_XHWC.numpy()), color_XN3.detach().float().numpy()
    match_colors(image, np.ascontiguousarray(color[:, 0]), value_256, raw_XHWC)
    if color.shape[1] > 1:
        look_around(image, np.ascontiguousarray(color[:, 1:]), value_256, raw_XHWC)
    return out_XHWC.permute(0, 3, 1, 2)


def view_channels_by_torch(image_XHWC: Tensor, color_XN3: Tensor) -> Tensor:
    """Return the same, spelled out in tensors: the twin that tests compare with, and the path of other devices."""
    color_XN3 = color_XN3.detach().float()
    byte_XHWC = matched_channels_by_torch(image_XHWC, color_XN3[:, 0])
    if color_XN3.shape[1] > 1:
        byte_XHWC = torch.cat([byte_XHWC, context_channels_by_torch(image_XHWC, color_XN3[:, 1:])], -1)
    # Permuted, it already is channels-last, so nothing is transposed.
    return _scaled(byte_XHWC.permute(0, 3, 1, 2), compute_dtype(image_XHWC.device))


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
