"""What a suite of judged episodes says: success tables, paired comparisons, and the Markdown page of both."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.origin import SuiteOrigin
from eval.records import OUTCOMES, JudgedEpisode
from eval.statistics import PairedComparison, compare_paired, wilson_interval

ROW_RANDOM, ROW_SHUFFLED, ROW_IMITATION, ROW_RL, ROW_EXPERT = "random", "shuffled goal", "imitation", "rl", "expert"
ROW_IMITATION_LONG = "imitation-long"

# Order of rows in every table, floor first; other rows come before the expert in the order they were played.
_ROW_ORDER = (ROW_RANDOM, ROW_SHUFFLED, ROW_IMITATION, ROW_IMITATION_LONG, ROW_RL)

# The claims a report tests: A better than B, on the same tasks.
_COMPARED_ROWS = ((ROW_RL, ROW_IMITATION), (ROW_RL, ROW_IMITATION_LONG), (ROW_RL, ROW_SHUFFLED))


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Tasks that are counted together: one skill at one distance band, or everything."""

    skill: str
    band: str

    @property
    def label(self) -> str:
        """Return how tables name it."""
        return "all tasks" if not self.skill else f"{self.skill}, {self.band}"


ALL_TASKS = Group("", "")
# The column that the bars of the project are set on.
HEADLINE = Group("approach", "near")


