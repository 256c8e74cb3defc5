"""Plain vision transformers. B images, C channels, H W pixels, K patches, D width.

Written out rather than taken from timm, so that nothing has to be installed. Names and shapes of the weights are those
of timm's vit_base_patch16_224 and vit_tiny_patch16_224 without classifier and final norm (what timm builds with
`features_only=True`), and so is the arithmetic: pre-norm, exact GELU, layer norm eps 1e-6, tokens of the last block.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PATCH_PX = 16
_NORM_EPS = 1e-6


class PatchEmbedding(nn.Module):
    """One token a patch: `proj` is a convolution whose stride is its size."""

    def __init__(self, num_channels: int, width: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(num_channels, width, PATCH_PX, stride=PATCH_PX)

    def forward(self, image_BCHW: Tensor) -> Tensor:
        """Return [B, K, D], row by row."""
        return self.proj(image_BCHW).flatten(2).transpose(1, 2)


class SelfAttention(nn.Module):
    """Multi-head attention of all tokens to all tokens."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x_BKD: Tensor) -> Tensor:
        """Return [B, K, D]."""
        parts = self.qkv(x_BKD).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(parts[0], parts[1], parts[2])
        return self.proj(seen.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    """Two linear layers with a GELU in between, four times as wide inside."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x_BKD: Tensor) -> Tensor:
        """Return [B, K, D]."""
        return self.fc2(F.gelu(self.fc1(x_BKD)))


class Block(nn.Module):
    """Pre-norm attention, then a feed-forward; both residual."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=_NORM_EPS)
        self.attn = SelfAttention(width, num_heads)
        self.norm2 = nn.LayerNorm(width, eps=_NORM_EPS)
        self.mlp = FeedForward(width)

    def forward(self, x_BKD: Tensor) -> Tensor:
        """Return [B, K, D]."""
        x_BKD = x_BKD + self.attn(self.norm1(x_BKD))
        return x_BKD + self.mlp(self.norm2(x_BKD))


class VisionTransformer(nn.Module):
    """Patch features of pictures: the tokens of the last block, without class token and without final norm."""

    def __init__(self, image_px: int, num_channels: int, width: int, num_layers: int, num_heads: int) -> None:
        super().__init__()
        num_patches = (image_px // PATCH_PX) ** 2
        self.patch_embed = PatchEmbedding(num_channels, width)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.randn(1, 1 + num_patches, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, num_heads) for _ in range(num_layers))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def forward(self, image_BCHW: Tensor) -> Tensor:
        """Return [B, K, D] features of normalised float pictures."""
        patch_BKD = self.patch_embed(image_BCHW)
        x_BKD = torch.cat([self.cls_token.expand(len(patch_BKD), -1, -1), patch_BKD], 1) + self.pos_embed
        for block in self.blocks:
            x_BKD = block(x_BKD)
        return x_BKD[:, 1:]
