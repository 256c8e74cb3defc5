"""A fragment source inside the learner's process: acting and learning take turns.

With `max_staleness` s it acts as far ahead as the gate lets it, before every update: from update s on each batch was
made with weights exactly s updates old, in every run alike. Nothing is faster for it. It is the twin without processes
of sources whose workers run ahead as they can, and tells what a lag costs apart from what acting beside the learner
gains.
"""

import dataclasses
from collections import Counter

from mcrl.dataflow.contracts import FlowCounts, FragmentWorker, SavableWorker, WorkerFactory
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.queue.rows import EnvKey
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.playing.saved_state import SavedState


class LocalSource:
    """Lets its workers collect, one after the other, when fragments are asked for."""

    def __init__(self, factory: WorkerFactory, limits: FlowLimits, start: FlowStart | None = None) -> None:
        """`start` may hold what `saved` of a source alike returned; ValueError says what of it does not fit."""
        start = start or FlowStart()
        self._flow = Flow(limits, start)
        self._workers: list[FragmentWorker] = [
            factory(worker_id, self._flow.next_sequence(worker_id)) for worker_id in range(limits.num_workers)
        ]
        self._turn = 0
        if start.saved is not None:
            try:
                self._load_saved(start.saved)
            except BaseException:
                self.close()
                raise

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Hand new weights to every worker."""
        for worker in self._workers:
            worker.load(snapshot)
        self._flow.advance(snapshot.version)

    def take(self, num_fragments: int) -> list[Fragment]:
        """Collect as much as is admitted, and return the fragments of the next update."""
        while True:
            while self._collect():
                pass
            taken = self._flow.take(num_fragments)
            if taken:
                return taken
            # What was too old is gone now, and has made room for others.
            is_admitted = self._collect()
            assert is_admitted, f"no room for the fragments that {num_fragments} need: {self._flow.counts()}"

    def _collect(self) -> bool:
        """Let the worker whose turn it is make its fragments, and say whether they were admitted."""
        if not self._flow.try_start():
            return False
        self._flow.finish(self._turn, self._workers[self._turn].collect())
        self._turn = (self._turn + 1) % len(self._workers)
        return True

    def counts(self) -> FlowCounts:
        """Return the books."""
        return self._flow.counts()

    def take_refused(self) -> Counter[WorkKind]:
        """Return the steps that were begun and will reach no batch, by kind of work, since the last call."""
        return self._flow.take_refused()

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment consumed from each (worker, env)."""
        return self._flow.queue.high_water_marks()

    def saved(self) -> SavedState | None:
        """Return the workers, whose turn it is, and the books; None where a worker cannot be saved.

        Between two `take` nothing is in the making: every fragment that was begun was handed over. One that still
        waits would be lost; whole batches of whole collects leave none.
        """
        counts = self._flow.counts()
        if counts.waiting or counts.leased or counts.running:
            return None
        parts: dict[str, SavedState] = {}
        for worker_id, worker in enumerate(self._workers):
            state = worker.saved() if isinstance(worker, SavableWorker) else None
            if state is None:
                return None
            parts[f"worker_{worker_id}"] = state
        parts["books"] = SavedState(values=dataclasses.asdict(counts))
        return SavedState.of_parts(parts, num_workers=len(self._workers), turn=self._turn)

    def close(self) -> None:
        """End the workers. Closing twice is fine."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.close()

    def _load_saved(self, state: SavedState) -> None:
        num_workers, turn = state.value("num_workers", int), state.value("turn", int)
        if num_workers != len(self._workers) or not 0 <= turn < num_workers:
            raise state.misfit(
                f"holds {num_workers} rollout workers with worker {turn} next, this run has {len(self._workers)}"
            )
        self._turn = turn
        self._flow.continue_books(_books(state.part("books")))
        for worker_id, worker in enumerate(self._workers):
            part = state.part(f"worker_{worker_id}")
            if not isinstance(worker, SavableWorker):
                raise part.misfit(f"a {type(worker).__name__} cannot be set to what was saved")
            worker.load_saved(part)


def _books(state: SavedState) -> FlowCounts:
    dropped = state.value("dropped", dict)
    numbers = {
        field.name: state.value(field.name, int) for field in dataclasses.fields(FlowCounts) if field.name != "dropped"
    }
    counts = FlowCounts(dropped=dropped, **numbers)
    num_thrown = sum(dropped.values()) if all(type(number) is int for number in dropped.values()) else -1
    is_balanced = counts.started == counts.produced + counts.lost and counts.produced == counts.consumed + num_thrown
    if not is_balanced or counts.waiting or counts.running:
        raise state.misfit(f"the books {state.values} do not balance")
    return counts