@dataclass(frozen=True, slots=True)
class Rate:
    """A success count with its Wilson 95 % interval."""

    num_success: int
    num_episodes: int  # without engine faults

    @property
    def value(self) -> float:
        """Return the success rate, NaN when nothing was played."""
        return self.num_success / self.num_episodes if self.num_episodes else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return the Wilson 95 % interval."""
        return wilson_interval(self.num_success, self.num_episodes)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowScore:
    """How one row did."""

    row: str
    rates: dict[Group, Rate]  # one a group, ALL_TASKS last
    outcome_counts: dict[str, int]  # keys OUTCOMES
    median_success_ticks: float  # NaN without a success


@dataclass(frozen=True, kw_only=True, slots=True)
class RowComparison:
    """A paired comparison of two rows on one group."""

    row_a: str
    row_b: str
    group: Group
    paired: PairedComparison


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """All tables of a report."""

    origin: SuiteOrigin
    groups: tuple[Group, ...]
    scores: tuple[RowScore, ...]
    comparisons: tuple[RowComparison, ...]

    @property
    def num_tasks(self) -> int:
        """Return how many tasks every row played."""
        return sum(self.scores[0].outcome_counts.values()) if self.scores else 0


def summarise(episodes: Sequence[JudgedEpisode], origin: SuiteOrigin) -> Summary:
    """Count episodes into tables. Rows that did not play the same tasks raise ValueError."""
    by_row: dict[str, list[JudgedEpisode]] = {}
    for episode in episodes:
        by_row.setdefault(episode.row, []).append(episode)
    if not by_row:
        raise ValueError("a report needs at least one episode, got none")
    task_ids = {row: sorted(episode.task_id for episode in played) for row, played in by_row.items()}
    first_row = next(iter(task_ids))
    for row, ids in task_ids.items():
        if ids != task_ids[first_row]:
            raise ValueError(f"rows {first_row!r} and {row!r} played different tasks; judge both in one suite")
    groups = (*_groups(by_row[first_row]), ALL_TASKS)
    order = [row for row in _ROW_ORDER if row in by_row]
    order += [row for row in by_row if row not in order and row != ROW_EXPERT] + [ROW_EXPERT] * (ROW_EXPERT in by_row)
    scores = tuple(_score(row, by_row[row], groups) for row in order)
    comparisons = tuple(
        RowComparison(row_a=row_a, row_b=row_b, group=group, paired=paired)
        for row_a, row_b in _COMPARED_ROWS
        if row_a in by_row and row_b in by_row
        for group in groups
        if (paired := _compare(by_row[row_a], by_row[row_b], group)) is not None
    )
    return Summary(origin=origin, groups=groups, scores=scores, comparisons=comparisons)


def _groups(episodes: Sequence[JudgedEpisode]) -> list[Group]:
    """Return the groups that occur: by skill, and within a skill by how far the targets are."""
    distances: dict[Group, list[float]] = {}
    for episode in episodes:
        distances.setdefault(Group(episode.skill, episode.band), []).append(episode.distance_blocks)
    return sorted(distances, key=lambda group: (group.skill, sum(distances[group]) / len(distances[group])))


def _is_in(episode: JudgedEpisode, group: Group) -> bool:
    return group == ALL_TASKS or (episode.skill, episode.band) == (group.skill, group.band)


def _score(row: str, episodes: Sequence[JudgedEpisode], groups: Sequence[Group]) -> RowScore:
    rates = {}
    for group in groups:
        # An engine fault says nothing about the agent, so it counts for neither side.
        counted = [episode for episode in episodes if _is_in(episode, group) and episode.outcome != "fault"]
        rates[group] = Rate(sum(episode.success for episode in counted), len(counted))
    ticks = sorted(episode.ticks for episode in episodes if episode.success)
    median = (ticks[(len(ticks) - 1) // 2] + ticks[len(ticks) // 2]) / 2 if ticks else math.nan
    outcome_counts = {outcome: sum(episode.outcome == outcome for episode in episodes) for outcome in OUTCOMES}
    return RowScore(row=row, rates=rates, outcome_counts=outcome_counts, median_success_ticks=median)


def _compare(
    episodes_a: Sequence[JudgedEpisode], episodes_b: Sequence[JudgedEpisode], group: Group
) -> PairedComparison | None:
    """Compare two rows task by task; None when the engine left no task that both finished."""
    finished_b = {episode.task_id: episode for episode in episodes_b if episode.outcome != "fault"}
    pairs = [
        (episode.success, finished_b[episode.task_id].success)
        for episode in episodes_a
        if episode.outcome != "fault" and episode.task_id in finished_b and _is_in(episode, group)
    ]
    return compare_paired([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None


def percent(value: float) -> str:
    """Return a rate in percent with one digit, "-" for NaN."""
    return "-" if math.isnan(value) else f"{100 * value:.1f}"


def points(value: float) -> str:
    """Return a difference of rates in percentage points, with its sign."""
    return f"{100 * value:+.1f}"


def p_text(value: float) -> str:
    """Return a p-value to two digits, small ones as a bound."""
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def markdown(summary: Summary) -> str:
    """Return the report as Markdown: tables first, then where they come from."""
    return "\n".join(
        ["# Evaluation in worlds never trained on", ""]
        + _success_lines(summary)
        + _outcome_lines(summary)
        + _comparison_lines(summary)
        + _origin_lines(summary)
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _success_lines(summary: Summary) -> list[str]:
    header = ["row"] + [
        f"{group.label} (n={max(score.rates[group].num_episodes for score in summary.scores)})"
        for group in summary.groups
    ]
    rows = []
    for score in summary.scores:
        cells = [score.row]
        for group in summary.groups:
            low, high = score.rates[group].interval
            cells.append(f"{percent(score.rates[group].value)} [{percent(low)}, {percent(high)}]")
        rows.append(cells)
    caption = (
        f"Success in %, Wilson 95 % interval; {summary.num_tasks} {summary.origin.split} tasks, equal for every row."
    )
    return ["## Success", "", caption, "", *_table(header, rows), ""]


def _outcome_lines(summary: Summary) -> list[str]:
    header = ["row", *(outcome.replace("_", " ") for outcome in OUTCOMES), "median ticks to success"]
    rows = [
        [
            score.row,
            *(str(score.outcome_counts[outcome]) for outcome in OUTCOMES),
            "-" if math.isnan(score.median_success_ticks) else f"{score.median_success_ticks:.0f}",
        ]
        for score in summary.scores
    ]
    return ["## How episodes ended", "", *_table(header, rows), ""]


def _comparison_lines(summary: Summary) -> list[str]:
    if not summary.comparisons:
        return []
    header = ["A", "B", "tasks", "n", "only A", "only B", "A - B, points [95 %]", "McNemar p"]
    rows = []
    for comparison in summary.comparisons:
        paired = comparison.paired
        rows.append(
            [
                comparison.row_a,
                comparison.row_b,
                comparison.group.label,
                str(paired.num_pairs),
                str(paired.num_only_a),
                str(paired.num_only_b),
                f"{points(paired.difference)} [{points(paired.low)}, {points(paired.high)}]",
                p_text(paired.p_value),
            ]
        )
    caption = (
        "The same tasks for A and B; exact two-sided McNemar test, interval by Newcombe's method 10. "
        f"A - B against {ROW_SHUFFLED!r} is own goal minus another task's goal."
    )
    return ["## Paired comparisons", "", caption, "", *_table(header, rows), ""]


def origin_rows(summary: Summary) -> list[tuple[str, str]]:
    """Return label and text of everything that is needed to make the numbers again."""
    origin = summary.origin
    rows = [
        ("command", origin.command),
        ("commit", origin.commit),
        ("date", origin.date),
        ("hardware", json.dumps(origin.hardware)),
        ("tasks", f"split {origin.split}, suite seed {origin.suite_seed}, {origin.num_worlds} worlds"),
        ("agent seed", str(origin.agent_seed)),
    ]
    rows += [(f"row {row}", source) for row, source in origin.row_sources.items()]
    rows.append(("wall time, evaluation", _seconds_text(origin.row_wall_s)))
    if origin.training_wall_s:
        rows.append(("wall time, training", _seconds_text(origin.training_wall_s)))
    return rows


def _seconds_text(seconds: dict[str, float]) -> str:
    parts = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
    return f"{parts}; {sum(seconds.values()):.0f} s together"


def _origin_lines(summary: Summary) -> list[str]:
    return ["## Where this comes from", "", *(f"- {label}: `{text}`" for label, text in origin_rows(summary)), ""]


def write_markdown(summary: Summary, path: Path) -> None:
    """Write the Markdown page."""
    path.write_text(markdown(summary), encoding="utf-8")
