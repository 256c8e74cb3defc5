"""Spatial attention that fuses agent view and goal view into a few tokens. B pictures, Q queries, K tokens, D width."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class FusionLayer(nn.Module):
    """Post-norm attention and ReLU feed-forward of twice the width, as torch.nn.TransformerEncoderLayer has them."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width)
        self.feedforward_in = nn.Linear(width, 2 * width)
        self.feedforward_out = nn.Linear(2 * width, width)
        self.feedforward_norm = nn.LayerNorm(width)
        nn.init.xavier_uniform_(self.query_key_value.weight)
        nn.init.zeros_(self.query_key_value.bias)
        nn.init.zeros_(self.attention_out.bias)

    def forward(self, x_BKD: Tensor, num_queries: int) -> Tensor:
        """Return [B, num_queries, D]: the first tokens after they looked at all."""
        query, key, value = (
            part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for part in self.query_key_value(x_BKD).chunk(3, -1)
        )
        seen = F.scaled_dot_product_attention(query[:, :, :num_queries], key, value).transpose(1, 2).flatten(2)
        x_BQD = self.attention_norm(x_BKD[:, :num_queries] + self.attention_out(seen))
        return self.feedforward_norm(x_BQD + self.feedforward_out(F.relu(self.feedforward_in(x_BQD))))


class ViewFusion(nn.Module):
    """Learned queries, agent tokens and goal tokens attend to one another; the queries remain.

    No dropout: ROCKET-2 trained with 0.1, which makes the ratio at lag 0 differ from 1 in reinforcement learning.
    """

    def __init__(self, width: int, num_layers: int, num_heads: int, num_queries: int, *, recomputes: bool) -> None:
        """`recomputes` keeps no activations inside the layers for the backward pass: less memory, a third more time."""
        super().__init__()
        self.recomputes = recomputes
        self.query_QD = nn.Parameter(torch.randn(num_queries, width) * 1e-3)
        self.layers = nn.ModuleList(FusionLayer(width, num_heads) for _ in range(num_layers))

    def forward(self, agent_BKD: Tensor, goal_BKD: Tensor) -> Tensor:
        """Return [B, Q, D]."""
        num_queries = len(self.query_QD)
        x_BKD = torch.cat([self.query_QD.expand(len(agent_BKD), -1, -1), agent_BKD, goal_BKD], 1)
        for index, layer in enumerate(self.layers):
            # Of the last layer only the queries are read, so only they are computed.
            num_kept = num_queries if index == len(self.layers) - 1 else x_BKD.shape[1]
            if self.recomputes and torch.is_grad_enabled():
                x_BKD = checkpoint(layer, x_BKD, num_kept, use_reentrant=False)
            else:
                x_BKD = layer(x_BKD, num_kept)
        return x_BKD
