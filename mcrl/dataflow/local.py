"""A fragment source inside the learner's process: acting and learning take turns."""

from collections import Counter

from mcrl.dataflow.contracts import FlowCounts, FragmentWorker, WorkerFactory
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.params import ParamSnapshot
from mcrl.dataflow.rows import EnvKey
from mcrl.fragment import Fragment
from mcrl.work import WorkKind


class LocalSource:
    """Lets its workers collect, one after the other, when fragments are asked for."""

    def __init__(self, factory: WorkerFactory, limits: FlowLimits, start: FlowStart | None = None) -> None:
        self._flow = Flow(limits, start or FlowStart())
        self._workers: list[FragmentWorker] = [
            factory(worker_id, self._flow.next_sequence(worker_id)) for worker_id in range(limits.num_workers)
        ]
        self._turn = 0

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Hand new weights to every worker."""
        for worker in self._workers:
            worker.load(snapshot)
        self._flow.advance(snapshot.version)

    def take(self, num_fragments: int) -> list[Fragment]:
        """Collect until there are enough fragments for the next update, and return them."""
        while True:
            taken = self._flow.take(num_fragments)
            if taken:
                return taken
            is_admitted = self._flow.try_start()
            assert is_admitted, f"no room for the fragments that {num_fragments} need: {self._flow.counts()}"
            self._flow.finish(self._turn, self._workers[self._turn].collect())
            self._turn = (self._turn + 1) % len(self._workers)

    def counts(self) -> FlowCounts:
        """Return the books."""
        return self._flow.counts()

    def take_refused(self) -> Counter[WorkKind]:
        """Return the steps that were begun and will reach no batch, by kind of work, since the last call."""
        return self._flow.take_refused()

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment consumed from each (worker, env)."""
        return self._flow.queue.high_water_marks()

    def close(self) -> None:
        """Let go of the workers."""
        self._workers = []
