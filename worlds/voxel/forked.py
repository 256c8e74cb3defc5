"""A word to a process that was forked from one in which the engine ran: its threads did not come along.

numba's parallel loops run on GNU OpenMP where nothing else is installed, which ends such a process without a word of
what to do.
"""

import os

from numba.np.ufunc import parallel

_has_lost_threads = False


def check_not_forked() -> None:
    """Raise RuntimeError where the engine cannot run since it did in the process that this one was forked from."""
    if _has_lost_threads:
        raise RuntimeError(
            "the engine ran in the process that this one was forked from, and its threads did not come along; start "
            'processes afresh: AsyncVectorEnv(..., context="spawn"), multiprocessing.get_context("spawn")'
        )


def _note_fork() -> None:
    global _has_lost_threads
    _has_lost_threads = parallel._is_initialized and parallel.threading_layer() == "omp"


os.register_at_fork(after_in_child=_note_fork)
