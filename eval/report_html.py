"""The report as one self-contained HTML page: plots, tables and videos inside, nothing to load."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.records import OUTCOMES
from eval.report import (
    HEADLINE,
    ROW_EXPERT,
    ROW_IMITATION,
    ROW_RL,
    ROW_SHUFFLED,
    Group,
    RowComparison,
    Summary,
    origin_rows,
    p_text,
    percent,
    points,
)
from eval.svg_plot import IntervalMark, interval_chart

_ROW_COLORS = {
    "random": "var(--c-random)",
    "shuffled goal": "var(--c-shuffled)",
    "imitation": "var(--c-imitation)",
    "imitation-long": "var(--c-long)",
    "rl": "var(--c-rl)",
    "expert": "var(--c-expert)",
}
_OTHER_COLOR = "var(--c-other)"

_STYLE = Path(__file__).with_name("report.css")


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedVideo:
    """A video inside the page."""

    caption: str
    video_uri: str
    poster_uri: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """A finished plot and what it shows."""

    title: str
    svg: str
    note: str


def page(
    summary: Summary, *, title: str, plots: Sequence[Plot], videos: Sequence[EmbeddedVideo], video_note: str = ""
) -> str:
    """Return the whole page. `video_note` says how the videos were chosen, or why there are none."""
    sections = [
        _header(summary, title),
        _cards(summary),
        _section("Success in unseen worlds", _charts(summary) + _success_table(summary)),
        _section("Paired comparisons", _comparison_table(summary)),
        _section("Episodes", _video_grid(videos, video_note)),
        _section("Training", _plot_grid(plots)),
        _section("How episodes ended", _outcome_table(summary)),
        _section("Where this comes from", _origin_list(summary)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE.read_text(encoding='ascii')}</style></head>\n"
        f"<body><main>{''.join(sections)}</main></body></html>\n"
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{body}</section>\n" if body else ""


def _header(summary: Summary, title: str) -> str:
    origin = summary.origin
    return (
        f"<header><h1>{html.escape(title)}</h1>"
        f"<p>{summary.num_tasks} tasks in {origin.num_worlds} worlds of the {origin.split.replace('_', '-')} split, "
        f"the same tasks for every row. {html.escape(origin.date)}, commit {html.escape(origin.commit)}.</p></header>\n"
    )


def _headline_group(summary: Summary) -> Group:
    return HEADLINE if HEADLINE in summary.groups else summary.groups[-1]


def _cards(summary: Summary) -> str:
    """Return the few numbers a reader wants first, each with its interval."""
    group = _headline_group(summary)
    cards = []
    for score in summary.scores:
        if score.row in (ROW_IMITATION, ROW_RL, ROW_EXPERT):
            low, high = score.rates[group].interval
            cards.append((f"{score.row}", percent(score.rates[group].value), "%", f"{percent(low)} to {percent(high)}"))
    names = {ROW_IMITATION: "rl minus imitation", ROW_SHUFFLED: "own goal minus another's"}
    for comparison in summary.comparisons:
        if comparison.row_a == ROW_RL and comparison.row_b in names and comparison.group == group:
            paired = comparison.paired
            note = f"{points(paired.low)} to {points(paired.high)}, p {p_text(paired.p_value)}"
            cards.append((names[comparison.row_b], points(paired.difference), "points", note))
    body = "".join(
        f'<div class="card"><div class="label">{html.escape(label)}</div>'
        f'<div class="big">{number}<small> {unit}</small></div><div class="label">{html.escape(note)}</div></div>'
        for label, number, unit, note in cards
    )
    return f'<p class="lead">Headline: {html.escape(group.label)}</p><div class="cards">{body}</div>\n' if body else ""


def _charts(summary: Summary) -> str:
    figures = []
    for group in summary.groups:
        marks = []
        for score in summary.scores:
            rate = score.rates[group]
            low, high = rate.interval
            note = f"{percent(rate.value)} [{percent(low)}, {percent(high)}]"
            color = _ROW_COLORS.get(score.row, _OTHER_COLOR)
            marks.append(IntervalMark(score.row, rate.value, low, high, color, note))
        num_episodes = max(score.rates[group].num_episodes for score in summary.scores)
        caption = f"{html.escape(group.label)} <small>n = {num_episodes}, success in %, Wilson 95 %</small>"
        figures.append(f"<figure><figcaption>{caption}</figcaption>{interval_chart(group.label, marks)}</figure>")
    return f'<div class="grid two">{"".join(figures)}</div>'


def _success_table(summary: Summary) -> str:
    head = "".join(f"<th>{html.escape(group.label)}</th>" for group in summary.groups)
    rows = []
    for score in summary.scores:
        cells = []
        for group in summary.groups:
            rate = score.rates[group]
            low, high = rate.interval
            cells.append(
                f"<td><b>{percent(rate.value)}</b> <small>[{percent(low)}, {percent(high)}] "
                f"{rate.num_success}/{rate.num_episodes}</small></td>"
            )
        rows.append(f"<tr><th>{_swatch(score.row)}{html.escape(score.row)}</th>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><tr><th>row</th>{head}</tr>{"".join(rows)}</table></div>'


def _swatch(row: str) -> str:
    return f'<i class="swatch" style="background:{_ROW_COLORS.get(row, _OTHER_COLOR)}"></i>'


def _comparison_table(summary: Summary) -> str:
    if not summary.comparisons:
        return ""
    rows = "".join(_comparison_row(comparison) for comparison in summary.comparisons)
    columns = ("A", "B", "tasks", "n", "only A", "only B", "A - B, points", "McNemar p")
    head = "".join(f"<th>{column}</th>" for column in columns)
    note = (
        "Both rows played the same tasks. p is the exact two-sided McNemar test, the interval Newcombe's method 10, "
        "95 %. Against the shuffled goal, A - B is what the policy gains from seeing its own goal, not another task's."
    )
    return f'<p>{html.escape(note)}</p><div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _comparison_row(comparison: RowComparison) -> str:
    paired = comparison.paired
    is_clear = paired.p_value < 0.05
    return (
        f"<tr><th>{_swatch(comparison.row_a)}{html.escape(comparison.row_a)}</th>"
        f"<td>{_swatch(comparison.row_b)}{html.escape(comparison.row_b)}</td>"
        f"<td>{html.escape(comparison.group.label)}</td><td>{paired.num_pairs}</td><td>{paired.num_only_a}</td>"
        f"<td>{paired.num_only_b}</td><td><b>{points(paired.difference)}</b> "
        f"<small>[{points(paired.low)}, {points(paired.high)}]</small></td>"
        f'<td class="{"clear" if is_clear else "unclear"}">{html.escape(p_text(paired.p_value))}</td></tr>'
    )


def _video_grid(videos: Sequence[EmbeddedVideo], note: str) -> str:
    figures = "".join(
        f'<figure class="wide"><video controls loop muted autoplay playsinline poster="{video.poster_uri}" '
        f'src="{video.video_uri}"></video><figcaption>{html.escape(video.caption)}</figcaption></figure>'
        for video in videos
    )
    text = f"<p>{html.escape(note)}</p>" if note else ""
    return f'{text}<div class="grid">{figures}</div>' if figures else text


def _plot_grid(plots: Sequence[Plot]) -> str:
    figures = "".join(
        f"<figure><figcaption>{html.escape(plot.title)} <small>{html.escape(plot.note)}</small></figcaption>"
        f"{plot.svg}</figure>"
        for plot in plots
        if plot.svg
    )
    return f'<div class="grid three">{figures}</div>' if figures else ""


def _outcome_table(summary: Summary) -> str:
    head = "".join(f"<th>{outcome.replace('_', ' ')}</th>" for outcome in OUTCOMES)
    rows = []
    for score in summary.scores:
        cells = "".join(f"<td>{score.outcome_counts[outcome]}</td>" for outcome in OUTCOMES)
        ticks = "-" if math.isnan(score.median_success_ticks) else f"{score.median_success_ticks:.0f}"
        rows.append(f"<tr><th>{_swatch(score.row)}{html.escape(score.row)}</th>{cells}<td>{ticks}</td></tr>")
    note = "Touching another object of the target's kind is a wrong object: it ends the episode as a failure."
    return (
        f'<p>{html.escape(note)}</p><div class="scroll"><table>'
        f"<tr><th>row</th>{head}<th>median ticks to success</th></tr>{''.join(rows)}</table></div>"
    )


def _origin_list(summary: Summary) -> str:
    items = "".join(
        f"<dt>{html.escape(label)}</dt><dd><code>{html.escape(text)}</code></dd>"
        for label, text in origin_rows(summary)
    )
    return f"<dl>{items}</dl>"
