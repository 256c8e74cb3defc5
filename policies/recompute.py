"""Activation checkpointing of what a policy reads from views. X views, G goals, A action factors."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from policies.interface import EncodedGoals

# Only one chunk's activations are alive at a time: few enough views to matter, enough to fill a CPU's caches.
CHUNK_VIEWS = 64


def read_by_chunks(
    read: Callable[[Tensor, EncodedGoals, Tensor, Tensor, Tensor], tuple[Tensor, ...]],
    view_X: Tensor,
    goals: EncodedGoals,
    goal_index_X: Tensor,
    first_X: Tensor,
    previous_action_XA: Tensor,
) -> tuple[Tensor, ...]:
    """Return what `read`, which treats every view on its own, returns for all views.

    Of its activations only the results are kept; the rest is computed again, chunk by chunk, in the backward pass.
    """
    per_view = (view_X, goal_index_X, first_X, previous_action_XA)
    chunks = zip(*(tensor.split(CHUNK_VIEWS) for tensor in per_view), strict=True)
    parts = [
        # Nothing is drawn inside, so that there is no state of a generator to be kept.
        checkpoint(read, view, goals, *rows, use_reentrant=False, preserve_rng_state=False)
        for view, *rows in chunks
    ]
    return tuple(torch.cat(tensors) for tensors in zip(*parts, strict=True))
