"""Optimizers over a policy's parameters, and their state as named tensors."""

from pathlib import Path

import torch
from torch import Tensor, nn

from mcrl.learning.muon import MOMENTUM, Muon
from mcrl.settings.imitation_config import OptimizerName
from policies.device import CPU

_ADAM_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
# As PPO implementations have it, not torch's 1e-8.
_ADAM_EPS = 1e-5


def make_optimizer(name: OptimizerName, policy: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Return the named optimizer over the trainable parameters."""
    return make_adam(policy, learning_rate) if name == "adam" else Muon(policy, learning_rate, adam_eps=_ADAM_EPS)


def make_adam(policy: nn.Module, learning_rate: float) -> torch.optim.Adam:
    """Return Adam over the trainable parameters."""
    parameters = [p for p in policy.parameters() if p.requires_grad]
    # On a CPU torch's own choice is a loop of a dozen passes over the weights; fused it is one pass. On CUDA the choice
    # is fast, and keeps its step count on the CPU, as `write_moments` does.
    is_fused = all(parameter.device.type == "cpu" for parameter in parameters)
    return torch.optim.Adam(parameters, lr=learning_rate, eps=_ADAM_EPS, fused=is_fused or None)


def set_learning_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """Set the learning rate of every parameter."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate


def read_moments(optimizer: torch.optim.Optimizer, policy: nn.Module) -> dict[str, Tensor]:
    """Return the optimizer's state, "parameter name/moment" to tensor; parameters never stepped have none."""
    return {
        f"{name}/{moment}": optimizer.state[parameter][moment].detach().clone()
        for name, parameter in policy.named_parameters()
        if parameter in optimizer.state
        for moment in _moments(optimizer, parameter)
    }


def write_moments(
    optimizer: torch.optim.Optimizer, policy: nn.Module, tensors: dict[str, Tensor], *, where: Path
) -> None:
    """Set the optimizer's state from what `read_moments` returned. Raise ValueError when it is of another policy."""
    parameters = dict(policy.named_parameters())
    states: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        name, _, moment = key.rpartition("/")
        shape = () if moment == "step" else tuple(parameters[name].shape) if name in parameters else None
        if (
            name not in parameters
            or moment not in _moments(optimizer, parameters[name])
            or tuple(tensor.shape) != shape
        ):
            raise ValueError(
                f"{where}: optimizer tensor {key} {tuple(tensor.shape)} fits no parameter of this policy and optimizer;"
                " build the policy from the preset named in the checkpoint's state.json"
            )
        # The step count stays on the CPU, where Adam keeps it.
        device = CPU if moment == "step" else parameters[name].device
        states.setdefault(name, {})[moment] = tensor.clone().to(device)
    for name, state in states.items():
        if state.keys() != set(_moments(optimizer, parameters[name])):
            raise ValueError(f"{where}: optimizer state of {name} is incomplete; use another checkpoint of the run")
        optimizer.state[parameters[name]] = state


def _moments(optimizer: torch.optim.Optimizer, parameter: Tensor) -> tuple[str, ...]:
    is_muons = isinstance(optimizer, Muon) and optimizer.is_matrix(parameter)
    return (MOMENTUM,) if is_muons else _ADAM_MOMENTS
