"""Heads: action logits, value, and predictions about the target. X stands for any leading dimensions, D width."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.action_codec import NUM_LOGITS

NUM_AUXILIARY = 7


class Heads(nn.Module):
    """Action logits (at first near uniform), a value with one hidden layer (at first 0), target predictions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.action = nn.Linear(width, NUM_LOGITS)
        self.value_hidden = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)
        self.auxiliary = nn.Linear(width, NUM_AUXILIARY)
        nn.init.normal_(self.action.weight, std=0.01)
        for layer in (self.action, self.value, self.auxiliary):
            nn.init.zeros_(layer.bias)
        nn.init.zeros_(self.value.weight)

    def logits_and_value(self, hidden_XD: Tensor) -> tuple[Tensor, Tensor]:
        """Return float32 [X, L] logits and float32 [X] values."""
        value_X1 = self.value(F.relu(self.value_hidden(hidden_XD)))
        return self.action(hidden_XD).float(), value_X1.float().squeeze(-1)

    def predictions(self, hidden_XD: Tensor) -> Tensor:
        """Return float32 [X, 7]: visibility logit, then centroid x y and box left top right bottom in 0 .. 1."""
        auxiliary_X7 = self.auxiliary(hidden_XD).float()
        return torch.cat([auxiliary_X7[..., :1], auxiliary_X7[..., 1:].sigmoid()], -1)
