"""The goal view encoded: what to look for, and landmarks to find it by. G goals, K tokens, C channels, H W pixels."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.backbones import ConvBackbone, as_tokens
from policies.context_match import context_colors
from policies.interface import EncodedGoals
from policies.palette_match import palette_colors
from task_synthesis.interaction import NUM_INTERACTION_ROWS

# The mask's mean colour is 3 numbers among some 150; without the factor it starts out unheard.
COLOR_SCALE = 3.0


class GoalEncoder(nn.Module):
    """Turn goal pictures, masks and interactions into keys and values for attention, and one summary vector.

    The backbone is the agent view's own, handed in by the caller; only mask, fusion and summary live here.
    """

    def __init__(
        self,
        image_px: int,
        cell_px: int,
        channels: int,
        goal_width: int,
        attention_width: int,
        num_context_colors: int,
        num_palette_colors: int = 0,
    ) -> None:
        super().__init__()
        self.num_context_colors = num_context_colors
        self.num_palette_colors = num_palette_colors
        self.cell_px = cell_px
        num_tokens = (image_px // cell_px) ** 2
        # Half a cell, then a cell, whatever convolutions the picture takes.
        half_px = cell_px // 2
        self.mask_stem = nn.Conv2d(1, 16, 2 * half_px, stride=half_px, padding=(half_px + 1) // 2)
        self.mask_cells = nn.Conv2d(16, channels, 4, stride=2, padding=1)
        self.fuse = nn.Linear(2 * channels, channels)
        self.position_KC = nn.Parameter(torch.randn(num_tokens, channels) * 0.1)
        self.token_norm = nn.LayerNorm(channels)
        self.key_value = nn.Linear(channels, 2 * attention_width)
        self.interaction = nn.Embedding(NUM_INTERACTION_ROWS, 16)
        # Object features, mean features, object colour, centroid, root of area, interaction.
        self.summary = nn.Sequential(
            nn.Linear(2 * channels + 3 + 2 + 1 + 16, goal_width),
            nn.ReLU(),
            nn.Linear(goal_width, goal_width),
            nn.ReLU(),
        )

    def forward(
        self, backbone: ConvBackbone, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor
    ) -> EncodedGoals:
        """Return float32 tokens [G, K, 2 * attention width], keys then values, and float32 vectors [G, goal width]."""
        mask_G1HW = mask_GHW.float().unsqueeze(1)
        color_G3, place_G3 = _mask_statistics(image_GHWC, mask_G1HW.squeeze(1))
        colors = [color_G3.unsqueeze(1)]
        if self.num_palette_colors:
            colors.append(palette_colors(image_GHWC, mask_GHW, self.num_palette_colors))
        if self.num_context_colors:
            colors.append(context_colors(image_GHWC, mask_GHW, self.num_context_colors))
        color_GN3 = torch.cat(colors, 1)
        feature_GChw = backbone(image_GHWC, color_GN3)
        mask_GChw = F.relu(self.mask_cells(F.relu(self.mask_stem(mask_G1HW))))
        token_GKC = self.fuse(torch.cat([as_tokens(feature_GChw), as_tokens(mask_GChw)], -1)) + self.position_KC
        token_GKD = self.key_value(self.token_norm(token_GKC))

        cell_share_GK = F.avg_pool2d(mask_G1HW, self.cell_px).flatten(1)
        cell_weight_GK = cell_share_GK / cell_share_GK.sum(1, keepdim=True).clamp(min=1e-6)
        feature_GKC = as_tokens(feature_GChw).float()
        object_GC = (feature_GKC * cell_weight_GK.unsqueeze(-1)).sum(1)
        summary_input = torch.cat(
            [
                object_GC,
                feature_GKC.mean(1),
                (2.0 * color_G3 - 1.0) * COLOR_SCALE,
                place_G3,
                self.interaction(interaction_G + 1),
            ],
            -1,
        )
        return EncodedGoals(
            token_GKD=token_GKD.float(), vector_GD=self.summary(summary_input).float(), color_GN3=color_GN3
        )


def _mask_statistics(image_GHWC: Tensor, mask_GHW: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean colour under the mask, [G, 3] in 0 .. 1, grey if it is empty, and where the mask is.

    The place is float32 [G, 3]: centroid x y in -1 .. 1 and root of the area, 0 if the mask is empty.
    """
    height, width = mask_GHW.shape[1:]
    num_pixels_G1 = mask_GHW.sum((1, 2)).unsqueeze(1)
    divisor_G1 = num_pixels_G1.clamp(min=1.0)
    color_sum_G3 = torch.einsum("ghwc,ghw->gc", image_GHWC.float(), mask_GHW)
    color_G3 = torch.where(num_pixels_G1 > 0, color_sum_G3 / (255.0 * divisor_G1), 0.5)
    x_W = torch.linspace(-1.0, 1.0, width, device=mask_GHW.device)
    y_H = torch.linspace(-1.0, 1.0, height, device=mask_GHW.device)
    x_G1 = (mask_GHW.sum(1) * x_W).sum(1, keepdim=True) / divisor_G1
    y_G1 = (mask_GHW.sum(2) * y_H).sum(1, keepdim=True) / divisor_G1
    return color_G3, torch.cat([x_G1, y_G1, (num_pixels_G1 / (height * width)).sqrt()], 1)
