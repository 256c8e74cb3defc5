"""The seams of the dataflow: what can be stepped, what makes fragments, what collects them for the learner."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from mcrl.dataflow.params import ParamSnapshot
from mcrl.dataflow.queue import EnvKey
from mcrl.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.saved_state import SavedState
from task_synthesis.task_env import Observation, Transition
from worlds.types import ActionBatch


class LockstepEnv(Protocol):
    """E environments stepped together; task_synthesis.task_env.TaskEnv is the one of the product."""

    num_envs: int

    def reset(self) -> Observation:
        """Begin an episode in every env."""
        ...

    def step(self, actions: ActionBatch) -> Transition:
        """Let every env take one decision; an env whose episode ends begins the next one."""
        ...


@runtime_checkable
class SavableEnv(LockstepEnv, Protocol):
    """Environments whose present fits into a file."""

    def saved(self) -> SavedState | None:
        """Return the present of all envs; None where this engine cannot be saved."""
        ...

    def load_saved(self, state: SavedState) -> Observation:
        """Bring it back, in place of `reset`; ValueError says what does not fit."""
        ...


class FragmentWorker(Protocol):
    """Makes fragments; mcrl.rollout.RolloutWorker is the one of the product."""

    num_envs: int

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from now on."""
        ...

    def collect(self) -> list[Fragment]:
        """Return the next fragment of every env, made with the weights loaded last."""
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


# Builds worker `worker_id`, whose first fragments get sequence number `first_sequence`.
WorkerFactory = Callable[[int, int], FragmentWorker]


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowCounts:
    """The books of a source: started == produced + lost + running; produced == consumed + sum(dropped) + waiting."""

    started: int
    produced: int
    consumed: int
    waiting: int
    running: int
    dropped: dict[str, int]  # by reason
    lost: int  # in the making when their worker died
    num_restarts: int  # workers started again


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
