"""Names of a run's metrics in Prometheus, and its text format for collectors that read files."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauge:
    """One metric: what metrics.jsonl calls it, what Prometheus calls it, and what it says."""

    metric: str
    name: str
    description: str


GAUGES = (
    Gauge("steps_per_s", "mcrl_steps_per_second", "Decisions of environments a second of the last iteration."),
    Gauge("take_s", "mcrl_take_seconds", "Time the learner waited for its last batch."),
    Gauge("learn_s", "mcrl_learn_seconds", "Time the last update took."),
    Gauge("collect_s", "mcrl_collect_seconds", "Mean time a worker took for a fragment of every env."),
    Gauge("learner_idle", "mcrl_learner_idle_share", "Share of the last iteration in which the learner waited."),
    Gauge("workers_idle", "mcrl_workers_idle_share", "Share of the last iteration in which a worker waited, mean."),
    Gauge("staleness", "mcrl_lag_updates", "Updates by which the weights that acted were behind, mean of the batch."),
    Gauge("fragments_waiting", "mcrl_queue_fragments", "Fragments that wait for the learner."),
    Gauge("fragments_produced", "mcrl_fragments_produced", "Fragments made since the start of the process."),
    Gauge("fragments_consumed", "mcrl_fragments_consumed", "Fragments learned from since the start of the process."),
    Gauge("fragments_lost", "mcrl_fragments_lost", "Fragments that were in the making when their worker died."),
    Gauge("worker_restarts", "mcrl_worker_restarts", "Rollout workers that were started again."),
    Gauge("queue_restarts", "mcrl_queue_restarts", "Queues of fragments that took over from one that died."),
    Gauge("success", "mcrl_success_rate", "Share of the episodes ended in the last batch that succeeded."),
    Gauge("kl_to_reference", "mcrl_kl_to_reference_nats", "KL(policy || reference) on the last batch."),
    Gauge("entropy", "mcrl_entropy_nats", "Entropy of the policy on the last batch."),
)
# There from the first: a run that failed before its first iteration has nothing else.
_RUN = Gauge("", "mcrl_run", "1 for every run; what it is at is a label.")
DROPPED_PREFIX = "fragments_dropped/"
DROPPED = Gauge(DROPPED_PREFIX, "mcrl_fragments_dropped", "Fragments thrown away, by reason.")


def exposition(metrics: Mapping[str, float | None], *, labels: Mapping[str, str]) -> str:
    """Return metrics as Prometheus' text format 0.0.4, every sample with these labels; unknown values are left out."""
    lines = [*_head(_RUN), f"{_RUN.name}{_labels(labels)} 1"]
    for gauge in GAUGES:
        value = metrics.get(gauge.metric)
        if value is not None:
            lines += _head(gauge) + [f"{gauge.name}{_labels(labels)} {value!r}"]
    dropped = {name: value for name, value in metrics.items() if name.startswith(DROPPED_PREFIX) and value is not None}
    if dropped:
        lines += _head(DROPPED)
        for name, value in dropped.items():
            reason = {"reason": name.removeprefix(DROPPED_PREFIX)}
            lines.append(f"{DROPPED.name}{_labels({**labels, **reason})} {value!r}")
    return "".join(line + "\n" for line in lines)


def _head(gauge: Gauge) -> list[str]:
    return [f"# HELP {gauge.name} {gauge.description}", f"# TYPE {gauge.name} gauge"]


def _labels(labels: Mapping[str, str]) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items()) + "}" if labels else ""
