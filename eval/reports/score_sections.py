"""The sections of a report's page that show numbers: success, comparisons, causes, difficulty."""

from collections.abc import Sequence

from eval.judging.row_names import ROW_EXPERT, ROW_RANDOM, in_order
from eval.numbers.aggregate import Estimate
from eval.reports.html_blocks import Cell, color_of, figure, legend, table
from eval.reports.report import ALL_TASKS, Group, RowScore, Summary
from eval.reports.report_text import (
    NO_SECONDS_INTERVAL,
    p_text,
    paired_points_text,
    percent,
    percent_text,
    points_text,
    rate_text,
    seconds_text,
)
from eval.reports.signs import SHAPES, mark_key
from eval.reports.svg_charts import (
    Point,
    Series,
    category_chart,
    difference_chart,
    rate_chart,
)
from eval.reports.svg_plot import IntervalMark

# More lines than these in a small plot cannot be told apart; each has a mark of its own in SHAPES.
_MAX_SERIES = 6


def _name(row: str, summary: Summary) -> Cell:
    return Cell(row, color=color_of(row, summary.rows), is_strong=row == summary.main_row)


def success_marks(summary: Summary, rows: Sequence[str]) -> list[IntervalMark]:
    """Return a mark a row, its mean success over skills, in the colours that `rows` have in this page."""
    return [
        IntervalMark(
            score.row,
            score.over_skills.value,
            score.over_skills.low,
            score.over_skills.high,
            color_of(score.row, rows),
            percent_text(score.over_skills),
        )
        for score in summary.scores
    ]


def glance_section(summary: Summary) -> str:
    """Return every row's headline rate and every claim's difference, side by side."""
    rows = summary.rows
    marks = success_marks(summary, rows)
    figures = figure("Success", "mean over skills, %, 95 % intervals", rate_chart("Success, mean over skills", marks))
    differences = [
        IntervalMark(
            f"{claim.row_a} - {claim.row_b}",
            claim.over_skills.value,
            claim.over_skills.low,
            claim.over_skills.high,
            # The other one's: the judged row takes part in every claim.
            color_of(claim.row_a if claim.row_b == summary.main_row else claim.row_b, rows),
            points_text(claim.over_skills),
        )
        for claim in summary.claims
    ]
    if differences:
        chart = difference_chart("Difference of success on the same tasks", differences)
        figures += figure("Difference on the same tasks", "mean over skills, points, 95 % intervals", chart)
    return f'<div class="grid two">{figures}</div>{_efficiency_table(summary)}'


def _efficiency_table(summary: Summary) -> str:
    header = ("row", "mean over skills", "all tasks", "SPL", "median s to success", "wrong object")
    rows = []
    for score in summary.scores:
        pooled = score.rates[ALL_TASKS]
        rows.append(
            [
                _name(score.row, summary),
                Cell(percent(score.over_skills.value), _limits(score.over_skills), score.over_skills.value),
                Cell(percent(pooled.value), f"{pooled.num_success}/{pooled.num_episodes}"),
                Cell(percent(score.spl.value), _limits(score.spl)),
                Cell(seconds_text(score.success_ticks)),
                Cell(rate_text(score.wrong_object)),
            ]
        )
    note = (
        "The mean over skills weighs every skill alike. SPL: success weighted by shortest over walked path, %. Time is "
        f"the median of successes alone, {NO_SECONDS_INTERVAL}, so read it beside the rate. A wrong object is another "
        "one of the target's kind; touching it, or spoiling the target, ends the episode as a failure."
    )
    return table("Success, path efficiency and time of every row", header, rows) + f'<p class="under">{note}</p>'


def _limits(estimate: Estimate) -> str:
    return f"[{percent(estimate.low)}, {percent(estimate.high)}]"


