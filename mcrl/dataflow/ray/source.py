"""A fragment source whose workers are Ray actors beside the learner."""

import dataclasses
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, ObjectLostError, OutOfMemoryError, RayActorError

from mcrl.dataflow.contracts import FlowCounts, WorkerFactory
from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.dataflow.queue.rows import FRAGMENT, EnvKey, Row
from mcrl.dataflow.queue.state import QueueSettings
from mcrl.dataflow.ray import object_store, runtime
from mcrl.dataflow.ray.actor import RemoteRolloutActor
from mcrl.dataflow.ray.queue_actor import RayQueue
from mcrl.dataflow.ray.weight_sync import WeightSync, WithOrders
from mcrl.dataflow.weights.delayed_update import WeightsLateError
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind
from task_synthesis.playing.saved_state import SavedState

_LOG = logging.getLogger(__name__)

# A worker that dies or hangs this often without handing anything over is broken, not unlucky.
_MAX_DEATHS_IN_A_ROW = 3
_LOOK = 'look for its last words in /tmp/ray/session_latest/logs, or run with rollout.placement "inline"'
# Work that is done and small: its result is in the message that said so.
_ANSWER_LIMIT_S = 60.0


@dataclass(kw_only=True, slots=True)
class _Worker:
    actor: Any
    process_id_ref: Any  # there once it is built
    built_s: float | None = None  # when that was first seen


@dataclass(frozen=True, kw_only=True, slots=True)
class _Collect:
    worker_id: int
    fragment_refs: Sequence[Any]
    begin_s: float


