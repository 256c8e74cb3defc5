"""The policy loss that a config names. B sequences, T steps."""

import torch
from torch import Tensor

from mcrl.config import PPOConfig
from mcrl.learning.losses import ppo_clip
from mcrl.learning.off_policy import decoupled_ppo, truncated_policy_gradient


def needs_snapshot(config: PPOConfig) -> bool:
    """Return whether the weights at the start of an update must say something of the batch: one pass more."""
    return config.loss in ("vtrace", "decoupled_ppo")


def check_loss(config: PPOConfig) -> None:
    """Raise ValueError for a loss that has a name and no branch: a run would come to it after its other stages."""
    zeros_11 = torch.zeros(1, 1)
    policy_loss(config, zeros_11, zeros_11, zeros_11, torch.ones(1, 1, dtype=torch.bool), proximal_log_prob_BT=zeros_11)


def policy_loss(
    config: PPOConfig,
    log_prob_BT: Tensor,
    behaviour_log_prob_BT: Tensor,
    advantage_BT: Tensor,
    is_valid_BT: Tensor,
    *,
    proximal_log_prob_BT: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Return the loss named by `config.loss` and the share of steps whose ratio was clipped or cut.

    Log-probabilities are of the actions taken: under the policy that learns, the one that acted, and the one that
    learns as it was at the start of the update, which only "decoupled_ppo" reads.
    """
    if config.loss == "ppo_clip":
        return ppo_clip(
            log_prob_BT - behaviour_log_prob_BT,
            advantage_BT,
            is_valid_BT,
            clip_eps=config.clip_eps,
            dual_clip=config.dual_clip,
        )
    if config.loss == "decoupled_ppo":
        assert proximal_log_prob_BT is not None, "decoupled_ppo needs the log-probabilities at the update's start"
        return decoupled_ppo(
            log_prob_BT,
            proximal_log_prob_BT,
            behaviour_log_prob_BT,
            advantage_BT,
            is_valid_BT,
            clip_eps=config.clip_eps,
            max_weight=config.behaviour_ratio_cap,
            dual_clip=config.dual_clip,
        )
    max_weights = {"aipo": config.aipo_rho, "vtrace": config.vtrace_rho_bar}
    if config.loss in max_weights:
        return truncated_policy_gradient(
            log_prob_BT, behaviour_log_prob_BT, advantage_BT, is_valid_BT, max_weight=max_weights[config.loss]
        )
    raise ValueError(
        f"ppo.loss {config.loss} has a name and no branch in mcrl/learning/policy_loss.py; write one there"
    )
