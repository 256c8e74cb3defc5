"""How many threads this process computes with."""

import numba
import torch


def use_threads(num_threads: int) -> None:
    """Let torch and the engine use `num_threads` threads, fewer where the machine has fewer cores."""
    torch.set_num_threads(num_threads)
    numba.set_num_threads(min(num_threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
