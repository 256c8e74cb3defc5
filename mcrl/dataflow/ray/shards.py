"""Shards of a task library, made by tasks of a Ray cluster."""

from collections.abc import Iterator, Sequence

import ray

from mcrl.dataflow.ray import runtime
from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.libraries.library_processes import ShardMaker, Tell
from task_synthesis.libraries.library_shard import Shard

_SHARD_BYTES = 8 * 2**20  # far more than the gzipped lines of a shard
# A shard takes minutes: when none is done for this long, no process of Ray works.
_LIMIT_S = 3600.0


def shards_by_ray(num_workers: int) -> ShardMaker:
    """Return a maker that works on `num_workers` shards at a time, on whatever machines Ray has.

    The finished shards come back as values: no folder needs to be shared. A shard whose process dies is made again.
    """

    def make(plan: LibraryPlan, shard_indices: Sequence[int], tell: Tell) -> Iterator[Shard]:
        if not shard_indices:
            return
        owns_ray = runtime.start(num_workers=num_workers, object_store_bytes=num_workers * _SHARD_BYTES)
        waiting = list(reversed(shard_indices))
        num_made = 0
        try:
            running = [_remote_shard.remote(plan, waiting.pop()) for _ in range(min(num_workers, len(waiting)))]
            while running:
                done, running = ray.wait(running, num_returns=1, timeout=_LIMIT_S)
                if not done:
                    raise RuntimeError(
                        f"no shard was finished within {_LIMIT_S:.0f} s; see whether Ray's nodes have free CPUs, then "
                        "run the same command again: finished shards are kept"
                    )
                if waiting:
                    running.append(_remote_shard.remote(plan, waiting.pop()))
                shard = ray.get(done[0], timeout=_LIMIT_S)
                num_made += shard.receipt.num_tasks
                tell(num_made)
                yield shard
        finally:
            if owns_ray:
                runtime.stop()

    return make


@ray.remote(num_cpus=1, max_retries=3)
def _remote_shard(plan: LibraryPlan, shard_index: int) -> Shard:
    import numba  # imported here and not by the driver's import of this module

    from task_synthesis.libraries.library_shard import make_shard

    numba.set_num_threads(1)
    return make_shard(plan, shard_index)
