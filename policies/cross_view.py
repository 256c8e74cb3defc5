"""The cross-view policy. E envs, B sequences, T steps, G goals, K tokens, C channels, D width, A factors, L logits."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies import action_codec
from policies.backbones import ConvBackbone, as_tokens
from policies.cell_match import cell_matches
from policies.closer_look import CloserLook
from policies.goal_encoder import GoalEncoder
from policies.heads import Heads
from policies.interface import EncodedGoals, Memory
from policies.precision import compute_dtype
from policies.recurrent import RecurrentPolicy
from policies.temporal import TemporalMemory
from policies.view_channels import num_likenesses, num_view_channels


@dataclass(frozen=True, kw_only=True)
class CrossViewConfig:
    """Sizes of a CrossViewPolicy."""

    image_px: int = 64
    """Side of agent view and goal view; a multiple of a cell's."""
    stem_channels: int = 32
    """Channels after the first convolution: the costliest number here."""
    stem_strides: tuple[int, ...] = (4, 2)
    """Strides, 2 or more, of the two or three convolutions before the tokens; their product, even, is the side of a
    token's cell in pixels."""
    channels: int = 64
    """Channels of the image tokens."""
    num_context_colors: int = 0
    """Colours that stand out around the goal's target and are looked for in the agent's view, by which the target is
    told from others of its kind; 0 leaves that to be learned. See policies.context_match."""
    num_palette_colors: int = 0
    """Colours that are typical of the goal's target and are looked for in the agent's view, whose cells are then shown
    how well their best pixel answers to the goal; 0 leaves that to be learned. See policies.palette_match, cell_match.
    """
    num_glimpses: int = 0
    """Places of the agent's view, where the target seems most likely, that are looked at closely and compared with the
    goal's target; 0 looks at none. Learned where `imitation.pair_goals` is above 0. See policies.glimpses."""
    goal_width: int = 128
    """Width of the goal's summary vector."""
    num_view_heads: int = 2
    """Heads of the attention from agent view to goal view; divides `channels`."""
    readout_channels: int = 32
    """Channels each image token keeps when the view is flattened to one vector."""
    width: int = 256
    """Width of the step's vector, of the memory and of the heads' input."""
    num_layers: int = 2
    """Layers of the memory."""
    num_heads: int = 4
    """Attention heads of each memory layer."""
    head_size: int = 32
    """Width of one attention head of the memory."""
    context_steps: int = 64
    """Past steps the memory can see, beside the present one."""
    feedforward_ratio: int = 4
    """Hidden width of a memory layer's feed-forward, as a multiple of `width`."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = 0 if name in ("num_context_colors", "num_palette_colors", "num_glimpses") else 1
            if min(value if isinstance(value, tuple) else (value,)) < least:
                raise ValueError(f"policy.{name} must be at least {least}, got {value}")
        if min(self.stem_strides) < 2 or self.cell_px % 2:
            raise ValueError(
                f"policy.stem_strides must be at least 2 each, with an even product, got {list(self.stem_strides)}"
            )
        if self.image_px % self.cell_px or self.image_px < 2 * self.cell_px:
            side_px = self.cell_px
            raise ValueError(
                f"policy.image_px must be a multiple of {side_px}, at least {2 * side_px}, got {self.image_px}"
            )
        # Each place keeps those after it off the cells around it.
        most_places = math.ceil(self.image_px / self.cell_px / 3) ** 2
        if self.num_glimpses > most_places:
            raise ValueError(
                f"policy.num_glimpses must be at most {most_places}, for which a view has room, got {self.num_glimpses}"
            )
        if self.channels % self.num_view_heads:
            raise ValueError(
                f"policy.channels {self.channels} must be a multiple of policy.num_view_heads {self.num_view_heads}"
            )

    @property
    def cell_px(self) -> int:
        """Return the side of a token's cell in pixels."""
        return math.prod(self.stem_strides)

    @property
    def num_tokens(self) -> int:
        """Return how many tokens a view has."""
        return (self.image_px // self.cell_px) ** 2


class ViewAttention(nn.Module):
    """Agent tokens look up goal tokens: which places of the goal picture are here, and how the target lies to them."""

    def __init__(self, num_tokens: int, channels: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.position_KC = nn.Parameter(torch.randn(num_tokens, channels) * 0.1)
        self.norm = nn.LayerNorm(channels)
        self.query = nn.Linear(channels, channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, token_XKC: Tensor, goal_XKD: Tensor) -> Tensor:
        """Return [X, K, C]: tokens with position, plus what each found. goal_XKD holds keys, then values."""
        token_XKC = token_XKC + self.position_KC
        query, key, value = (
            part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for part in (self.query(self.norm(token_XKC)), *goal_XKD.chunk(2, -1))
        )
        # Spelled out, since torch's fused attention takes 9x as long backwards in bf16 on a CPU
        # (512 x 2 heads x 64 x 64 tokens, one core: 128 ms against 15 ms).
        weight = (query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5).softmax(-1)
        found_XKC = (weight.to(value.dtype) @ value).transpose(1, 2).flatten(2)
        return token_XKC + self.out(found_XKC)


def _match_layers(config: CrossViewConfig) -> nn.Module:
    """Return what makes a part of a token of how well the best pixel of its cell answers to the goal."""
    num_channels = num_view_channels(
        num_palette_colors=config.num_palette_colors, num_context_colors=config.num_context_colors
    )
    return nn.Sequential(
        nn.Linear(2 * num_likenesses(num_channels), config.channels),
        nn.ReLU(),
        nn.Linear(config.channels, config.channels),
    )


class CrossViewPolicy(RecurrentPolicy):
    """Reads the agent view in the light of a goal view, remembers, and acts in factors. No dropout, no randomness.

    One backbone serves both views. The goal's summary modulates the agent's features (FiLM, Perez et al. 2018), then
    agent tokens attend to goal tokens. What is left is flattened, so that it keeps where things are, and joins the
    summary and the previous action in a residual stream through the memory.
    """

    says_where = True
    _factor_offset_A: Tensor

    def __init__(self, config: CrossViewConfig) -> None:
        super().__init__()
        self.config = config
        self.image_px = config.image_px
        num_tokens = config.num_tokens
        self.backbone = ConvBackbone(
            config.stem_channels,
            config.channels,
            config.stem_strides,
            num_palette_colors=config.num_palette_colors,
            num_context_colors=config.num_context_colors,
        )
        self.goal_encoder = GoalEncoder(
            config.image_px,
            config.cell_px,
            config.channels,
            config.goal_width,
            config.channels,
            config.num_context_colors,
            config.num_palette_colors,
        )
        self.film = nn.Linear(config.goal_width, 2 * config.channels)
        self.view_attention = ViewAttention(num_tokens, config.channels, config.num_view_heads)
        self.match = _match_layers(config) if config.num_palette_colors else None
        self.cell = nn.Linear(config.channels, 1)
        self.closer_look: CloserLook | None = None
        self.looks_closely = config.num_glimpses > 0
        if config.num_glimpses:
            self.closer_look = CloserLook(config.num_glimpses, config.channels, config.width)
        self.place = nn.Linear(num_tokens, config.width)
        self.reduce = nn.Linear(config.channels, config.readout_channels)
        self.readout = nn.Linear(num_tokens * config.readout_channels, config.width)
        self.goal_to_step = nn.Linear(config.goal_width, config.width)
        self.previous_action = nn.EmbeddingBag(action_codec.NUM_LOGITS, config.width, mode="sum")
        self.no_previous_action_D = nn.Parameter(torch.zeros(config.width))
        self.temporal = TemporalMemory(
            config.width,
            config.num_layers,
            config.num_heads,
            config.head_size,
            config.context_steps,
            config.feedforward_ratio,
        )
        self.heads = Heads(config.width)
        # A cell rarely shows the target: begin there, or the first updates do nothing else.
        nn.init.constant_(self.cell.bias, -3.0)
        nn.init.normal_(self.previous_action.weight, std=0.1)
        nn.init.kaiming_normal_(self.readout.weight, nonlinearity="relu")
        self.register_buffer("_factor_offset_A", torch.tensor(action_codec.LOGIT_OFFSETS), persistent=False)

    def initial_memory(self, num_envs: int) -> Memory:
        """Return the memory of `num_envs` agents that have seen nothing."""
        return self.temporal.initial(num_envs, self.no_previous_action_D.device)

    def encode_goals(self, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor) -> EncodedGoals:
        """Encode goals: uint8 [G, H, W, 3], bool [G, H, W], int64 [G] interaction ids (-1 .. 8)."""
        goals = self.goal_encoder(self.backbone, image_GHWC, mask_GHW, interaction_G)
        if self.closer_look is not None:
            goals.look_GE = self.closer_look.of_goals(image_GHWC, mask_GHW)
        return goals

    def _read(
        self,
        view_X: Tensor,
        goals: EncodedGoals,
        goal_index_X: Tensor,
        first_X: Tensor,
        previous_action_XA: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return each view in the light of its goal, with goal and previous action, [X, D]; and cell logits [X, K].

        Where it takes glimpses a third tensor is what cells tell of extents, [X, K, 3].
        """
        # Whatever is per goal is computed per goal, then looked up: a learner batch has 32 frames a goal.
        film_GC2 = self.film(goals.vector_GD)
        goal_GKD = goals.token_GKD.to(compute_dtype(view_X.device))
        scale_XC, shift_XC = film_GC2.index_select(0, goal_index_X).unsqueeze(-1).unsqueeze(-1).chunk(2, 1)
        channel_XCHW, best_XMhw = self.backbone.channels_of(view_X, goals.color_GN3.index_select(0, goal_index_X))
        feature_XChw = self.backbone.stem(channel_XCHW)
        feature_XChw = self.backbone.block(torch.addcmul(feature_XChw + shift_XC, feature_XChw, scale_XC))
        token_XKC = self.view_attention(as_tokens(feature_XChw), goal_GKD.index_select(0, goal_index_X))
        if self.match is not None and best_XMhw is not None:
            token_XKC = token_XKC + self.match(cell_matches(best_XMhw))
        # Where the target seems to be, read out directly: the rest of the network has only to go there.
        cell_logit_XK = self.cell(token_XKC).squeeze(-1).float()
        read_X = [cell_logit_XK]
        if self.closer_look is not None:
            look_XE = goals.look_GE.index_select(0, goal_index_X)
            cell_logit_XK, found_XD, told_XK3 = self.closer_look(view_X, look_XE, token_XKC, cell_logit_XK)
            read_X = [cell_logit_XK, told_XK3]
        view_XD = self.readout(F.relu(self.reduce(F.relu(token_XKC))).flatten(1)) + self.place(cell_logit_XK.sigmoid())
        goal_XD = self.goal_to_step(goals.vector_GD).index_select(0, goal_index_X)
        action_XD = self.previous_action(previous_action_XA + self._factor_offset_A)
        action_XD = torch.where(first_X.unsqueeze(-1), self.no_previous_action_D, action_XD)
        step_XD = view_XD.float() + goal_XD.float() + action_XD.float()
        if self.closer_look is not None:
            step_XD = step_XD + found_XD.float()
        return step_XD, *read_X

    def _remember(self, step_BTD: Tensor, first_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        return self.temporal(step_BTD, first_BT, memory)

    def _decided(self, hidden_XD: Tensor) -> tuple[Tensor, Tensor]:
        return self.heads.logits_and_value(hidden_XD)

    def _predicted(self, hidden_BTD: Tensor, *read_BT: Tensor) -> dict[str, Any]:
        names = ("cell_logit_BTK", "told_BTK3")
        return {"auxiliary_BT7": self.heads.predictions(hidden_BTD), **dict(zip(names, read_BT, strict=False))}
