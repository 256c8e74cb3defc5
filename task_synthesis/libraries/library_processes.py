"""Shards made by processes of this machine."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.libraries.library_shard import Shard, make_shard
from task_synthesis.libraries.processes import WorkerDiedError, results_by_processes

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
        try:
            yield from results_by_processes(partial(make_shard, plan), shard_indices, num_workers=num_workers)
        except WorkerDiedError:
            raise ValueError(
                "a synthesis process died (out of memory?); the finished shards are kept: run the same command again "
                "to go on, with fewer --num-workers"
            ) from None

    return make
