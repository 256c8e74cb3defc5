"""Shards made by processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from task_synthesis.library_plan import LibraryPlan
from task_synthesis.library_shard import Shard, make_shard

# Given a plan and the shards that are missing, yields them as they are finished, in any order.
ShardMaker = Callable[[LibraryPlan, Sequence[int]], Iterator[Shard]]


def shards_here(plan: LibraryPlan, shard_indices: Sequence[int]) -> Iterator[Shard]:
    """Make the shards one after another in this process."""
    for shard_index in shard_indices:
        yield make_shard(plan, shard_index)


def shards_by_processes(num_workers: int) -> ShardMaker:
    """Return a maker that works on `num_workers` shards at a time, each in a fresh process with one thread."""
    if num_workers < 1:
        raise ValueError(f"the number of workers must be at least 1, got {num_workers}")

    def make(plan: LibraryPlan, shard_indices: Sequence[int]) -> Iterator[Shard]:
        if not shard_indices:
            return
        # Fresh interpreters: a fork would copy the locks of numba's and torch's threads.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(num_workers, len(shard_indices)), mp_context=context, initializer=_begin_worker)
        others = set(multiprocessing.active_children())
        try:
            futures = [pool.submit(make_shard, plan, shard_index) for shard_index in shard_indices]
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise ValueError(
                "a synthesis process died (out of memory?); the finished shards are kept: run the same command again "
                "to go on, with fewer --num-workers"
            ) from None
        finally:
            # After the last shard the workers are idle; after an error or Ctrl-C theirs would be thrown away.
            started = [child for child in multiprocessing.active_children() if child not in others]
            pool.shutdown(wait=False, cancel_futures=True)
            for child in started:
                child.terminate()
            for child in started:
                child.join()

    return make


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
