"""How a process that computes with torch and numba does so: its threads, and the memory between two steps."""

import numba
import torch

from policies.freed_memory import keep_freed_memory


def use_threads(num_threads: int) -> None:
    """Let torch and the engine use `num_threads` threads, or as many as there are cores this process may run on.

    More wait for one another at the end of every operation: 16 on two cores, beside another program, took 28 times as
    long. Whoever computes allocates the same sizes again and again, so freed memory is kept from now on.
    """
    keep_freed_memory()
    # numba first: at its first call it tells the OpenMP that torch computes with, too, to use all cores.
    numba.set_num_threads(min(num_threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    torch.set_num_threads(min(num_threads, numba.config.NUMBA_DEFAULT_NUM_THREADS))  # type: ignore[attr-defined]


def check_beside_each_other(what: str) -> None:
    """Raise ValueError where two threads must not compute at a time, as `what` would have them; after `use_threads`.

    Where numba finds neither OpenMP nor TBB it has a pool of its own, which ends the process then.
    """
    if numba.threading_layer() == "workqueue":
        raise ValueError(
            f"{what}: numba finds no OpenMP here, and its own threads end the process where two compute at a time; "
            "install it (Debian: apt-get install libgomp1, macOS: brew install libomp), or do without"
        )
