"""A rollout worker in a process of its own."""

import os

import ray

from mcrl.dataflow.contracts import WorkerFactory
from mcrl.dataflow.queue.rows import Row, row_of
from mcrl.dataflow.weights.params import ParamSnapshot
from mcrl.fragment import Fragment


class RolloutActor:
    """Builds its worker where it runs, and collects when it is asked to."""

    def __init__(self, factory: WorkerFactory, worker_id: int, first_sequence: int, num_threads: int) -> None:
        import numba  # imported here and not by the driver's import of this module
        import torch

        torch.set_num_threads(num_threads)
        numba.set_num_threads(num_threads)
        self._worker = factory(worker_id, first_sequence)
        self._version: int | None = None

    def collect(self, snapshot: ParamSnapshot) -> tuple[tuple[Row, ...] | Fragment, ...]:
        """Return the rows and then each fragment of what every env does next, made with these weights.

        Each is a return value of its own: the driver owns them, they outlive this process, and a fragment stays in the
        object store until it is asked for. Rows come without payloads, which only the driver can refer to.
        """
        if snapshot.version != self._version:
            self._worker.load(snapshot)
            self._version = snapshot.version
        fragments = self._worker.collect()
        return (tuple(row_of(fragment, None) for fragment in fragments), *fragments)

    def process_id(self) -> int:
        """Return the id of this process."""
        return os.getpid()


# One logical CPU each; a restart is the source's work, because the new one must continue the sequence numbers.
RemoteRolloutActor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(RolloutActor)
