"""Tables on the terminal."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval.numbers.counted import counted
from eval.reports.report import ALL_TASKS, Group, Summary
from eval.reports.report_text import notes_of, p_text, percent, percent_text, points_text, rate_text
from eval.reports.suite_summary import SuiteSummary

_FILE_WIDTH = 1000


class _Console(Console):
    """One that leaves it to its caller what is done where nobody reads on: `mcrl ... | head`."""

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError on; rich ends the process here."""
        raise  # noqa: PLE0704  # rich calls this where it has caught the error


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """Print a table on stdout; in a narrow terminal the widest column is folded, and no other loses a character.

    A str is shown as it is, "[red]" and all; a cell that wants a colour is a Text.
    """
    # Rich reads markup in a str, and a folder may be called "run[lr=1]".
    table = Table(title=Text(title, style="table.title"), title_justify="left", header_style="bold")
    columns = [Text(name) for name in header]
    lines = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    widths = [max(cell.cell_len for cell in column) for column in zip(columns, *lines, strict=True)]
    widest = widths.index(max(widths))
    for index, column in enumerate(columns):
        if index == widest:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, no_wrap=True, min_width=widths[index])
    for line in lines:
        table.add_row(*line)
    # In a file or a pipe nothing limits the width, and a cut number is worth nothing.
    _Console(width=None if sys.stdout.isatty() else _FILE_WIDTH).print(table)


def print_suite_summary(summary: SuiteSummary) -> None:
    """Print success of every row in every suite; whatever there is more of goes downwards."""
    suites = list(summary.summaries)
    success = [["row", *suites], *([row, *(summary.cell(suite, row) for suite in suites)] for row in summary.rows)]
    compared = [
        ["rows", *suites],
        *([" minus ".join(pair), *(summary.difference(suite, pair) for suite in suites)] for pair in summary.pairs()),
    ]
    is_turned = len(suites) > len(summary.rows)
    for title, lines in (
        ("Success in %, all tasks of a suite, Wilson 95 %", success),
        ("Same tasks, points, mean over skills [95 %]", compared),
    ):
        if len(lines) == 1:
            continue
        if is_turned:
            lines = [list(column) for column in zip(*lines, strict=True)]
            lines[0][0] = "suite"
        print_table(title, lines[0], lines[1:])


def print_summary(summary: Summary) -> None:
    """Print success of every row, the paired comparisons, and what a reader must not miss."""
    rows = [
        [
            score.row,
            percent_text(score.over_skills),
            rate_text(score.rates[ALL_TASKS]),
            # Without intervals: with seven skills they would not fit; the report has them.
            *(percent(score.rates[Group(skill, "")].value) for skill in summary.skills),
        ]
        for score in summary.scores
    ]
    title = f"Success in %, {counted(summary.num_tasks, f'{summary.origin.split} task')}, 95 % intervals"
    print_table(title, ["row", "mean over skills", "all tasks", *summary.skills], rows)
    compared = [
        [f"{claim.row_a} minus {claim.row_b}", points_text(claim.over_skills), p_text(claim.p_holm)]
        for claim in summary.claims
    ]
    if compared:
        print_table("Same tasks, points", ["rows", "mean over skills [95 %]", "McNemar p, Holm"], compared)
    for note in notes_of(summary):
        print(note.text)
