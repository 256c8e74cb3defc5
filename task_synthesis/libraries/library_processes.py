"""Shards made by processes of this machine."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.libraries.library_shard import Shard, make_shard
from task_synthesis.libraries.processes import WorkerDiedError, results_by_processes

Tell = Callable[[int], None]
# Given a plan and the shards that are missing, yields them as they are finished, in any order; tells how many tasks it
# has made so far, those of unfinished shards too where it hears of them.
ShardMaker = Callable[[LibraryPlan, Sequence[int], Tell], Iterator[Shard]]


def shards_here(plan: LibraryPlan, shard_indices: Sequence[int], tell: Tell) -> Iterator[Shard]:
    """Make the shards one after another in this process."""
    num_before = 0

    def tell_all(num_tasks: int) -> None:
        tell(num_before + num_tasks)

    for shard_index in shard_indices:
        yield make_shard(plan, shard_index, on_progress=tell_all)
        num_before += plan.tasks_of_shard(shard_index)


def shards_by_processes(num_workers: int) -> ShardMaker:
    """Return a maker that works on `num_workers` shards at a time, each in a fresh process with one thread."""
    if num_workers < 1:
        raise ValueError(f"the number of workers must be at least 1, got {num_workers}")

    def make(plan: LibraryPlan, shard_indices: Sequence[int], tell: Tell) -> Iterator[Shard]:
        try:
            yield from results_by_processes(
                partial(_make_shard, plan), shard_indices, num_workers=num_workers, on_progress=tell
            )
        except WorkerDiedError:
            raise ValueError(
                "a synthesis process died (out of memory?); the finished shards are kept: run the same command again "
                "to go on, with fewer --num-workers"
            ) from None

    return make


def _make_shard(plan: LibraryPlan, shard_index: int, tell: Tell) -> Shard:
    return make_shard(plan, shard_index, on_progress=tell)
