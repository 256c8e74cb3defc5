"""Work spread over fresh processes of this machine, one thread each; none outlives the process that started it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from worlds.kernel_cache import are_kernels_kept

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class WorkerDiedError(Exception):
    """Raised when a process ended before its work: killed, or out of memory."""


def results_by_processes(
    work: Callable[[ItemT], ResultT], items: Sequence[ItemT], *, num_workers: int
) -> Iterator[ResultT]:
    """Yield `work(item)` of every item as it is finished, in any order, `num_workers` at a time.

    The first goes alone where the engine was never compiled: with the others beside it, each would compile it.
    `work` is a function of a module, and items and results can be pickled. An error in `work` is raised here.

    Raises:
        WorkerDiedError: a process died; what it and the others were working on is lost.
    """
    if num_workers < 1:
        raise ValueError(f"the number of workers must be at least 1, got {num_workers}")
    if not items:
        return
    # Fresh interpreters: a fork would copy the locks of numba's and torch's threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(num_workers, len(items)), mp_context=context, initializer=_begin_worker)
    others = set(multiprocessing.active_children())
    parts = [items] if are_kernels_kept() else [items[:1], items[1:]]
    try:
        for part in parts:
            # No list is kept: a future holds its result, and a large library has hundreds of shards.
            for future in as_completed([pool.submit(work, item) for item in part]):
                yield future.result()
    except BrokenProcessPool:
        raise WorkerDiedError from None
    finally:
        # After the last result the workers are idle; after an error or Ctrl-C theirs would be thrown away.
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()
        # Waits for the pool's own thread too: ending beside it, Python would write to the pipe that it closes.
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    import numba

    numba.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Leave no worker behind when the parent is killed without a chance to say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
