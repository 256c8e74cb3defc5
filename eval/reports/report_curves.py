"""The curves of a report: success of some rows against the measures that make a task hard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.episodes.records import JudgedEpisode
from eval.judging.row_names import ROW_IMITATION, ROW_SHUFFLED
from eval.numbers.difficulty_curve import DifficultyCurve, fit_difficulty_curve

# N episodes, G points of a curve.
_NUM_GRID_POINTS = 41
# Fewer episodes than this show nothing that the table does not.
_MIN_EPISODES = 20


@dataclass(frozen=True, slots=True)
class Measure:
    """A field of the record that makes a task hard."""

    title: str
    axis: str  # unit included


# By field of the record.
MEASURES: Mapping[str, Measure] = {
    "distance_blocks": Measure("Distance", "start to target, blocks"),
    "view_angle_deg": Measure("View angle", "between start and goal camera, degrees"),
    "view_overlap": Measure("View overlap", "share of the goal view's surface that the start sees"),
    "num_same_kind": Measure("Objects of the same kind", "that are not the target"),
    "path_blocks": Measure("Way to walk", "shortest walk to the target, blocks"),
    "goal_area": Measure("Target in the goal view", "share of the picture"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureCurve:
    """Success of one row against one measure."""

    measure: str
    """Key of MEASURES."""
    row: str
    curve: DifficultyCurve


def curves_of(by_row: Mapping[str, Sequence[JudgedEpisode]], rows: Sequence[str]) -> tuple[MeasureCurve, ...]:
    """Return the curves of the given rows, measure by measure; measures that do not vary are left out."""
    curves = []
    for measure in MEASURES:
        for row in rows:
            played = [episode for episode in by_row[row] if episode.outcome != "fault"]
            x_N = np.array([getattr(episode, measure) for episode in played], np.float64)
            if len(x_N) < _MIN_EPISODES or x_N.min() == x_N.max():
                continue
            # The last hundredth at either end is a handful of tasks: a curve through it would be guesswork.
            low, high = np.quantile(x_N, [0.01, 0.99])
            if low == high:
                low, high = x_N.min(), x_N.max()
            grid_G = np.linspace(low, high, _NUM_GRID_POINTS)
            success_N = np.array([episode.success for episode in played])
            curves.append(MeasureCurve(measure=measure, row=row, curve=fit_difficulty_curve(x_N, success_N, grid_G)))
    return tuple(curves)


def curve_rows(rows: Sequence[str], judged: str) -> list[str]:
    """Return whose curves a report of one run shows: the judged row, its rival, itself without its goal."""
    return [judged] + [row for row in (ROW_IMITATION, ROW_SHUFFLED) if row in rows and row != judged]
