"""The part of every fragment source that knows no processes: gate, queue, books."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcrl.dataflow.contracts import FlowCounts, FragmentQueue
from mcrl.dataflow.queue.local_queue import LocalQueue
from mcrl.dataflow.queue.rows import FRAGMENT, EnvKey, Row, RowId, row_of
from mcrl.dataflow.queue.samplers import FIFO, Sampler
from mcrl.dataflow.queue.state import CONSUMED, TRAIN, Consumer, QueueSettings, QueueState
from mcrl.dataflow.staleness import StalenessGate
from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.playing.saved_state import SavedState

# Rows are leased only while their payloads are fetched: an hour is a learner that hangs, not one that is slow.
_TAKE_TTL_S = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowLimits:
    """The sizes that bound a source, and how it chooses."""

    num_workers: int
    envs_per_worker: int
    fragments_per_batch: int
    max_staleness: int
    sampler: Sampler = FIFO
    seed: int = 0
    """Of what the sampler draws."""
    consumers: Mapping[str, Consumer] = field(default_factory=lambda: {TRAIN: Consumer()})
    """Who reads the queue. While one of them is slow, no more is begun than the queue has room for."""

    @property
    def max_fragments(self) -> int:
        """Return how many fragments there can be at once, in the making or waiting: what the gate admits.

        A group of environments is admitted as one, and so by less than a group too many.
        """
        return (self.max_staleness + 1) * self.fragments_per_batch + self.envs_per_worker

    @property
    def max_stored_fragments(self) -> int:
        """Return how many there can be at once, those included that the learner holds while the next are made."""
        return self.max_fragments + self.fragments_per_batch


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowStart:
    """Where a source begins: at nothing, or where a checkpoint left off."""

    version: int = 0
    high_water_marks: Mapping[EnvKey, int] = field(default_factory=dict)
    saved: SavedState | None = None  # what a source alike returned; None begins episodes and books afresh


class Flow:
    """Admission, queue and books of one source."""

    def __init__(
        self,
        limits: FlowLimits,
        start: FlowStart,
        make_queue: Callable[[QueueSettings], FragmentQueue] = LocalQueue,
    ) -> None:
        """`make_queue` decides where the queue lives."""
        self.limits = limits
        self.num_workers = limits.num_workers
        self.gate = StalenessGate(
            max_concurrent=limits.num_workers * limits.envs_per_worker,
            max_staleness=limits.max_staleness,
            fragments_per_batch=limits.fragments_per_batch,
        )
        self.gate.restore(start.version)
        self.queue = make_queue(
            QueueSettings(
                capacity=limits.max_fragments,
                max_staleness=limits.max_staleness,
                consumers=limits.consumers,
                seed=limits.seed,
            )
        )
        marks = tuple((*key, sequence) for key, sequence in start.high_water_marks.items())
        self.queue.restore(QueueState(version=start.version, high_water_marks=marks), {})
        self.num_started = 0
        self.num_lost = 0
        self.num_restarts = 0
        self._held: dict[RowId, Row] = {}  # what the queue has not released
        self._refused: Counter[WorkKind] = Counter()
        self._last_work: dict[EnvKey, tuple[WorkKind, int]] = {}
        self._next_sequence: Counter[int] = Counter()  # by worker
        for (worker_id, _), sequence in start.high_water_marks.items():
            self._next_sequence[worker_id] = max(self._next_sequence[worker_id], sequence + 1)

    def continue_books(self, counts: FlowCounts) -> None:
        """Count on from the books of a flow in which nothing waited and nothing was running."""
        assert counts.waiting == counts.leased == counts.running == 0
        self.num_started, self.num_lost, self.num_restarts = counts.started, counts.lost, counts.num_restarts
        books = dataclasses.replace(
            self.queue.state(),
            num_produced=counts.produced,
            num_consumed={TRAIN: counts.consumed},
            num_dropped=counts.dropped,
        )
        self.queue.restore(books, {})

    def next_sequence(self, worker_id: int) -> int:
        """Return the sequence number of the fragments that the worker hands in next; a lost one is made again."""
        return self._next_sequence[worker_id]

    def set_num_workers(self, num_workers: int) -> None:
        """Let that many workers collect at once; a worker that comes back goes on with its sequence numbers."""
        self.num_workers = num_workers
        self.gate.max_concurrent = num_workers * self.limits.envs_per_worker

    def try_start(self) -> bool:
        """Admit one collect of one worker, if weights and queue have room for it."""
        num_envs = self.limits.envs_per_worker
        # The gate knows of the learner alone; other consumers may hold rows that it is through with.
        has_room = len(self._held) + self.gate.running + num_envs <= self.limits.max_fragments
        is_admitted = has_room and self.gate.try_start(num_envs)
        if is_admitted:
            self.num_started += num_envs
        return is_admitted

    def finish(self, worker_id: int, fragments: Sequence[Fragment]) -> None:
        """Take in what a worker of this process handed over."""
        self.finish_rows(worker_id, [row_of(fragment, fragment) for fragment in fragments])

    def finish_rows(self, worker_id: int, rows: Sequence[Row]) -> None:
        """Take in the rows of what a worker handed over, with payloads that the `fetch` of `take` understands."""
        assert len(rows) == self.limits.envs_per_worker
        assert all(row.row_id.sequence == self._next_sequence[worker_id] for row in rows)
        self._next_sequence[worker_id] += 1
        self._last_work |= {row.row_id.env_key: row.last_work for row in rows}
        self.gate.finish(len(rows), is_accepted=True)
        self._held |= {row.row_id: row for row in rows}
        num_taken = self.queue.put(rows)
        assert num_taken == len(rows), f"the queue took {num_taken} of {len(rows)} fragments that the gate admitted"
        self._settle()

    def take(
        self, num_fragments: int, fetch: Callable[[Sequence[Any]], Sequence[Fragment | None]] | None = None
    ) -> list[Fragment]:
        """Return the next batch, or nothing while it is not complete. What is returned counts as consumed.

        `fetch` gives for each payload its fragment, or None where that is gone; without it payloads are the fragments.
        The learner dies with what it learned, so nothing is gained by waiting for the update: a checkpoint holds the
        marks that go with its weights.
        """
        while True:
            lease = self.queue.lease(TRAIN, num_fragments, sampler=self.limits.sampler, ttl_s=_TAKE_TTL_S)
            if lease is None:
                self._settle()
                return []
            payloads = [row.payloads[FRAGMENT] for row in lease.rows]
            fetched = payloads if fetch is None else fetch(payloads)
            fragments = [fragment for fragment in fetched if fragment is not None]
            if len(fragments) == num_fragments:
                is_consumed = self.queue.ack(lease.lease_id)
            else:
                lost = [row.row_id for row, got in zip(lease.rows, fetched, strict=True) if got is None]
                self.queue.nack(lease.lease_id, lost=lost)
                is_consumed = False
            self._settle()
            if is_consumed:
                return fragments

    def lose(self, worker_id: int, *, is_restarted: bool = True) -> None:
        """Count one collect of a worker that died as lost, and the worker as started again where it is.

        What it was at is not known: each env is taken to have gone on with what it did last.
        """
        for (worker, _), (kind, num_steps) in self._last_work.items():
            if worker == worker_id:
                self._refused[kind] += num_steps
        self.gate.finish(self.limits.envs_per_worker, is_accepted=False)
        self.num_lost += self.limits.envs_per_worker
        self.num_restarts += is_restarted

    def take_refused(self) -> Counter[WorkKind]:
        """Return the steps that were begun and will reach no batch, by kind of work, since the last call."""
        refused, self._refused = self._refused, Counter()
        return refused

    def advance(self, version: int) -> None:
        """Take note of new weights."""
        if version != self.gate.version:
            self.gate.advance(version)
            self.queue.advance(version)

    def counts(self) -> FlowCounts:
        """Return the books."""
        queue = self.queue.counts()
        return FlowCounts(
            started=self.num_started,
            produced=queue.produced,
            consumed=queue.consumed,
            waiting=queue.waiting,
            leased=queue.leased,
            running=self.gate.running,
            dropped=queue.dropped,
            lost=self.num_lost,
            num_restarts=self.num_restarts,
            num_queue_restarts=queue.num_recoveries,
            num_workers=self.num_workers,
        )

    def _settle(self) -> None:
        """Let go of what the queue released; what was dropped gives its place at the gate back."""
        for row_id, reason in self.queue.take_released():
            if reason == "duplicate":  # the place of one that was never started
                continue
            row = self._held.pop(row_id)
            if reason != CONSUMED:
                self.gate.drop(1)
                self._refused.update(dict(row.work))
