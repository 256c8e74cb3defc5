"""Tables on the terminal."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from eval.report import ALL_TASKS, HEADLINE, Summary, p_text, percent, points
from eval.suite_summary import SuiteSummary

_FILE_WIDTH = 160


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in header:
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    # In a file or a pipe nothing limits the width, and a cut number is worth nothing.
    Console(width=None if sys.stdout.isatty() else _FILE_WIDTH).print(table)


def print_suite_summary(summary: SuiteSummary) -> None:
    """Print success of every row in every suite."""
    rows = [[row, *(summary.cell(suite, row) for suite in summary.summaries)] for row in summary.rows]
    print_table("Success in %, all tasks of a suite, Wilson 95 %", ["row", *summary.summaries], rows)


def print_summary(summary: Summary) -> None:
    """Print success of every row and group, then the paired comparisons."""
    rows = []
    for score in summary.scores:
        cells = [score.row]
        for group in summary.groups:
            low, high = score.rates[group].interval
            cells.append(f"{percent(score.rates[group].value)} [{percent(low)}, {percent(high)}]")
        rows.append(cells)
    title = f"Success in %, {summary.num_tasks} {summary.origin.split} tasks, Wilson 95 %"
    print_table(title, ["row", *(group.label for group in summary.groups)], rows)
    compared = []
    for comparison in summary.comparisons:
        # The report has them all.
        if comparison.group not in (HEADLINE, ALL_TASKS):
            continue
        paired = comparison.paired
        difference = f"{points(paired.difference)} [{points(paired.low)}, {points(paired.high)}]"
        pair = f"{comparison.row_a} minus {comparison.row_b}"
        compared.append([pair, comparison.group.label, difference, p_text(paired.p_value)])
    if compared:
        print_table("Same tasks, points", ["rows", "tasks", "difference [95 %]", "McNemar p"], compared)
