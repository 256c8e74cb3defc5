"""Several suites at a glance: success of every row in every suite, and what each policy gains from its goal."""

import html
from collections.abc import Mapping

from eval.judging.row_names import ROW_SHUFFLED, in_order
from eval.reports.html_blocks import Cell, figure, table
from eval.reports.report import Summary
from eval.reports.report_html import document, section
from eval.reports.report_markdown import table_lines
from eval.reports.report_text import Note, notes_of, percent, percent_text, points_text, question_of
from eval.reports.score_sections import success_marks
from eval.reports.suite_names import selection_sentence, shared_selection, without
from eval.reports.svg_charts import rate_chart

_TITLE = "Suites side by side"
_CAPTION = (
    "Success in %, mean over the skills of a suite with equal weights, 95 % score interval. Rows of one suite played "
    "the same tasks; numbers of different suites are of different tasks."
)


def mixed_rows(summaries: Mapping[str, Summary]) -> str:
    """Return a sentence on the rows that are not of one policy in all suites; "" where there are none."""
    sources: dict[str, dict[str, str]] = {}
    for suite, summary in summaries.items():
        for row in summary.rows:
            source = summary.origin.row_sources.get(row)
            if source is not None:
                sources.setdefault(row, {})[suite] = source
    mixed = [
        f"row {row} is {' and '.join(f'{source} in {suite}' for suite, source in found.items())}"
        for row, found in sources.items()
        if len(set(found.values())) > 1
    ]
    return f"Not of one policy in all suites: {'; '.join(mixed)}." if mixed else ""


def _rows(summaries: Mapping[str, Summary]) -> list[str]:
    return in_order(list(dict.fromkeys(row for summary in summaries.values() for row in summary.rows)))


def overview_page(summaries: Mapping[str, Summary], links: Mapping[str, str]) -> str:
    """Return the page; `summaries` and `links`, the address of each suite's own page, by the suite's name."""
    rows = _rows(summaries)
    selection = shared_selection(summaries)
    shown_as = {suite: without(suite, selection).replace("_", " ") for suite in summaries}
    body = []
    for suite, summary in summaries.items():
        cells = [Cell(shown_as[suite], f"n = {summary.num_tasks}")]
        for row in rows:
            score = summary.score(row)
            if score is None:
                cells.append(Cell("-"))
            else:
                rate = score.over_skills
                cells.append(
                    Cell(
                        percent(rate.value), f"[{percent(rate.low)}, {percent(rate.high)}]", rate.value, is_strong=True
                    )
                )
        claim = summary.claim_against(ROW_SHUFFLED)
        gain = points_text(claim.over_skills).partition(" ") if claim else ("-", "", "")
        cells.append(Cell(gain[0], gain[2]))
        body.append(cells)
    matrix = table(
        "Success of every row in every suite", ("suite", *rows, "own goal - another's"), body, is_stacked=True
    )
    figures = "".join(
        figure(shown_as[suite], question_of(summary), _chart(shown_as[suite], summary, rows))
        for suite, summary in summaries.items()
    )
    items = "".join(
        f'<dt><a href="{html.escape(links[suite])}">{html.escape(shown_as[suite])}</a></dt>'
        f"<dd>{html.escape(question_of(summary))}{_notes(notes_of(summary))}</dd>"
        for suite, summary in summaries.items()
    )
    selected = f"<p>{html.escape(selection_sentence(selection))}</p>" if selection else ""
    return document(
        _TITLE,
        f"<header><h1>{_TITLE}</h1><p>{_CAPTION}</p>{selected}{_warning(mixed_rows(summaries))}</header>"
        + section("Success", matrix)
        + section("Suite by suite", f'<div class="grid two">{figures}</div>')
        + section("The suites and their reports", f"<dl>{items}</dl>"),
    )


def _chart(suite: str, summary: Summary, rows: list[str]) -> str:
    return rate_chart(f"Success in {suite}", success_marks(summary, rows))


def _warning(text: str) -> str:
    return _notes([Note(text, is_warning=True)]) if text else ""


def _notes(notes: list[Note]) -> str:
    return "".join(
        f'<p class="note {"warning" if note.is_warning else "good"}" role="note">{html.escape(note.text)}</p>'
        for note in notes
    )


def overview_markdown(summaries: Mapping[str, Summary], links: Mapping[str, str]) -> str:
    """Return the same as Markdown."""
    rows = _rows(summaries)
    selection = shared_selection(summaries)
    body = []
    for suite, summary in summaries.items():
        scores = [summary.score(row) for row in rows]
        claim = summary.claim_against(ROW_SHUFFLED)
        body.append(
            [
                f"[{without(suite, selection)}]({links[suite]}) (n={summary.num_tasks})",
                *(percent_text(score.over_skills) if score else "-" for score in scores),
                points_text(claim.over_skills) if claim else "-",
            ]
        )
    lines = [f"# {_TITLE}", "", _CAPTION, ""]
    if selection:
        lines += [selection_sentence(selection), ""]
    lines += table_lines(["suite", *rows, "own goal - another's"], body)
    if mixed := mixed_rows(summaries):
        lines += [mixed, ""]
    for suite, summary in summaries.items():
        lines += [f"- {without(suite, selection)}: {note.text}" for note in notes_of(summary)]
    return "\n".join(lines) + "\n"
