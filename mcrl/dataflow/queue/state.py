"""What a fragment queue is told, what it hands out, and what of it survives a restart. Plain values throughout."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from mcrl.dataflow.queue.rows import FRAGMENT, Row, RowId

# The consumer that the books are about.
TRAIN = "train"

# Why a row left the queue: trained on and read by everybody else, or its payload went down with whoever kept it.
CONSUMED = "consumed"
LOST_OWNER = "lost(owner)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumer:
    """One of those who read every row, each for itself."""

    needs: tuple[str, ...] = (FRAGMENT,)
    """Columns without which a row is not ready for it."""
    completes: tuple[str, ...] = ()
    """Columns that it fills in when it acks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueSettings:
    """How a queue is set up."""

    capacity: int
    """Rows that may be held at once, consumed by some consumers or by none."""
    max_staleness: int
    """Updates by which weights that acted may lag behind those that learn."""
    consumers: Mapping[str, Consumer] = field(default_factory=lambda: {TRAIN: Consumer()})
    """By name. A row stays until all of them consumed it."""
    seed: int = 0
    """Of what samplers draw."""

    def __post_init__(self) -> None:
        if self.capacity <= 0:
            raise ValueError(f"queue capacity must be positive, got {self.capacity}")
        if self.max_staleness < 0:
            raise ValueError(f"queue max_staleness must not be negative, got {self.max_staleness}")
        if TRAIN not in self.consumers:
            raise ValueError(f"queue consumers must include {TRAIN!r}, got {sorted(self.consumers)}")
        filled = [FRAGMENT, *(column for consumer in self.consumers.values() for column in consumer.completes)]
        if len(set(filled)) < len(filled):
            raise ValueError(f"queue columns are filled in by one each, got {sorted(filled)}")
        for name, consumer in self.consumers.items():
            missing = sorted(set(consumer.needs) - set(filled))
            if missing:
                raise ValueError(f"queue consumer {name!r} needs {missing}, which nobody fills in; there is {filled}")
        waiting = dict(self.consumers)
        there = {FRAGMENT}
        while ready := [name for name, consumer in waiting.items() if there.issuperset(consumer.needs)]:
            there.update(*(waiting.pop(name).completes for name in ready))
        if waiting:
            raise ValueError(f"queue consumers {sorted(waiting)} wait for each other's columns; break the circle")

    def consumer(self, name: str) -> Consumer:
        """Return a consumer, or raise ValueError naming those there are."""
        if name not in self.consumers:
            raise ValueError(f"queue has no consumer {name!r}; there are {', '.join(sorted(self.consumers))}")
        return self.consumers[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """Rows handed out to one consumer until it acks, nacks or lets the time run out."""

    lease_id: int
    version: int
    """Of the newest weights when it was given."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueCounts:
    """The books: produced == consumed + sum(dropped) + waiting + leased after every call."""

    produced: int
    consumed: int  # by training
    waiting: int  # for training
    leased: int  # to training
    held: int  # rows there are, those included that only other consumers still need
    dropped: dict[str, int]  # by reason
    num_expired: int  # leases that ran out, of any consumer
    lags: dict[int, int]  # rows trained on, by how many updates their weights were behind
    consumed_by: dict[str, int]  # rows by consumer
    num_recoveries: int = 0  # servers that took over from one that died


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseState:
    """A lease as the queue keeps it."""

    lease_id: int
    consumer: str
    version: int
    expires_s: float  # by the queue's clock; in a QueueState from the moment it was made
    row_ids: tuple[RowId, ...]

    def after(self, offset_s: float) -> "LeaseState":
        """Return it on a clock that shows `offset_s` more."""
        return dataclasses.replace(self, expires_s=self.expires_s + offset_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowState:
    """A row as the queue keeps it, without payloads."""

    row: Row
    columns: tuple[str, ...]  # filled in
    empty_columns: tuple[str, ...]  # those of them without a payload: marks
    leases: tuple[tuple[str, int], ...]  # (consumer, lease id)
    done: tuple[str, ...]  # consumers


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueState:
    """A queue between two calls, without payloads: some hundred bytes a row."""

    version: int = 0
    next_lease_id: int = 0
    rows: tuple[RowState, ...] = ()
    leases: tuple[LeaseState, ...] = ()
    high_water_marks: tuple[tuple[int, int, int], ...] = ()  # (worker, env, last sequence number trained on)
    num_produced: int = 0
    num_consumed: Mapping[str, int] = field(default_factory=dict)  # by consumer
    num_dropped: Mapping[str, int] = field(default_factory=dict)  # by reason
    num_expired: int = 0
    lags: Mapping[int, int] = field(default_factory=dict)
    released: tuple[tuple[RowId, str], ...] = ()  # not taken yet
