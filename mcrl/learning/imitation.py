"""Behaviour cloning of an expert. B sequences, T steps, E envs, A action factors."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from mcrl.config import ImitationConfig
from mcrl.learning.batch import FragmentBatch, collate
from mcrl.learning.clone_progress import CloneProgress, load_cloning, saved_cloning
from mcrl.learning.forward import evaluate, perception_loss
from mcrl.learning.learner import NonFiniteLossError
from mcrl.learning.losses import masked_mean
from mcrl.learning.optimizer import make_optimizer, set_learning_rate
from mcrl.rollout.fragment import Fragment
from mcrl.rollout.mirror import mirrored
from mcrl.seeding import derive_seed
from policies import action_codec
from policies.device import device_of
from policies.interface import Policy
from policies.precision import Precision
from task_synthesis.playing.saved_state import SavedState

# Called with the update and its metrics; a true return value stops the training.
ImitationWatcher = Callable[[int, dict[str, float]], bool]
# Computes a loss and its parts.
PairLoss = Callable[[], tuple[Tensor, dict[str, float]]]
# Called with what another `clone` can start from.
ProgressKeeper = Callable[[SavedState], None]


class Pairs(Protocol):
    """Pictures that teach to see, besides demonstrations: of mcrl.learning.pairs or glimpse_pairs."""

    def next_loss(self, policy: Policy, generator: torch.Generator, precision: Precision) -> PairLoss:
        """Draw some, and return what says how badly `policy` sees in them, and the parts of it to log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImitationResult:
    """How a cloning went. The policy holds the weights of the best validation."""

    num_updates: int
    best_val_loss: float
    best_update: int
    is_stopped: bool
    """Whether the watcher ended it."""


def clone(
    policy: Policy,
    train: Sequence[Fragment],
    val: Sequence[Fragment],
    config: ImitationConfig,
    *,
    precision: Precision,
    seed: int,
    on_update: ImitationWatcher | None = None,
    crash_dir: Path | None = None,
    start: SavedState | None = None,
    keep: ProgressKeeper | None = None,
    pairs: Pairs | None = None,
) -> ImitationResult:
    """Train `policy` to choose what the expert chose, and leave it with the weights that did best on `val`.

    The loss is -log pi(expert's action) plus the auxiliary losses, and that of `pairs`, if given. `on_update` hears
    the training loss after every update and the validation loss besides where there was one. `crash_dir` is where the
    batch of a NaN loss is saved; None saves none. `keep` is given all that is needed to go on after every validation
    and at a stop; given back as `start`, with the same demonstrations, the end is the same to the last bit.

    Raises:
        NonFiniteLossError: the loss or its gradient became NaN or infinite; no step was taken with it.
    """
    generator = torch.Generator().manual_seed(derive_seed(seed, "imitation"))
    optimizer = make_optimizer(config.optimizer, policy, config.learning_rate)
    at = CloneProgress()
    if start is not None:
        at = load_cloning(start, len(train), policy, optimizer, generator)
    is_stopped = False
    start_s = time.monotonic()
    while not at.is_over(config) and not is_stopped:
        if len(at.order) < config.sequences_per_batch:
            at.order = torch.randperm(len(train), generator=generator).tolist()
        rows, at.order = at.order[: config.sequences_per_batch], at.order[config.sequences_per_batch :]
        decay = max(config.final_learning_rate_share, 1 - at.num_updates / config.num_updates)
        set_learning_rate(optimizer, config.learning_rate * decay)
        batch = collate(_shown([train[row] for row in rows], config, generator))
        pair_loss = None if pairs is None else pairs.next_loss(policy, generator, precision)
        metrics = _take_step(policy, optimizer, batch, config, precision, at.num_updates + 1, crash_dir, pair_loss)
        metrics["learning_rate"] = config.learning_rate * decay
        at.num_updates += 1
        is_validation = at.num_updates % config.val_every_updates == 0 or at.num_updates == config.num_updates
        if is_validation:
            val_metrics = validate(policy, val, config, precision)
            metrics |= val_metrics | {"elapsed_s": time.monotonic() - start_s}
            at.note_validation(val_metrics["val_loss"], policy)
        is_stopped = on_update is not None and on_update(at.num_updates, metrics)
        if keep is not None and (is_validation or is_stopped):
            keep(saved_cloning(at, policy, optimizer, generator))
    at.load_best(policy)
    policy.eval()
    return ImitationResult(
        num_updates=at.num_updates, best_val_loss=at.best_loss, best_update=at.best_update, is_stopped=is_stopped
    )


