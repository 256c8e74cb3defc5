"""Image backbones. B images, C channels, H W pixels, h w cells of the token grid."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.view_channels import ViewChannels, num_view_channels, view_channels


class ResidualBlock(nn.Module):
    """x + conv(relu(conv(relu(x)))), 3 x 3, pre-activation."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x_BChw: Tensor) -> Tensor:
        """Return [B, C, h, w]."""
        return x_BChw + self.second(F.relu(self.first(F.relu(x_BChw))))


class ConvBackbone(nn.Module):
    """Strided convolutions to one cell per so many pixels a side, then a residual block; one for agent and goal view.

    The stem is two or three convolutions, whose strides make up the side of a cell: strides 2, 2, 2 see small things
    better than 4 and 2 for a quarter more time. Stem and block are called apart, since the agent view is modulated by
    the goal in between.
    """

    def __init__(
        self,
        stem_channels: int,
        channels: int,
        strides: tuple[int, ...] = (4, 2),
        *,
        num_palette_colors: int = 0,
        num_context_colors: int = 0,
    ) -> None:
        """Raise ValueError for other than two or three strides."""
        super().__init__()
        if len(strides) not in (2, 3):
            raise ValueError(f"a stem has two or three convolutions, got strides {strides}")
        first, second, *third = strides
        self.num_palette_colors = num_palette_colors
        self.cell_px = math.prod(strides)
        num_inputs = num_view_channels(num_palette_colors=num_palette_colors, num_context_colors=num_context_colors)
        self.conv1 = nn.Conv2d(num_inputs, stem_channels, 2 * first, stride=first, padding=(first + 1) // 2)
        self.conv3: nn.Conv2d | None = None
        if third:
            middle_channels = (stem_channels + channels) // 2
            self.conv2 = nn.Conv2d(stem_channels, middle_channels, 3, stride=second, padding=1)
            self.conv3 = nn.Conv2d(middle_channels, channels, 3, stride=third[0], padding=1)
        else:
            self.conv2 = nn.Conv2d(stem_channels, channels, 2 * second, stride=second, padding=(second + 1) // 2)
        self.block = ResidualBlock(channels)
        for convolution in self.modules():
            if isinstance(convolution, nn.Conv2d):
                nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        # The block starts near the identity, so that depth costs nothing at first.
        with torch.no_grad():
            self.block.second.weight.mul_(0.3)

    def channels_of(self, image_BHWC: Tensor, color_BN3: Tensor) -> ViewChannels:
        """Return what the stem takes of uint8 [B, H, W, 3] pictures that are searched for a goal's colours.

        Colours are in 0 .. 1, in the order of policies.view_channels.
        """
        return view_channels(image_BHWC, color_BN3, num_palette_colors=self.num_palette_colors, cell_px=self.cell_px)

    def stem(self, channel_BCHW: Tensor) -> Tensor:
        """Return [B, C, h, w] features of a picture's channels."""
        feature_BChw = F.relu(self.conv2(F.relu(self.conv1(channel_BCHW))))
        return feature_BChw if self.conv3 is None else F.relu(self.conv3(feature_BChw))

    def forward(self, image_BHWC: Tensor, color_BN3: Tensor) -> Tensor:
        """Return [B, C, h, w] features of uint8 [B, H, W, 3] pictures, stem and block."""
        return self.block(self.stem(self.channels_of(image_BHWC, color_BN3).channel_XCHW))


def as_tokens(x_BChw: Tensor) -> Tensor:
    """Return [B, h * w, C]: one token a cell, row by row. A view, when the input is channels_last."""
    return x_BChw.permute(0, 2, 3, 1).flatten(1, 2)
