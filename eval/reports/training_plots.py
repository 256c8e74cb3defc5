"""Plots of a training run, read from its metrics.jsonl."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.reports.report_html import Plot
from eval.reports.svg_plot import Curve, CurveForm, curve_plot
from mcrl.telemetry.metrics import read_metrics

_IMITATION, _DAGGER, _PPO = "imitation", "dagger", "ppo"
_STAGE_COLORS = {_IMITATION: "var(--c-imitation)", _DAGGER: "var(--c-dagger)", _PPO: "var(--c-rl)"}
_SECOND_COLOR = "var(--c-shuffled)"
_FORMS: tuple[CurveForm, ...] = ("line", "dashed")

# Title, stage, metrics drawn together with their labels, note, fixed range of y.
_PLOTS: tuple[tuple[str, str, Mapping[str, str], str, tuple[float, float] | None], ...] = (
    ("Imitation loss", _IMITATION, {"loss": "train", "val_loss": "val"}, "cross-entropy, nats", None),
    ("DAgger loss", _DAGGER, {"loss": "train", "val_loss": "val"}, "cross-entropy, nats, falls anew a round", None),
    ("Success while learning", _PPO, {"success": "success"}, "share of ended episodes, train worlds", (0.0, 1.0)),
    ("Failures", _PPO, {"wrong_object": "wrong object", "time_limit": "time limit"}, "same episodes", (0.0, 1.0)),
    ("Entropy", _PPO, {"entropy": "entropy"}, "nats a decision", None),
    ("Distance to imitation", _PPO, {"kl_to_reference": "KL"}, "KL, nats a decision", None),
    ("Value quality", _PPO, {"explained_variance": "explained variance"}, "explained variance", (-0.2, 1.0)),
    ("Speed", _PPO, {"steps_per_s": "decisions/s"}, "decisions a second, acting and learning", None),
)


def training_plots(metrics_path: Path) -> list[Plot]:
    """Return the plots for which metrics.jsonl has values; none when there is no such file."""
    if not metrics_path.is_file():
        return []
    lines = read_metrics(metrics_path)
    plots = []
    for title, stage, labels, note, y_range in _PLOTS:
        stage_lines = [line for line in lines if line["stage"] == stage]
        colors = (_STAGE_COLORS[stage], _SECOND_COLOR)
        curves = [
            _curve(stage_lines, metric, label, color, form)
            for (metric, label), color, form in zip(labels.items(), colors, _FORMS, strict=False)
        ]
        step_name = "iteration" if stage == _PPO else "update"
        svg = curve_plot(title, [curve for curve in curves if curve.x], x_label=step_name, y_range=y_range)
        if svg:
            plots.append(Plot(title=title, svg=svg, note=note))
    return plots


def _curve(lines: Sequence[Mapping[str, object]], metric: str, label: str, color: str, form: CurveForm) -> Curve:
    """Return one metric over the lines that have it; null, where a value was not finite, is left out."""
    points = [(line["step"], line[metric]) for line in lines if line.get(metric) is not None]
    numbers = [(float(x), float(y)) for x, y in points if isinstance(x, int | float) and isinstance(y, int | float)]
    return Curve(label, [x for x, _ in numbers], [y for _, y in numbers], color, form=form)
