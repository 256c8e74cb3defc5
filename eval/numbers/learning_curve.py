"""How the success of a recipe grows while its runs learn, over the decisions that PPO has learned from.

R runs, N places on the way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.judging.row_names import ROW_DAGGER, ROW_IMITATION
from eval.numbers.aggregate import Estimate, mean_over_seeds
from mcrl.telemetry.metrics import number_of

_NUM_WINDOWS = 24

MetricsLine = Mapping[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Track:
    """One measure of all runs, taken at the same places."""

    decisions_N: np.ndarray
    """float64 [N], how many PPO had learned from in each run."""
    success_RN: np.ndarray
    """float64 [R, N], shares of episodes."""

    def over_runs(self) -> list[Estimate]:
        """Return the mean over runs at each place, with Student's t interval; one run alone is its own interval."""
        if len(self.success_RN) == 1:
            return [Estimate(rate, rate, rate) for rate in self.success_RN[0].tolist()]
        return [mean_over_seeds(success_R) for success_R in self.success_RN.T]


@dataclass(frozen=True, kw_only=True, slots=True)
class LearningCurve:
    """What several runs of a recipe went through."""

    rollouts: Track
    """Of the episodes that ended in each 24th of the way, in train worlds."""
    checks: Track
    """On val tasks, at those iterations at which all runs were checked; N may be 0."""
    before: Mapping[str, tuple[float, ...]]
    """Success on val tasks of what there was before PPO in every run: ROW_START or ROW_IMITATION, ROW_DAGGER."""


def learning_curve(
    lines_R: Sequence[Sequence[MetricsLine]], names: Sequence[str], *, first: str = ROW_IMITATION
) -> LearningCurve:
    """Return the curve of runs, up to where the shortest of them is.

    Args:
        lines_R: what the metrics.jsonl of each run holds.
        names: what the runs are called where one cannot be shown.
        first: row of what they began with, ROW_START where that was given to them.

    Raises:
        ValueError: a run has no episode of PPO, or too few for a curve.
    """
    ppo_R = [[line for line in lines if line["stage"] == "ppo"] for lines in lines_R]
    reached_R = [np.cumsum([number_of(line.get("num_steps")) for line in ppo]) for ppo in ppo_R]
    for name, reached_K in zip(names, reached_R, strict=True):
        if len(reached_K) < _NUM_WINDOWS:
            raise ValueError(
                f"{name}: its metrics hold {len(reached_K)} iterations of PPO, a curve wants {_NUM_WINDOWS} or "
                "more; name a run that trained for longer"
            )
    _check_apart(ppo_R, names)
    end = min(float(reached_K[-1]) for reached_K in reached_R)
    edge_N = np.linspace(0.0, end, _NUM_WINDOWS + 1)[1:]
    success_RN = np.stack([_windowed(ppo, reached, edge_N) for ppo, reached in zip(ppo_R, reached_R, strict=True)])
    shortest = names[int(np.argmin([reached_K[-1] for reached_K in reached_R]))]
    for name, success_N in zip(names, success_RN, strict=True):
        if np.isnan(success_N).any():
            way = "its way" if name == shortest else f"the way of {shortest}, {end:,.0f} decisions"
            raise ValueError(f"{name}: no episode ended in a {_NUM_WINDOWS}th of {way}; {shortest} is too short")
    return LearningCurve(
        rollouts=Track(decisions_N=edge_N - edge_N[0] / 2, success_RN=success_RN),
        checks=_checks(lines_R, ppo_R, reached_R),
        before=_before(lines_R, {ROW_IMITATION: first, ROW_DAGGER: ROW_DAGGER}),
    )


def _check_apart(ppo_R: Sequence[Sequence[MetricsLine]], names: Sequence[str]) -> None:
    """Refuse one training under two names, whose spread would be none."""
    name_of: dict[object, str] = {}
    for ppo, name in zip(ppo_R, names, strict=True):
        began_s = ppo[0].get("time_s")  # to the millisecond: no other has it
        before = name if began_s is None else name_of.setdefault(began_s, name)
        if before != name:
            raise ValueError(f"{before} and {name} begin with one training; name runs that were trained apart")


def _windowed(ppo: Sequence[MetricsLine], reached_K: np.ndarray, edge_N: np.ndarray) -> np.ndarray:
    """Return float64 [N], the share of solved episodes up to each edge and beyond the one before; nan without any."""
    window_K = np.searchsorted(edge_N, reached_K)
    episodes_K = np.array([number_of(line.get("episodes")) for line in ppo])
    solved_K = episodes_K * np.array([number_of(line.get("success")) for line in ppo])
    counts_N, solved_N = (
        np.bincount(window_K, weights, minlength=len(edge_N))[: len(edge_N)] for weights in (episodes_K, solved_K)
    )
    return np.divide(solved_N, counts_N, out=np.full(len(edge_N), np.nan), where=counts_N > 0)


def _checks(
    lines_R: Sequence[Sequence[MetricsLine]],
    ppo_R: Sequence[Sequence[MetricsLine]],
    reached_R: Sequence[np.ndarray],
) -> Track:
    """Return success on val tasks at the iterations that all runs share."""
    success_of_R = [
        {line["step"]: number_of(line["ppo_success"]) for line in lines if line.get("ppo_success") is not None}
        for lines in lines_R
    ]
    reached_of_R = [
        {line["step"]: reached for line, reached in zip(ppo, reached_K.tolist(), strict=True)}
        for ppo, reached_K in zip(ppo_R, reached_R, strict=True)
    ]
    shared = set(success_of_R[0]).intersection(*success_of_R[1:], *reached_of_R)
    steps = [line["step"] for line in ppo_R[0] if line["step"] in shared]
    return Track(
        decisions_N=np.array([np.mean([reached_of[step] for reached_of in reached_of_R]) for step in steps]),
        success_RN=np.array([[success_of[step] for step in steps] for success_of in success_of_R]),
    )


def _before(lines_R: Sequence[Sequence[MetricsLine]], row_of_stage: Mapping[str, str]) -> dict[str, tuple[float, ...]]:
    """Return the success on val tasks with which each earlier stage ended that all runs had, by its row."""
    before = {}
    for stage, row in row_of_stage.items():
        found_R = [
            [number_of(line[f"{stage}_success"]) for line in lines if line.get(f"{stage}_success") is not None]
            for lines in lines_R
        ]
        if all(found_R):
            # Of DAgger's rounds the best one is kept, see mcrl.stages.dagger_stage.
            before[row] = tuple(max(found) if stage == ROW_DAGGER else found[-1] for found in found_R)
    return before
