"""What a suite of judged episodes says: every number of a report, counted from the records. No text, no pictures."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.episodes.records import CAUSES, OUTCOMES, JudgedEpisode
from eval.judging.origin import SuiteOrigin
from eval.judging.row_names import claims_of, in_order, main_row
from eval.numbers.aggregate import Estimate
from eval.numbers.holm import holm_adjusted
from eval.numbers.path_efficiency import path_efficiency, success_weighted_by_path, time_to_success_ticks
from eval.numbers.statistics import PairedComparison, compare_paired, wilson_interval
from eval.numbers.stratified import stratified_difference, stratified_rate
from eval.reports.report_curves import MeasureCurve, curve_rows, curves_of


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Tasks that are counted together: one skill at one distance band, one skill, or everything."""

    skill: str
    band: str

    @property
    def label(self) -> str:
        """Return how tables name it."""
        if not self.skill:
            return "all tasks"
        name = self.skill.replace("_", " ")
        return f"{name}, {self.band}" if self.band else name


ALL_TASKS = Group("", "")


@dataclass(frozen=True, slots=True)
class Rate:
    """A count of episodes with its Wilson 95 % interval."""

    num_success: int
    num_episodes: int  # without engine faults

    @property
    def value(self) -> float:
        """Return the rate, NaN when nothing was played."""
        return self.num_success / self.num_episodes if self.num_episodes else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return the Wilson 95 % interval."""
        return wilson_interval(self.num_success, self.num_episodes)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowScore:
    """How one row did."""

    row: str
    rates: dict[Group, Rate]
    """One a group of the summary and one a skill; ALL_TASKS last."""
    over_skills: Estimate
    """Mean of the skills' success rates, each skill with equal weight: the headline."""
    outcome_counts: dict[str, int]
    """Keys OUTCOMES."""
    cause_counts: dict[str, int]
    """Keys CAUSES."""
    wrong_object: Rate
    """Episodes that ended at another object of the target's kind."""
    spl: Estimate
    """Success weighted by path length (SPL), 0 .. 1."""
    success_ticks: Estimate
    """Median time to success; NaN without a success."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RowComparison:
    """A paired comparison of two rows on one group."""

    row_a: str
    row_b: str
    group: Group
    paired: PairedComparison


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The claim that A solves more than B, tested on all tasks that both played."""

    row_a: str
    row_b: str
    paired: PairedComparison
    over_skills: Estimate
    """Mean over skills of A's success minus B's."""
    p_holm: float
    """p of the exact McNemar test, corrected for the number of claims in the report (Holm)."""
    by_group: tuple[RowComparison, ...]
    """The same comparison in every group, not corrected: to see where, not whether."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """All numbers of a report."""

    origin: SuiteOrigin
    main_row: str
    skills: tuple[str, ...]
    groups: tuple[Group, ...]
    """Skill and band, ALL_TASKS last."""
    scores: tuple[RowScore, ...]
    claims: tuple[Claim, ...]
    curves: tuple[MeasureCurve, ...]
    num_tasks: int

    @property
    def rows(self) -> list[str]:
        """Return the names of all rows, in the order of every table."""
        return [score.row for score in self.scores]

    @property
    def unplayed_rows(self) -> list[str]:
        """Return the rows whose every episode was a fault of the engine."""
        return [score.row for score in self.scores if score.rates[ALL_TASKS].num_episodes == 0]

    def score(self, row: str) -> RowScore | None:
        """Return how a row did; None when it was not played."""
        return next((score for score in self.scores if score.row == row), None)

    def claim_against(self, row: str) -> Claim | None:
        """Return the claim that the main row beats `row`; None when it is not made."""
        return next((claim for claim in self.claims if claim.row_b == row), None)


def summarise(
    episodes: Sequence[JudgedEpisode],
    origin: SuiteOrigin,
    *,
    main: str | None = None,
    claims: Sequence[tuple[str, str]] | None = None,
    curved: Sequence[str] | None = None,
) -> Summary:
    """Count episodes into the numbers of a report.

    `main` is the row it is about, `claims` what is tested, (A, B) for "A solves more than B", and `curved` the rows
    whose curves are drawn; None takes them from the names of the rows. Rows that did not play the same tasks raise
    ValueError.
    """
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
    rows = list(by_row)
    groups = (*_groups(by_row[first_row]), ALL_TASKS)
    skills = tuple(dict.fromkeys(group.skill for group in groups if group.skill))
    judged = main or main_row(rows)
    return Summary(
        origin=origin,
        main_row=judged,
        skills=skills,
        groups=groups,
        scores=tuple(_score(row, by_row[row], groups, skills) for row in in_order(rows)),
        claims=_claims(by_row, claims_of(rows) if claims is None else claims, groups, skills),
        curves=curves_of(by_row, curve_rows(rows, judged) if curved is None else curved),
        num_tasks=len(task_ids[first_row]),
    )


def _groups(episodes: Sequence[JudgedEpisode]) -> list[Group]:
    """Return the groups that occur: by skill, and within a skill by how far the targets are."""
    distances: dict[Group, list[float]] = {}
    for episode in episodes:
        distances.setdefault(Group(episode.skill, episode.band), []).append(episode.distance_blocks)
    return sorted(distances, key=lambda group: (group.skill, sum(distances[group]) / len(distances[group])))


def _is_in(episode: JudgedEpisode, group: Group) -> bool:
    return group == ALL_TASKS or (episode.skill == group.skill and group.band in ("", episode.band))


def _score(row: str, episodes: Sequence[JudgedEpisode], groups: Sequence[Group], skills: Sequence[str]) -> RowScore:
    # An engine fault says nothing about the agent, so it counts for neither side.
    counted = [episode for episode in episodes if episode.outcome != "fault"]
    rates = {}
    for group in (*(Group(skill, "") for skill in skills), *groups):
        inside = [episode for episode in counted if _is_in(episode, group)]
        rates[group] = Rate(sum(episode.success for episode in inside), len(inside))
    of_skills = {skill: rates[Group(skill, "")] for skill in skills}
    causes, outcomes = Counter(e.cause for e in episodes), Counter(e.outcome for e in episodes)
    return RowScore(
        row=row,
        rates=rates,
        over_skills=stratified_rate(
            {skill: (rate.num_success, rate.num_episodes) for skill, rate in of_skills.items() if rate.num_episodes}
        ),
        outcome_counts={outcome: outcomes[outcome] for outcome in OUTCOMES},
        cause_counts={cause: causes[cause] for cause in CAUSES},
        wrong_object=Rate(outcomes["wrong_object"], len(counted)),
        spl=success_weighted_by_path(_path_efficiencies(counted, skills)),
        success_ticks=time_to_success_ticks([episode.ticks for episode in counted if episode.success]),
    )


def _path_efficiencies(episodes: Sequence[JudgedEpisode], skills: Sequence[str]) -> dict[str, np.ndarray]:
    """Return float [N] by skill: success weighted by path length of its N episodes."""
    by_skill = {skill: [episode for episode in episodes if episode.skill == skill] for skill in skills}
    return {
        skill: path_efficiency(
            np.array([episode.success for episode in of_skill]),
            np.array([episode.path_blocks for episode in of_skill]),
            np.array([episode.walked_blocks for episode in of_skill]),
        )
        for skill, of_skill in by_skill.items()
        if of_skill
    }


def _claims(
    by_row: dict[str, list[JudgedEpisode]],
    pairs: Sequence[tuple[str, str]],
    groups: Sequence[Group],
    skills: Sequence[str],
) -> tuple[Claim, ...]:
    tested = []
    for row_a, row_b in pairs:
        paired = compare_rows(by_row[row_a], by_row[row_b], ALL_TASKS)
        if paired is not None:
            tested.append((row_a, row_b, paired))
    corrected = holm_adjusted([paired.p_value for _, _, paired in tested])
    return tuple(
        Claim(
            row_a=row_a,
            row_b=row_b,
            paired=paired,
            over_skills=stratified_difference(
                {
                    skill: of_skill
                    for skill in skills
                    if (of_skill := compare_rows(by_row[row_a], by_row[row_b], Group(skill, ""))) is not None
                }
            ),
            p_holm=p_holm,
            by_group=tuple(
                RowComparison(row_a=row_a, row_b=row_b, group=group, paired=inside)
                for group in groups
                if group != ALL_TASKS and (inside := compare_rows(by_row[row_a], by_row[row_b], group)) is not None
            ),
        )
        for (row_a, row_b, paired), p_holm in zip(tested, corrected, strict=True)
    )


def compare_rows(
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
