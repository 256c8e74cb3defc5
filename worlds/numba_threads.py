"""numba's threads, begun without taking torch's number of threads away."""

import sys
from typing import Any

import numba


def begin_threads() -> None:
    """Let numba begin now, where it has not: its first call tells the OpenMP that torch shares to use all cores.

    A program that has set torch to one thread would compute with as many as there are cores from its first world on:
    with other sums, and on a busy machine ten times slower, since such threads wait for one another in a circle.
    """
    torch: Any = sys.modules.get("torch")
    num_threads = torch.get_num_threads() if hasattr(torch, "get_num_threads") else None
    numba.get_num_threads()
    if num_threads is not None and torch.get_num_threads() != num_threads:
        torch.set_num_threads(num_threads)
