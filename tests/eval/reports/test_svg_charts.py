"""Claims about charts: what is drawn stands where its number says."""

import dataclasses
import re
from pathlib import Path

import pytest

from eval.reports import report_html
from eval.reports.report import summarise
from eval.reports.signs import DASHES, SHAPES, shape_mark
from eval.reports.svg_charts import Share, difference_chart, rate_chart, stacked_bars
from eval.reports.svg_plot import IntervalMark
from tests.eval.made_episodes import ORIGIN, make_episode


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


def test_a_piece_with_room_for_it_has_its_name_and_a_narrow_bar_only_numbers():
    bars = [("a", [Share("won", 3, "red"), Share("not reached", 1, "black")])]
    assert re.findall(r'class="inbar"[^>]*>([^<]*)<', stacked_bars("t", bars)) == ["won 75", "not reached 25"]
    narrow = stacked_bars("t", bars, span=200.0)
    assert re.findall(r'class="inbar"[^>]*>([^<]*)<', narrow) == ["won 75", "25"]
    assert float(re.search(r'viewBox="0 0 (\d+)', narrow)[1]) < 360  # of a telephone: its letters keep their size


def test_every_row_of_a_chart_has_a_mark_and_a_dash_of_its_own():
    assert len({re.sub(r"[a-z]", "", shape_mark(shape, 0, 0, 3, "")) for shape in SHAPES}) == len(SHAPES)
    assert len(set(DASHES)) == len(DASHES)


def test_the_rows_of_a_page_differ_in_more_than_colour():
    rows = ("random", "noop", "shuffled goal", "imitation", "dagger", "rl", "keen", "expert")
    episodes = [
        dataclasses.replace(make_episode(row, n, "success" if n % 3 else "time_limit"), view_angle_deg=float(n))
        for row in rows
        for n in range(24)
    ]
    text = re.sub(r"var\(--c-[a-z0-9-]*\)", "", report_html.page(summarise(episodes, ORIGIN)))
    skills, curves = (re.findall(r'<svg class="key".*?</svg>', part) for part in text.split("<h2>Success against")[:2])
    assert len(skills) == len(set(skills)) == 6
    assert len(curves) == len(set(curves)) == 3


def test_dagger_and_imitation_differ_in_brightness_too():
    style = (Path(report_html.__file__).parent / "report.css").read_text()
    for scheme in style.split("@media (prefers-color-scheme: dark)")[:2]:
        imitation, dagger = (
            _luminance(re.search(rf"--c-{row}: #(\w{{6}})", scheme)[1]) for row in ("imitation", "dagger")
        )
        assert (imitation + 0.05) / (dagger + 0.05) > 1.8


def _luminance(color: str) -> float:
    """Return the relative luminance of WCAG 2, 0 .. 1."""
    shares = [int(color[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
