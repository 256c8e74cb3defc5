"""Line plots as inline SVG text, coloured by the page's CSS variables, and as files of their own."""

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

_WIDTH, _HEIGHT = 380, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 34
_LEGEND_ROW = 14
_MAX_POINTS = 400  # more cannot be seen at this width


CurveForm = Literal["line", "faint", "dashed", "dots"]


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot. NaN values leave a gap."""

    label: str  # "": not in the legend
    x: Sequence[float]
    y: Sequence[float]
    color: str  # CSS colour
    band: tuple[Sequence[float], Sequence[float]] | None = None  # low and high around a line, or of each dot
    form: CurveForm = "line"


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """One row of an interval chart, in [0, 1]."""

    label: str
    value: float
    low: float
    high: float
    color: str
    note: str  # printed at the right


def curve_plot(
    title: str,
    curves: Sequence[Curve],
    *,
    x_label: str,
    y_range: tuple[float, float] | None = None,
    has_legend: bool = True,
) -> str:
    """Return a line plot with axes, ticks and, when there is more than one curve, a legend inside."""
    points = [(x, y) for curve in curves for x, y in zip(curve.x, curve.y, strict=True) if _is_finite(x, y)]
    if not points:
        return ""
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    y_low, y_high = y_range or _padded(min(y for _, y in points), max(y for _, y in points))
    x_high = x_high if x_high > x_low else x_low + 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across = _LEFT + (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)
        down = _HEIGHT - _BOTTOM - (min(max(y, y_low), y_high) - y_low) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)
        return across, down

    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(title)}">']
    for tick in nice_ticks(y_low, y_high, 4):
        _, down = place(x_low, tick)
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{_LEFT - 6}" y="{down + 3.5:.1f}" text-anchor="end">{short_number(tick)}</text>'
        )
    for tick in nice_ticks(x_low, x_high, 5):
        across, _ = place(tick, y_low)
        parts.append(
            f'<text class="tick" x="{across:.1f}" y="{_HEIGHT - _BOTTOM + 15}" '
            f'text-anchor="middle">{short_number(tick)}</text>'
        )
    parts.append(
        f'<text class="tick" x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 3}" '
        f'text-anchor="middle">{html.escape(x_label)}</text>'
    )
    for curve in curves:
        parts += _drawn(curve, place)
    named = [curve for curve in curves if curve.label] if has_legend and len(curves) > 1 else []
    parts += [
        _legend_entry(curve, _WIDTH - _RIGHT - 4, _TOP + 9 + _LEGEND_ROW * index, is_right_of_name=True)
        for index, curve in enumerate(named)
    ]
    return "".join([*parts, "</svg>"])


def svg_file(title: str, curves: Sequence[Curve], *, x_label: str, y_range: tuple[float, float]) -> str:
    """Return a plot as the content of a file, on white, its legend above: a page's style does not reach into it."""
    named = [curve for curve in curves if curve.label]
    legend_height = _LEGEND_ROW * math.ceil(len(named) / 2) + 4
    plot = curve_plot(title, curves, x_label=x_label, y_range=y_range, has_legend=False)
    head, body = plot.split(">", 1)
    head = head.replace(
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"',
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 {-legend_height} {_WIDTH} {_HEIGHT + legend_height}" '
        f'width="{2 * _WIDTH}" height="{2 * (_HEIGHT + legend_height)}"',
    )
    paper = f'<rect y="{-legend_height}" width="{_WIDTH}" height="{_HEIGHT + legend_height}" fill="#ffffff"/>'
    parts = [f"{head}><style>{_FILE_STYLE}</style>{paper}"]
    for index, curve in enumerate(named):
        right = _LEFT + 16 + (index % 2) * (_WIDTH - _LEFT - _RIGHT) / 2
        parts.append(
            _legend_entry(curve, right, 10 - legend_height + _LEGEND_ROW * (index // 2), is_right_of_name=False)
        )
    return "".join([*parts, body, "\n"])


_FILE_STYLE = (
    'text { font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 10px; fill: #565f67; } '
    ".rule { stroke: #e3e6e8; stroke-width: 1; } "
    ".curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; } "
    ".faint { stroke-width: 0.8; opacity: 0.45; } .dashed { stroke-width: 1.1; stroke-dasharray: 4 3; } "
    ".band { opacity: 0.16; } .thin { stroke-width: 1.6; opacity: 0.5; }"
)


def _legend_entry(curve: Curve, right: float, down: float, *, is_right_of_name: bool) -> str:
    """Return a line or dot that ends at `right`, and the name of its curve on one side of it."""
    if curve.form == "dots":
        sign = f'<circle fill="{curve.color}" cx="{right - 8}" cy="{down}" r="3"/>'
    else:
        sign = (
            f'<line class="{_class_of(curve)}" stroke="{curve.color}" x1="{right - 16}" x2="{right}" y1="{down}" '
            f'y2="{down}"/>'
        )
    at, anchor = (right - 21, "end") if is_right_of_name else (right + 5, "start")
    name = html.escape(curve.label)
    return f'{sign}<text class="tick" x="{at}" y="{down + 3.5}" text-anchor="{anchor}">{name}</text>'


def _class_of(curve: Curve) -> str:
    return "curve" if curve.form == "line" else f"curve {curve.form}"


def _drawn(curve: Curve, place: Callable[[float, float], tuple[float, float]]) -> list[str]:
    """Return a curve with its band, or its dots with their intervals."""
    if curve.form == "dots":
        return _dots(curve, place)
    parts = [f'<path class="{_class_of(curve)}" stroke="{curve.color}" d="{path}"/>' for path in _paths(curve, place)]
    if curve.band is None:
        return parts
    low, high = curve.band
    there, back = zip(curve.x, high, strict=True), zip(reversed(curve.x), reversed(low), strict=True)
    outline = "L".join(f"{across:.1f},{down:.1f}" for across, down in (place(x, y) for x, y in (*there, *back)))
    return [f'<path class="band" fill="{curve.color}" d="M{outline}Z"/>', *parts]


def _dots(curve: Curve, place: Callable[[float, float], tuple[float, float]]) -> list[str]:
    low, high = curve.band or (curve.y, curve.y)
    parts = []
    for x, y, least, most in zip(curve.x, curve.y, low, high, strict=True):
        (across, down), (_, bottom), (_, top) = place(x, y), place(x, least), place(x, most)
        parts.append(
            f'<line class="thin" stroke="{curve.color}" x1="{across:.1f}" x2="{across:.1f}" y1="{bottom:.1f}" '
            f'y2="{top:.1f}"/><circle fill="{curve.color}" cx="{across:.1f}" cy="{down:.1f}" r="3"/>'
        )
    return parts


def _paths(curve: Curve, place: Callable[[float, float], tuple[float, float]]) -> list[str]:
    """Return SVG paths of the runs of finite points, thinned to what can be seen."""
    stride = max(1, math.ceil(len(curve.x) / _MAX_POINTS))
    paths: list[str] = []
    run: list[str] = []
    for x, y in list(zip(curve.x, curve.y, strict=True))[::stride]:
        if _is_finite(x, y):
            across, down = place(x, y)
            run.append(f"{across:.1f},{down:.1f}")
        elif run:
            paths.append("M" + "L".join(run))
            run = []
    return [*paths, "M" + "L".join(run)] if run else paths


def _is_finite(x: float, y: float) -> bool:
    return math.isfinite(x) and math.isfinite(y)


def _padded(low: float, high: float) -> tuple[float, float]:
    margin = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - margin, high + margin


def nice_ticks(low: float, high: float, at_most: int) -> list[float]:
    """Return round numbers inside [low, high], a step of 1, 2 or 5 times a power of ten apart."""
    raw = (high - low) / at_most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def short_number(value: float) -> str:
    """Return a number for an axis, thousands as k, millions as M."""
    for limit, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:g}{suffix}"
    return f"{value:.3g}" if value else "0"
