"""Weight sync: how long until every receiver has a version whole, against bytes, receivers and the way they travel."""

import logging
import statistics
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import torch.distributed as dist

from eval.benches.sync_receiver import Host, Receiver, Taken, ThreadHost, local_reader, make_group
from eval.benches.throughput import Measurement, measured
from mcrl.dataflow.weights.broadcast import BroadcastParamStore
from mcrl.dataflow.weights.param_store import LocalParamStore, ParamStore
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.dataflow.weights.weight_format import WeightFormat
from mcrl.provenance import memory_bytes

_LOG = logging.getLogger(__name__)

SIZES = (1_000_000, 10_000_000, 100_000_000, 300_000_000)
NUM_RECEIVERS = (1, 2, 4)
# Where a delta is measured too: about what the rocket preset trains.
DELTA_SIZE = 100_000_000
# What a step of Adam moves a weight by at the paper's learning rate, against the spread of the weights.
_STEP, _SPREAD = 2e-5, 0.02
_BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncCase:
    """One line of the table."""

    backend: str  # "in-process", "ray" or "gloo"
    weight_format: WeightFormat
    num_values: int
    num_receivers: int

    def __str__(self) -> str:
        return (
            f"{self.backend}, {self.weight_format}, {self.num_values / 1e6:g} million numbers to {self.num_receivers}"
        )

    def needed_bytes(self) -> int:
        """Return the memory of two halves a receiver, two versions at the sender, and Ray's copies of both."""
        versions = 2 * self.num_receivers + (4 if self.backend == "ray" else 2)
        return versions * self.num_values * 4


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncSample:
    """One version on its way."""

    latency_s: float  # from the call of publish to the last receiver's swap
    publish_s: float  # what the learner waits for
    bytes_per_receiver: int
    cpu_s: float  # of sender and receivers; Ray's own processes are not counted


def cases(sizes: Sequence[int], num_receivers: Sequence[int], delta_size: int | None) -> list[SyncCase]:
    """Return every combination, those with deltas for one size."""
    return [
        SyncCase(backend=backend, weight_format=weight_format, num_values=size, num_receivers=receivers)
        for size in sizes
        for receivers in num_receivers
        for backend, weight_format in (
            ("in-process", "whole"),
            ("ray", "whole"),
            ("gloo", "whole"),
            *((("ray", "delta"), ("gloo", "delta")) if size == delta_size else ()),
        )
    ]


def bench_sync(
    *,
    repeats: int,
    seed: int,
    sizes: Sequence[int] = SIZES,
    num_receivers: Sequence[int] = NUM_RECEIVERS,
    delta_size: int | None = DELTA_SIZE,
) -> list[Measurement]:
    """Measure all cases in turns, `repeats` times; those that would not fit into memory are left out with a warning."""
    samples: dict[SyncCase, list[SyncSample]] = {}
    with _Lab(max(num_receivers), max(sizes), seed) as lab:
        for repeat in range(repeats):
            for case in cases(sizes, num_receivers, delta_size):
                if case.needed_bytes() > 0.7 * memory_bytes()[1]:
                    _LOG.warning("left out, too little memory: %s", case)
                    continue
                sample = lab.measure(case)
                _LOG.info("repeat %d of %d: %s, %s", repeat + 1, repeats, case, sample)
                samples.setdefault(case, []).append(sample)
    return [_measurement(case, taken) for case, taken in samples.items()]


def _measurement(case: SyncCase, samples: Sequence[SyncSample]) -> Measurement:
    fields: dict[str, str | int | float] = {
        "backend": case.backend,
        "format": case.weight_format,
        "params_millions": case.num_values / 1e6,
        "num_receivers": case.num_receivers,
        "mb_per_receiver": round(samples[0].bytes_per_receiver / 1e6, 2),
        "publish_ms": round(1000 * statistics.median(sample.publish_s for sample in samples), 2),
        "cpu_s": round(statistics.median(sample.cpu_s for sample in samples), 3),
    }
    return measured("sync_latency_ms", "ms", [1000 * sample.latency_s for sample in samples], fields)