def skill_section(summary: Summary) -> str:
    """Return a plot a skill of success by distance band, and the table of every row in every group."""
    rows = summary.rows
    shown = [row for row in rows if row != ROW_RANDOM] if len(rows) > _MAX_SERIES else rows
    shown = _most_telling(shown, summary)
    keys = [(mark_key(shape, color_of(row, rows)), row) for shape, row in zip(SHAPES, shown, strict=False)]
    figures = []
    for skill in summary.skills:
        groups = [group for group in summary.groups if group.skill == skill]
        series = [
            Series(
                row,
                color_of(row, rows),
                [_point(index, summary.score(row), group) for index, group in enumerate(groups)],
                shape,
            )
            for shape, row in zip(SHAPES, shown, strict=False)
        ]
        num = max(score.rates[Group(skill, "")].num_episodes for score in summary.scores)
        chart = category_chart(
            f"{skill} by distance", [group.band for group in groups], series, x_label="distance band"
        )
        figures.append(figure(skill.replace("_", " "), f"n = {num}", chart))
    header = ("tasks", *rows)
    body = []
    for group in summary.groups:
        cells = [Cell(group.label, f"n = {max(score.rates[group].num_episodes for score in summary.scores)}")]
        for score in summary.scores:
            rate = score.rates[group]
            cells.append(
                Cell(
                    percent(rate.value),
                    _limits(Estimate(rate.value, *rate.interval)),
                    rate.value,
                    is_strong=True,
                )
            )
        body.append(cells)
    return (
        f'{legend(keys)}<div class="grid three">{"".join(figures)}</div>'
        f"<details><summary>Every row by skill and distance: the table</summary>"
        f"{table('Success by skill and distance', header, body)}"
        '<p class="under">Success in %, Wilson 95 % interval; engine faults left out.</p></details>'
    )


def _most_telling(rows: Sequence[str], summary: Summary) -> list[str]:
    """Return at most _MAX_SERIES rows: the judged one, the expert, then rivals in the order of the claims."""
    wanted = [summary.main_row, ROW_EXPERT, *(claim.row_b for claim in summary.claims), *rows]
    chosen = list(dict.fromkeys(row for row in wanted if row in rows))[:_MAX_SERIES]
    return in_order(chosen)


def _point(index: int, score: RowScore | None, group: Group) -> Point:
    assert score is not None
    rate = score.rates[group]
    return Point(index, rate.value, *rate.interval, note=f"{score.row}, {group.label}: {rate_text(rate)}")


def claim_section(summary: Summary) -> str:
    """Return the paired tests of all claims, and where the differences lie."""
    if not summary.claims:
        return ""
    header = ("A", "B", "n", "only A", "only B", "A - B over skills", "A - B on all tasks", "p (McNemar, Holm)")
    rows = [
        [
            _name(claim.row_a, summary),
            _name(claim.row_b, summary),
            Cell(str(claim.paired.num_pairs)),
            Cell(str(claim.paired.num_only_a)),
            Cell(str(claim.paired.num_only_b)),
            Cell(points_text(claim.over_skills)),
            Cell(paired_points_text(claim.paired)),
            Cell(p_text(claim.p_holm), is_strong=claim.p_holm < 0.05),
        ]
        for claim in summary.claims
    ]
    corrected = f", corrected by Holm for {len(summary.claims)} claims" if len(summary.claims) > 1 else ""
    note = (
        "A and B played the same tasks; differences in points with 95 % intervals. p is the exact two-sided McNemar "
        f"test on all tasks{corrected}."
    )
    groups = [comparison.group for comparison in summary.claims[0].by_group]
    by_group = [
        [
            Cell(group.label),
            *(
                Cell(
                    next(
                        (paired_points_text(one.paired) for one in claim.by_group if one.group == group),
                        "-",
                    )
                )
                for claim in summary.claims
            ),
        ]
        for group in groups
    ]
    names = [f"{claim.row_a} - {claim.row_b}" for claim in summary.claims]
    return (
        f"<p>{note}</p>{table('Paired comparisons', header, rows)}"
        "<details><summary>Differences by skill and distance</summary>"
        f"{table('Differences by skill and distance', ('tasks', *names), by_group)}"
        '<p class="under">Points, Newcombe 95 % intervals, not corrected: to see where, not whether.</p></details>'
    )
