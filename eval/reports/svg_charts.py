"""Charts of judged episodes as inline SVG text, coloured by the page's CSS variables; each names itself in words."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval.reports.signs import SHAPES, dashed, shape_mark
from eval.reports.svg_plot import IntervalMark, nice_ticks, short_number

_CHAR_PX = 6.7  # width of a letter at the size of row labels
_NOTE_CHAR_PX = 6.4
_ROW_PX = 24
_LEAST_NUMBERED_PX = 26  # piece of a bar that a number fits into


@dataclass(frozen=True, slots=True)
class Point:
    """A rate at one place of an axis, in [0, 1]; NaN is left out."""

    x: float
    value: float
    low: float
    high: float
    note: str = ""  # shown when the pointer rests on it


@dataclass(frozen=True, slots=True)
class Series:
    """One row's points."""

    label: str
    color: str
    points: Sequence[Point]
    shape: str = SHAPES[0]


@dataclass(frozen=True, slots=True)
class Band:
    """A fitted curve of rates with its 95 % band."""

    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    color: str
    dash: str = ""  # of DASHES


@dataclass(frozen=True, slots=True)
class Share:
    """One piece of a stacked bar."""

    name: str
    count: int
    color: str


def _open(width: float, height: float, title: str) -> str:
    # Never much larger than drawn, or the letters of a small chart outgrow those around it.
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{1.12 * width:.0f}px" role="img" '
        f'aria-label="{html.escape(title)}">'
    )


def _left_of(labels: Sequence[str]) -> float:
    return 14 + _CHAR_PX * max((len(label) for label in labels), default=0)


def rate_chart(title: str, marks: Sequence[IntervalMark]) -> str:
    """Return rates with their intervals, a row each, 0 to 100 % across."""
    return _interval_rows(title, marks, low=0.0, high=1.0, ticks=(0.0, 0.25, 0.5, 0.75, 1.0))


def difference_chart(title: str, marks: Sequence[IntervalMark]) -> str:
    """Return differences of rates with their intervals, a row each, the line of no difference in the middle."""
    widest = max((abs(end) for mark in marks for end in (mark.low, mark.high) if math.isfinite(end)), default=0.1)
    limit = max(0.1, math.ceil(widest * 10) / 10)
    return _interval_rows(title, marks, low=-limit, high=limit, ticks=(-limit, -limit / 2, 0.0, limit / 2, limit))


def _interval_rows(
    title: str, marks: Sequence[IntervalMark], *, low: float, high: float, ticks: Sequence[float]
) -> str:
    left = _left_of([mark.label for mark in marks])
    right = 16 + _NOTE_CHAR_PX * max((len(mark.note) for mark in marks), default=0)
    span = 190.0
    width, height = left + span + right, _ROW_PX * len(marks) + 26
    told = "; ".join(f"{mark.label} {mark.note}" for mark in marks)
    parts = [_open(width, height, f"{title}: {told}")]
    for tick in ticks:
        across = left + (tick - low) / (high - low) * span
        name = "rule zero" if low < 0 and tick == 0 else "rule"
        parts.append(
            f'<line class="{name}" x1="{across:.1f}" x2="{across:.1f}" y1="2" y2="{height - 20}"/>'
            f'<text class="tick" x="{across:.1f}" y="{height - 6}" text-anchor="middle">{100 * tick:.0f}</text>'
        )
    for index, mark in enumerate(marks):
        down = _ROW_PX * index + _ROW_PX / 2 + 2
        parts.append(
            f'<text class="row" x="{left - 10:.1f}" y="{down + 4}" text-anchor="end">{html.escape(mark.label)}</text>'
        )
        if math.isfinite(mark.value):
            start, end, at = (left + (x - low) / (high - low) * span for x in (mark.low, mark.high, mark.value))
            parts.append(
                f'<line stroke="{mark.color}" class="interval" x1="{start:.1f}" x2="{end:.1f}" '
                f'y1="{down}" y2="{down}"/>'
                f'<circle fill="{mark.color}" cx="{at:.1f}" cy="{down}" r="5"/>'
            )
        parts.append(f'<text class="note" x="{left + span + 12:.1f}" y="{down + 4}">{html.escape(mark.note)}</text>')
    return "".join([*parts, "</svg>"])


def stacked_bars(title: str, bars: Sequence[tuple[str, Sequence[Share]]], *, span: float = 640.0) -> str:
    """Return a bar of shares, `span` wide, for each (label, pieces), named where there is room.

    Pieces too thin to read carry name and number as a tooltip.
    """
    left, right = _left_of([label for label, _ in bars]), 44.0
    width, height = left + span + right, _ROW_PX * len(bars) + 6
    told = "; ".join(
        f"{label}: " + ", ".join(f"{share.name} {share.count}" for share in shares if share.count)
        for label, shares in bars
    )
    parts = [_open(width, height, f"{title}. {told}")]
    for index, (label, shares) in enumerate(bars):
        top, total = _ROW_PX * index + 4, sum(share.count for share in shares)
        parts.append(
            f'<text class="row" x="{left - 10:.1f}" y="{top + 12}" text-anchor="end">{html.escape(label)}</text>'
        )
        at = left
        for share in shares:
            across = span * share.count / max(total, 1)
            if not share.count:
                continue
            name = f"{html.escape(share.name)}: {share.count} of {total}"
            parts.append(
                f'<rect x="{at:.1f}" y="{top}" width="{across:.1f}" height="16" fill="{share.color}">'
                f"<title>{name}</title></rect>"
            )
            if across > _LEAST_NUMBERED_PX:
                number = f"{100 * share.count / total:.0f}"
                named = f"{share.name} {number}"
                shown = named if across > _NOTE_CHAR_PX * len(named) + 8 else number
                parts.append(
                    f'<text class="inbar" x="{at + across / 2:.1f}" y="{top + 12}" text-anchor="middle">'
                    f"{html.escape(shown)}</text>"
                )
            at += across
        parts.append(f'<text class="note" x="{left + span + 8:.1f}" y="{top + 12}">{total}</text>')
    return "".join([*parts, "</svg>"])


