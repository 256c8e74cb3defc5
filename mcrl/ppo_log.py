"""What an iteration of PPO says of itself: its speed, its fragments, and one line for who watches."""

from mcrl.dataflow.contracts import FragmentSource
from mcrl.fragment import Fragment


def speed(fragments: list[Fragment], begin_s: float, taken_s: float, learned_s: float) -> dict[str, float]:
    """Return where the time of one iteration went, from three readings of the clock in seconds."""
    num_steps = sum(fragment.num_steps for fragment in fragments)
    return {
        "take_s": taken_s - begin_s,
        "learn_s": learned_s - taken_s,
        "steps_per_s": num_steps / (learned_s - begin_s),
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
        "fragments_waiting": float(counts.waiting),
        "rollout_workers": float(counts.num_workers),
    }


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


def note(metrics: dict[str, float]) -> str:
    """Return one iteration as a line for the progress display."""
    success = f"{metrics['success']:.3f}" if "success" in metrics else "  -  "
    return (
        f"success {success}  kl_ref {metrics.get('kl_to_reference', 0.0):.3f}  entropy {metrics['entropy']:.2f}  "
        f"ev {metrics['explained_variance']:+.2f}  {metrics['steps_per_s']:.0f} steps/s"
    )
