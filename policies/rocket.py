"""The ROCKET policy. E envs, B sequences, T steps, G goals, K patches, Q view tokens, D width, A factors, L logits."""

from typing import Any

import torch
from torch import Tensor, nn

from policies import vpt_heads
from policies.interface import EncodedGoals, Memory
from policies.precision import compute_dtype
from policies.recurrent import RecurrentPolicy
from policies.rocket_config import RocketConfig
from policies.rocket_heads import PreviousAction, RocketHeads
from policies.token_memory import TokenMemory
from policies.view_fusion import ViewFusion
from policies.vit import VisionTransformer
from task_synthesis.interaction import NUM_INTERACTION_ROWS

# ImageNet's, in 0 .. 255: what DINO was trained with.
_MEAN = (123.675, 116.28, 103.53)
_STD = (58.395, 57.12, 57.375)


class RocketPolicy(RecurrentPolicy):
    """The network of ROCKET-2 and ROCKET-3 (Cai et al. 2025), with the same arithmetic, made for fragments.

    A frozen vision transformer reads both views and a trainable one the mask; spatial attention fuses them into a few
    tokens; with the event (and the previous action) they are a step of a Transformer-XL memory, whose last token of
    the step feeds VPT's action heads and the value, and whose last view token the predictions about the target.

    What differs from the public code, and why: a goal is encoded once, not at every step; the memory heeds episode
    ends in learning as in acting; there is no dropout; the previous action of an episode's first step is "unknown".
    """

    num_logits = vpt_heads.NUM_VPT_LOGITS

    _mean_3: Tensor
    _std_3: Tensor

    def __init__(self, config: RocketConfig) -> None:
        super().__init__()
        self.config = config
        self.image_px = config.image_px
        self.view_encoder = VisionTransformer(
            config.image_px, 3, config.view_width, config.view_layers, config.view_heads
        )
        self.view_encoder.requires_grad_(False)
        self.mask_encoder = VisionTransformer(
            config.image_px, 1, config.mask_width, config.mask_layers, config.mask_heads
        )
        self.agent_projection = nn.Linear(config.view_width, config.width, bias=False)
        self.goal_projection = nn.Linear(config.view_width + config.mask_width, config.width, bias=False)
        self.fusion = ViewFusion(
            config.width,
            config.fusion_layers,
            config.num_heads,
            config.num_view_tokens,
            recomputes=config.recomputes_fusion,
        )
        self.interaction = nn.Embedding(NUM_INTERACTION_ROWS, config.width)
        self.previous_action = PreviousAction(config.width) if config.has_previous_action else None
        self.memory = TokenMemory(
            config.width, config.memory_layers, config.num_heads, config.context_steps, config.tokens_per_step
        )
        self.heads = RocketHeads(config.width)
        self.register_buffer("_mean_3", torch.tensor(_MEAN), persistent=False)
        self.register_buffer("_std_3", torch.tensor(_STD), persistent=False)

    def initial_memory(self, num_envs: int) -> Memory:
        """Return the memory of `num_envs` agents that have seen nothing."""
        return self.memory.initial(num_envs, self.interaction.weight.device)

    def look(self, image_XHWC: Tensor) -> Tensor:
        """Return the frozen encoder's features, float16 [X, K, view width]; half of what a step costs, measured.

        float16 keeps three bits more than the bf16 they are computed in on GPUs, and numpy and fragments can hold it:
        295 KB a frame at full size, twice the picture.
        """
        return self._view_features(image_XHWC).to(torch.float16)

    def encode_goals(self, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor) -> EncodedGoals:
        """Encode goals: uint8 [G, H, W, 3], bool [G, H, W], int64 [G] interaction ids (-1 .. 8).

        The colour under the mask is not used here, and 0.
        """
        view_GKD = self._view_features(image_GHWC)
        mask_GKD = self.mask_encoder(mask_GHW.unsqueeze(1).to(view_GKD.dtype))
        token_GKD = self.goal_projection(torch.cat([view_GKD, mask_GKD], -1))
        return EncodedGoals(
            token_GKD=token_GKD.float(),
            vector_GD=self.interaction(interaction_G + 1).float(),
            color_GN3=torch.zeros(len(token_GKD), 1, 3, device=token_GKD.device),
        )

    @torch.no_grad()
    def _view_features(self, image_XHWC: Tensor) -> Tensor:
        """Return the frozen features [X, K, view width] of uint8 [X, H, W, 3] pictures."""
        pixel_XHWC = (image_XHWC.float() - self._mean_3) / self._std_3
        return self.view_encoder(pixel_XHWC.permute(0, 3, 1, 2).to(compute_dtype(image_XHWC.device)))

    def _read(
        self,
        view_X: Tensor,
        goals: EncodedGoals,
        goal_index_X: Tensor,
        first_X: Tensor,
        previous_action_XA: Tensor,
    ) -> tuple[Tensor]:
        """Return the tokens of steps, [X, tokens, D]: views fused, event, and the previous action if there is one.

        `view_X` holds pictures, uint8, or what `look` made of them.
        """
        feature_XKD = self.look(view_X) if view_X.dtype == torch.uint8 else view_X
        agent_XKD = self.agent_projection(feature_XKD.to(compute_dtype(feature_XKD.device)))
        goal_XKD = goals.token_GKD.to(agent_XKD.dtype).index_select(0, goal_index_X)
        event_XD = goals.vector_GD.index_select(0, goal_index_X)
        tokens = [self.fusion(agent_XKD, goal_XKD).float(), event_XD.unsqueeze(1)]
        if self.previous_action is not None:
            tokens.append(self.previous_action(previous_action_XA, first_X).unsqueeze(1))
        return (torch.cat(tokens, 1),)

    def _remember(self, step_BTKD: Tensor, first_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        return self.memory(step_BTKD, first_BT, memory)

    def _decided(self, hidden_XKD: Tensor) -> tuple[Tensor, Tensor]:
        return self.heads.logits_and_value(hidden_XKD[..., -1, :])

    def _predicted(self, hidden_BTKD: Tensor, *read_BT: Tensor) -> dict[str, Any]:
        return {"auxiliary_BT7": self.heads.predictions(hidden_BTKD[:, :, self.config.num_view_tokens - 1])}
