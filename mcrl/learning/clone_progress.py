"""How far a cloning has come: all that its next update follows from, besides the demonstrations and the config."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mcrl.config import ImitationConfig
from mcrl.learning.optimizer import read_moments, write_moments
from task_synthesis.playing.saved_state import SavedState


@dataclass(kw_only=True, slots=True)
class CloneProgress:
    """What changes from update to update, weights and optimizer aside. A fresh one is at the beginning."""

    num_updates: int = 0
    best_loss: float = math.inf
    """Lowest validation loss."""
    best_update: int = 0
    """Update of that validation, 0 before there was one."""
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    """The policy's trainable weights then."""
    order: list[int] = field(default_factory=list)
    """Train sequences that this pass has still to come to."""

    def is_over(self, config: ImitationConfig) -> bool:
        """Tell whether all updates were taken, or the last validations brought nothing."""
        num_idle = self.num_updates - self.best_update
        return self.num_updates >= config.num_updates or num_idle >= config.patience * config.val_every_updates

    def note_validation(self, loss: float, policy: nn.Module) -> None:
        """Take note of a validation; the weights are kept where it was the best one."""
        if loss < self.best_loss:
            self.best_loss, self.best_update = loss, self.num_updates
            self.best_weights = {name: tensor.detach().clone() for name, tensor in trainable(policy).items()}

    def load_best(self, policy: nn.Module) -> None:
        """Leave `policy` with the weights of the best validation, or as it is if there was none."""
        _load(policy, self.best_weights)


def saved_cloning(
    progress: CloneProgress, policy: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> SavedState:
    """Return all of a cloning that `load_cloning` brings back."""
    parts = {
        "weights": _as_state(trainable(policy)),
        "best": _as_state(progress.best_weights),
        "optimizer": _as_state(read_moments(optimizer, policy)),
    }
    own = {"generator": generator.get_state().numpy(), "order": np.array(progress.order, np.int64)}
    parts["draws"] = SavedState(arrays=own)
    best_loss = progress.best_loss if math.isfinite(progress.best_loss) else None
    return SavedState.of_parts(
        parts, num_updates=progress.num_updates, best_update=progress.best_update, best_loss=best_loss
    )


def load_cloning(
    state: SavedState,
    num_sequences: int,
    policy: nn.Module,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
) -> CloneProgress:
    """Set policy, optimizer and generator to what `saved_cloning` saw, and return the progress.

    `num_sequences` is how many train sequences there are. ValueError says what does not fit.
    """
    num_updates, best_update = state.value("num_updates", int), state.value("best_update", int)
    order_N = state.part("draws").vector("order", np.int64)
    if not 0 <= best_update <= num_updates or not np.isin(order_N, np.arange(num_sequences)).all():
        raise state.misfit(f"update {num_updates}, best {best_update}, does not fit {num_sequences} sequences")
    best_loss = math.inf if state.values.get("best_loss") is None else state.value("best_loss", float)
    like = trainable(policy)
    best = state.part("best")
    best_weights = _as_tensors(best, like) if best.arrays else {}
    weights = _as_tensors(state.part("weights"), like)
    moments = state.part("optimizer")
    # Copies, so that they lie in memory as fresh tensors do.
    tensors = {name: torch.from_numpy(array.copy()) for name, array in moments.arrays.items()}
    draws = state.part("draws").array("generator", generator.get_state().numpy())
    try:
        write_moments(optimizer, policy, tensors, where=Path(state.where))
        generator.set_state(torch.from_numpy(draws))
    except (ValueError, RuntimeError) as error:
        raise state.misfit(str(error)) from None
    _load(policy, weights)
    return CloneProgress(
        num_updates=num_updates,
        best_loss=best_loss,
        best_update=best_update,
        best_weights=best_weights,
        order=order_N.tolist(),
    )


def load_ended(state: SavedState, policy: nn.Module, config: ImitationConfig) -> int | None:
    """Leave `policy` with the best weights of a cloning that is over, and return its updates; None: it is not over."""
    at = CloneProgress(num_updates=state.value("num_updates", int), best_update=state.value("best_update", int))
    if not at.is_over(config):
        return None
    best = state.part("best")
    _load(policy, _as_tensors(best if best.arrays else state.part("weights"), trainable(policy)))
    policy.eval()
    return at.num_updates


def trainable(policy: nn.Module) -> dict[str, Tensor]:
    """Return the parameters that learn; the others, of a frozen backbone, are as the policy was built."""
    return {name: parameter for name, parameter in policy.named_parameters() if parameter.requires_grad}


def _as_state(tensors: Mapping[str, Tensor]) -> SavedState:
    return SavedState(arrays={name: np.array(tensor.detach().cpu().numpy()) for name, tensor in tensors.items()})


def _as_tensors(state: SavedState, like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(state.array(name, tensor.detach().cpu().numpy())) for name, tensor in like.items()}


def _load(policy: nn.Module, weights: Mapping[str, Tensor]) -> None:
    parameters = dict(policy.named_parameters())
    with torch.no_grad():
        for name, tensor in weights.items():
            parameters[name].copy_(tensor)