_WIDTH, _HEIGHT = 340, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 10, 10, 36


def _across(x: float, low: float, high: float) -> float:
    return _LEFT + (x - low) / ((high - low) or 1.0) * (_WIDTH - _LEFT - _RIGHT)


def _down(rate: float) -> float:
    return _HEIGHT - _BOTTOM - min(max(rate, 0.0), 1.0) * (_HEIGHT - _TOP - _BOTTOM)


def _rate_axis(x_label: str) -> list[str]:
    """Return the lines and numbers of a rate from 0 to 100 %, and what is across."""
    parts = []
    for rate in (0.0, 0.25, 0.5, 0.75, 1.0):
        down = _down(rate)
        parts.append(
            f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>'
            f'<text class="tick" x="{_LEFT - 6}" y="{down + 3.5:.1f}" text-anchor="end">{100 * rate:.0f}</text>'
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text class="tick" x="{middle:.0f}" y="{_HEIGHT - 3}" text-anchor="middle">{html.escape(x_label)}</text>'
    )
    return parts


def _whisker(point: Point, across: float, series: Series, radius: float) -> str:
    return (
        f'<line stroke="{series.color}" class="interval thin" x1="{across:.1f}" x2="{across:.1f}" '
        f'y1="{_down(point.low):.1f}" y2="{_down(point.high):.1f}"/>'
        f"{shape_mark(series.shape, across, _down(point.value), radius, series.color, html.escape(point.note))}"
    )


def category_chart(title: str, categories: Sequence[str], series: Sequence[Series], *, x_label: str) -> str:
    """Return rates by category, a dot with its interval a series, side by side; `Point.x` is the category's index."""
    shown = [one for one in series if any(math.isfinite(point.value) for point in one.points)]
    told = "; ".join(f"{one.label}: " + ", ".join(point.note for point in one.points) for one in shown)
    parts = [_open(_WIDTH, _HEIGHT, f"{title}. {told}"), *_rate_axis(x_label)]
    slot = (_WIDTH - _LEFT - _RIGHT) / max(len(categories), 1)
    step = min(13.0, 0.72 * slot / max(len(shown), 1))
    for index, category in enumerate(categories):
        parts.append(
            f'<text class="tick" x="{_LEFT + (index + 0.5) * slot:.1f}" y="{_HEIGHT - _BOTTOM + 14}" '
            f'text-anchor="middle">{html.escape(category)}</text>'
        )
    for place, one in enumerate(shown):
        aside = (place - (len(shown) - 1) / 2) * step
        placed = [(_LEFT + (point.x + 0.5) * slot + aside, point) for point in one.points if math.isfinite(point.value)]
        path = "L".join(f"{across:.1f},{_down(point.value):.1f}" for across, point in placed)
        parts.append(f'<path class="curve faint" stroke="{one.color}" d="M{path}"/>')
        parts += [_whisker(point, across, one, 3.6) for across, point in placed]
    return "".join([*parts, "</svg>"])


def fitted_chart(
    title: str, bands: Sequence[Band], points: Series, *, x_label: str, x_range: tuple[float, float]
) -> str:
    """Return fitted curves with their bands, the first in front, and the binned rates that the first was fitted to."""
    low, high = x_range
    told = ", ".join(point.note for point in points.points)
    parts = [_open(_WIDTH, _HEIGHT, f"{title}. {told}"), *_rate_axis(x_label)]
    for tick in nice_ticks(low, high, 5) if high > low else []:
        parts.append(
            f'<text class="tick" x="{_across(tick, low, high):.1f}" y="{_HEIGHT - _BOTTOM + 14}" '
            f'text-anchor="middle">{short_number(tick)}</text>'
        )
    for index, band in reversed(list(enumerate(bands))):
        upper = [f"{_across(x, low, high):.1f},{_down(y):.1f}" for x, y in zip(band.x, band.high, strict=True)]
        lower = [f"{_across(x, low, high):.1f},{_down(y):.1f}" for x, y in zip(band.x, band.low, strict=True)]
        middle = [f"{_across(x, low, high):.1f},{_down(y):.1f}" for x, y in zip(band.x, band.value, strict=True)]
        if index == 0:
            parts.append(f'<path class="band" fill="{band.color}" d="M{"L".join(upper + lower[::-1])}Z"/>')
        name = "curve" if index == 0 else "curve faint"
        parts.append(f'<path class="{name}" stroke="{band.color}"{dashed(band.dash)} d="M{"L".join(middle)}"/>')
    for point in points.points:
        if math.isfinite(point.value):
            parts.append(_whisker(point, _across(point.x, low, high), points, 3.2))
    return "".join([*parts, "</svg>"])
