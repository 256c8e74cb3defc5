"""How much of 1 to 64 sleepers arrives at the learner: SIMULATED latency, and against 1 / latency each.

Measured twice: environments of one ring, each in a thread, and workers in Ray processes of their own, which have
neither torch nor numba.
"""

import numpy as np

from eval.benches.system_bench import FRAGMENT_STEPS, LATENCY_MODELS, Setting, simulated
from eval.benches.throughput import Measurement, measured
from mcrl.dataflow.flow import FlowLimits
from mcrl.planning.sleeping_worker import blank_fragment
from mcrl.planning.transport import measure_sleeping_run, one_ray

_SCALE = (1, 2, 4, 8, 16, 32, 64)
_RING_STEPS, _RING_UPDATES = 16, 7
# A worker process hands over a fragment of FRAGMENT_STEPS at a time: small ones would measure messages.
_PROCESS_UPDATES, _PROCESS_STALENESS = 3, 2
_PROCESS_STORE_BYTES = 512 * 2**20


def bench_scale(*, repeats: int, time_scale: float, seed: int) -> list[Measurement]:
    """Measure both curves."""
    rings = bench_ring_scale(repeats=repeats, time_scale=time_scale, seed=seed)
    return rings + bench_process_scale(repeats=repeats, time_scale=time_scale)


def bench_ring_scale(*, repeats: int, time_scale: float, seed: int) -> list[Measurement]:
    """Measure rings of 1 to 64 constant environments that nothing holds up."""
    measurements = []
    model = LATENCY_MODELS["constant"].scaled(time_scale)
    for num_envs in _SCALE:
        samples = [
            Setting(
                mode="async",
                model=model,
                num_envs=num_envs,
                fragment_steps=_RING_STEPS,
                learner_s=0.0,
                num_updates=_RING_UPDATES,
                seed=seed + repeat,
            ).measure()[0]
            for repeat in range(repeats)
        ]
        fields = simulated(time_scale) | {"workers_are": "environments of a ring", "num_envs": num_envs}
        ideal = num_envs / model.step_s
        measurements.append(measured("scale_efficiency", "ratio", [sample / ideal for sample in samples], fields))
    return measurements


def bench_process_scale(*, repeats: int, time_scale: float) -> list[Measurement]:
    """Measure 1 to 64 Ray workers of one constant environment, which sleep a whole fragment at a time."""
    measurements = []
    fragment, step_s = blank_fragment(FRAGMENT_STEPS, 8), LATENCY_MODELS["constant"].scaled(time_scale).step_s
    with one_ray(num_workers=max(_SCALE), store_bytes=_PROCESS_STORE_BYTES):
        for num_workers in _SCALE:
            samples = measure_sleeping_run(
                fragment,
                FlowLimits(
                    num_workers=num_workers,
                    envs_per_worker=1,
                    fragments_per_batch=num_workers,
                    max_staleness=_PROCESS_STALENESS,
                ),
                latency_s=step_s * FRAGMENT_STEPS,
                learn_s=0.0,
                weights_P=np.zeros(1, np.float32),
                num_updates=_PROCESS_UPDATES,
                repeats=repeats,
            )
            fields = simulated(time_scale) | {
                "workers_are": "Ray processes",
                "num_envs": num_workers,
                "max_staleness": _PROCESS_STALENESS,
            }
            ideal = num_workers / step_s
            measurements.append(measured("scale_efficiency", "ratio", [sample / ideal for sample in samples], fields))
    return measurements
