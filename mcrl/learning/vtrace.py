"""Values and advantages of a policy from steps that another one took. B fragments, T steps."""

from collections.abc import Sequence

import torch
from torch import Tensor

from mcrl.learning.advantages import first_of_successor, last_to_first, next_values


def vtrace(
    ratio_BT: Tensor,
    reward_BT: Tensor,
    value_BT: Tensor,
    next_value_BT: Tensor,
    end_BT: Tensor,
    *,
    discount: float,
    lam: float,
    rho_bar: float,
    c_bar: float,
    carry_B: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return corrections v - V of the values and advantages (Espeholt et al. 2018, eq. 1 and section 4.2), [B, T].

    v_t - V_t = delta_t + discount * c_t * (v_t+1 - V_t+1), delta_t = rho_t * (r_t + discount * V_t+1 - V_t), where
    rho_t = min(rho_bar, ratio_t), c_t = lam * min(c_bar, ratio_t) (remark 2) and ratio_t = pi / mu of the whole action.
    The advantage r_t + discount * v_t+1 - V_t is without rho_t, which belongs to the loss.

    `value_BT` and `next_value_BT` are those of the learning policy; the latter is 0 after termination and V(last frame)
    after truncation. `end_BT` cuts the trace. `carry_B` is v - V of the step after the last one where that is known.
    """
    rho_BT = ratio_BT.clamp(max=rho_bar)
    c_BT = lam * ratio_BT.clamp(max=c_bar)
    correction_BT = torch.empty_like(value_BT)
    advantage_BT = torch.empty_like(value_BT)
    carry = torch.zeros_like(value_BT[:, 0]) if carry_B is None else carry_B
    for t in range(value_BT.shape[1] - 1, -1, -1):
        # where() and not a product: whatever an invalid step says, NaN too, stays behind the cut.
        carry = torch.where(end_BT[:, t], torch.zeros_like(carry), carry)
        surprise = reward_BT[:, t] + discount * next_value_BT[:, t] - value_BT[:, t]
        advantage_BT[:, t] = surprise + discount * carry
        carry = rho_BT[:, t] * surprise + discount * c_BT[:, t] * carry
        correction_BT[:, t] = carry
    return correction_BT, advantage_BT


def chained_vtrace(
    ratio_BT: Tensor,
    reward_BT: Tensor,
    value_BT: Tensor,
    next_value_BT: Tensor,
    end_BT: Tensor,
    *,
    successor_B: Sequence[int | None],
    discount: float,
    lam: float,
    rho_bar: float,
    c_bar: float,
) -> tuple[Tensor, Tensor]:
    """Return what `vtrace` does, with corrections that flow from a fragment into the one before it.

    `successor_B` as for `chained_gae`: an episode split over two fragments of one batch gets the targets of the
    unsplit one, given `chained_next_values`.
    """
    correction_BT, advantage_BT = torch.zeros_like(value_BT), torch.zeros_like(value_BT)
    for rows in last_to_first(successor_B):
        correction_BT[rows], advantage_BT[rows] = vtrace(
            ratio_BT[rows],
            reward_BT[rows],
            value_BT[rows],
            next_value_BT[rows],
            end_BT[rows],
            discount=discount,
            lam=lam,
            rho_bar=rho_bar,
            c_bar=c_bar,
            carry_B=first_of_successor(correction_BT, rows, successor_B),
        )
    return correction_BT, advantage_BT


def chained_next_values(
    value_BT: Tensor,
    bootstrap_value_BT: Tensor,
    terminated_BT: Tensor,
    truncated_BT: Tensor,
    *,
    successor_B: Sequence[int | None],
) -> Tensor:
    """Return what each step leads to, float32 [B, T], as `next_values` does, for values that were computed anew.

    The last step of a fragment takes the value of its successor's first step where the batch holds it. Elsewhere, and
    after a truncation, the value stored by the policy that acted has to do: the batch has no view from there.
    """
    bootstrap_value_BT = bootstrap_value_BT.clone()
    for row, successor in enumerate(successor_B):
        if successor is not None and not truncated_BT[row, -1]:
            bootstrap_value_BT[row, -1] = value_BT[successor, 0]
    return next_values(value_BT, bootstrap_value_BT, terminated_BT, truncated_BT)
