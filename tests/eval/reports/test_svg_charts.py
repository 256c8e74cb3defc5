"""Claims about charts: what is drawn stands where its number says."""

import re

import pytest

from eval.reports.svg_charts import Share, difference_chart, rate_chart, stacked_bars
from eval.reports.svg_plot import IntervalMark


def _drawn(svg: str) -> tuple[dict[str, float], float, tuple[float, float]]:
    """Return the places of the ticks by their text, of the dot, and of both ends of its interval."""
    ticks = {text: float(x) for x, text in re.findall(r'class="tick" x="([\d.]+)"[^>]*>([-\d]+)<', svg)}
    (dot,) = re.findall(r'<circle [^>]*cx="([\d.]+)"', svg)
    ((low, high),) = re.findall(r'class="interval" x1="([\d.]+)" x2="([\d.]+)"', svg)
    return ticks, float(dot), (float(low), float(high))


def test_a_rate_stands_between_the_ends_of_its_interval_on_the_axis():
    ticks, dot, ends = _drawn(rate_chart("t", [IntervalMark("a", 0.5, 0.25, 1.0, "red", "")]))
    assert dot == ticks["50"]
    assert ends == (ticks["25"], ticks["100"])


def test_a_loss_stands_left_of_no_difference_and_the_axis_reaches_as_far_on_both_sides():
    ticks, dot, ends = _drawn(difference_chart("t", [IntervalMark("a - b", -0.2, -0.4, 0.2, "red", "")]))
    assert ticks.keys() == {"-40", "-20", "0", "20", "40"}
    assert dot == ticks["-20"] < ticks["0"]
    assert ends == (ticks["-40"], ticks["20"])


def test_a_bar_is_as_wide_as_its_share():
    svg = stacked_bars("t", [("a", [Share("won", 3, "red"), Share("none", 0, "blue"), Share("lost", 1, "black")])])
    widths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', svg)]
    assert widths == pytest.approx([3 * widths[1], widths[1]])
    assert "won: 3 of 4" in svg
