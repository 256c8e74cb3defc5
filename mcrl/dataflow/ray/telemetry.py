"""A run's metrics as Ray's own, which its agents serve to Prometheus."""

from collections.abc import Mapping

from ray.util import metrics as ray_metrics

from mcrl.telemetry.prometheus import DROPPED, DROPPED_PREFIX, GAUGES


class RayTelemetry:
    """Gauges named as in mcrl.telemetry.prometheus. Ray serves them where `ray[default]` is, else nobody asks."""

    def __init__(self, run: str) -> None:
        """Mark every sample with the run's name, so that several runs on one cluster can be told apart."""
        self._tags = {"run": run}
        self._gauges = {
            gauge.metric: ray_metrics.Gauge(gauge.name, description=gauge.description, tag_keys=("run",))
            for gauge in GAUGES
        }
        self._dropped = ray_metrics.Gauge(DROPPED.name, description=DROPPED.description, tag_keys=("run", "reason"))

    def write(self, metrics: Mapping[str, float]) -> None:
        """Set every gauge that these metrics know."""
        for name, value in metrics.items():
            if name in self._gauges:
                self._gauges[name].set(value, tags=self._tags)
            elif name.startswith(DROPPED_PREFIX):
                self._dropped.set(value, tags=self._tags | {"reason": name.removeprefix(DROPPED_PREFIX)})
