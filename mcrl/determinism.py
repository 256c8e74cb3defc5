"""Runs that end in the same bytes."""

import os
from collections.abc import Sequence

import torch

from mcrl.rollout.fragment import Fragment


def use_deterministic_algorithms() -> None:
    """Let torch use only algorithms that give the same bytes each time, and raise where there is none."""
    # What cuBLAS asks for before it promises that; read when CUDA starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False


def in_fixed_order(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Return the fragments by worker, environment and sequence number rather than by who came first."""
    return sorted(fragments, key=lambda fragment: (fragment.worker_id, fragment.env_index, fragment.sequence))
