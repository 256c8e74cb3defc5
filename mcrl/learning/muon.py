"""Muon (Jordan et al. 2024): momentum whose matrices are made orthogonal before the step. O x I is a matrix."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MOMENTUM = "momentum"
_DECAY = 0.95
# Of the quintic whose repetition brings singular values near 1 from anywhere in (0, 1], as published.
_QUINTIC = (3.4445, -4.7750, 2.0315)
_NUM_REPEATS = 5
# A step of an O x I matrix is scaled by this times sqrt(max(O, I)): as large as one of Adam (Liu et al. 2025, eq. 4).
_ADAM_RMS = 0.2


class Muon(torch.optim.Optimizer):
    """Muon for the weights of hidden layers, Adam for everything else, at one learning rate.

    Weights of `nn.Linear` and `nn.Conv2d` outside the policy's heads are hidden; a convolution is the matrix of its
    output channels. Embeddings, norms, biases, positions and the heads themselves stay Adam's.
    """

    def __init__(self, policy: nn.Module, learning_rate: float, *, adam_eps: float) -> None:
        self._matrices = [weight for weight in hidden_weights(policy) if weight.requires_grad]
        known = {id(weight) for weight in self._matrices}
        others = [p for p in policy.parameters() if p.requires_grad and id(p) not in known]
        groups: list[dict[str, Any]] = [{"params": self._matrices}, {"params": others}]
        super().__init__(groups, {"lr": learning_rate})
        self._adam = torch.optim.Adam(others, lr=learning_rate, eps=adam_eps)
        # One state for both, so that it is saved and read as one.
        self._adam.state = self.state

    def is_matrix(self, parameter: Tensor) -> bool:
        """Return whether the parameter is stepped by Muon itself, which keeps MOMENTUM alone."""
        return any(parameter is matrix for matrix in self._matrices)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Take one step with the gradients there are; `closure` is not used."""
        matrix_group, adam_group = self.param_groups
        for weight in self._matrices:
            if weight.grad is None:
                continue
            state = self.state[weight]
            if MOMENTUM not in state:
                state[MOMENTUM] = torch.zeros_like(weight)
            state[MOMENTUM].lerp_(weight.grad, 1 - _DECAY)
            direction = weight.grad.lerp(state[MOMENTUM], _DECAY).flatten(1)
            scale = _ADAM_RMS * max(direction.shape) ** 0.5
            weight.add_(orthogonal(direction).view_as(weight), alpha=-matrix_group["lr"] * scale)
        self._adam.param_groups[0]["lr"] = adam_group["lr"]
        self._adam.step()


def hidden_weights(policy: nn.Module) -> list[Tensor]:
    """Return the weights that Muon steps: of linear layers and convolutions outside the module named `heads`."""
    return [
        module.weight
        for name, module in policy.named_modules()
        if isinstance(module, nn.Linear | nn.Conv2d) and name.partition(".")[0] != "heads"
    ]


def orthogonal(matrix_OI: Tensor) -> Tensor:
    """Return U V' for a matrix U S V' [O, I], roughly: singular values end between 0.7 and 1.2. Computed in bf16."""
    is_tall = matrix_OI.shape[0] > matrix_OI.shape[1]
    x = (matrix_OI.T if is_tall else matrix_OI).to(torch.bfloat16)
    x = x / (x.norm() + 1e-7)
    a, b, c = _QUINTIC
    for _ in range(_NUM_REPEATS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.T if is_tall else x).to(matrix_OI.dtype)
