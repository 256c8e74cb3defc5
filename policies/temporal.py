"""Causal Transformer-XL memory over steps. B sequences, T steps, S remembered steps, N heads, d head size, D width."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.interface import Memory


class MemoryLayer(nn.Module):
    """Pre-norm attention over the last S steps with a learned bias for each age, then a feed-forward; both residual."""

    def __init__(self, width: int, num_heads: int, head_size: int, context_steps: int, feedforward_ratio: int) -> None:
        super().__init__()
        self.num_heads, self.head_size = num_heads, head_size
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * num_heads * head_size, bias=False)
        self.attention_out = nn.Linear(num_heads * head_size, width)
        self.feedforward_norm = nn.LayerNorm(width)
        self.feedforward_in = nn.Linear(width, feedforward_ratio * width)
        self.feedforward_out = nn.Linear(feedforward_ratio * width, width)
        # Heads start with horizons from a few steps to the whole window (slopes 1/2, 1/4, ... as in ALiBi).
        slope_N1 = 0.5 ** torch.arange(1, num_heads + 1).unsqueeze(1)
        self.age_bias_NS = nn.Parameter(-slope_N1 * torch.arange(context_steps + 1))
        # Zero: at first the layer passes its input on, and the policy is a reactive one.
        nn.init.zeros_(self.attention_out.weight)
        nn.init.zeros_(self.feedforward_out.weight)

    def forward(
        self, x_BTD: Tensor, cache_BNSd: Tensor, age_TS: Tensor, is_hidden_B1TS: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the output and all keys and values side by side, remembered ones first: float32 [B, N, S + T, 2 d]."""
        batch, steps = x_BTD.shape[:2]
        qkv_BTNd = self.query_key_value(self.attention_norm(x_BTD)).float()
        qkv_BNTd = qkv_BTNd.view(batch, steps, self.num_heads, 3 * self.head_size).transpose(1, 2)
        query_BNTd, fresh_BNTd = qkv_BNTd.split([self.head_size, 2 * self.head_size], -1)
        key_value = torch.cat([cache_BNSd, fresh_BNTd], 2)
        key, value = key_value.split(self.head_size, -1)
        # float32 even under autocast: casting the cache at every acted step would cost more than it saves.
        with torch.autocast(x_BTD.device.type, enabled=False):
            score_BNTS = query_BNTd @ key.transpose(-1, -2) * self.head_size**-0.5 + self.age_bias_NS[:, age_TS]
            weight_BNTS = score_BNTS.masked_fill(is_hidden_B1TS, float("-inf")).softmax(-1)
            seen_BTD = (weight_BNTS @ value).transpose(1, 2).flatten(2)
        x_BTD = x_BTD + self.attention_out(seen_BTD)
        return x_BTD + self.feedforward_out(F.gelu(self.feedforward_in(self.feedforward_norm(x_BTD)))), key_value


class TemporalMemory(nn.Module):
    """Memory of the last `context_steps` steps of the running episode, the same window in acting and in learning.

    Memory: "layer_0", "layer_1" ... float32 [B, N, S, 2 d], keys and values of the last S steps, newest last, and
    "num_steps" int64 [B], how many of them belong to the running episode. A step that is first sees only itself.
    """

    def __init__(
        self, width: int, num_layers: int, num_heads: int, head_size: int, context_steps: int, feedforward_ratio: int
    ) -> None:
        super().__init__()
        self.context_steps, self.num_heads, self.head_size = context_steps, num_heads, head_size
        self.layers = nn.ModuleList(
            MemoryLayer(width, num_heads, head_size, context_steps, feedforward_ratio) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(width)

    def initial(self, num_envs: int, device: torch.device) -> Memory:
        """Return the memory of agents that have seen nothing."""
        shape = (num_envs, self.num_heads, self.context_steps, 2 * self.head_size)
        memory = {f"layer_{index}": torch.zeros(shape, device=device) for index in range(len(self.layers))}
        memory["num_steps"] = torch.zeros(num_envs, dtype=torch.int64, device=device)
        return memory

    def forward(self, x_BTD: Tensor, first_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """Return float32 outputs [B, T, D] and the memory after the last step. The given memory is left as it was."""
        steps = x_BTD.shape[1]
        age_TS, is_hidden_B1TS = self._visibility(first_BT, memory["num_steps"])
        after = {"num_steps": self._count_steps(first_BT, memory["num_steps"])}
        x_BTD = x_BTD.float()
        for index, layer in enumerate(self.layers):
            x_BTD, key_value = layer(x_BTD, memory[f"layer_{index}"], age_TS, is_hidden_B1TS)
            after[f"layer_{index}"] = key_value[:, :, steps:]
        return self.norm(x_BTD), after

    def _visibility(self, first_BT: Tensor, num_steps_B: Tensor) -> tuple[Tensor, Tensor]:
        """Return how old column S + T is at step T, clipped to the window, and which columns each step must not see."""
        context, steps = self.context_steps, first_BT.shape[1]
        column_S = torch.arange(context + steps, device=first_BT.device)
        age_TS = (context + column_S[:steps]).unsqueeze(1) - column_S
        # Episode 0 is the one the memory comes from; columns of the memory that hold nothing yet belong to episode -1.
        episode_BT = first_BT.long().cumsum(1)
        is_held_BS = column_S[:context] >= context - num_steps_B.unsqueeze(1)
        episode_BS = torch.cat([is_held_BS.long() - 1, episode_BT], 1)
        is_hidden_BTS = (episode_BT.unsqueeze(2) != episode_BS.unsqueeze(1)) | (age_TS < 0) | (age_TS > context)
        return age_TS.clamp(0, context), is_hidden_BTS.unsqueeze(1)

    def _count_steps(self, first_BT: Tensor, num_steps_B: Tensor) -> Tensor:
        """Return int64 [B], how many remembered steps belong to the running episode after the last step."""
        steps = first_BT.shape[1]
        # Steps since the last first, itself included; the memory's own steps count if there was none.
        since_BT = first_BT.long() * torch.arange(steps, 0, -1, device=first_BT.device)
        since_B = torch.where(since_BT > 0, since_BT, steps + 1).amin(1)
        return torch.where(first_BT.any(1), since_B, num_steps_B + steps).clamp(max=self.context_steps)
