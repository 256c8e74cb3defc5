"""Speed measurements: what a bench reports."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mcrl.provenance import commit, hardware


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One number with how it was measured."""

    metric: str
    value: float
    """Median of the repeats."""
    unit: str
    repeats: int
    low: float
    """Smallest of the repeats."""
    high: float
    fields: dict[str, str | int | float] = field(default_factory=dict)
    """What else the number depends on, for instance the renderer."""


def measured(
    metric: str, unit: str, samples: Sequence[float], fields: dict[str, str | int | float] | None = None
) -> Measurement:
    """Sum samples up: median, smallest, largest."""
    return Measurement(
        metric=metric,
        value=statistics.median(samples),
        unit=unit,
        repeats=len(samples),
        low=min(samples),
        high=max(samples),
        fields=fields or {},
    )


def bench_object(bench: str, measurements: Sequence[Measurement], *, seed: int) -> dict[str, object]:
    """Return what `mcrl bench --json` prints: the numbers, and the code and machine that they belong to."""
    rows = [
        {
            "metric": m.metric,
            "value": round(m.value, 2),
            "unit": m.unit,
            "repeats": m.repeats,
            "min": round(m.low, 2),
            "max": round(m.high, 2),
            **m.fields,
        }
        for m in measurements
    ]
    return {"bench": bench, "commit": commit(), "hardware": hardware(), "seed": seed, "rows": rows}


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Run `work` and return (CPU seconds of this process, wall seconds)."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu_s, time.perf_counter() - wall_s
