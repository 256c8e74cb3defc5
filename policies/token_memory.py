"""Transformer-XL memory over several tokens a step, as in VPT. B sequences, T steps, K tokens a step, D width.

N heads, d head size, R = T * K fresh tokens, S remembered tokens, F basis functions of the relative positions.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.interface import Memory

NUM_BASES = 10


class TokenMemoryLayer(nn.Module):
    """VPT's residual recurrent block (Baker et al. 2022): attention with learned relative positions, then an MLP.

    Two peculiarities of VPT are kept, since its weights need them: the residual stream starts anew from the normed
    input (`norm(x) + attention(norm(x))`), and scores are divided by the head size, not by its root (mu-P).
    """

    def __init__(self, width: int, num_heads: int, num_remembered: int, num_layers: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.content = nn.Linear(width, width, bias=False)
        self.attention_out = nn.Linear(width, width)
        self.position = nn.Linear(width, NUM_BASES * num_heads)
        self.basis_FS = nn.Parameter(torch.randn(NUM_BASES, num_remembered) * 0.2)
        self.feedforward_norm = nn.LayerNorm(width)
        self.feedforward_in = nn.Linear(width, 4 * width, bias=False)
        self.feedforward_out = nn.Linear(4 * width, width)
        # VPT's scales; 2 residual branches a layer share the variance.
        branch_scale = (2 * num_layers) ** -0.5
        scales = (
            (self.query, 0.1),
            (self.key, 0.2),
            (self.content, branch_scale**0.5),
            (self.attention_out, branch_scale**0.5),
            (self.position, 0.1),
            (self.feedforward_in, 1.0),
            (self.feedforward_out, branch_scale),
        )
        for layer, scale in scales:
            init_fan_in(layer, scale)

    def forward(
        self, x_BRD: Tensor, cache_BSD: Tensor, age_RC: Tensor, is_hidden_B1RC: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the output and all keys and contents side by side, remembered first: float32 [B, S + R, 2 D]."""
        x_BRD = self.norm(x_BRD)
        fresh_BRD = torch.cat([self.key(x_BRD), self.content(x_BRD)], -1).float()
        key_content = torch.cat([cache_BSD, fresh_BRD], 1)
        query, key, content, position = (
            part.float().unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for part in (self.query(x_BRD), *key_content.chunk(2, -1), self.position(x_BRD))
        )
        # float32 even under autocast, as in policies.temporal: casting the cache each step would cost more.
        with torch.autocast(x_BRD.device.type, enabled=False):
            bias_BNRC = torch.einsum("bnrf,frc->bnrc", position, self.basis_FS[:, age_RC])
            score_BNRC = query @ key.transpose(-1, -2) / query.shape[-1] + bias_BNRC
            weight_BNRC = score_BNRC.masked_fill(is_hidden_B1RC, float("-inf")).softmax(-1)
            seen_BRD = (weight_BNRC @ content).transpose(1, 2).flatten(2)
        x_BRD = x_BRD + self.attention_out(seen_BRD)
        return x_BRD + self.feedforward_out(F.relu(self.feedforward_in(self.feedforward_norm(x_BRD)))), key_content


class TokenMemory(nn.Module):
    """Causal memory, token by token, of the last `context_steps` steps of the running episode.

    Every token sees itself and the `context_steps * K - 1` tokens before it, in acting and in learning. Memory:
    "layer_0", "layer_1" ... float32 [B, S, 2 D] with S = context_steps * K, keys and contents of the last tokens,
    newest last, and "num_steps" int64 [B], how many steps of them belong to the running episode. The tokens of a step
    that is first see only that step; ROCKET's own code lets training look across episodes, acting not.
    """

    def __init__(self, width: int, num_layers: int, num_heads: int, context_steps: int, tokens_per_step: int) -> None:
        super().__init__()
        self.width, self.context_steps, self.tokens_per_step = width, context_steps, tokens_per_step
        num_remembered = context_steps * tokens_per_step
        self.layers = nn.ModuleList(
            TokenMemoryLayer(width, num_heads, num_remembered, num_layers) for _ in range(num_layers)
        )
        self.out_norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, width, bias=False)
        self.final_norm = nn.LayerNorm(width)
        init_fan_in(self.out, 1.0)

    def initial(self, num_envs: int, device: torch.device) -> Memory:
        """Return the memory of agents that have seen nothing."""
        shape = (num_envs, self.context_steps * self.tokens_per_step, 2 * self.width)
        memory = {f"layer_{index}": torch.zeros(shape, device=device) for index in range(len(self.layers))}
        memory["num_steps"] = torch.zeros(num_envs, dtype=torch.int64, device=device)
        return memory

    def forward(self, x_BTKD: Tensor, first_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """Return float32 outputs [B, T, K, D] and the memory after the last step. The given memory is left alone."""
        num_fresh = first_BT.shape[1] * self.tokens_per_step
        age_RC, is_hidden_B1RC = self._visibility(first_BT, memory["num_steps"])
        after = {"num_steps": self._count_steps(first_BT, memory["num_steps"])}
        x_BRD = x_BTKD.flatten(1, 2).float()
        for index, layer in enumerate(self.layers):
            x_BRD, key_content = layer(x_BRD, memory[f"layer_{index}"], age_RC, is_hidden_B1RC)
            after[f"layer_{index}"] = key_content[:, num_fresh:]
        x_BRD = self.final_norm(F.relu(self.out(self.out_norm(F.relu(x_BRD)))))
        return x_BRD.float().unflatten(1, (-1, self.tokens_per_step)), after

    def _visibility(self, first_BT: Tensor, num_steps_B: Tensor) -> tuple[Tensor, Tensor]:
        """Return how old column C is at fresh token R, clipped to the window, and which columns each must not see."""
        tokens, context = self.tokens_per_step, self.context_steps
        num_remembered, num_fresh = context * tokens, first_BT.shape[1] * tokens
        column_C = torch.arange(num_remembered + num_fresh, device=first_BT.device)
        age_RC = (num_remembered + column_C[:num_fresh]).unsqueeze(1) - column_C
        # Episode 0 is the one the memory comes from; columns of the memory that hold nothing yet belong to episode -1.
        episode_BR = first_BT.long().cumsum(1).repeat_interleave(tokens, 1)
        is_held_BS = column_C[:num_remembered] >= num_remembered - tokens * num_steps_B.unsqueeze(1)
        episode_BC = torch.cat([is_held_BS.long() - 1, episode_BR], 1)
        is_hidden_BRC = (
            (episode_BR.unsqueeze(2) != episode_BC.unsqueeze(1)) | (age_RC < 0) | (age_RC > num_remembered - 1)
        )
        return age_RC.clamp(0, num_remembered - 1), is_hidden_BRC.unsqueeze(1)

    def _count_steps(self, first_BT: Tensor, num_steps_B: Tensor) -> Tensor:
        """Return int64 [B], how many remembered steps belong to the running episode after the last step."""
        steps = first_BT.shape[1]
        # Steps since the last first, itself included; the memory's own steps count if there was none.
        since_BT = first_BT.long() * torch.arange(steps, 0, -1, device=first_BT.device)
        since_B = torch.where(since_BT > 0, since_BT, steps + 1).amin(1)
        return torch.where(first_BT.any(1), since_B, num_steps_B + steps).clamp(max=self.context_steps)


def init_fan_in(layer: nn.Linear, scale: float) -> None:
    """Give every row of the weight the norm `scale`, and no bias: VPT's initialisation."""
    with torch.no_grad():
        layer.weight.mul_(scale / layer.weight.norm(dim=1, keepdim=True))
        if layer.bias is not None:
            layer.bias.zero_()
