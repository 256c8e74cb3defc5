"""What a batch teaches: how good each action was, and what each view was worth. B fragments, T steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mcrl.config import PPOConfig
from mcrl.learning.advantages import chained_gae, ends, next_values
from mcrl.learning.batch import FragmentBatch, successors
from mcrl.learning.losses import safe_ratio
from mcrl.learning.privileged_critic import Judged
from mcrl.learning.value_scale import ValueScale
from mcrl.learning.vtrace import chained_next_values, chained_vtrace
from mcrl.rollout.fragment import Fragment


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What the weights at the start of an update say of a batch."""

    log_prob_BT: Tensor  # float32 [B, T], of the actions taken
    value_BT: Tensor  # float32 [B, T], as the value head gives it


@dataclass(frozen=True, kw_only=True, slots=True)
class Targets:
    """Advantages and returns; those of invalid steps are 0."""

    advantage_BT: Tensor  # float32 [B, T], normalised over the batch
    return_BT: Tensor  # float32 [B, T], what values should have been, in units of reward
    value_BT: Tensor  # float32 [B, T], what they were, in units of reward
    head_BT: Tensor  # float32 [B, T], what the value head should give: the returns, or these in units of the family


def find_targets(
    batch: FragmentBatch,
    fragments: Sequence[Fragment],
    config: PPOConfig,
    *,
    snapshot: Snapshot | None = None,
    scale: ValueScale | None = None,
    judged: Judged | None = None,
) -> Targets:
    """Return what `fragments`, collated to `batch`, teach: by V-trace where the loss asks for it, else by GAE.

    `snapshot` is needed for V-trace. With a `scale`, values are read and given in units of their family, advantages in
    units of its standard deviation; the scale hears of the returns. `judged` are values to take instead of the policy's
    own.
    """
    value_BT = batch.value_BT if snapshot is None or config.loss != "vtrace" else snapshot.value_BT
    bootstrap_value_BT = batch.bootstrap_value_BT
    if scale is not None:
        mean_BT, deviation_BT = scale.of(fragments)
        value_BT = mean_BT + deviation_BT * value_BT
        bootstrap_value_BT = mean_BT + deviation_BT * bootstrap_value_BT
    if judged is not None:
        value_BT, bootstrap_value_BT = judged.value_BT, judged.bootstrap_value_BT
    if config.loss == "vtrace":
        assert snapshot is not None, "V-trace needs the learner's own view of the batch"
        ratio_BT = safe_ratio(snapshot.log_prob_BT - batch.log_prob_BT, batch.is_valid_BT)
        advantage_BT, return_BT = _by_vtrace(batch, fragments, config, ratio_BT, value_BT, bootstrap_value_BT)
    else:
        advantage_BT, return_BT = _by_gae(batch, fragments, config, value_BT, bootstrap_value_BT)
    head_BT = return_BT
    if scale is not None:
        scale.hear(return_BT, fragments)
        mean_BT, deviation_BT = scale.of(fragments)
        advantage_BT, head_BT = advantage_BT / deviation_BT, (return_BT - mean_BT) / deviation_BT
    normalised_BT = _normalised(advantage_BT, batch.is_valid_BT)
    # Zeros, so that no number an invalid step brings meets a gradient: 0 * NaN is NaN.
    advantage_BT, return_BT, head_BT = (
        torch.where(batch.is_valid_BT, x_BT, 0.0) for x_BT in (normalised_BT, return_BT, head_BT)
    )
    return Targets(advantage_BT=advantage_BT, return_BT=return_BT, value_BT=value_BT, head_BT=head_BT)


def _by_gae(
    batch: FragmentBatch,
    fragments: Sequence[Fragment],
    config: PPOConfig,
    value_BT: Tensor,
    bootstrap_value_BT: Tensor,
) -> tuple[Tensor, Tensor]:
    advantage_BT = chained_gae(
        batch.reward_BT,
        value_BT,
        next_values(value_BT, bootstrap_value_BT, batch.terminated_BT, batch.truncated_BT),
        ends(batch.terminated_BT, batch.truncated_BT, batch.is_valid_BT),
        successor_B=successors(fragments),
        discount=config.discount,
        lam=config.gae_lambda,
    )
    return advantage_BT, advantage_BT + value_BT


def _by_vtrace(
    batch: FragmentBatch,
    fragments: Sequence[Fragment],
    config: PPOConfig,
    ratio_BT: Tensor,
    value_BT: Tensor,
    bootstrap_value_BT: Tensor,
) -> tuple[Tensor, Tensor]:
    successor_B = successors(fragments)
    correction_BT, advantage_BT = chained_vtrace(
        ratio_BT,
        batch.reward_BT,
        value_BT,
        chained_next_values(
            value_BT, bootstrap_value_BT, batch.terminated_BT, batch.truncated_BT, successor_B=successor_B
        ),
        ends(batch.terminated_BT, batch.truncated_BT, batch.is_valid_BT),
        successor_B=successor_B,
        discount=config.discount,
        lam=config.gae_lambda,
        rho_bar=config.vtrace_rho_bar,
        c_bar=config.vtrace_c_bar,
    )
    return advantage_BT, value_BT + correction_BT


def _normalised(advantage_BT: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return the advantages with mean 0 and standard deviation 1 over the valid steps; 0 where fewer than two are."""
    advantage_N = advantage_BT[is_valid_BT]
    if advantage_N.numel() < 2:
        return torch.zeros_like(advantage_BT)
    return (advantage_BT - advantage_N.mean()) / (advantage_N.std() + 1e-6)
