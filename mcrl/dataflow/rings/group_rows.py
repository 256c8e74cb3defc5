"""Goals and memories of several groups as rows of one batch, and back. N rows of several groups."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from policies.interface import EncodedGoals, Memory


def join_goals(parts: Sequence[EncodedGoals]) -> EncodedGoals:
    """Return the goals of all parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return EncodedGoals(
        torch.cat([part.token_GKD for part in parts]),
        torch.cat([part.vector_GD for part in parts]),
        torch.cat([part.color_GN3 for part in parts]),
        torch.cat([part.look_GE for part in parts]),
    )


def split_goals(goals: EncodedGoals, sizes: Sequence[int]) -> list[EncodedGoals]:
    """Return views of as many rows as `sizes` say."""
    columns = (goals.token_GKD, goals.vector_GD, goals.color_GN3, goals.look_GE)
    return [EncodedGoals(*parts) for parts in zip(*(column.split(list(sizes)) for column in columns), strict=True)]


def join_memory(parts: Sequence[Memory]) -> Memory:
    """Return the memories of all parts, one after the other."""
    return parts[0] if len(parts) == 1 else {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def split_rows(memory: Memory, sizes: Sequence[int]) -> list[Memory]:
    """Return the memory of each group: copies, since a view would keep the memory of all groups alive."""
    if len(sizes) == 1:
        return [memory]
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    return [
        {name: tensor[start : start + size].clone() for name, tensor in memory.items()}
        for start, size in zip(starts, sizes, strict=True)
    ]


def memory_rows(memory: Memory, row_N: Tensor) -> Memory:
    """Return rows row_N (int64 [N])."""
    return {name: tensor[row_N] for name, tensor in memory.items()}
