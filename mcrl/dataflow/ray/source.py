"""A fragment source whose workers are Ray actors beside the learner."""

import logging
from collections import Counter
from typing import Any

import ray
from ray.exceptions import RayActorError

from mcrl.dataflow.contracts import FlowCounts, WorkerFactory
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.params import ParamSnapshot
from mcrl.dataflow.queue import EnvKey
from mcrl.dataflow.ray import runtime
from mcrl.dataflow.ray.actor import RemoteRolloutActor
from mcrl.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.saved_state import SavedState

_LOG = logging.getLogger(__name__)

# A worker that dies this often without handing anything over is broken, not unlucky.
_MAX_DEATHS_IN_A_ROW = 3


class RaySource:
    """W workers, one collect in flight each, admitted by the staleness gate.

    Weights travel once a version: one object in the store, read by every worker without a copy. A worker that dies
    is replaced; what it had in the making is counted lost and made again under the same sequence number.
    """

    def __init__(
        self,
        factory: WorkerFactory,
        limits: FlowLimits,
        start: FlowStart | None = None,
        *,
        num_threads: int = 1,
        fragment_bytes: int = 2**20,
    ) -> None:
        """Start the workers. `factory` is sent to them; `fragment_bytes` sizes Ray's object store."""
        self._flow = Flow(limits, start or FlowStart())
        in_store = (limits.max_staleness + 1) * limits.fragments_per_batch + self._flow.gate.max_concurrent
        # Fragments may fill 60 % of the store; weights and what is being read need the rest.
        self._owns_ray = runtime.start(
            num_workers=limits.num_workers, object_store_bytes=int(in_store * fragment_bytes / 0.6)
        )
        self._factory_ref = ray.put(factory)
        self._num_threads = num_threads
        self._weights_ref: Any = None
        self._worker_of: dict[Any, int] = {}  # result of a collect in flight -> worker id
        self._deaths_in_a_row = [0] * limits.num_workers
        self._actors: list[Any] = [self._start_actor(worker_id) for worker_id in range(limits.num_workers)]

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Put new weights into the object store; a collect begun from now on uses them."""
        self._weights_ref = ray.put(snapshot)
        self._flow.advance(snapshot.version)
        self._receive(timeout_s=0)
        self._dispatch()

    def take(self, num_fragments: int) -> list[Fragment]:
        """Wait for the next batch. Raise RuntimeError when a worker cannot be kept alive."""
        assert self._weights_ref is not None, "publish weights before taking fragments"
        while True:
            self._receive(timeout_s=0)
            taken = self._flow.queue.take(num_fragments, version=self._flow.gate.version)
            self._dispatch()
            if taken:
                return taken
            assert self._worker_of, f"no room for the fragments that {num_fragments} need: {self._flow.counts()}"
            self._receive(timeout_s=1.0)

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
        """Return None: workers are in the middle of their fragments, and the sequence marks are all that is kept."""
        return None

    def process_ids(self) -> list[int]:
        """Return the process id of every worker."""
        ids: list[int] = ray.get([actor.process_id.remote() for actor in self._actors])
        return ids

    def close(self) -> None:
        """Kill the workers, and stop Ray if it was started here."""
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []
        self._worker_of = {}
        if self._owns_ray:
            runtime.stop()
            self._owns_ray = False

    def _start_actor(self, worker_id: int) -> Any:
        return RemoteRolloutActor.remote(
            self._factory_ref, worker_id, self._flow.next_sequence(worker_id), self._num_threads
        )

    def _dispatch(self) -> None:
        """Begin a collect on every idle worker, as far as the gate admits it."""
        busy = set(self._worker_of.values())
        for worker_id, actor in enumerate(self._actors):
            if worker_id not in busy and self._flow.try_start():
                self._worker_of[actor.collect.remote(self._weights_ref)] = worker_id

    def _receive(self, *, timeout_s: float) -> None:
        """Take in the collects that are done, waiting up to `timeout_s` for the first."""
        if not self._worker_of:
            return
        pending = list(self._worker_of)
        done, _ = ray.wait(pending, num_returns=1, timeout=timeout_s)
        if done:
            done, _ = ray.wait(pending, num_returns=len(pending), timeout=0)
        for ref in done:
            worker_id = self._worker_of.pop(ref)
            try:
                fragments = ray.get(ref)
            except RayActorError:
                self._replace(worker_id)
                continue
            self._deaths_in_a_row[worker_id] = 0
            self._flow.finish(worker_id, fragments)

    def _replace(self, worker_id: int) -> None:
        self._flow.lose(worker_id)
        self._deaths_in_a_row[worker_id] += 1
        if self._deaths_in_a_row[worker_id] >= _MAX_DEATHS_IN_A_ROW:
            raise RuntimeError(
                f"rollout worker {worker_id} died {_MAX_DEATHS_IN_A_ROW} times without handing anything over; "
                'look for its last words in /tmp/ray/session_latest/logs, or run with rollout.placement "inline"'
            )
        _LOG.warning("rollout worker %d died; its fragments are lost, a new one takes over", worker_id)
        self._actors[worker_id] = self._start_actor(worker_id)
