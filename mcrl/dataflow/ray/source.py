"""A fragment source whose workers are Ray actors beside the learner."""

import dataclasses
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import ObjectLostError, ObjectStoreFullError, OutOfDiskError, RayActorError

from mcrl.dataflow.contracts import FlowCounts, WorkerFactory
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.queue.rows import FRAGMENT, EnvKey, Row
from mcrl.dataflow.queue.state import QueueSettings
from mcrl.dataflow.ray import runtime
from mcrl.dataflow.ray.actor import RemoteRolloutActor
from mcrl.dataflow.ray.queue_actor import RayQueue
from mcrl.dataflow.weights.params import ParamSnapshot
from mcrl.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.saved_state import SavedState

_LOG = logging.getLogger(__name__)

# A worker that dies or hangs this often without handing anything over is broken, not unlucky.
_MAX_DEATHS_IN_A_ROW = 3
# Share of the object store that fragments may fill: weights and what is being read need the rest.
_STORE_SHARE = 0.6


@dataclass(frozen=True, kw_only=True, slots=True)
class _Collect:
    worker_id: int
    fragment_refs: Sequence[Any]
    begin_s: float


class RaySource:
    """W workers, one collect in flight each, admitted by the staleness gate; the queue is an actor as well.

    Weights travel once a version: one object in the store, read by every worker without a copy. Fragments stay in the
    store until they are leased. A worker that dies, or takes longer than its limit, is replaced; what it had in the
    making is counted lost and made again under the same sequence number.
    """

    def __init__(
        self,
        factory: WorkerFactory,
        limits: FlowLimits,
        start: FlowStart | None = None,
        *,
        num_threads: int = 1,
        fragment_bytes: int = 2**20,
        collect_limit_s: float = 600.0,
    ) -> None:
        """Start the workers. `factory` is sent to them; `fragment_bytes` sizes Ray's object store.

        A collect that takes longer than `collect_limit_s`, the start of its worker included, ends with the worker.
        Raise ValueError where a Ray that runs already has too small a store.
        """
        # What the gate admits, and what the learner holds while the next is made.
        in_store_bytes = (limits.max_fragments + limits.fragments_per_batch) * fragment_bytes
        self._owns_ray = runtime.start(
            num_workers=limits.num_workers, object_store_bytes=int(in_store_bytes / _STORE_SHARE)
        )
        if not self._owns_ray:
            _check_store(in_store_bytes)
        self._limits = limits
        self._flow = Flow(limits, start or FlowStart(), self._start_queue)
        self._factory_ref = ray.put(factory)
        self._num_threads = num_threads
        self._collect_limit_s = collect_limit_s
        self._weights_ref: Any = None
        self._collects: dict[Any, _Collect] = {}  # by their first result, the rows
        self._deaths_in_a_row: Counter[int] = Counter()
        self._actors: dict[int, Any] = {}
        self._start_workers()

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
            taken = self._flow.take(num_fragments, _fetch)
            self._dispatch()
            if taken:
                return taken
            assert self._collects, f"no room for the fragments that {num_fragments} need: {self._flow.counts()}"
            self._receive(timeout_s=1.0)
            self._end_hanging()

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

    def set_num_workers(self, num_workers: int) -> None:
        """Add workers, or retire the last ones: what a retired one has begun it hands in.

        Raise ValueError where a Ray that was not started here has no CPUs for more.
        """
        if num_workers < 1:
            raise ValueError(f"a run needs at least 1 rollout worker, {num_workers} were asked for")
        num_new = num_workers - len(self._actors)
        free = ray.available_resources().get("CPU", 0.0)
        if num_new > free and not self._owns_ray:
            raise ValueError(
                f"{num_workers} rollout workers need {num_new} more CPUs of the Ray cluster, which has {free:g} left; "
                "ask for fewer or add a node"
            )
        self._flow.set_num_workers(num_workers)
        self._start_workers()
        busy = {collect.worker_id for collect in self._collects.values()}
        for worker_id in [worker_id for worker_id in self._actors if worker_id >= num_workers]:
            if worker_id not in busy:
                self._retire(worker_id)
        if self._weights_ref is not None:
            self._dispatch()

    def process_ids(self) -> list[int]:
        """Return the process id of every worker."""
        ids: list[int] = ray.get([actor.process_id.remote() for actor in self._actors.values()])
        return ids

    def queue_process_id(self) -> int:
        """Return the process id of the queue."""
        return self._queue.process_id()

    def close(self) -> None:
        """Kill workers and queue, and stop Ray if it was started here."""
        for worker_id in list(self._actors):
            self._retire(worker_id)
        self._collects = {}
        self._queue.close()
        if self._owns_ray:
            runtime.stop()
            self._owns_ray = False

    # -------------------------------------------------------------------------------------------------- workers

    def _start_queue(self, settings: QueueSettings) -> RayQueue:
        self._queue = RayQueue(settings)
        return self._queue

    def _start_workers(self) -> None:
        for worker_id in range(self._flow.num_workers):
            if worker_id not in self._actors:
                self._actors[worker_id] = self._start_actor(worker_id)

    def _start_actor(self, worker_id: int) -> Any:
        # A Ray of our own has CPUs for the workers it was started for. They are only numbers, to place actors by, and
        # on one machine there is nothing to place.
        is_extra = self._owns_ray and worker_id >= self._limits.num_workers
        return RemoteRolloutActor.options(num_cpus=0 if is_extra else 1).remote(
            self._factory_ref, worker_id, self._flow.next_sequence(worker_id), self._num_threads
        )

    def _retire(self, worker_id: int) -> None:
        ray.kill(self._actors.pop(worker_id))

    def _replace(self, worker_id: int, *, what: str) -> None:
        is_needed = worker_id < self._flow.num_workers
        self._flow.lose(worker_id, is_restarted=is_needed)
        self._retire(worker_id)
        if not is_needed:
            return
        self._deaths_in_a_row[worker_id] += 1
        if self._deaths_in_a_row[worker_id] >= _MAX_DEATHS_IN_A_ROW:
            raise RuntimeError(
                f"rollout worker {worker_id} {what} {_MAX_DEATHS_IN_A_ROW} times without handing anything over; "
                'look for its last words in /tmp/ray/session_latest/logs, or run with rollout.placement "inline"'
            )
        _LOG.warning("rollout worker %d %s; its fragments are lost, a new one takes over", worker_id, what)
        self._actors[worker_id] = self._start_actor(worker_id)

    # ------------------------------------------------------------------------------------------------- collects

    def _dispatch(self) -> None:
        """Begin a collect on every idle worker, as far as the gate admits it."""
        busy = {collect.worker_id for collect in self._collects.values()}
        for worker_id in range(self._flow.num_workers):
            if worker_id not in busy and self._flow.try_start():
                collect = self._actors[worker_id].collect.options(num_returns=1 + self._limits.envs_per_worker)
                rows_ref, *fragment_refs = collect.remote(self._weights_ref)
                self._collects[rows_ref] = _Collect(
                    worker_id=worker_id, fragment_refs=fragment_refs, begin_s=time.monotonic()
                )

    def _receive(self, *, timeout_s: float) -> None:
        """Take in the collects that are done, waiting up to `timeout_s` for the first."""
        if not self._collects:
            return
        pending = list(self._collects)
        done, _ = ray.wait(pending, num_returns=1, timeout=timeout_s, fetch_local=False)
        if done:
            done, _ = ray.wait(pending, num_returns=len(pending), timeout=0, fetch_local=False)
        for ref in done:
            collect = self._collects.pop(ref)
            try:
                rows: Sequence[Row] = ray.get(ref)
            except RayActorError:
                self._replace(collect.worker_id, what="died")
                continue
            except (ObjectStoreFullError, OutOfDiskError):
                raise RuntimeError(
                    f"rollout worker {collect.worker_id} found no room for its fragments in Ray's object store nor on "
                    "the disk behind it; give Ray a larger object_store_memory, or lower rollout.max_staleness, "
                    "ppo.fragments_per_batch or ppo.fragment_steps"
                ) from None
            self._deaths_in_a_row[collect.worker_id] = 0
            payloads = ({FRAGMENT: fragment_ref} for fragment_ref in collect.fragment_refs)
            self._flow.finish_rows(
                collect.worker_id,
                [dataclasses.replace(row, payloads=payload) for row, payload in zip(rows, payloads, strict=True)],
            )
            if collect.worker_id >= self._flow.num_workers:
                self._retire(collect.worker_id)

    def _end_hanging(self) -> None:
        """Replace the workers whose collect takes longer than its limit."""
        latest_s = time.monotonic() - self._collect_limit_s
        for ref, collect in list(self._collects.items()):
            if collect.begin_s < latest_s:
                del self._collects[ref]
                self._replace(collect.worker_id, what=f"took longer than {self._collect_limit_s:g} s")


def _fetch(fragment_refs: Sequence[Any]) -> list[Fragment | None]:
    """Return the fragments out of the object store, None for those that went down with their machine."""
    try:
        return list(ray.get(list(fragment_refs)))
    except (ObjectLostError, RayActorError):
        return [_fetch_one(ref) for ref in fragment_refs]


def _fetch_one(fragment_ref: Any) -> Fragment | None:
    try:
        fragment: Fragment = ray.get(fragment_ref)
    except (ObjectLostError, RayActorError):
        return None
    return fragment


def _check_store(in_store_bytes: int) -> None:
    """Refuse a store that the fragments would fill: Ray would spill them to disk or stop."""
    store_bytes = ray.cluster_resources().get("object_store_memory", 0.0)
    if in_store_bytes > _STORE_SHARE * store_bytes:
        raise ValueError(
            f"Ray's object store has {store_bytes / 2**20:.0f} MiB and the run's fragments may take "
            f"{in_store_bytes / 2**20:.0f}, more than {_STORE_SHARE:.0%} of it; start Ray with a larger "
            "object_store_memory, or lower rollout.max_staleness, ppo.fragments_per_batch or ppo.fragment_steps"
        )
