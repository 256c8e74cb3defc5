"""Predictions beside real runs of the product's dataflow, with workers and a learner that sleep."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mcrl.dataflow.flow import FlowLimits
from mcrl.planning.components import ComponentTimes
from mcrl.planning.simulator import Deployment, predict
from mcrl.planning.sleeping_worker import blank_fragment
from mcrl.planning.transport import measure_sleeping_run, measure_transport, one_ray
from mcrl.rollout.fragment import Fragment

WORKERS = (1, 2, 4, 8)
MAX_ERROR = 0.15
# Small enough that two cores carry eight workers: what is validated is the flow, not the engine.
_ENVS, _BATCH, _STEPS, _IMAGE_PX, _NUM_WEIGHTS, _MAX_STALENESS = 2, 8, 16, 32, 10_000, 1
_LEARN_SHARE = 0.5
_NUM_UPDATES = 5
_STORE_BYTES = 256 * 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationRow:
    """One number of workers."""

    num_workers: int
    predicted_steps_per_s: float
    measured_steps_per_s: float
    """Median of the repeats."""
    measured_low: float
    measured_high: float
    repeats: int

    @property
    def error(self) -> float:
        """Return how far the prediction is off, as a share of what was measured."""
        return self.predicted_steps_per_s / self.measured_steps_per_s - 1


def validate(*, latency_s: float, repeats: int, on_part: Callable[[str], None]) -> list[ValidationRow]:
    """Return a row for each number of workers. A collect sleeps `latency_s`, an update half of it."""
    template, weights_P = blank_fragment(_STEPS, _IMAGE_PX), np.zeros(_NUM_WEIGHTS, np.float32)
    with one_ray(num_workers=max(WORKERS), store_bytes=_STORE_BYTES):
        on_part("transfer")
        transport = measure_transport(template, _ENVS, weights_P)
        times = ComponentTimes(
            recipe="sleeping",
            envs_per_worker=_ENVS,
            fragment_steps=_STEPS,
            fragments_per_batch=_BATCH,
            collect_s=0.0,
            collect_wait_s=latency_s,
            learn_s=latency_s * _LEARN_SHARE,
            publish_s=transport.publish_s,
            load_s=0.0,
            receive_s=transport.receive_s,
            call_s=transport.call_s,
            fragment_bytes=float(template.image_THWC.nbytes),
            weight_bytes=float(weights_P.nbytes),
            num_cores=1.0,
        )
        return [_row(times, num_workers, template, weights_P, repeats, on_part) for num_workers in WORKERS]


def _row(
    times: ComponentTimes,
    num_workers: int,
    template: Fragment,
    weights_P: np.ndarray,
    repeats: int,
    on_part: Callable[[str], None],
) -> ValidationRow:
    # Sleeping needs no core, so none is shared.
    deployment = Deployment(placement="split", num_workers=num_workers, max_staleness=_MAX_STALENESS, num_cores=None)
    prediction = predict(times, deployment)
    on_part(f"{num_workers} worker{'s' * (num_workers > 1)}")
    limits = FlowLimits(
        num_workers=num_workers, envs_per_worker=_ENVS, fragments_per_batch=_BATCH, max_staleness=_MAX_STALENESS
    )
    measured = measure_sleeping_run(
        template,
        limits,
        latency_s=times.collect_wait_s,
        learn_s=times.learn_s,
        weights_P=weights_P,
        num_updates=_NUM_UPDATES,
        repeats=repeats,
    )
    return ValidationRow(
        num_workers=num_workers,
        predicted_steps_per_s=prediction.steps_per_s,
        measured_steps_per_s=statistics.median(measured),
        measured_low=min(measured),
        measured_high=max(measured),
        repeats=repeats,
    )
