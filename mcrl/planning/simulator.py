"""A run as a discrete-event simulation: which throughput a placement would have, and what would hold it back."""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import simpy

from mcrl.dataflow.staleness import StalenessGate
from mcrl.planning.components import ComponentTimes
from mcrl.planning.shared_cores import SharedCores
from mcrl.seeding import derive_seed

PlacementKind = Literal["inline", "colocated", "split"]
Bottleneck = Literal["learner", "workers", "transfer", "cores", "staleness"]
_Process = Generator[simpy.Event, Any, None]

# An idle share below this is rounding and jitter, not waiting.
_BUSY_IDLE_SHARE = 0.1
_WORKERS_PER_NODE = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """What is to be predicted."""

    placement: PlacementKind
    num_workers: int
    max_staleness: int
    num_cores: float | None
    """Shared by learner and workers; None gives each a core of its own, as in a cluster."""
    batch_factor: int = 1
    """Batches are this many times the measured one, and so is the time of an update."""
    num_learners: int = 1
    """Learner processes that share an update evenly."""
    network_bytes_per_s: float | None = None
    """Into the learner's machine; None where all are on one machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """What a deployment would do."""

    deployment: Deployment
    steps_per_s: float
    learner_idle: float
    """Share of the time in which the learner waits."""
    workers_idle: float
    """Mean over the workers."""
    receive_share: float
    """Share of the time in which the learner's process takes fragments in."""
    bottleneck: Bottleneck


def predict(times: ComponentTimes, deployment: Deployment, *, num_updates: int = 30, seed: int = 0) -> Prediction:
    """Simulate `num_updates` updates beyond the start-up and return what they amount to."""
    return _Simulation(times, deployment, np.random.default_rng(derive_seed(seed, "plan"))).run(num_updates)


