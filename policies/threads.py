"""How many threads torch and numba compute with."""

import numba
import torch


def use_threads(num_threads: int) -> None:
    """Let torch and the engine use `num_threads` threads, the engine fewer where the machine has fewer cores."""
    # numba first: at its first call it tells the OpenMP that torch computes with, too, to use all cores.
    numba.set_num_threads(min(num_threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    torch.set_num_threads(num_threads)
