"""A fragment queue whose rows live in another process, for the one who owns the payloads; see queue_server."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mcrl.dataflow.queue.rows import FRAGMENT, EnvKey, Row, RowId
from mcrl.dataflow.queue.samplers import FIFO, Sampler
from mcrl.dataflow.queue.server import Answer, Call, Recovery
from mcrl.dataflow.queue.state import Lease, QueueCounts, QueueState

# Calls after which the journal begins again from a new state: replaying one takes some ten microseconds.
_MAX_CALLS = 500


class ServerGoneError(Exception):
    """Raised when the server died or was given up, before it answered; another one takes its place."""


class Transport(Protocol):
    """How calls reach the server. Each returns, or raises ServerGoneError, within a bound of its own."""

    def owner_call(self, number: int, call: Call) -> Answer:
        """Have QueueServer.owner_call made."""
        ...

    def recover(self, recovery: Recovery) -> None:
        """Have QueueServer.recover made."""
        ...


class JournalledQueue:
    """mcrl.dataflow.contracts.FragmentQueue over a server that may die: every call takes effect exactly once."""

    def __init__(self, transport: Transport) -> None:
        """Begin empty. `transport` decides how long a dead server is waited for, and raises when it gives up."""
        self.num_recoveries = 0  # of servers that died; the first one's start is none
        self._transport = transport
        self._number = 0
        self._state, self._state_s = QueueState(), 0.0
        self._calls: list[Call] = []
        self._payloads: dict[RowId, dict[str, Any]] = {}
        self._num_puts: Counter[RowId] = Counter()  # of rows not released yet; a duplicate counts like any other
        self._has_released = False

    def put(self, rows: Sequence[Row]) -> int:
        """Take the first rows that there is room for and return how many those are; duplicates take no room."""
        num_taken: int = self._call("put", rows)
        for row in rows[:num_taken]:
            # A row that was lost is known here without its fragment, and may come again.
            self._payloads[row.row_id] = dict(row.payloads) | self._payloads.get(row.row_id, {})
            self._num_puts[row.row_id] += 1
        return num_taken

    def advance(self, version: int) -> None:
        """Take note of new weights."""
        self._call("advance", version)

    def lease(self, consumer: str, num_rows: int, *, sampler: Sampler = FIFO, ttl_s: float) -> Lease | None:
        """Hand out `num_rows` rows for `ttl_s` seconds, or None while fewer are ready."""
        lease: Lease | None = self._call("lease", consumer, num_rows, sampler=sampler, ttl_s=ttl_s)
        return lease

    def ack(self, lease_id: int, columns: Mapping[str, Mapping[RowId, Any]] | None = None) -> bool:
        """End a lease with its rows consumed and the consumer's columns filled in; False when it had expired."""
        is_consumed: bool = self._call("ack", lease_id, columns)
        if is_consumed:
            for name, column in (columns or {}).items():
                for row_id, payload in column.items():
                    if row_id in self._payloads:
                        self._payloads[row_id][name] = payload
        return is_consumed

    def nack(self, lease_id: int, *, lost: Sequence[RowId] = ()) -> bool:
        """End a lease with its rows back in the queue but those whose payload is `lost`; False when it had expired."""
        is_ended: bool = self._call("nack", lease_id, lost=lost)
        if is_ended:
            for row_id in lost:  # it may be handed in again before it is released
                self._payloads.get(row_id, {}).pop(FRAGMENT, None)
        return is_ended

    def drop(self, reason: str) -> int:
        """Throw away everything that waits for training and return how many rows that were."""
        num_dropped: int = self._call("drop", reason)
        return num_dropped

    def take_released(self) -> list[tuple[RowId, str]]:
        """Return what left the queue since the last call and why; its payloads are let go of here."""
        if not self._has_released:
            return []
        released: list[tuple[RowId, str]] = self._call("take_released")
        for row_id, _ in released:
            self._num_puts[row_id] -= 1
            if self._num_puts[row_id] <= 0:
                del self._num_puts[row_id]
                self._payloads.pop(row_id, None)
        return released

    def counts(self) -> QueueCounts:
        """Return the books."""
        counts: QueueCounts = self._call("counts")
        return dataclasses.replace(counts, num_recoveries=self.num_recoveries)

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment trained on from each (worker, env)."""
        marks: dict[EnvKey, int] = self._call("high_water_marks")
        return marks

    def state(self) -> QueueState:
        """Return everything but the payloads. The journal begins again from there."""
        state: QueueState = self._call("state")
        return state

    def restore(self, state: QueueState, payloads: Mapping[RowId, Mapping[str, Any]]) -> None:
        """Go on from `state` with the payloads that are still there; a row without its fragment is lost(owner)."""
        self._payloads = {saved.row.row_id: dict(payloads.get(saved.row.row_id, {})) for saved in state.rows}
        # A row may wait here and, as a duplicate of itself, among what is to be released.
        self._num_puts = Counter(saved.row.row_id for saved in state.rows)
        self._num_puts.update(row_id for row_id, _ in state.released)
        self._call("restore", state, self._payloads)
        self.state()  # a journal cannot say which payloads were there

    def rewind(self, version: int, high_water_marks: Mapping[EnvKey, int]) -> None:
        """Go back to a checkpoint with a learner that died."""
        self._call("rewind", version, high_water_marks)

    def _call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if len(self._calls) >= _MAX_CALLS and method != "state":
            self.state()
        self._number += 1
        answer = self._answer(Call(method=method, args=args, kwargs=kwargs))
        self._has_released = answer.has_released
        if method == "state":
            self._state, self._state_s, self._calls = answer.result, answer.time_s, []
        else:
            self._calls.extend(answer.calls)
        if answer.error is not None:
            raise ValueError(answer.error)
        return answer.result

    def _answer(self, call: Call) -> Answer:
        while True:
            try:
                answer = self._transport.owner_call(self._number, call)
                if answer.is_ready:
                    return answer
                self._transport.recover(
                    Recovery(state=self._state, time_s=self._state_s, calls=tuple(self._calls), payloads=self._payloads)
                )
                self.num_recoveries += self._number > 1
            except ServerGoneError:
                continue  # the transport knows when to give up
