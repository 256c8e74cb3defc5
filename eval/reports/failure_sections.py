"""The sections of a report's page that say why and where rows fail: causes, and success against difficulty."""

import html

from eval.episodes.records import CAUSES
from eval.reports.html_blocks import Cell, color_of, figure, legend, swatch, table
from eval.reports.report import Summary
from eval.reports.report_curves import MEASURES
from eval.reports.report_text import p_text, percent_text
from eval.reports.signs import DASHES, line_key
from eval.reports.svg_charts import Band, Point, Series, Share, fitted_chart, stacked_bars


def cause_section(summary: Summary) -> str:
    """Return how every row's episodes ended, as shares."""
    shown = [cause for cause in CAUSES if any(score.cause_counts[cause] for score in summary.scores)]
    bars = [
        (
            score.row,
            [Share(cause.replace("_", " "), score.cause_counts[cause], f"var(--k-{cause})") for cause in shown],
        )
        for score in summary.scores
    ]
    keys = [(swatch(f"var(--k-{cause})"), cause.replace("_", " ")) for cause in shown]
    # Scaled down to a telephone the letters of the wide one would be 5 px high.
    title, widths = "How episodes ended", (("wide", 640.0), ("narrow", 200.0))
    charts = "".join(f'<div class="{name}">{stacked_bars(title, bars, span=span)}</div>' for name, span in widths)
    rows = [
        [
            Cell(score.row, color=color_of(score.row, summary.rows)),
            *(Cell(str(score.cause_counts[cause])) for cause in shown),
        ]
        for score in summary.scores
    ]
    counts = table("Episodes by cause", ("row", *(cause.replace("_", " ") for cause in shown)), rows)
    return (
        f"{legend(keys)}{figure('Share of episodes, %', 'in the order of the legend', charts)}"
        f"<details><summary>Counts and what the causes mean</summary>{counts}{_CAUSE_MEANINGS}</details>"
    )


_CAUSE_MEANINGS = (
    '<p class="under">wrong object: touched another object of the target\'s kind, or spoiled the target (broke what '
    "was to be opened). stuck: hardly walked at all. not done: was in reach of the target and did not do what was "
    "asked. never seen: the target was never in view. lost: saw it, and had it out of view for the last half of the "
    "episode. not reached: kept it in view and never came into reach. fault: the engine failed. The first that holds "
    "counts.</p>"
)


def curve_section(summary: Summary) -> str:
    """Return success against each measure of difficulty, fitted and binned."""
    rows, figures, drawn = summary.rows, [], []
    for measure, shown in MEASURES.items():
        of_measure = [one for one in summary.curves if one.measure == measure]
        if not of_measure:
            continue
        of_measure.sort(key=lambda one: one.row != summary.main_row)
        first = of_measure[0]
        drawn += [one.row for one in of_measure if one.row not in drawn]
        bands = [
            Band(
                one.curve.x_grid_G.tolist(),
                one.curve.rate_G.tolist(),
                one.curve.low_G.tolist(),
                one.curve.high_G.tolist(),
                color_of(one.row, rows),
                DASHES[drawn.index(one.row) % len(DASHES)],
            )
            for one in of_measure
        ]
        bins = Series(
            first.row,
            color_of(first.row, rows),
            [
                Point(
                    one.x_mean,
                    one.rate.value,
                    one.rate.low,
                    one.rate.high,
                    note=f"{one.x_low:.3g} to {one.x_high:.3g}: {percent_text(one.rate)}, n = {one.num_episodes}",
                )
                for one in first.curve.bins
            ],
        )
        grid_G = first.curve.x_grid_G
        ends = (min(float(grid_G[0]), bins.points[0].x), max(float(grid_G[-1]), bins.points[-1].x))
        chart = fitted_chart(
            f"{first.row}: success against {shown.axis}", bands, bins, x_label=shown.axis, x_range=ends
        )
        figures.append(figure(shown.title, f"p {p_text(first.curve.p_value)}", chart))
    if not figures:
        return ""
    note = (
        f"Logistic fits with 95 % band and binned rates of {html.escape(summary.main_row)}; other rows as thin, dashed "
        'lines. p is the test of "success does not depend on it", for each measure alone and not corrected.'
    )
    keys = [(line_key(DASHES[n % len(DASHES)], color_of(row, rows)), row) for n, row in enumerate(drawn)]
    return f'<p>{note}</p>{legend(keys)}<div class="grid three">{"".join(figures)}</div>'