class _Lab:
    """Sender and receivers of all backends: receivers of "ray" and "gloo" are the same Ray processes."""

    def __init__(self, max_receivers: int, max_values: int, seed: int) -> None:
        from mcrl.dataflow.ray import runtime
        from mcrl.dataflow.ray.remote_object import RemoteObject

        self._stack = ExitStack()
        # Two versions are in the store while one takes over from the other.
        if runtime.start(num_workers=1, object_store_bytes=3 * 4 * max_values):
            self._stack.callback(runtime.stop)
        self._threads: list[Host] = [ThreadHost() for _ in range(max_receivers)]
        self._processes: list[Host] = [RemoteObject(Receiver) for _ in range(max_receivers)]
        for host in (*self._threads, *self._processes):
            self._stack.callback(host.close)
        self._server = dist.TCPStore("127.0.0.1", 0, None, True, timedelta(seconds=60), wait_for_workers=False)
        self._generation = 0
        self._version = 0
        # One block of weights over and over: drawing them all would take longer than sending them.
        blocks = np.random.default_rng(seed).standard_normal((2, min(max_values, _BLOCK)), np.float32)
        self._base_P = np.resize(blocks[0] * np.float32(_SPREAD), max_values)
        self._step_P = np.resize(blocks[1] * np.float32(_STEP), max_values)

    def __enter__(self) -> "_Lab":
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def measure(self, case: SyncCase) -> SyncSample:
        """Send one version, after one that is not counted where a delta needs it."""
        hosts = (self._threads if case.backend == "in-process" else self._processes)[: case.num_receivers]
        with self._store(case, hosts) as store:
            base_P = self._base_P[: case.num_values]
            if case.weight_format == "delta":
                self._send(store, hosts, self._snapshot(base_P))
                base_P = base_P + self._step_P[: case.num_values]
            return self._send(store, hosts, self._snapshot(base_P))

    def _snapshot(self, flat_P: np.ndarray) -> ParamSnapshot:
        self._version += 1
        return ParamSnapshot(version=self._version, flat_P=flat_P, checksum=zlib.crc32(flat_P.data))

    def _send(self, store: ParamStore, hosts: Sequence[Host], snapshot: ParamSnapshot) -> SyncSample:
        waiting: list[Callable[[], Taken]] = [host.call("take") for host in hosts]
        begin_cpu_s, begin_s = time.process_time(), time.monotonic()
        store.publish(snapshot)
        published_s = time.monotonic()
        taken = [wait() for wait in waiting]
        cpu_s = time.process_time() - begin_cpu_s
        if hosts[0] is not self._threads[0]:
            cpu_s += sum(one.cpu_s for one in taken)
        return SyncSample(
            latency_s=max(one.at_s for one in taken) - begin_s,
            publish_s=published_s - begin_s,
            bytes_per_receiver=taken[0].num_bytes,
            cpu_s=cpu_s,
        )

    @contextmanager
    def _store(self, case: SyncCase, hosts: Sequence[Host]) -> Iterator[ParamStore]:
        store: ParamStore
        if case.backend == "in-process":
            local = LocalParamStore()
            store, waiting = local, [host.call("listen_to", local_reader(local), case.num_values) for host in hosts]
        elif case.backend == "ray":
            from mcrl.dataflow.ray.params import RayParamStore

            through_ray = RayParamStore(weight_format=case.weight_format)
            through_ray.newest_version()  # starts the board, which a run does once
            store = through_ray
            waiting = [host.call("listen_to_board", [through_ray.board], case.num_values) for host in hosts]
        else:
            self._generation += 1
            place = (len(hosts), self._generation, case.num_values)
            waiting = [host.call("join", self._server.port, rank, *place) for rank, host in enumerate(hosts, 1)]
            group = make_group(self._server, 0, len(hosts), self._generation)
            store = BroadcastParamStore(group, weight_format=case.weight_format)
        for wait in waiting:
            wait()
        try:
            yield store
        finally:
            for wait in [host.call("leave") for host in hosts]:
                wait()
            store.close()
