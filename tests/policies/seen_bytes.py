"""The channels that the network is given, as the bytes they were made of. X pictures, N colours, C channels."""

import torch
from torch import Tensor

from policies.view_channels import view_channels


def seen_bytes(image_XHWC: Tensor, color_XN3: Tensor) -> Tensor:
    """Return int64 [X, H, W, C]."""
    value_XCHW = view_channels(image_XHWC, color_XN3).channel_XCHW
    assert value_XCHW.dtype == torch.float32
    return (value_XCHW * 127.5 + 127.5).round().long().permute(0, 2, 3, 1)
