"""PPO as one writes it for a single run: one loop over stacked tensors. The yardstick of the learner's speed.

It does the learner's work on the learner's network (clipped surrogate, value, entropy, KL to the reference, auxiliary
losses, Adam, bf16 autocast) and nothing around it: no fragments, versions, checks, metrics or chained advantages.
B sequences, T steps, N sequences of a minibatch, L logits.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from mcrl.config import PPOConfig, Precision
from mcrl.learning.batch import FragmentBatch
from policies import action_codec
from policies.interface import Policy
from policies.precision import autocast


def plain_gae(batch: FragmentBatch, *, discount: float, lam: float) -> Tensor:
    """Return advantages, float32 [B, T]; every sequence ends with its bootstrap value."""
    advantage_BT = torch.empty_like(batch.value_BT)
    carry_B = torch.zeros_like(batch.value_BT[:, 0])
    last = batch.value_BT.shape[1] - 1
    for t in range(last, -1, -1):
        end_B = batch.terminated_BT[:, t] | batch.truncated_BT[:, t]
        following_B = batch.bootstrap_value_BT[:, t] if t == last else batch.value_BT[:, t + 1]
        next_value_B = torch.where(end_B, batch.bootstrap_value_BT[:, t], following_B)
        delta_B = batch.reward_BT[:, t] + discount * next_value_B - batch.value_BT[:, t]
        carry_B = delta_B + discount * lam * ~end_B * carry_B
        advantage_BT[:, t] = carry_B
    return advantage_BT


def plain_update(
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    batch: FragmentBatch,
    config: PPOConfig,
    *,
    precision: Precision,
    generator: torch.Generator,
) -> None:
    """Learn from one batch in place."""
    advantage_BT = plain_gae(batch, discount=config.discount, lam=config.gae_lambda)
    return_BT = advantage_BT + batch.value_BT
    advantage_BT = (advantage_BT - advantage_BT.mean()) / (advantage_BT.std() + 1e-6)
    for _ in range(config.num_epochs):
        for row_N in torch.randperm(len(advantage_BT), generator=generator).split(config.minibatch_sequences):
            part = batch.select(row_N)
            with autocast(precision, "cpu"):
                goals = policy.encode_goals(part.goals.image_GHWC, part.goals.mask_GHW, part.goals.interaction_G)
                out = policy.evaluate(
                    part.image_BTHWC, goals, part.goal_index_BT, part.first_BT, part.previous_action_BTA, part.memory
                )
            logits_NTL, value_NT = out.logits_BTL.float(), out.value_BT.float()
            ratio_NT = (action_codec.log_prob(logits_NTL, part.action_BTA) - part.log_prob_BT).exp()
            advantage_NT = advantage_BT[row_N]
            clipped_NT = ratio_NT.clamp(1 - config.clip_eps, 1 + config.clip_eps)
            loss = -torch.minimum(ratio_NT * advantage_NT, clipped_NT * advantage_NT).mean()
            loss = loss + config.value_coef * (value_NT - return_BT[row_N]).square().mean()
            loss = loss - config.entropy_coef * action_codec.entropy(logits_NTL).mean()
            loss = loss + config.auxiliary_coef * _seen_loss(out.auxiliary_BT7.float(), part.target_BT7)
            if config.kl_to_reference is not None and part.reference_logits_BTL is not None:
                loss = loss + config.kl_to_reference * action_codec.kl(logits_NTL, part.reference_logits_BTL).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), config.max_grad_norm)
            optimizer.step()


def _seen_loss(auxiliary_NT7: Tensor, target_NT7: Tensor) -> Tensor:
    is_visible_NT = (target_NT7[..., 0] > 0).float()
    place_NT = (auxiliary_NT7[..., 1:] - target_NT7[..., 1:]).square().sum(-1)
    return F.binary_cross_entropy_with_logits(auxiliary_NT7[..., 0], is_visible_NT) + (place_NT * is_visible_NT).mean()
