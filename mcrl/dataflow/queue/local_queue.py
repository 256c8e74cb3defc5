"""The queue between rollout and learner, in process: rows, columns, leases, and books that always balance."""

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mcrl.dataflow.queue.entry import Entry
from mcrl.dataflow.queue.rows import FRAGMENT, EnvKey, Row, RowId
from mcrl.dataflow.queue.samplers import FIFO, Sampler
from mcrl.dataflow.queue.state import (
    CONSUMED,
    LOST_OWNER,
    TRAIN,
    Lease,
    LeaseState,
    QueueCounts,
    QueueSettings,
    QueueState,
)
from mcrl.seeding import derive_seed


class LocalQueue:
    """Rows that wait for their consumers; see mcrl.dataflow.contracts.FragmentQueue for what each method promises."""

    def __init__(self, settings: QueueSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin empty. `clock` returns seconds and only goes forward; leases expire by it."""
        self.settings = settings
        self._clock = clock
        self._entries: dict[RowId, Entry] = {}  # in order of arrival
        self._leases: dict[int, LeaseState] = {}
        self._high_water_marks: dict[EnvKey, int] = {}
        self._version = 0
        self._next_lease_id = 0
        self._num_produced = 0
        self._num_consumed: Counter[str] = Counter()
        self._num_dropped: Counter[str] = Counter()
        self._num_expired = 0
        self._lags: Counter[int] = Counter()
        self._released: list[tuple[RowId, str]] = []

    def put(self, rows: Sequence[Row]) -> int:
        """Take the first rows that there is room for and return how many those are; duplicates take no room."""
        num_taken = 0
        for row in rows:
            is_known = row.row_id in self._entries
            if is_known or row.row_id.sequence <= self._high_water_marks.get(row.row_id.env_key, -1):
                self._count_drop(row.row_id, "duplicate")
            elif len(self._entries) >= self.settings.capacity:
                break
            else:
                self._entries[row.row_id] = Entry(
                    row=dataclasses.replace(row, payloads={}), payloads=dict(row.payloads)
                )
            num_taken += 1
        self._num_produced += num_taken
        return num_taken

    def advance(self, version: int) -> None:
        """Take note of new weights."""
        assert version >= self._version, f"weights went from version {self._version} to {version}; versions only grow"
        self._version = version

    def lease(self, consumer: str, num_rows: int, *, sampler: Sampler = FIFO, ttl_s: float) -> Lease | None:
        """Hand out `num_rows` rows for `ttl_s` seconds, or None while fewer are ready."""
        spec = self.settings.consumer(consumer)
        if num_rows <= 0 or ttl_s <= 0:
            raise ValueError(f"queue: a lease needs rows and time, got num_rows {num_rows} and ttl_s {ttl_s}")
        self._expire()
        self._drop_stale()
        ready = [
            entry
            for entry in self._entries.values()
            if consumer not in entry.done
            and consumer not in entry.leases
            and all(column in entry.payloads for column in spec.needs)
        ]
        # A seed of its own for every lease: what it draws does not depend on who else drew before.
        rng = np.random.default_rng(derive_seed(self.settings.seed, "lease", self._next_lease_id))
        indices = sampler.choose([entry.row for entry in ready], num_rows, version=self._version, rng=rng)
        if not indices:
            return None
        assert len(set(indices)) == len(indices) == num_rows, f"{sampler} chose {indices}, wanted {num_rows} rows"
        lease_id = self._next_lease_id
        self._next_lease_id += 1
        chosen = [ready[index] for index in indices]
        for entry in chosen:
            entry.leases[consumer] = lease_id
        self._leases[lease_id] = LeaseState(
            lease_id=lease_id,
            consumer=consumer,
            version=self._version,
            expires_s=self._clock() + ttl_s,
            row_ids=tuple(entry.row.row_id for entry in chosen),
        )
        return Lease(lease_id=lease_id, version=self._version, rows=tuple(entry.handed_out() for entry in chosen))

    def ack(self, lease_id: int, columns: Mapping[str, Mapping[RowId, Any]] | None = None) -> bool:
        """End a lease with its rows consumed and the consumer's columns filled in; False when it had expired."""
        self._expire()
        lease = self._leases.get(lease_id)
        if lease is None:
            return False
        columns = columns or {}
        wanted = self.settings.consumer(lease.consumer).completes
        if set(columns) != set(wanted) or any(set(column) != set(lease.row_ids) for column in columns.values()):
            raise ValueError(
                f"queue: consumer {lease.consumer!r} fills in {sorted(wanted)} for every row of its lease, got "
                f"{sorted(columns)} for {[len(column) for column in columns.values()]} of {len(lease.row_ids)} rows"
            )
        for entry in self._end(lease):
            entry.payloads.update({name: column[entry.row.row_id] for name, column in columns.items()})
            self._consume(entry, lease)
        return True

    def nack(self, lease_id: int, *, lost: Sequence[RowId] = ()) -> bool:
        """End a lease with its rows back in the queue but those whose payload is `lost`; False when it had expired."""
        self._expire()
        lease = self._leases.get(lease_id)
        if lease is None:
            return False
        for entry in self._give_back(lease):
            if entry.row.row_id in lost:
                self._lose(entry)
        return True

    def drop(self, reason: str) -> int:
        """Throw away everything that nobody trains on or has trained on, and return how many rows that were."""
        self._expire()
        waiting = [row_id for row_id, entry in self._entries.items() if entry.waits]
        for row_id in waiting:
            self._drop(row_id, reason)
        return len(waiting)

    def take_released(self) -> list[tuple[RowId, str]]:
        """Return what left the queue since the last call and why: whoever keeps its payload may let go of it."""
        released, self._released = self._released, []
        return released

    @property
    def has_released(self) -> bool:
        """Return whether there is something to take."""
        return bool(self._released)

    def counts(self) -> QueueCounts:
        """Return the books of training."""
        return QueueCounts(
            produced=self._num_produced,
            consumed=self._num_consumed[TRAIN],
            waiting=sum(entry.waits for entry in self._entries.values()),
            leased=sum(TRAIN in entry.leases for entry in self._entries.values()),
            held=len(self._entries),
            dropped=dict(self._num_dropped),
            num_expired=self._num_expired,
            lags=dict(sorted(self._lags.items())),
            consumed_by=dict(self._num_consumed),
        )

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment trained on from each (worker, env)."""
        return dict(self._high_water_marks)

    def state(self) -> QueueState:
        """Return everything but the payloads, as plain values."""
        now_s = self._clock()
        return QueueState(
            version=self._version,
            next_lease_id=self._next_lease_id,
            rows=tuple(entry.state() for entry in self._entries.values()),
            leases=tuple(lease.after(-now_s) for lease in self._leases.values()),
            high_water_marks=tuple((*key, sequence) for key, sequence in self._high_water_marks.items()),
            num_produced=self._num_produced,
            num_consumed=dict(self._num_consumed),
            num_dropped=dict(self._num_dropped),
            num_expired=self._num_expired,
            lags=dict(self._lags),
            released=tuple(self._released),
        )

    def restore(self, state: QueueState, payloads: Mapping[RowId, Mapping[str, Any]]) -> None:
        """Go on from `state` with the payloads that are still there; a row without its fragment is lost(owner).

        Another column that is gone is to be filled in again by its consumer.
        """
        now_s = self._clock()
        self._version, self._next_lease_id = state.version, state.next_lease_id
        self._leases = {lease.lease_id: lease.after(now_s) for lease in state.leases}
        self._high_water_marks = {(worker, env): sequence for worker, env, sequence in state.high_water_marks}
        self._num_produced, self._num_expired = state.num_produced, state.num_expired
        self._num_consumed, self._num_dropped = Counter(state.num_consumed), Counter(state.num_dropped)
        self._lags, self._released = Counter(state.lags), list(state.released)
        self._entries = {}
        for saved in state.rows:
            there = {**payloads.get(saved.row.row_id, {}), **dict.fromkeys(saved.empty_columns)}
            entry = Entry(
                row=saved.row,
                payloads={name: there[name] for name in saved.columns if name in there},
                leases=dict(saved.leases),
                done=set(saved.done),
            )
            self._entries[saved.row.row_id] = entry
            for name, spec in self.settings.consumers.items():
                if name in entry.done and any(column not in entry.payloads for column in spec.completes):
                    entry.done.remove(name)
                    self._num_consumed[name] -= 1
        for entry in list(self._entries.values()):
            if entry.is_lost:
                self._lose(entry)

    def rewind(self, version: int, high_water_marks: Mapping[EnvKey, int]) -> None:
        """Go back to a checkpoint with a learner that died: what newer weights made belongs to no lineage any more."""
        for lease in [lease for lease in self._leases.values() if lease.consumer == TRAIN]:
            self._give_back(lease)
        for row_id, entry in list(self._entries.items()):
            if TRAIN not in entry.done and entry.row.max_version > version:
                self._drop(row_id, "lineage")
        self._version, self._high_water_marks = version, dict(high_water_marks)

    def _consume(self, entry: Entry, lease: LeaseState) -> None:
        row, consumer = entry.row, lease.consumer
        entry.done.add(consumer)
        self._num_consumed[consumer] += 1
        if consumer == TRAIN:
            lag = row.lag(lease.version)
            assert 0 <= lag <= self.settings.max_staleness, f"{row.row_id} lags by {lag} at version {lease.version}"
            self._lags[lag] += 1
            key = row.row_id.env_key
            self._high_water_marks[key] = max(row.row_id.sequence, self._high_water_marks.get(key, -1))
        is_unreadable = consumer == TRAIN and entry.is_lost
        if is_unreadable or entry.done >= self.settings.consumers.keys():
            del self._entries[row.row_id]
            self._released.append((row.row_id, CONSUMED))

    def _expire(self) -> None:
        """Return the rows of every lease that was held too long."""
        now_s = self._clock()
        for lease in [lease for lease in self._leases.values() if lease.expires_s <= now_s]:
            self._give_back(lease)
            self._num_expired += 1

    def _end(self, lease: LeaseState) -> list[Entry]:
        """End a lease and return those of its rows that are still there."""
        del self._leases[lease.lease_id]
        entries = [self._entries[row_id] for row_id in lease.row_ids if row_id in self._entries]
        # A row that was dropped and handed in again is not the one that was leased.
        entries = [entry for entry in entries if entry.leases.get(lease.consumer) == lease.lease_id]
        for entry in entries:
            del entry.leases[lease.consumer]
        return entries

    def _give_back(self, lease: LeaseState) -> list[Entry]:
        """End a lease that nothing came of, and return those of its rows that others can still be handed."""
        entries = self._end(lease)
        for entry in [entry for entry in entries if entry.is_lost]:
            self._lose(entry)
        return [entry for entry in entries if not entry.is_lost]

    def _drop_stale(self) -> None:
        for row_id, entry in list(self._entries.items()):
            if entry.waits and entry.row.lag(self._version) > self.settings.max_staleness:
                self._drop(row_id, "stale")

    def _lose(self, entry: Entry) -> None:
        """Let go of a row whose fragment is gone: counted, unless training had it before.

        Training may have it in hand: then what becomes of it is known when that lease ends.
        """
        row_id = entry.row.row_id
        entry.payloads.pop(FRAGMENT, None)
        if TRAIN in entry.leases:
            return
        if TRAIN in entry.done:
            del self._entries[row_id]
            self._released.append((row_id, CONSUMED))
        else:
            self._drop(row_id, LOST_OWNER)

    def _drop(self, row_id: RowId, reason: str) -> None:
        del self._entries[row_id]
        self._count_drop(row_id, reason)

    def _count_drop(self, row_id: RowId, reason: str) -> None:
        self._num_dropped[reason] += 1
        self._released.append((row_id, reason))
