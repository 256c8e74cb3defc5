"""What an iteration of PPO says of itself: its speed, its fragments, and one line for who watches."""

from collections import Counter
from collections.abc import Mapping

from mcrl.dataflow.contracts import FragmentSource
from mcrl.rollout.fragment import Fragment
from mcrl.telemetry.prometheus import DROPPED_PREFIX

# Of a batch: fragments whose engine crashed, or gave no answer in time.
_ENGINE_PREFIX = "engines/"
# What is worth a word in the line of an iteration, by its metric.
_MISHAPS = {"fragments_lost": "lost", "worker_restarts": "restarts", "queue_restarts": "restarts of the queue"}


def speed(
    fragments: list[Fragment], begin_s: float, taken_s: float, learned_s: float, *, num_workers: int
) -> dict[str, float]:
    """Return where the time of one iteration went, from three readings of the clock in seconds.

    The idle share of the workers is exact over many iterations: a batch may hold what was made in an earlier one.
    """
    num_steps = sum(fragment.num_steps for fragment in fragments)
    duration_s = learned_s - begin_s
    # All envs of a worker share its collects.
    worked_ns = {(f.worker_id, f.sequence): f.end_ns - f.start_ns for f in fragments}
    return {
        "take_s": taken_s - begin_s,
        "learn_s": learned_s - taken_s,
        "steps_per_s": num_steps / duration_s,
        "learner_idle": (taken_s - begin_s) / duration_s,
        "workers_idle": max(0.0, 1 - sum(worked_ns.values()) / 1e9 / (num_workers * duration_s)),
        # Mean time a worker spent on a fragment; all envs of a worker share it.
        "collect_s": sum(fragment.end_ns - fragment.start_ns for fragment in fragments) / len(fragments) / 1e9,
    }


def flow_metrics(source: FragmentSource) -> dict[str, float]:
    """Return the books of a fragment source, drops by reason where there were any."""
    counts = source.counts()
    return {
        **{f"dropped/{reason}": float(number) for reason, number in sorted(counts.dropped.items())},
        "fragments_produced": float(counts.produced),
        "fragments_consumed": float(counts.consumed),
        "fragments_dropped": float(sum(counts.dropped.values())),
        "fragments_lost": float(counts.lost),
        "worker_restarts": float(counts.num_restarts),
        "queue_restarts": float(counts.num_queue_restarts),
        "fragments_waiting": float(counts.waiting),
        "rollout_workers": float(counts.num_workers),
    } | {f"{DROPPED_PREFIX}{reason}": float(number) for reason, number in sorted(counts.dropped.items())}


def engine_metrics(fragments: list[Fragment]) -> dict[str, float]:
    """Return how many fragments had an engine that was started again, by what befell it, where any had.

    Engines are started again by their workers, of whose own words nobody hears.
    """
    befallen = Counter(fragment.status for fragment in fragments if fragment.status != "ok")
    return {f"{_ENGINE_PREFIX}{status}": float(number) for status, number in sorted(befallen.items())}


def lag_metrics(fragments: list[Fragment], version: int, max_staleness: int) -> dict[str, float]:
    """Return how many fragments of a batch lag by 0, 1 ... updates; nothing where none may lag.

    `version` is that of the weights which the batch changed, `max_staleness` the most that the run allows.
    """
    if max_staleness == 0:
        return {}
    lags = [version - fragment.min_version for fragment in fragments]
    assert 0 <= min(lags) <= max(lags) <= max_staleness, f"lags {lags} at version {version}, allowed {max_staleness}"
    return {f"lag/{lag}": float(lags.count(lag)) for lag in range(max_staleness + 1)} | {
        "lag_mean": sum(lags) / len(lags)
    }


def flow_note(metrics: Mapping[str, float | None]) -> str:
    """Return how acting and learning keep up with each other; drops and restarts only where there are some."""
    learner, workers = ((metrics.get(f"{who}_idle") or 0.0) * 100 for who in ("learner", "workers"))
    parts = [
        f"idle learner {learner:.0f}% workers {workers:.0f}%",
        f"queue {metrics.get('fragments_waiting') or 0:.0f}",
        f"lag {metrics.get('staleness') or 0:.1f}",
    ]
    for name, number in metrics.items():
        if name.startswith(DROPPED_PREFIX) and number:
            parts.append(f"dropped {number:.0f} {name.removeprefix(DROPPED_PREFIX)}")
    for name, number in metrics.items():
        if name.startswith(_ENGINE_PREFIX) and number:
            parts.append(f"engines {name.removeprefix(_ENGINE_PREFIX)} in {number:.0f} fragments")
    for name, label in _MISHAPS.items():
        if metrics.get(name):
            parts.append(f"{label} {metrics[name]:.0f}")
    return "  ".join(parts)


def note(metrics: dict[str, float], *, takes_turns: bool = True) -> str:
    """Return one iteration as a line for the progress display; where acting and learning overlap, how that goes."""
    success = f"{metrics['success']:.3f}" if "success" in metrics else "  -  "
    reference = f"kl_ref {round(metrics['kl_to_reference'], 3) + 0.0:.3f}  " if "kl_to_reference" in metrics else ""
    line = (
        f"success {success}  {reference}entropy {metrics['entropy']:.2f}  "
        f"ev {metrics['explained_variance']:+.2f}  {metrics['steps_per_s']:.0f} steps/s"
    )
    return line if takes_turns else f"{line}  {flow_note(metrics)}"
