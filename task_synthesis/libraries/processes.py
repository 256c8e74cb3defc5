"""Work spread over fresh processes of this machine, one thread each; none outlives the process that started it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from worlds.kernel_cache import are_kernels_kept

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_HEARD_EVERY_S = 0.5
# How far each item is, shared by the workers and the process that started them; each writes only where its item is.
_done_I: Any = None


class WorkerDiedError(Exception):
    """Raised when a process ended before its work: killed, or out of memory."""


def results_by_processes(
    work: Callable[[ItemT, Callable[[int], None]], ResultT],
    items: Sequence[ItemT],
    *,
    num_workers: int,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[ResultT]:
    """Yield `work(item, tell)` of every item as it is finished, in any order, `num_workers` at a time.

    The first goes alone where the engine was never compiled: with the others beside it, each would compile it.
    `work` is a function of a module, and items and results can be pickled. An error in `work` is raised here.
    It may call `tell` with how much of its item is done; `on_progress` hears the sum of all items now and then.

    Raises:
        WorkerDiedError: a process died; what it and the others were working on is lost.
    """
    if num_workers < 1:
        raise ValueError(f"the number of workers must be at least 1, got {num_workers}")
    if not items:
        return
    # Fresh interpreters: a fork would copy the locks of numba's and torch's threads.
    context = multiprocessing.get_context("spawn")
    done_I = context.RawArray("q", len(items))  # without a lock, which a killed worker might never give back
    pool = ProcessPoolExecutor(
        min(num_workers, len(items)), mp_context=context, initializer=_begin_worker, initargs=(done_I,)
    )
    others = set(multiprocessing.active_children())
    numbered = list(enumerate(items))
    parts = [numbered] if are_kernels_kept() else [numbered[:1], numbered[1:]]
    try:
        for part in parts:
            waiting = {pool.submit(_work_on, work, item, index) for index, item in part}
            while waiting:
                finished, waiting = wait(waiting, timeout=_HEARD_EVERY_S, return_when=FIRST_COMPLETED)
                if on_progress:
                    on_progress(sum(done_I))
                # No list is kept: a future holds its result, and a large library has hundreds of shards.
                while finished:
                    yield finished.pop().result()
    except BrokenProcessPool:
        raise WorkerDiedError from None
    finally:
        # After the last result the workers are idle; after an error or Ctrl-C theirs would be thrown away.
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()
        # Waits for the pool's own thread too: ending beside it, Python would write to the pipe that it closes.
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker(done_I: Any) -> None:
    import numba

    global _done_I
    _done_I = done_I
    numba.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _work_on(work: Callable[[ItemT, Callable[[int], None]], ResultT], item: ItemT, index: int) -> ResultT:
    def tell(num_done: int) -> None:
        _done_I[index] = num_done

    return work(item, tell)


def _end_with_parent() -> None:
    """Leave no worker behind when the parent is killed without a chance to say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
