"""How much better an action was than expected. B fragments, T steps."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor


def next_values(value_BT: Tensor, bootstrap_value_BT: Tensor, terminated_BT: Tensor, truncated_BT: Tensor) -> Tensor:
    """Return what is worth having after each step, float32 [B, T].

    0 after termination; the stored value of the last view after truncation and at the fragment's end; elsewhere the
    value of the next step.
    """
    next_value_BT = torch.cat([value_BT[:, 1:], bootstrap_value_BT[:, -1:]], dim=1)
    next_value_BT = torch.where(truncated_BT, bootstrap_value_BT, next_value_BT)
    return torch.where(terminated_BT, torch.zeros_like(next_value_BT), next_value_BT)


def ends(terminated_BT: Tensor, truncated_BT: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return after which steps no later one may count, bool [B, T].

    Those that end an episode, and those before an invalid step: that step's view was good, so its value still
    serves as next value, but nothing the engine did afterwards may flow back.
    """
    end_BT = terminated_BT | truncated_BT
    end_BT[:, :-1] |= ~is_valid_BT[:, 1:]
    return end_BT


def gae(
    reward_BT: Tensor,
    value_BT: Tensor,
    next_value_BT: Tensor,
    end_BT: Tensor,
    *,
    discount: float,
    lam: float,
    carry_B: Tensor | None = None,
) -> Tensor:
    """Return advantages (Schulman et al. 2016, eq. 16), float32 [B, T].

    `next_value_BT` is 0 after termination and V(last frame) after truncation, so a time limit does not look like
    failure. `carry_B` is the advantage of the step after the last one where that step is known, else 0 or None.
    """
    delta_BT = reward_BT + discount * next_value_BT - value_BT
    advantage_BT = torch.empty_like(delta_BT)
    carry = torch.zeros_like(delta_BT[:, 0]) if carry_B is None else carry_B
    for t in range(delta_BT.shape[1] - 1, -1, -1):
        # where() and not a product: whatever an invalid step says, NaN too, stays behind the cut.
        carry = delta_BT[:, t] + discount * lam * torch.where(end_BT[:, t], 0.0, carry)
        advantage_BT[:, t] = carry
    return advantage_BT


def chained_gae(
    reward_BT: Tensor,
    value_BT: Tensor,
    next_value_BT: Tensor,
    end_BT: Tensor,
    *,
    successor_B: list[int | None],
    discount: float,
    lam: float,
) -> Tensor:
    """Return advantages that flow from a fragment into the one before it, float32 [B, T].

    `successor_B[b]` is the row that continues row b in the same env, or None: an episode split over two fragments
    of one batch gets the advantages of the unsplit one.
    """
    advantage_BT = torch.zeros_like(reward_BT)
    for rows in last_to_first(successor_B):
        advantage_BT[rows] = gae(
            reward_BT[rows],
            value_BT[rows],
            next_value_BT[rows],
            end_BT[rows],
            discount=discount,
            lam=lam,
            carry_B=first_of_successor(advantage_BT, rows, successor_B),
        )
    return advantage_BT


def last_to_first(successor_B: Sequence[int | None]) -> Iterator[list[int]]:
    """Give the rows in groups: each after the row that continues it, rows of one group independent of each other."""
    is_done = [False] * len(successor_B)
    while not all(is_done):
        rows = [
            row
            for row, successor in enumerate(successor_B)
            if not is_done[row] and (successor is None or is_done[successor])
        ]
        assert rows, "successors form a circle"
        yield rows
        for row in rows:
            is_done[row] = True


def first_of_successor(known_BT: Tensor, rows: Sequence[int], successor_B: Sequence[int | None]) -> Tensor:
    """Return what is known of the first step of each row's successor, [N] for N rows, 0 where there is none."""
    carry_N = known_BT.new_zeros(len(rows))
    for place, row in enumerate(rows):
        successor = successor_B[row]
        if successor is not None:
            carry_N[place] = known_BT[successor, 0]
    return carry_N
