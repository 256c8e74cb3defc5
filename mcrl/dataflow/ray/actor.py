"""A rollout worker in a process of its own."""

import os
from typing import TYPE_CHECKING, Any

import ray

from mcrl.dataflow.contracts import FollowingWorker, WorkerFactory
from mcrl.dataflow.queue.rows import Row, row_of
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.fragment import Fragment

if TYPE_CHECKING:
    from mcrl.dataflow.weights.delayed_update import DelayedUpdate  # with torch behind it, which not all workers need

# How long a worker waits for weights that are on their way: longer than any transfer should take. The source counts
# one that gives up as dead and replaces it.
_WEIGHTS_LIMIT_S = 180.0


class RolloutActor:
    """Builds its worker where it runs, and collects when it is asked to."""

    def __init__(
        self, factory: WorkerFactory, worker_id: int, first_sequence: int, num_threads: int | None, board: Any = None
    ) -> None:
        """`num_threads` None is a worker that computes nothing; it is spared torch and numba.

        `board` is where the worker hears of new weights while it acts; None where they come with its orders.
        """
        if num_threads is not None:
            from policies.threads import use_threads  # imported here and not by the driver's import of this module

            use_threads(num_threads)
        self._worker = factory(worker_id, first_sequence)
        self._version: int | None = None
        self._update: DelayedUpdate | None = None
        if board is not None:
            from mcrl.dataflow.ray.params import RayParamReader  # with torch behind it, which the driver has anyway

            if not isinstance(self._worker, FollowingWorker):
                raise ValueError(f'weight_sync "tick": a {type(self._worker).__name__} takes weights between fragments')
            self._update = self._worker.follow(RayParamReader(board))

    def collect(self, order: ParamSnapshot | int) -> tuple[tuple[Row, ...] | Fragment, ...]:
        """Return the rows and then each fragment of what every env does next.

        `order` is the weights that act, or for a worker with a board the version that must act at least.

        Each is a return value of its own: the driver owns them, they outlive this process, and a fragment stays in the
        object store until it is asked for. Rows come without payloads, which only the driver can refer to.
        """
        if isinstance(order, int):
            assert self._update is not None, "a version is for a worker that follows a board"
            self._update.catch_up(order, timeout_s=_WEIGHTS_LIMIT_S)
        elif order.version != self._version:
            self._worker.load(order)
            self._version = order.version
        fragments = self._worker.collect()
        return (tuple(row_of(fragment, None) for fragment in fragments), *fragments)

    def process_id(self) -> int:
        """Return the id of this process."""
        return os.getpid()


# One logical CPU each; a restart is the source's work, because the new one must continue the sequence numbers.
RemoteRolloutActor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(RolloutActor)
