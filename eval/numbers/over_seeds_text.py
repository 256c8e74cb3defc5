"""The table over seeds as Markdown and JSON."""

import dataclasses
import json
from collections.abc import Iterable, Sequence

from eval.numbers.over_seeds import SeedsClaim, SeedsRow, SeedsTable
from eval.reports.report import ALL_TASKS
from eval.reports.report_markdown import table_lines
from eval.reports.report_text import p_text, percent, percent_text, points, points_text


def markdown(table: SeedsTable) -> str:
    """Return the page."""
    lines = [*_head_lines(table), *_success_lines(table.rows)]
    if table.claims:
        lines += _claim_lines(table.claims)
    lines += [
        "Success in %, differences in points. Intervals are Student's t, 95 %, over training seeds: what another "
        "seed may bring; where all seeds agree they have no width, however few the tasks. The middle half is the "
        "interquartile mean over seeds and cells (skill and distance), the last column the chance that one A beats "
        "one B in a cell; their intervals resample whole seeds and are too short for few of them. p is McNemar's, "
        "exact, of one training's pairs of tasks, and pooled of all pairs. " + _power_text(table),
        "",
    ]
    return "\n".join(lines)


def _head_lines(table: SeedsTable) -> list[str]:
    """Return what was played, and what to know of it before its numbers are read."""
    lines = [f"# {table.suite} over {len(table.trainings)} trainings", ""]
    lines += [f"{table.num_tasks} tasks, the same for every training and row. `{table.command}`", ""]
    lines += [*(f"- {training}" for training in table.trainings), ""]
    if table.differences:
        lines += [f"**The trainings differ by more than their seeds**: {'; '.join(table.differences)}.", ""]
    if table.shared_stages:
        lines += [
            f"**These trainings are not independent**: {', '.join(table.shared_stages)} plays the same weights in "
            "several, as of two checkpoints of one run, or of runs from one clone. Intervals over seeds are too short.",
            "",
        ]
    if table.left_out:
        lines += [f"Rows that not every training has played are left out: {', '.join(table.left_out)}.", ""]
    if table.groups_left_out:
        failed = "; ".join(table.groups_left_out)
        lines += [f"Tasks of which the engine failed every one that some row played are no cells: {failed}.", ""]
    return lines


def _success_lines(rows: Sequence[SeedsRow]) -> list[str]:
    """Return success by row, and by row and kind of task."""
    labels = [label for label in rows[0].by_group if label != ALL_TASKS.label]
    lines = table_lines(
        ["row", "mean over skills", "by seed", "all tasks", "middle half of seeds and cells"],
        [
            [
                row.row,
                f"**{percent_text(row.over_skills)}**",
                _each(percent(value) for value in row.over_skills_by_seed),
                percent_text(row.by_group[ALL_TASKS.label]),
                percent_text(row.middle),
            ]
            for row in rows
        ],
    )
    return lines + table_lines(
        ["tasks", *(row.row for row in rows)],
        [[label, *(percent_text(row.by_group[label]) for row in rows)] for label in labels],
    )


def _claim_lines(claims: Sequence[SeedsClaim]) -> list[str]:
    """Return how rows differ on the same tasks."""
    return table_lines(
        [
            "A",
            "B",
            "A - B over skills, points",
            "by seed",
            "p by seed",
            "p pooled",
            "tasks to see it",
            "A beats B in a cell, %",
        ],
        [
            [
                claim.row_a,
                claim.row_b,
                points_text(claim.over_skills),
                _each(points(value) for value in claim.over_skills_by_seed),
                _each(p_text(value) for value in claim.p_by_seed),
                p_text(claim.p_pooled),
                "-" if claim.num_tasks_needed is None else f"{claim.num_tasks_needed:,}",
                percent_text(claim.improvement),
            ]
            for claim in claims
        ],
    )


def _power_text(table: SeedsTable) -> str:
    if table.detectable is None:
        return f"No gain over the judged row on {table.num_tasks} tasks shows with 80 % power in one training."
    return (
        f"With {table.num_tasks} tasks one training shows a gain of {points(table.detectable)} points over the judged "
        "row with 80 % power where the outcomes of A and B are unrelated, and smaller ones where they go together."
    )


def as_json(table: SeedsTable) -> str:
    """Return the table as JSON."""
    return json.dumps(dataclasses.asdict(table), indent=2) + "\n"


def _each(texts: Iterable[str]) -> str:
    return ", ".join(texts)
