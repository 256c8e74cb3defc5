"""Sizes of the ROCKET network."""

from dataclasses import dataclass

from policies.vit import PATCH_PX


@dataclass(frozen=True, kw_only=True)
class RocketConfig:
    """Sizes of a RocketPolicy. The defaults are ROCKET-2's and ROCKET-3's "1x" (Cai et al. 2025)."""

    image_px: int = 224
    """Side of agent view and goal view; a multiple of 16. Public weights want 224."""
    view_width: int = 768
    """Width of the frozen vision transformer that reads agent view and goal view; a multiple of `view_heads`."""
    view_layers: int = 12
    """Its layers."""
    view_heads: int = 12
    """Attention heads of each of them."""
    mask_width: int = 192
    """Width of the trainable vision transformer that reads the mask; a multiple of `mask_heads`."""
    mask_layers: int = 12
    """Its layers."""
    mask_heads: int = 3
    """Attention heads of each of them."""
    width: int = 1024
    """Width of fusion, memory and heads; a multiple of `num_heads`."""
    num_heads: int = 8
    """Attention heads of each layer of fusion and memory."""
    fusion_layers: int = 4
    """Layers of spatial attention over both views."""
    memory_layers: int = 4
    """Layers of the memory."""
    num_view_tokens: int = 9
    """Tokens a step that the fusion of the views leaves."""
    has_previous_action: bool = True
    """Whether a step also has a token of the previous action."""
    context_steps: int = 128
    """Length of the memory in steps; a token sees itself and what fits before it."""
    recomputes_fusion: bool = True
    """Compute the fusion twice in the backward pass rather than keep its activations (some 50 MB a frame at 1x)."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if isinstance(value, bool) else 1):
                raise ValueError(f"policy.{name} must be at least 1, got {value}")
        if self.image_px % PATCH_PX:
            raise ValueError(f"policy.image_px must be a multiple of {PATCH_PX} for this preset, got {self.image_px}")
        for width, heads in (("view_width", "view_heads"), ("mask_width", "mask_heads"), ("width", "num_heads")):
            if getattr(self, width) % getattr(self, heads):
                raise ValueError(
                    f"policy.{width} {getattr(self, width)} must be a multiple of policy.{heads} {getattr(self, heads)}"
                )

    @property
    def tokens_per_step(self) -> int:
        """Return how many tokens a step has in the memory: views, event, and the previous action if there is one."""
        return self.num_view_tokens + 1 + self.has_previous_action