class RaySource:
    """W workers, one collect in flight each, admitted by the staleness gate; the queue is an actor as well.

    How weights travel is `make_sync`'s affair, see mcrl.dataflow.ray.weight_sync. Fragments stay in the store until
    they are leased. A worker that dies, or takes longer than its limit, is replaced; what it had in the
    making is counted lost and made again under the same sequence number.
    """

    def __init__(
        self,
        factory: WorkerFactory,
        limits: FlowLimits,
        start: FlowStart | None = None,
        *,
        num_threads: int | None = 1,
        fragment_bytes: int = 2**20,
        collect_limit_s: float = 600.0,
        make_sync: Callable[[], WeightSync] = WithOrders,
    ) -> None:
        """Start the workers. `factory` is sent to them; `fragment_bytes` sizes Ray's object store.

        Each computes with `num_threads` threads; None is for workers that compute nothing.

        A collect that takes longer than `collect_limit_s` ends with its worker, and so does a start that takes longer
        than that or three minutes, whichever is more.
        Raise ValueError where a Ray that runs already has too small a store.
        """
        in_store_bytes = limits.max_stored_fragments * fragment_bytes
        self._owns_ray = runtime.start(
            num_workers=limits.num_workers, object_store_bytes=int(in_store_bytes / object_store.STORE_SHARE)
        )
        if not self._owns_ray:
            object_store.check_room(in_store_bytes)
        self._limits = limits
        self._flow = Flow(limits, start or FlowStart(), self._start_queue)
        self._factory_ref = object_store.put(factory)
        self._num_threads = num_threads
        self._collect_limit_s = collect_limit_s
        self._sync = make_sync()
        self._collects: dict[Any, _Collect] = {}  # by their first result, the rows
        self._deaths_in_a_row: Counter[int] = Counter()
        self._workers: dict[int, _Worker] = {}
        self._start_workers()

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Offer new weights; a collect begun from now on begins with them."""
        self._sync.publish(snapshot)
        self._flow.advance(snapshot.version)
        self._receive(timeout_s=0)
        self._dispatch()

    def take(self, num_fragments: int) -> list[Fragment]:
        """Wait for the next batch. Raise RuntimeError when a worker cannot be kept alive."""
        assert self._sync.order() is not None, "publish weights before taking fragments"
        while True:
            self._receive(timeout_s=0)
            taken = self._flow.take(num_fragments, object_store.fetch)
            self._dispatch()
            if taken:
                return taken
            assert self._collects, f"no room for the fragments that {num_fragments} need: {self._flow.counts()}"
            if not self._receive(timeout_s=1.0):
                self._sync.remind()
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
        num_new = num_workers - len(self._workers)
        if num_new > 0 and not self._owns_ray and num_new > (free := runtime.free_cpus(wanted=num_new)):
            raise ValueError(
                f"{num_workers} rollout workers need {num_new} more CPUs of the Ray cluster, which has {free:g} left; "
                "ask for fewer or add a node"
            )
        self._flow.set_num_workers(num_workers)
        self._start_workers()
        busy = {collect.worker_id for collect in self._collects.values()}
        for worker_id in [worker_id for worker_id in self._workers if worker_id >= num_workers]:
            if worker_id not in busy:
                self._retire(worker_id)
        if self._sync.order() is not None:
            self._dispatch()

    def process_ids(self) -> list[int]:
        """Return the process id of every worker."""
        refs = [worker.process_id_ref for worker in self._workers.values()]
        ids: list[int] = ray.get(refs, timeout=object_store.LIMIT_S)
        return ids

    def queue_process_id(self) -> int:
        """Return the process id of the queue."""
        return self._queue.process_id()

    def close(self) -> None:
        """Kill workers and queue, and stop Ray if it was started here."""
        for worker_id in list(self._workers):
            self._retire(worker_id)
        self._collects = {}
        self._sync.close()
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
            if worker_id not in self._workers:
                self._workers[worker_id] = self._start_worker(worker_id)

    def _start_worker(self, worker_id: int) -> _Worker:
        # A Ray of our own has CPUs for the workers it was started for. They are only numbers, to place actors by, and
        # on one machine there is nothing to place.
        is_extra = self._owns_ray and worker_id >= self._limits.num_workers
        actor: Any = RemoteRolloutActor.options(num_cpus=0 if is_extra else 1).remote(
            self._factory_ref, worker_id, self._flow.next_sequence(worker_id), self._num_threads, self._sync.board
        )
        return _Worker(actor=actor, process_id_ref=actor.process_id.remote())

    def _retire(self, worker_id: int) -> None:
        ray.kill(self._workers.pop(worker_id).actor)

    def _replace(self, worker_id: int, *, what: str, fix: str = _LOOK) -> None:
        is_needed = worker_id < self._flow.num_workers
        self._flow.lose(worker_id, is_restarted=is_needed)
        self._retire(worker_id)
        if not is_needed:
            return
        self._deaths_in_a_row[worker_id] += 1
        if self._deaths_in_a_row[worker_id] >= _MAX_DEATHS_IN_A_ROW:
            raise RuntimeError(
                f"rollout worker {worker_id} {what} {_MAX_DEATHS_IN_A_ROW} times without handing anything over; {fix}"
            )
        _LOG.warning("rollout worker %d %s; its fragments are lost, a new one takes over", worker_id, what)
        self._workers[worker_id] = self._start_worker(worker_id)

    # ------------------------------------------------------------------------------------------------- collects

    def _dispatch(self) -> None:
        """Begin a collect on every idle worker, as far as the gate admits it."""
        busy = {collect.worker_id for collect in self._collects.values()}
        for worker_id in range(self._flow.num_workers):
            if worker_id not in busy and self._flow.try_start():
                collect = self._workers[worker_id].actor.collect.options(num_returns=1 + self._limits.envs_per_worker)
                rows_ref, *fragment_refs = collect.remote(self._sync.order())
                self._collects[rows_ref] = _Collect(
                    worker_id=worker_id, fragment_refs=fragment_refs, begin_s=time.monotonic()
                )

    def _receive(self, *, timeout_s: float) -> bool:
        """Take in the collects that are done, waiting up to `timeout_s` for the first; say whether there were any."""
        if not self._collects:
            return False
        pending = list(self._collects)
        done, _ = ray.wait(pending, num_returns=1, timeout=timeout_s, fetch_local=False)
        if done:
            done, _ = ray.wait(pending, num_returns=len(pending), timeout=0, fetch_local=False)
        for ref in done:
            collect = self._collects.pop(ref)
            try:
                rows: Sequence[Row] = ray.get(ref, timeout=_ANSWER_LIMIT_S)
            except (RayActorError, ObjectLostError, GetTimeoutError):
                self._replace(collect.worker_id, what="died")
                continue
            except OutOfMemoryError:  # to Ray no RayActorError
                self._replace(
                    collect.worker_id,
                    what="was ended by Ray, since the memory of its machine was all but full,",
                    fix="lower rollout.num_workers or rollout.envs_per_worker, or use machines with more",
                )
                continue
            except WeightsLateError:
                self._replace(collect.worker_id, what="heard nothing of new weights")
                continue
            except object_store.FULL:
                # Made again by a new worker: this one believes to have handed them over.
                self._replace(
                    collect.worker_id,
                    what="found no room for its fragments in Ray's object store nor on the disk behind it",
                    fix="give Ray a larger object_store_memory, or lower rollout.max_staleness, "
                    "ppo.fragments_per_batch or ppo.fragment_steps",
                )
                continue
            self._deaths_in_a_row[collect.worker_id] = 0
            payloads = ({FRAGMENT: fragment_ref} for fragment_ref in collect.fragment_refs)
            self._flow.finish_rows(
                collect.worker_id,
                [dataclasses.replace(row, payloads=payload) for row, payload in zip(rows, payloads, strict=True)],
            )
            if collect.worker_id >= self._flow.num_workers:
                self._retire(collect.worker_id)
        return bool(done)

    def _end_hanging(self) -> None:
        """Replace the workers whose collect, or whose start, takes longer than its limit."""
        now_s = time.monotonic()
        for ref, collect in list(self._collects.items()):
            worker, limit_s, what = self._workers[collect.worker_id], self._collect_limit_s, "took longer than"
            if worker.built_s is None and ray.wait([worker.process_id_ref], timeout=0)[0]:
                worker.built_s = now_s
            if worker.built_s is None:
                limit_s, what = max(limit_s, object_store.LIMIT_S), "did not start within"
            if now_s - max(collect.begin_s, worker.built_s or 0.0) <= limit_s:
                continue
            if worker.built_s is None and self._is_short_of_cpus():
                # Another one in its stead would find no place either; it begins when a node comes back.
                _LOG.warning("rollout worker %d waits for a CPU; add a node to the cluster", collect.worker_id)
                self._collects[ref] = dataclasses.replace(collect, begin_s=now_s)
                continue
            del self._collects[ref]
            self._replace(collect.worker_id, what=f"{what} {limit_s:g} s")

    def _is_short_of_cpus(self) -> bool:
        """Tell whether a cluster that is not ours lost nodes, and has CPUs for some of the workers."""
        return not self._owns_ray and 1 <= ray.cluster_resources().get("CPU", 0.0) < self._flow.num_workers
