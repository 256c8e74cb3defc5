"""The report as Markdown: the same numbers as the page, as tables."""

from collections.abc import Sequence

from eval.episodes.records import CAUSES
from eval.numbers.counted import counted
from eval.reports.report import ALL_TASKS, Group, Summary
from eval.reports.report_curves import MEASURES
from eval.reports.report_text import (
    NO_SECONDS_INTERVAL,
    claim_of,
    notes_of,
    origin_rows,
    p_text,
    paired_points_text,
    percent_text,
    points_text,
    rate_text,
    seconds_text,
    title_of,
)


def markdown(summary: Summary, *, title: str | None = None) -> str:
    """Return the report: headline first, then every table, then where they come from."""
    return "\n".join(
        [f"# {title or title_of(summary)}", "", claim_of(summary), ""]
        + [f"> {'**Note.** ' if note.is_warning else ''}{note.text}\n" for note in notes_of(summary)]
        + _success_lines(summary)
        + _claim_lines(summary)
        + _cause_lines(summary)
        + _curve_lines(summary)
        + _origin_lines(summary)
    )


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table, with an empty line after it."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return [lines[0], "|" + " --- |" * len(header), *lines[1:], ""]


def _success_lines(summary: Summary) -> list[str]:
    header = ["row", "mean over skills", "all tasks", *(skill.replace("_", " ") for skill in summary.skills)]
    header += ["SPL", "median s to success", "wrong object"]
    rows = [
        [
            score.row,
            f"**{percent_text(score.over_skills)}**",
            rate_text(score.rates[ALL_TASKS]),
            *(rate_text(score.rates[Group(skill, "")]) for skill in summary.skills),
            percent_text(score.spl),
            seconds_text(score.success_ticks),
            rate_text(score.wrong_object),
        ]
        for score in summary.scores
    ]
    caption = (
        "Success in % with 95 % intervals: Wilson's for a count, the score interval for the mean over skills, which "
        "weighs every skill alike. SPL is success weighted by path length. Seconds are those of successes alone, "
        f"{NO_SECONDS_INTERVAL}."
    )
    groups = [group for group in summary.groups if group != ALL_TASKS]
    by_group = [
        [
            f"{group.label} (n={max(score.rates[group].num_episodes for score in summary.scores)})",
            *(rate_text(score.rates[group]) for score in summary.scores),
        ]
        for group in groups
    ]
    return [
        "## Success",
        "",
        caption,
        "",
        *table_lines(header, rows),
        "### By skill and distance",
        "",
        *table_lines(["tasks", *(score.row for score in summary.scores)], by_group),
    ]


def _claim_lines(summary: Summary) -> list[str]:
    if not summary.claims:
        return []
    header = ["A", "B", "n", "only A", "only B", "A - B over skills, points", "A - B on all tasks", "p (McNemar, Holm)"]
    rows = [
        [
            claim.row_a,
            claim.row_b,
            str(claim.paired.num_pairs),
            str(claim.paired.num_only_a),
            str(claim.paired.num_only_b),
            points_text(claim.over_skills),
            paired_points_text(claim.paired),
            p_text(claim.p_holm),
        ]
        for claim in summary.claims
    ]
    caption = (
        "A and B played the same tasks. p is the exact two-sided McNemar test on all tasks, corrected by Holm for "
        f"{counted(len(summary.claims), 'claim')}."
    )
    return ["## Paired comparisons", "", caption, "", *table_lines(header, rows)]


def _cause_lines(summary: Summary) -> list[str]:
    shown = [cause for cause in CAUSES if any(score.cause_counts[cause] for score in summary.scores)]
    rows = [[score.row, *(str(score.cause_counts[cause]) for cause in shown)] for score in summary.scores]
    return ["## How episodes ended", "", *table_lines(["row", *(cause.replace("_", " ") for cause in shown)], rows)]


def _curve_lines(summary: Summary) -> list[str]:
    if not summary.curves:
        return []
    rows = []
    for one in summary.curves:
        slope = one.curve.slope
        rows.append(
            [
                MEASURES[one.measure].title,
                one.row,
                f"{one.curve.rate_G[0]:.2f} at {one.curve.x_grid_G[0]:.3g}",
                f"{one.curve.rate_G[-1]:.2f} at {one.curve.x_grid_G[-1]:.3g}",
                f"{slope.value:+.3g} [{slope.low:+.3g}, {slope.high:+.3g}]",
                p_text(one.curve.p_value),
            ]
        )
    header = ["measure", "row", "fitted success", "fitted success", "change of log-odds a unit", "p"]
    caption = 'Logistic fits (Firth); p of "success does not depend on the measure", not corrected.'
    return ["## Success against difficulty", "", caption, "", *table_lines(header, rows)]


def _origin_lines(summary: Summary) -> list[str]:
    return ["## How the numbers were made", "", *(f"- {label}: `{text}`" for label, text in origin_rows(summary)), ""]
