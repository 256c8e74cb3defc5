"""Line plots as inline SVG text, coloured by the page's CSS variables."""

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_WIDTH, _HEIGHT = 380, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 34
_MAX_POINTS = 400  # more cannot be seen at this width


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot. NaN values leave a gap."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    color: str  # CSS colour


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """One row of an interval chart, in [0, 1]."""

    label: str
    value: float
    low: float
    high: float
    color: str
    note: str  # printed at the right


def curve_plot(title: str, curves: Sequence[Curve], *, x_label: str, y_range: tuple[float, float] | None = None) -> str:
    """Return a line plot with axes, ticks and a legend when there is more than one curve."""
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
        parts += [f'<path class="curve" stroke="{curve.color}" d="{path}"/>' for path in _paths(curve, place)]
    right = _WIDTH - _RIGHT - 4
    if len(curves) > 1:
        for index, curve in enumerate(curves):
            down = _TOP + 9 + 14 * index
            parts.append(
                f'<line class="curve" stroke="{curve.color}" x1="{right - 16}" x2="{right}" y1="{down}" y2="{down}"/>'
                f'<text class="tick" x="{right - 21}" y="{down + 3.5}" text-anchor="end">'
                f"{html.escape(curve.label)}</text>"
            )
    return "".join([*parts, "</svg>"])


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
