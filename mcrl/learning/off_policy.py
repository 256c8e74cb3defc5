"""Policy losses for steps that older weights took. B sequences, T steps. Invalid steps count in none of them.

pi is the policy that learns, mu the one that acted, prox the one that learns as it was at the start of the update. All
log-probabilities are of the whole action: a ratio is that of the joint action and is cut once, not once a factor.
"""

from torch import Tensor

from mcrl.learning.losses import masked_mean, ppo_clip, safe_ratio


def truncated_policy_gradient(
    log_prob_BT: Tensor, behaviour_log_prob_BT: Tensor, advantage_BT: Tensor, is_valid_BT: Tensor, *, max_weight: float
) -> tuple[Tensor, Tensor]:
    """Return a loss whose gradient is -min(pi / mu, max_weight) * A * grad log pi, and the share of steps cut.

    AIPO of LlamaRL (Wu et al. 2025) with rho = max_weight, and the policy gradient of V-trace (Espeholt et al. 2018,
    section 4.2) with rho-bar = max_weight. The weight is a constant, cut above only: a step whose ratio went below 1
    still teaches. At pi = mu this is REINFORCE. Only the gradient has a meaning, the number has none.
    """
    ratio_BT = safe_ratio(log_prob_BT - behaviour_log_prob_BT, is_valid_BT).detach()
    weight_BT = ratio_BT.clamp(max=max_weight)
    # An invalid step's log-probability may be anything; masked_mean drops its term and, by where(), its gradient.
    loss = -masked_mean(weight_BT * advantage_BT * log_prob_BT, is_valid_BT)
    return loss, masked_mean((ratio_BT > max_weight).to(loss.dtype), is_valid_BT)


def decoupled_ppo(
    log_prob_BT: Tensor,
    proximal_log_prob_BT: Tensor,
    behaviour_log_prob_BT: Tensor,
    advantage_BT: Tensor,
    is_valid_BT: Tensor,
    *,
    clip_eps: float,
    max_weight: float | None,
    dual_clip: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the decoupled surrogate loss (Hilton et al. 2022, section 3.2) and the share of steps clipped.

    The ratio pi / prox is clipped, so that an update moves as far as with fresh fragments, and prox / mu weighs each
    step, so that older fragments are counted by how likely they are now. The paper lets the weight be; here it is cut
    at `max_weight` (None: not cut), since one step in a stale batch may else outweigh all others. At mu = prox this is
    ppo_clip.
    """
    weight_BT = safe_ratio(proximal_log_prob_BT - behaviour_log_prob_BT, is_valid_BT).detach()
    if max_weight is not None:
        weight_BT = weight_BT.clamp(max=max_weight)
    return ppo_clip(
        log_prob_BT - proximal_log_prob_BT.detach(),
        advantage_BT,
        is_valid_BT,
        clip_eps=clip_eps,
        dual_clip=dual_clip,
        weight_BT=weight_BT,
    )
