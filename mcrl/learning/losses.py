"""Losses as functions of tensors. B sequences, T steps. Invalid steps count in none of them.

Every loss is a float32 scalar; terms, ratios, advantages, values and returns are float32 [B, T], masks bool [B, T].
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from policies.cells import cells_of, middles_of
from policies.extents import extents_of_boxes

# e^20 is far beyond any clip range and far below float32's limit of e^88.
MAX_LOG_RATIO = 20.0
# Of the picture: shorter sides are one to a cell.
_LEAST_SIDE = 0.01


def masked_mean(term_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Return the mean of the terms where the mask holds; 0 where it holds nowhere."""
    # where() and not a product: 0 * inf of an invalid step would be NaN.
    return torch.where(mask_BT, term_BT, 0.0).sum() / mask_BT.sum().clamp(min=1)


def safe_ratio(log_ratio_BT: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return pi(a) / mu(a), [B, T]: 1 where the step is invalid, and never so large that its gradient overflows.

    Masking the loss alone would not do: the gradient of exp at an overflow is 0 * inf, which is NaN.
    """
    return torch.where(is_valid_BT, log_ratio_BT, 0.0).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def ppo_clip(
    log_ratio_BT: Tensor,
    advantage_BT: Tensor,
    is_valid_BT: Tensor,
    *,
    clip_eps: float,
    dual_clip: float | None = None,
    weight_BT: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the clipped surrogate loss (Schulman et al. 2017, eq. 7) and the share of steps that were clipped.

    `log_ratio_BT` is log pi(a) - log mu(a) of the whole action against the policy that acted: the ratio is clipped
    once an action, not once a factor. `dual_clip` c keeps the surrogate of a negative advantage A above c * A (Ye et
    al. 2020, eq. 5). `weight_BT`, constant, multiplies each step's surrogate; None is 1.
    """
    ratio_BT = safe_ratio(log_ratio_BT, is_valid_BT)
    clipped_BT = ratio_BT.clamp(1 - clip_eps, 1 + clip_eps)
    surrogate_BT = torch.minimum(ratio_BT * advantage_BT, clipped_BT * advantage_BT)
    if dual_clip is not None:
        bounded_BT = torch.maximum(surrogate_BT, dual_clip * advantage_BT)
        surrogate_BT = torch.where(advantage_BT < 0, bounded_BT, surrogate_BT)
    if weight_BT is not None:
        surrogate_BT = weight_BT * surrogate_BT
    clip_fraction = masked_mean((ratio_BT != clipped_BT).float(), is_valid_BT)
    return -masked_mean(surrogate_BT, is_valid_BT), clip_fraction


def value_loss(value_BT: Tensor, return_BT: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return the mean squared error of the values."""
    return masked_mean((value_BT - return_BT).square(), is_valid_BT)


def auxiliary_loss(auxiliary_BT7: Tensor, target_BT7: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return how badly the target was seen: visibility everywhere, centroid and box only where it is visible.

    `auxiliary_BT7`, [B, T, 7], holds a visibility logit, then centroid and box; `target_BT7` the labels of
    worlds.types.TARGET_LABELS, whose first column is the target's share of the picture.
    """
    is_visible_BT = target_BT7[..., 0] > 0
    visibility_BT = F.binary_cross_entropy_with_logits(
        auxiliary_BT7[..., 0].float(), is_visible_BT.float(), reduction="none"
    )
    place_BT = (auxiliary_BT7[..., 1:].float() - target_BT7[..., 1:]).square().sum(-1)
    return masked_mean(visibility_BT, is_valid_BT) + masked_mean(torch.where(is_visible_BT, place_BT, 0.0), is_valid_BT)


def cell_loss(cell_logit_BTK: Tensor, target_BT7: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return how badly the target was placed in the view: cross-entropy of every cell, summed over the cells.

    `cell_logit_BTK`, [B, T, K], has a logit for each of the K cells of a square grid, row by row. A cell counts as the
    target's where the target's box reaches into it; `target_BT7` as above.
    This is the cross-view consistency of ROCKET-2, asked of every part of the picture: find here what is marked there.
    """
    is_target_BTK = cells_of(target_BT7[..., 3:], cell_logit_BTK.shape[-1]) & (target_BT7[..., :1] > 0)
    cell_BTK = F.binary_cross_entropy_with_logits(cell_logit_BTK.float(), is_target_BTK.float(), reduction="none")
    return masked_mean(cell_BTK.sum(-1), is_valid_BT)


def extent_loss(told_BTK3: Tensor, target_BT7: Tensor, is_valid_BT: Tensor) -> Tensor:
    """Return how badly the cells that the target reaches into tell its extent, a scalar; 0 where it is in no view.

    The mean over these cells of Huber's loss, summed over the middle, in cells, and the logarithm of the side.
    """
    num_cells = told_BTK3.shape[2]
    box_BT4 = target_BT7[..., 3:]
    is_it_BTK = cells_of(box_BT4, num_cells) & ((target_BT7[..., 0] > 0) & is_valid_BT).unsqueeze(-1)
    extent_BT13 = extents_of_boxes(box_BT4).unsqueeze(2)
    middle_K2 = middles_of(torch.arange(num_cells, device=box_BT4.device), num_cells)
    off_BTK2 = (extent_BT13[..., :2] - middle_K2) * num_cells**0.5
    log_side_BTK1 = extent_BT13[..., 2:].clamp(min=_LEAST_SIDE).log().expand(-1, -1, num_cells, -1)
    true_BTK3 = torch.cat([off_BTK2, log_side_BTK1], -1)
    loss_BTK = F.smooth_l1_loss(told_BTK3.float(), true_BTK3, reduction="none", beta=0.5).sum(-1)
    return (loss_BTK * is_it_BTK).sum() / is_it_BTK.sum().clamp(min=1)


def explained_variance(value_BT: Tensor, return_BT: Tensor, is_valid_BT: Tensor) -> float:
    """Return 1 - Var(return - value) / Var(return) over valid steps; 0 when the returns do not vary."""
    return_N, value_N = return_BT[is_valid_BT], value_BT[is_valid_BT]
    variance = return_N.var(unbiased=False) if return_N.numel() else torch.tensor(0.0)
    if variance < 1e-12:
        return 0.0
    return float(1 - (return_N - value_N).var(unbiased=False) / variance)
