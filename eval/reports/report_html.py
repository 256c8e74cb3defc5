"""The report as one self-contained HTML page: plots, tables, pictures and videos inside, nothing to load."""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.judging.row_names import ROW_BLANK, ROW_EXPERT, ROW_SHUFFLED
from eval.numbers.aggregate import Estimate
from eval.reports.episode_sections import ShownEpisodes, gallery_section, video_section
from eval.reports.failure_sections import cause_section, curve_section
from eval.reports.html_blocks import figure
from eval.reports.report import Summary
from eval.reports.report_text import (
    claim_of,
    notes_of,
    origin_rows,
    p_text,
    percent,
    points,
    seconds_text,
    title_of,
)
from eval.reports.score_sections import claim_section, glance_section, skill_section

_STYLE = Path(__file__).with_name("report.css")


@dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """A finished plot and what it shows."""

    title: str
    svg: str
    note: str


def page(
    summary: Summary,
    *,
    title: str | None = None,
    plots: Sequence[Plot] = (),
    shown: ShownEpisodes | None = None,
    schema_text: str = "",
) -> str:
    """Return the whole page.

    Args:
        summary: all its numbers.
        title: heading; None names the suite.
        plots: of the training, if there are any.
        shown: videos and failures; None leaves both sections out.
        schema_text: what the fields of episodes.jsonl mean, for the foot of the page.
    """
    heading = title or title_of(summary)
    shown = shown or ShownEpisodes()
    body = "".join(
        [
            _header(summary, heading, names_policy=title is None),
            _notes(summary),
            _cards(summary),
            section("At a glance", glance_section(summary)),
            section("Success by skill and distance", skill_section(summary)),
            section("Paired comparisons", claim_section(summary)),
            section("How episodes ended", cause_section(summary)),
            section("Success against difficulty", curve_section(summary)),
            section("Episodes", video_section(shown)),
            section("Failures", gallery_section(shown)),
            section("Training", _plot_grid(plots)),
            section("How the numbers were made", _origin(summary, schema_text)),
        ]
    )
    return document(heading, body)


def document(title: str, body: str) -> str:
    """Return a whole HTML document with the style of every report."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon, or the browser asks for one that is not there.
        '<link rel="icon" href="data:,">'
        f"<title>{html.escape(title)}</title><style>{_STYLE.read_text(encoding='ascii')}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )


def section(title: str, body: str) -> str:
    """Return a part of a page under its heading; "" when there is nothing in it."""
    return f"<section><h2>{html.escape(title)}</h2>{body}</section>\n" if body else ""


def _header(summary: Summary, heading: str, *, names_policy: bool) -> str:
    """Return the head; a comparison judges several policies, and names none."""
    origin = summary.origin
    # "rl" stands for many a policy, and of two pages nobody could say which is whose.
    source = origin.row_sources.get(summary.main_row)
    judged = f"{summary.main_row}: {source}; " if source and names_policy else ""
    under = html.escape(f"{judged}{origin.date}, commit {origin.commit}")
    return (
        f"<header><h1>{html.escape(heading)}</h1><p>{html.escape(claim_of(summary))}</p>"
        f'<p class="under">{under}</p></header>\n'
    )


def _notes(summary: Summary) -> str:
    return "".join(
        f'<p class="note {"warning" if note.is_warning else "good"}" role="note">{html.escape(note.text)}</p>'
        for note in notes_of(summary)
    )


def _cards(summary: Summary) -> str:
    """Return the few numbers a reader wants first, each with its interval."""
    main = summary.score(summary.main_row)
    assert main is not None
    cards = [(f"{main.row}: success, mean over skills", percent(main.over_skills.value), "%", _range(main.over_skills))]
    names = {ROW_SHUFFLED: "own goal minus another's", ROW_BLANK: "own goal minus none"}
    for claim in summary.claims:
        gain = claim.over_skills
        note = f"{points(gain.low)} to {points(gain.high)}, p {p_text(claim.p_holm)}"
        label = names.get(claim.row_b, f"{claim.row_a} minus {claim.row_b}")
        cards.append((label, points(gain.value), "points", note))
    expert = summary.score(ROW_EXPERT)
    if expert is not None and expert is not main:
        cards.append(("expert: the ceiling", percent(expert.over_skills.value), "%", _range(expert.over_skills)))
    median, _, spread = seconds_text(main.success_ticks).partition(" ")
    cards.append((f"{main.row}: median time to success", median, "s", spread))
    body = "".join(
        f'<div class="card"><div class="label">{html.escape(label)}</div>'
        f'<div class="big">{html.escape(number)}<small> {unit}</small></div>'
        f'<div class="label">{html.escape(note)}</div></div>'
        for label, number, unit, note in cards
    )
    return f'<div class="cards">{body}</div>\n'


def _range(estimate: Estimate) -> str:
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def _plot_grid(plots: Sequence[Plot]) -> str:
    figures = "".join(figure(plot.title, plot.note, plot.svg) for plot in plots if plot.svg)
    return f'<div class="grid three">{figures}</div>' if figures else ""


def _origin(summary: Summary, schema_text: str) -> str:
    items = "".join(
        f"<dt>{html.escape(label)}</dt><dd><code>{html.escape(text)}</code></dd>"
        for label, text in origin_rows(summary)
    )
    folded = ""
    if summary.origin.config:
        config = html.escape(json.dumps(summary.origin.config, indent=1))
        folded += f"<details><summary>Config of the judged run</summary><pre>{config}</pre></details>"
    if schema_text:
        folded += f"<details><summary>Fields of episodes.jsonl</summary><pre>{html.escape(schema_text)}</pre></details>"
    return f"<dl>{items}</dl>{folded}"
