"""Claims about runs that sleep: their workers are light, and what is measured is their sleep."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mcrl.dataflow.flow import FlowLimits
from mcrl.planning.sleeping_worker import SleepingWorker, blank_fragment
from mcrl.planning.transport import flat_snapshot, measure_sleeping_run

STEPS, LATENCY_S = 4, 0.5


def limits(num_workers):
    return FlowLimits(num_workers=num_workers, envs_per_worker=1, fragments_per_batch=num_workers, max_staleness=1)


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process has loaded")
def test_a_worker_that_sleeps_has_loaded_neither_torch_nor_numba():
    from mcrl.dataflow.ray.source import RaySource

    source = RaySource(partial(SleepingWorker, blank_fragment(STEPS, 8), 1, 0.0), limits(1), num_threads=None)
    try:
        source.publish(flat_snapshot(np.zeros(1, np.float32), 0))
        assert [f.sequence for f in source.take(1)] == [0]
        loaded = Path(f"/proc/{source.process_ids()[0]}/maps").read_text(encoding="utf-8")
        assert "libray" in loaded or "_raylet" in loaded
        assert "libtorch" not in loaded
        assert "llvmlite" not in loaded
    finally:
        source.close()


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_workers_that_sleep_make_what_their_latency_lets_them():
    steps_per_s = measure_sleeping_run(
        blank_fragment(STEPS, 8),
        limits(2),
        latency_s=LATENCY_S,
        learn_s=0.0,
        weights_P=np.zeros(1, np.float32),
        num_updates=2,
        repeats=2,
    )
    assert len(steps_per_s) == 2
    # Two counts begin and end between collects, so one of them may hold a fragment more than its time allows.
    assert all(0 < speed < 2 * 2 * STEPS / LATENCY_S for speed in steps_per_s)
