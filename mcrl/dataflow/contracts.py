"""The seams of the dataflow: what can be stepped, what makes fragments, what collects them for the learner.

Who fulfils a seam has torch or numba if it computes; who only passes fragments on has neither.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mcrl.dataflow.queue.rows import EnvKey, Row, RowId
from mcrl.dataflow.queue.samplers import FIFO, Sampler
from mcrl.dataflow.queue.state import Lease, QueueCounts, QueueState
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.playing.saved_state import SavedState

if TYPE_CHECKING:
    from mcrl.dataflow.weights.delayed_update import DelayedUpdate
    from mcrl.dataflow.weights.param_store import ParamReader
    from task_synthesis.playing.task_env import Observation, Transition
    from worlds.types import ActionBatch


class LockstepEnv(Protocol):
    """E environments stepped together; task_synthesis.playing.task_env.TaskEnv is the one of the product."""

    num_envs: int

    def reset(self) -> "Observation":
        """Begin an episode in every env."""
        ...

    def step(self, actions: "ActionBatch") -> "Transition":
        """Let every env take one decision; an env whose episode ends begins the next one."""
        ...

    def close(self) -> None:
        """End the engines behind them: nothing else does. May be called again, and while a step hangs."""
        ...


@runtime_checkable
class SavableEnv(LockstepEnv, Protocol):
    """Environments whose present fits into a file."""

    def saved(self) -> SavedState | None:
        """Return the present of all envs; None where this engine cannot be saved."""
        ...

    def load_saved(self, state: SavedState) -> "Observation":
        """Bring it back, in place of `reset`; ValueError says what does not fit."""
        ...


class FragmentWorker(Protocol):
    """Makes fragments; mcrl.rollout.rollout_worker.RolloutWorker is the one of the product."""

    num_envs: int

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from now on."""
        ...

    def collect(self) -> list[Fragment]:
        """Return the next fragment of every env, made with the weights loaded last."""
        ...

    def close(self) -> None:
        """End the engines it plays in. May be called again."""
        ...


@runtime_checkable
class SavableWorker(FragmentWorker, Protocol):
    """A worker whose present between two collects fits into a file."""

    def saved(self) -> SavedState | None:
        """Return the present but for the weights; None where it cannot be saved."""
        ...

    def load_saved(self, state: SavedState) -> None:
        """Go on as a worker made alike would have after `saved`; ValueError says what does not fit."""
        ...


@runtime_checkable
class FollowingWorker(FragmentWorker, Protocol):
    """A worker that can take new weights in between two ticks of a fragment."""

    def follow(self, reader: "ParamReader") -> "DelayedUpdate":
        """Take weights from `reader` between ticks, as they come; `load` is not called any more.

        Between two fragments the caller may let what is returned catch up; nobody else swaps.
        """
        ...


# Builds worker `worker_id`, whose first fragments get sequence number `first_sequence`.
WorkerFactory = Callable[[int, int], FragmentWorker]


class FragmentQueue(Protocol):
    """Rows between those who make fragments and those who read them. Every queue passes the same conformance tests.

    A row is ready for a consumer when the columns that it needs are filled in; consumers know nothing of each other.
    Of training, produced == consumed + sum(dropped) + waiting + leased after every call, and no fragment is trained on
    twice: what is not above the high-water mark of its (worker, env) is dropped as a duplicate. Nothing that lags by
    more than `max_staleness` updates is trained on.
    """

    def put(self, rows: Sequence[Row]) -> int:
        """Take the first rows that there is room for and return how many those are; duplicates take no room."""
        ...

    def advance(self, version: int) -> None:
        """Take note of new weights; versions only grow."""
        ...

    def lease(self, consumer: str, num_rows: int, *, sampler: Sampler = FIFO, ttl_s: float) -> Lease | None:
        """Hand out `num_rows` rows for `ttl_s` seconds, or None while fewer are ready.

        After that time they are back in the queue. Raise ValueError for a consumer that there is not.
        """
        ...

    def ack(self, lease_id: int, columns: Mapping[str, Mapping[RowId, Any]] | None = None) -> bool:
        """End a lease with its rows consumed and the consumer's columns filled in; False when it had expired.

        A batch whose ack returned False must not be learned from: somebody else may have it by now.
        """
        ...

    def nack(self, lease_id: int, *, lost: Sequence[RowId] = ()) -> bool:
        """End a lease with its rows back in the queue but those whose payload is `lost`; False when it had expired.

        What training has in hand meanwhile is lost only if training gives it back.
        """
        ...

    def drop(self, reason: str) -> int:
        """Throw away everything that waits for training and return how many rows that were."""
        ...

    def take_released(self) -> list[tuple[RowId, str]]:
        """Return what left the queue since the last call and why: whoever keeps its payload may let go of it."""
        ...

    def counts(self) -> QueueCounts:
        """Return the books."""
        ...

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment trained on from each (worker, env)."""
        ...

    def state(self) -> QueueState:
        """Return everything but the payloads, as plain values."""
        ...

    def restore(self, state: QueueState, payloads: Mapping[RowId, Mapping[str, Any]]) -> None:
        """Go on from `state` with the payloads that are still there; a row without its fragment is lost(owner).

        One that training has in hand is lost only if training gives it back.
        """
        ...

    def rewind(self, version: int, high_water_marks: Mapping[EnvKey, int]) -> None:
        """Go back to a checkpoint with a learner that died: what newer weights made belongs to no lineage any more."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowCounts:
    """The books of a source: started == produced + lost + running; produced as in QueueCounts."""

    started: int
    produced: int
    consumed: int
    waiting: int
    running: int
    dropped: dict[str, int]  # by reason
    lost: int  # in the making when their worker died
    num_restarts: int  # workers started again
    num_queue_restarts: int = 0  # queues that took over from one that died
    num_workers: int = 1  # that collect now
    leased: int = 0  # handed out and not yet accounted for


class FragmentSource(Protocol):
    """Where the learner gets its batches. Every source passes the same conformance tests."""

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Hand new weights to the workers; what they begin from now on is made with them."""
        ...

    def take(self, num_fragments: int) -> list[Fragment]:
        """Wait for that many fragments and return them, none staler than allowed."""
        ...

    def counts(self) -> FlowCounts:
        """Return the books."""
        ...

    def take_refused(self) -> Counter[WorkKind]:
        """Return the steps that were begun and will reach no batch, by kind of work, since the last call."""
        ...

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment consumed from each (worker, env), for checkpoints."""
        ...

    def saved(self) -> SavedState | None:
        """Return what the next batches follow from besides the weights; None where a resume cannot be exact."""
        ...

    def close(self) -> None:
        """End all workers. Closing twice is fine."""
        ...


@runtime_checkable
class ElasticSource(FragmentSource, Protocol):
    """A source whose workers come and go while it is used."""

    def set_num_workers(self, num_workers: int) -> None:
        """Add workers or retire the last ones. Raise ValueError where there is no room for so many."""
        ...
