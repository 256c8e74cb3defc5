"""The part of every fragment source that knows no processes: gate, queue, books."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcrl.dataflow.contracts import FlowCounts
from mcrl.dataflow.queue import EnvKey, FragmentQueue
from mcrl.dataflow.staleness import StalenessGate
from mcrl.fragment import Fragment
from mcrl.work import WorkKind, last_work, steps_of_kinds
from task_synthesis.saved_state import SavedState


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowLimits:
    """The sizes that bound a source."""

    num_workers: int
    envs_per_worker: int
    fragments_per_batch: int
    max_staleness: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowStart:
    """Where a source begins: at nothing, or where a checkpoint left off."""

    version: int = 0
    high_water_marks: Mapping[EnvKey, int] = field(default_factory=dict)
    saved: SavedState | None = None  # what a source alike returned; None begins episodes and books afresh


class Flow:
    """Admission, queue and books of one source."""

    def __init__(self, limits: FlowLimits, start: FlowStart) -> None:
        self.limits = limits
        self.gate = StalenessGate(
            max_concurrent=limits.num_workers * limits.envs_per_worker,
            max_staleness=limits.max_staleness,
            fragments_per_batch=limits.fragments_per_batch,
        )
        self.gate.restore(start.version)
        self.queue = FragmentQueue(
            capacity=(limits.max_staleness + 1) * limits.fragments_per_batch + self.gate.max_concurrent,
            max_staleness=limits.max_staleness,
            high_water_marks=start.high_water_marks,
            on_drop=self.gate.drop,
            on_refuse=self._refuse,
        )
        self.num_started = 0
        self.num_lost = 0
        self.num_restarts = 0
        self._refused: Counter[WorkKind] = Counter()
        self._last_work: dict[EnvKey, tuple[WorkKind, int]] = {}
        self._next_sequence = [0] * limits.num_workers
        for (worker_id, _), sequence in start.high_water_marks.items():
            if worker_id < limits.num_workers:
                self._next_sequence[worker_id] = max(self._next_sequence[worker_id], sequence + 1)

    def continue_books(self, counts: FlowCounts) -> None:
        """Count on from the books of a flow in which nothing waited and nothing was running."""
        assert counts.waiting == counts.running == 0
        self.num_started, self.num_lost, self.num_restarts = counts.started, counts.lost, counts.num_restarts
        self.queue.num_produced, self.queue.num_consumed = counts.produced, counts.consumed
        self.queue.num_dropped = Counter(counts.dropped)

    def next_sequence(self, worker_id: int) -> int:
        """Return the sequence number of the fragments that the worker hands in next; a lost one is made again."""
        return self._next_sequence[worker_id]

    def try_start(self) -> bool:
        """Admit one collect of one worker, if there is room."""
        is_admitted = self.gate.try_start(self.limits.envs_per_worker)
        if is_admitted:
            self.num_started += self.limits.envs_per_worker
        return is_admitted

    def finish(self, worker_id: int, fragments: list[Fragment]) -> None:
        """Take in what a worker handed over."""
        assert len(fragments) == self.limits.envs_per_worker
        assert all(fragment.sequence == self._next_sequence[worker_id] for fragment in fragments)
        self._next_sequence[worker_id] += 1
        self._last_work |= {(worker_id, fragment.env_index): last_work(fragment) for fragment in fragments}
        self.gate.finish(len(fragments), is_accepted=True)
        self.queue.put(fragments)

    def lose(self, worker_id: int) -> None:
        """Count one collect of a worker that died as lost, and the worker as started again.

        What it was at is not known: each env is taken to have gone on with what it did last.
        """
        for (worker, _), (kind, num_steps) in self._last_work.items():
            if worker == worker_id:
                self._refused[kind] += num_steps
        self.gate.finish(self.limits.envs_per_worker, is_accepted=False)
        self.num_lost += self.limits.envs_per_worker
        self.num_restarts += 1

    def take_refused(self) -> Counter[WorkKind]:
        """Return the steps that were begun and will reach no batch, by kind of work, since the last call."""
        refused, self._refused = self._refused, Counter()
        return refused

    def advance(self, version: int) -> None:
        """Take note of new weights."""
        if version != self.gate.version:
            self.gate.advance(version)

    def counts(self) -> FlowCounts:
        """Return the books."""
        return FlowCounts(
            started=self.num_started,
            produced=self.queue.num_produced,
            consumed=self.queue.num_consumed,
            waiting=len(self.queue),
            running=self.gate.running,
            dropped=dict(self.queue.num_dropped),
            lost=self.num_lost,
            num_restarts=self.num_restarts,
        )

    def _refuse(self, fragments: Sequence[Fragment]) -> None:
        for fragment in fragments:
            self._refused.update(steps_of_kinds(fragment))
