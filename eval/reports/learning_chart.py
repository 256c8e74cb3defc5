"""The learning curve of a recipe as a picture, with an interval over its runs."""

from eval.judging.row_names import ROW_DAGGER, ROW_IMITATION, ROW_START
from eval.numbers.learning_curve import LearningCurve, Track
from eval.reports.svg_plot import Curve, svg_file

_ROLLOUTS, _CHECKS = "#2e8b4f", "#1c2024"
_BEFORE = {
    ROW_START: ("#3a7bc8", "start"),
    ROW_IMITATION: ("#3a7bc8", "imitation"),
    ROW_DAGGER: ("#7d1d4a", "DAgger"),
}


def learning_chart(curve: LearningCurve) -> str:
    """Return the content of an SVG file: success in % over decisions."""
    end = max(track.decisions_N.max() for track in (curve.rollouts, curve.checks) if len(track.decisions_N))
    curves = [
        Curve("", curve.rollouts.decisions_N.tolist(), _percents(success_N.tolist()), _ROLLOUTS, form="faint")
        for success_N in curve.rollouts.success_RN
        if len(curve.rollouts.success_RN) > 1
    ]
    curves.append(_track(curve.rollouts, "train worlds, while learning", _ROLLOUTS, is_dots=False))
    if len(curve.checks.decisions_N):
        curves.append(_track(curve.checks, "val tasks", _CHECKS, is_dots=True))
    for row, success in curve.before.items():
        color, name = _BEFORE[row]
        level = 100 * sum(success) / len(success)
        curves.append(Curve(f"{name}, val tasks", [0.0, float(end)], [level, level], color, form="dashed"))
    top = max(max(one.band[1] if one.band else one.y) for one in curves)
    return svg_file(
        "Success in % while PPO learns",
        curves,
        x_label="decisions that PPO has learned from; success in %",
        y_range=(0.0, min(100.0, top + 3.0)),
    )


def _track(track: Track, label: str, color: str, *, is_dots: bool) -> Curve:
    estimates = track.over_runs()
    band = tuple(_percents([getattr(one, end) for one in estimates]) for end in ("low", "high"))
    value = _percents([one.value for one in estimates])
    return Curve(label, track.decisions_N.tolist(), value, color, (band[0], band[1]), "dots" if is_dots else "line")


def _percents(rates: list[float]) -> list[float]:
    return [100 * rate for rate in rates]
