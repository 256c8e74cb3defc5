"""What it costs to send weights to a Ray worker and its fragments back, and how fast whole updates then follow."""

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from mcrl.dataflow.flow import FlowLimits
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.planning.sleeping_worker import SleepingWorker
from mcrl.rollout.fragment import Fragment

_NUM_WARMUP, _NUM_MEASURED = 3, 10
_BYTES_PER_MIB = 2**20


@contextmanager
def one_ray(*, num_workers: int, store_bytes: int) -> Iterator[None]:
    """Keep one Ray for everything that is measured meanwhile: each start of its own would take seconds."""
    from mcrl.dataflow.ray import runtime  # heavy: only who measures Ray needs it

    owns_ray = runtime.start(num_workers=num_workers, object_store_bytes=store_bytes)
    try:
        yield
    finally:
        if owns_ray:
            runtime.stop()


@dataclass(frozen=True, kw_only=True, slots=True)
class TransportTimes:
    """Seconds of the parts that neither act nor learn, median."""

    publish_s: float
    """The learner's process puts weights where workers find them, and sends the workers off."""
    receive_s: float
    """Processor time of the learner's process for one collect."""
    call_s: float
    """The rest of a collect's round trip, in which nobody acts."""


def measure_transport(template: Fragment, num_envs: int, weights_P: np.ndarray) -> TransportTimes:
    """Measure with one worker that hands over `num_envs` copies of `template` at once, and these float32 weights."""
    from mcrl.dataflow.ray.source import RaySource  # heavy: only who measures Ray needs it

    limits = FlowLimits(num_workers=1, envs_per_worker=num_envs, fragments_per_batch=num_envs, max_staleness=0)
    factory = partial(SleepingWorker, template, num_envs, 0.0)
    fragment_bytes = template.image_THWC.nbytes * 2 + _BYTES_PER_MIB
    source = RaySource(factory, limits, num_threads=None, fragment_bytes=fragment_bytes)
    publish, receive, call = [], [], []
    try:
        for version in range(_NUM_WARMUP + _NUM_MEASURED):
            snapshot = flat_snapshot(weights_P, version)
            begin_s = time.perf_counter()
            source.publish(snapshot)
            published_s, thread_s = time.perf_counter(), time.thread_time()
            source.take(num_envs)
            receive_s = time.thread_time() - thread_s
            if version >= _NUM_WARMUP:
                publish.append(published_s - begin_s)
                receive.append(receive_s)
                call.append(max(0.0, time.perf_counter() - published_s - receive_s))
    finally:
        source.close()
    return TransportTimes(
        publish_s=float(np.median(publish)), receive_s=float(np.median(receive)), call_s=float(np.median(call))
    )


def measure_sleeping_run(
    template: Fragment,
    limits: FlowLimits,
    *,
    latency_s: float,
    learn_s: float,
    weights_P: np.ndarray,
    num_updates: int,
    repeats: int,
) -> list[float]:
    """Return decisions a second of each repeat of `num_updates` updates with workers and a learner that sleep.

    Everything between them is the product's: gate, queue, Ray workers, weights.
    """
    from mcrl.dataflow.ray.source import RaySource  # heavy: only who measures Ray needs it

    factory = partial(SleepingWorker, template, limits.envs_per_worker, latency_s)
    fragment_bytes = template.image_THWC.nbytes * 2 + _BYTES_PER_MIB
    source = RaySource(factory, limits, num_threads=None, fragment_bytes=fragment_bytes)
    num_warmup = limits.max_staleness + _NUM_WARMUP
    steps_per_s = []
    try:
        # Waits for the last one to be up: until then it holds a place of the gate and makes nothing.
        source.process_ids()
        source.publish(flat_snapshot(weights_P, 0))
        begin_s = 0.0
        for version in range(1, num_warmup + repeats * num_updates + 1):
            source.take(limits.fragments_per_batch)
            time.sleep(learn_s)
            source.publish(flat_snapshot(weights_P, version))
            num_counted = version - num_warmup
            if num_counted >= 0 and num_counted % num_updates == 0:
                now_s = time.perf_counter()
                if num_counted:
                    num_steps = num_updates * limits.fragments_per_batch * template.num_steps
                    steps_per_s.append(num_steps / (now_s - begin_s))
                begin_s = now_s
    finally:
        source.close()
    return steps_per_s


def flat_snapshot(weights_P: np.ndarray, version: int) -> ParamSnapshot:
    """Return float32 weights as those of a version."""
    return ParamSnapshot(version=version, flat_P=weights_P, checksum=zlib.crc32(weights_P.data))