def _shown(fragments: Sequence[Fragment], config: ImitationConfig, generator: torch.Generator) -> Sequence[Fragment]:
    """Return the sequences as they are, or each as in a mirror by a toss of a coin."""
    if not config.mirrors:
        return fragments
    is_mirrored_N = torch.rand(len(fragments), generator=generator) < 0.5
    return [mirrored(fragment) if flag else fragment for fragment, flag in zip(fragments, is_mirrored_N, strict=True)]


def _take_step(
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    batch: FragmentBatch,
    config: ImitationConfig,
    precision: Precision,
    update: int,
    crash_dir: Path | None,
    pair_loss: PairLoss | None = None,
) -> dict[str, float]:
    """Take the gradient step of update `update`, 1 the first, and return parts of its loss and the gradient's norm.

    Raises:
        NonFiniteLossError: loss or gradient is NaN or infinite; no step was taken.
    """
    policy.train()
    loss, parts = _loss(policy, batch, config, precision)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if pair_loss is not None:
        # A pass of its own: gradients add up, and the activations of the first are gone.
        found, found_parts = pair_loss()
        (config.pair_coef * found).backward()
        parts |= found_parts
        loss = loss.detach() + found.detach()
    grad_norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), config.max_grad_norm)
    if not (torch.isfinite(loss) and torch.isfinite(grad_norm)):
        what = f"imitation: loss {loss.item()}, gradient norm {grad_norm.item()} at update {update}"
        raise NonFiniteLossError(_describe_crash(what, batch, update, crash_dir))
    if pair_loss is not None or batch.is_valid_BT.any():  # else the optimizer would go on by its momentum
        optimizer.step()
    return parts | {"grad_norm": float(grad_norm)}


def validate(
    policy: Policy, fragments: Sequence[Fragment], config: ImitationConfig, precision: Precision
) -> dict[str, float]:
    """Return the losses on demonstrations that training does not see."""
    policy.eval()
    sums: dict[str, float] = {}
    num_steps = 0.0
    size = max(16, config.sequences_per_batch)
    with torch.no_grad():
        for start in range(0, len(fragments), size):
            batch = collate(fragments[start : start + size])
            weight = float(batch.is_valid_BT.sum())
            _, parts = _loss(policy, batch, config, precision)
            for name, value in parts.items():
                sums[name] = sums.get(name, 0.0) + weight * value
            num_steps += weight
    return {f"val_{name}": value / max(1.0, num_steps) for name, value in sums.items()}


def _loss(
    policy: Policy, batch: FragmentBatch, config: ImitationConfig, precision: Precision
) -> tuple[Tensor, dict[str, float]]:
    batch = batch.to(device_of(policy))
    assert batch.expert_action_BTA is not None, "demonstrations carry the expert's actions"
    evaluation = evaluate(policy, batch, precision)
    log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, batch.expert_action_BTA)
    cross_entropy = -masked_mean(log_prob_BT, batch.is_valid_BT)
    seen = perception_loss(evaluation, batch)
    return cross_entropy + config.auxiliary_coef * seen, {
        "loss": float(cross_entropy.detach()),
        "auxiliary_loss": float(seen.detach()),
    }


def _describe_crash(what: str, batch: FragmentBatch, num_updates: int, crash_dir: Path | None) -> str:
    """Save the batch and return the sentence that names it."""
    if crash_dir is None:
        return f"{what}; no step was taken: lower imitation.learning_rate"
    path = crash_dir / f"nan_demonstrations_{num_updates:06d}.npz"
    np.savez_compressed(path, **batch.arrays())  # type: ignore[arg-type]
    return f"{what}; no step was taken and the batch is in {path}: lower imitation.learning_rate or look at the batch"
