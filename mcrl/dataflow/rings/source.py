"""A fragment source whose ring goes on acting, in a thread of the learner's process, while the learner learns."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from mcrl.dataflow.contracts import FlowCounts
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.queue.rows import EnvKey
from mcrl.dataflow.rings.ring import EnvRing
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.playing.saved_state import SavedState

# How long the ring is left alone at most before new weights are taken up or an end is noticed.
_POLL_S = 0.1

# A step that is under way is waited for when the source is closed, but not for ever.
_CLOSE_LIMIT_S = 30.0

# Builds the ring; the argument holds the sequence number of each group's first fragments.
RingFactory = Callable[[Sequence[int]], EnvRing]


class RingSource:
    """Each group of the ring is a worker of the books: admitted, counted and numbered by itself.

    A group that has handed its fragments over goes on as soon as the gate admits it. With `max_staleness` 0 that is
    when new weights are there: all groups then wait for the slowest, a barrier at every fragment.
    """

    def __init__(self, make_ring: RingFactory, limits: FlowLimits, start: FlowStart | None = None) -> None:
        """`limits` counts groups as workers: num_workers groups of envs_per_worker envs each."""
        self._limits = limits
        self._flow = Flow(limits, start or FlowStart())
        self._ring = make_ring([self._flow.next_sequence(group) for group in range(limits.num_workers)])
        # Guards all that follows and the flow; the ring itself belongs to the thread.
        self._changed = threading.Condition()
        self._snapshot: ParamSnapshot | None = None
        self._has_weights = False  # nothing acts before the first are there
        self._error: BaseException | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="ring", daemon=True)
        self._thread.start()

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Hand new weights to the ring, which takes them up between two steps."""
        with self._changed:
            self._snapshot = snapshot
            self._flow.advance(snapshot.version)
            self._changed.notify_all()

    def take(self, num_fragments: int) -> list[Fragment]:
        """Wait for the next batch. Raise what the ring raised when an engine cannot be kept alive."""
        with self._changed:
            while True:
                if self._error is not None:
                    raise self._error
                taken = self._flow.take(num_fragments)
                if taken:
                    self._changed.notify_all()
                    return taken
                self._changed.notify_all()  # what was too stale made room at the gate
                self._changed.wait()

    def counts(self) -> FlowCounts:
        """Return the books."""
        with self._changed:
            return self._flow.counts()

    def take_refused(self) -> Counter[WorkKind]:
        """Return the steps that were begun and will reach no batch, by kind of work, since the last call."""
        with self._changed:
            return self._flow.take_refused()

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment consumed from each (group, env of the group)."""
        with self._changed:
            return self._flow.queue.high_water_marks()

    def saved(self) -> SavedState | None:
        """Return None: engines are in the middle of their steps, and the sequence marks are all that is kept."""
        return None

    def close(self) -> None:
        """End the ring and its engines. Closing twice is fine."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join(_CLOSE_LIMIT_S)
        self._ring.close()

    def _run(self) -> None:
        try:
            while self._admit():
                fragments = self._ring.poll(_POLL_S)
                if fragments:
                    self._hand_over(fragments)
        except BaseException as error:  # raised again where batches are taken
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _admit(self) -> bool:
        """Load the newest weights and begin what the gate admits; say whether to go on. Wait while nothing may run."""
        with self._changed:
            while True:
                if self._is_closed:
                    return False
                snapshot, self._snapshot = self._snapshot, None
                if snapshot is not None:
                    self._ring.load(snapshot)
                    self._has_weights = True
                while self._has_weights and self._ring.num_idle and self._flow.try_start():
                    self._ring.start()
                if self._ring.num_idle < self._limits.num_workers:
                    return True
                self._changed.wait()

    def _hand_over(self, fragments: Sequence[Fragment]) -> None:
        """Give each group's fragments to the queue under the group's own name."""
        by_group: dict[int, list[Fragment]] = {}
        for fragment in fragments:
            group, fragment.env_index = divmod(fragment.env_index, self._limits.envs_per_worker)
            fragment.worker_id = group
            by_group.setdefault(group, []).append(fragment)
        with self._changed:
            for group, of_group in by_group.items():
                self._flow.finish(group, of_group)
            self._changed.notify_all()