class _Simulation:
    """The product's loop: admission by the staleness gate, one collect in flight a worker, oldest fragments first.

    As in mcrl.dataflow.ray.source, fragments are taken in and workers sent off only while the learner waits for a
    batch or has just published weights: a worker that is done during an update waits for its end.
    """

    def __init__(self, times: ComponentTimes, deployment: Deployment, rng: np.random.Generator) -> None:
        self._times, self._deployment, self._rng = times, deployment, rng
        self._env = simpy.Environment()
        self._cores = SharedCores(self._env, deployment.num_cores)
        self._num_batch = times.fragments_per_batch * deployment.batch_factor
        self._gate = StalenessGate(
            max_concurrent=deployment.num_workers * times.envs_per_worker,
            max_staleness=deployment.max_staleness,
            fragments_per_batch=self._num_batch,
        )
        self._idle_workers = list(range(deployment.num_workers))
        self._version_of = [0] * deployment.num_workers
        self._done: list[int] = []  # workers whose fragments wait to be received
        self._heard = self._env.event()
        self._link = simpy.Resource(self._env, capacity=1)
        self._num_waiting = 0
        self._worker_busy_s = self._learner_idle_s = self._receive_s = 0.0

    def run(self, num_updates: int) -> Prediction:
        """Return the prediction."""
        num_warmup = self._deployment.max_staleness + 3
        learn = self._learn_inline if self._deployment.placement == "inline" else self._learn_beside
        marks: list[tuple[float, float, float, float]] = []

        def updates() -> _Process:
            for update in range(num_warmup + num_updates):
                if update == num_warmup:
                    marks.append(self._books())
                yield self._env.process(learn())
            marks.append(self._books())

        self._env.run(self._env.process(updates()))
        begin, end = marks
        duration_s, worked_s, idle_s, receive_s = (late - early for late, early in zip(end, begin, strict=True))
        num_steps = num_updates * self._num_batch * self._times.fragment_steps
        learner_idle = idle_s / duration_s
        workers_idle = max(0.0, 1 - worked_s / (duration_s * self._deployment.num_workers))
        return Prediction(
            deployment=self._deployment,
            steps_per_s=num_steps / duration_s,
            learner_idle=learner_idle,
            workers_idle=workers_idle,
            receive_share=receive_s / duration_s,
            bottleneck=self._bottleneck(learner_idle, workers_idle, receive_s / duration_s),
        )

    def _books(self) -> tuple[float, float, float, float]:
        return self._env.now, self._worker_busy_s, self._learner_idle_s, self._receive_s

    def _bottleneck(self, learner_idle: float, workers_idle: float, receive_share: float) -> Bottleneck:
        cores, num_workers = self._deployment.num_cores, self._deployment.num_workers
        if self._deployment.placement == "inline":
            # They take turns: who takes longer decides.
            collect_s = self._times.collect_s + self._times.collect_wait_s
            collecting_s = collect_s * self._num_batch / self._times.envs_per_worker
            return "learner" if self._update_s() > collecting_s else "workers"
        busy = (1 - learner_idle) + (1 - workers_idle) * num_workers
        if cores is not None and cores < num_workers + 1 and busy > cores * (1 - _BUSY_IDLE_SHARE):
            return "cores"
        if learner_idle < _BUSY_IDLE_SHARE:
            return "transfer" if receive_share > 0.5 else "learner"
        return "workers" if workers_idle < max(_BUSY_IDLE_SHARE, learner_idle) else "staleness"

    # ------------------------------------------------------------------------------------------------- the learner

    def _learn_inline(self) -> _Process:
        """One update where acting and learning take turns in one process."""
        for _ in range(self._num_batch // self._times.envs_per_worker):
            begin_s = self._env.now
            yield from self._collect_work()
            self._worker_busy_s += (self._env.now - begin_s) * self._deployment.num_workers
            self._learner_idle_s += self._env.now - begin_s
        yield self._cores.compute(self._update_s())
        yield self._cores.compute(self._times.publish_s + self._times.load_s * self._deployment.num_workers)

    def _learn_beside(self) -> _Process:
        """One update where the workers are processes of their own."""
        self._send_off()
        while self._num_waiting < self._num_batch:
            if not self._done:
                begin_s = self._env.now
                self._heard = self._env.event()
                yield self._heard
                self._learner_idle_s += self._env.now - begin_s
            yield from self._receive()
            self._send_off()
        self._num_waiting -= self._num_batch
        yield self._cores.compute(self._update_s())
        yield self._cores.compute(self._times.publish_s)
        self._gate.advance(self._gate.version + 1)
        yield from self._receive()

    def _receive(self) -> _Process:
        """Take in what is done by now."""
        done, self._done = self._done, []
        for worker in done:
            begin_s = self._env.now
            yield self._cores.compute(self._times.receive_s)
            self._receive_s += self._env.now - begin_s
            self._idle_workers.append(worker)
            self._gate.finish(self._times.envs_per_worker, is_accepted=True)
            self._num_waiting += self._times.envs_per_worker

    def _send_off(self) -> None:
        while self._idle_workers and self._gate.try_start(self._times.envs_per_worker):
            self._env.process(self._work(self._idle_workers.pop(0)))

    def _update_s(self) -> float:
        return self._times.learn_s * self._deployment.batch_factor / self._deployment.num_learners

    # ------------------------------------------------------------------------------------------------- the workers

    def _work(self, worker: int) -> _Process:
        version = self._gate.version
        yield self._env.timeout(self._times.call_s / 2)
        begin_s = self._env.now
        if self._version_of[worker] != version:
            self._version_of[worker] = version
            yield self._env.timeout(self._broadcast_s())
            yield self._cores.compute(self._times.load_s)
        yield from self._collect_work()
        self._worker_busy_s += self._env.now - begin_s
        yield self._env.timeout(self._times.call_s / 2)
        if self._deployment.network_bytes_per_s is not None:
            num_bytes = self._times.fragment_bytes * self._times.envs_per_worker
            with self._link.request() as turn:
                yield turn
                yield self._env.timeout(num_bytes / self._deployment.network_bytes_per_s)
        self._done.append(worker)
        if not self._heard.triggered:
            self._heard.succeed()

    def _collect_work(self) -> _Process:
        factor = 1.0
        if self._times.collect_spread > 0:
            spread = self._times.collect_spread
            factor = float(self._rng.lognormal(-(spread**2) / 2, spread))  # mean 1
        yield self._cores.compute(self._times.collect_s * factor)
        if self._times.collect_wait_s > 0:
            yield self._env.timeout(self._times.collect_wait_s * factor)

    def _broadcast_s(self) -> float:
        """Return how long weights take to the last machine; those that have them pass them on."""
        if self._deployment.network_bytes_per_s is None:
            return 0.0
        num_nodes = math.ceil(self._deployment.num_workers / _WORKERS_PER_NODE)
        return math.ceil(math.log2(num_nodes + 1)) * self._times.weight_bytes / self._deployment.network_bytes_per_s
