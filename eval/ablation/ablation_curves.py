"""How the variants of an ablation came along while they trained: at equal samples, and in equal time. S training seeds.

The success that is told here is that of the episodes that PPO learned from, on train tasks, with drawn actions; what
the final policies do on judged tasks is eval.ablation.ablation_table's affair.
"""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.ablation.ablation_run import VariantResult
from mcrl.telemetry.metrics import number_of, read_metrics

# Where on its way a run is looked at: shares of its samples, and of the time that the fastest run took for all of them.
SHARES = (0.25, 0.5, 0.75, 1.0)
# Share of the whole way that is averaged up to there: the episodes of one update are few.
_WINDOW = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantCurve:
    """One variant, mean over its finished seeds. Shares of episodes solved; None where no episode had ended."""

    variant: str
    at_samples: tuple[float | None, ...]
    """After each of SHARES of the samples of a run."""
    at_time: tuple[float | None, ...]
    """After each of SHARES of the fastest run's time: a variant that is slower has had fewer samples by then."""
    ppo_s: float
    """Wall time of updates and of waiting for what they learn from, for all samples."""
    lag_mean: float
    """Updates between acting and learning, mean over fragments."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Way:
    """One run, update by update."""

    end_s: tuple[float, ...]  # seconds of PPO so far
    num_episodes: tuple[float, ...]
    num_solved: tuple[float, ...]
    lag_mean: float

    def rate_at(self, num_updates: int) -> float:
        """Return the success of the last updates up to there; NaN where no episode ended in them."""
        first = max(0, num_updates - max(1, round(_WINDOW * len(self.end_s))))
        num_episodes = sum(self.num_episodes[first:num_updates])
        return sum(self.num_solved[first:num_updates]) / num_episodes if num_episodes else float("nan")


def variant_curves(results: Sequence[VariantResult]) -> tuple[VariantCurve, ...]:
    """Return a curve for each variant whose runs have updates of PPO, in the order of `results`."""
    ways: dict[str, list[_Way]] = defaultdict(list)
    for result in results:
        way = _way(result.run_dir)
        if way is not None:
            ways[result.variant].append(way)
    fastest_s = min((way.end_s[-1] for own in ways.values() for way in own), default=0.0)
    return tuple(
        VariantCurve(
            variant=variant,
            at_samples=tuple(_mean([way.rate_at(round(share * len(way.end_s))) for way in own]) for share in SHARES),
            at_time=tuple(_mean([way.rate_at(_updates_by(way, share * fastest_s)) for way in own]) for share in SHARES),
            ppo_s=float(np.mean([way.end_s[-1] for way in own])),
            lag_mean=float(np.mean([way.lag_mean for way in own])),
        )
        for variant, own in ways.items()
    )


def _way(run_dir: Path) -> _Way | None:
    path = run_dir / "metrics.jsonl"
    lines = [line for line in read_metrics(path) if line["stage"] == "ppo"] if path.exists() else []
    if not lines:
        return None
    numbers = {
        name: [number_of(line.get(name)) for line in lines]
        for name in ("take_s", "learn_s", "episodes", "success", "lag_mean")
    }
    ended_solved = zip(numbers["episodes"], numbers["success"], strict=True)
    update_s = [take_s + learn_s for take_s, learn_s in zip(numbers["take_s"], numbers["learn_s"], strict=True)]
    return _Way(
        end_s=tuple(itertools.accumulate(update_s)),
        num_episodes=tuple(numbers["episodes"]),
        num_solved=tuple(ended * share for ended, share in ended_solved),
        lag_mean=float(np.mean(numbers["lag_mean"])),
    )


def _updates_by(way: _Way, time_s: float) -> int:
    """Return how many updates were done by then."""
    # Rounding in the sum of its own times must not cost the fastest run its last update.
    return sum(end_s <= time_s * (1 + 1e-9) for end_s in way.end_s)


def _mean(rate_S: Sequence[float]) -> float | None:
    known = [rate for rate in rate_S if not np.isnan(rate)]
    return float(np.mean(known)) if known else None


def shown_curves(curves: Sequence[VariantCurve]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows as text, rates in percent."""
    shares = [f"{100 * share:.0f}" for share in SHARES]
    header = ["variant", f"success % at {', '.join(shares)} % of the samples", "of the fastest run's time"]
    header += ["PPO min", "lag"]
    rows = [
        [
            curve.variant,
            _shown(curve.at_samples),
            _shown(curve.at_time),
            f"{curve.ppo_s / 60:.1f}",
            f"{curve.lag_mean:.2f}",
        ]
        for curve in curves
    ]
    return header, rows


def _shown(rates: Sequence[float | None]) -> str:
    return ", ".join("-" if rate is None else f"{100 * rate:.1f}" for rate in rates)
