"""Several trainings of one recipe, of other seeds: what the recipe does, not what one checkpoint did. S seeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.judging.judged_folder import JudgedFolder
from eval.judging.plan_file import weights_of
from eval.judging.row_names import (
    ROW_DAGGER,
    ROW_IMITATION,
    ROW_IMITATION_LONG,
    ROW_START,
    claims_of,
    in_order,
    main_row,
)
from eval.numbers.aggregate import Estimate, bootstrap_over_seeds, mean_over_seeds, probability_of_improvement
from eval.numbers.compare import suite_of
from eval.numbers.flat_settings import flat_settings
from eval.numbers.paired_power import detectable_difference, num_tasks_needed
from eval.numbers.statistics import mcnemar_p_value
from eval.reports.report import ALL_TASKS, Claim, Group, RowScore, Summary, summarise

# Of the resampling behind intervals that have no formula; not of any training.
_RESAMPLING_SEED = 0
# Rows of what a training went through before its result.
_STAGES = (ROW_START, ROW_IMITATION, ROW_DAGGER, ROW_IMITATION_LONG)
# Settings in which trainings of one recipe are meant to differ, where each lies, and how it was reported on.
_OF_ONE_TRAINING = {"seed", "run_dir", "initial_policy", "report", "report_suite", "tasks.num_eval_tasks", "wandb"}


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedsRow:
    """One row over all trainings."""

    row: str
    over_skills: Estimate
    """Mean over seeds of the mean over skills, with Student's t interval over seeds: the headline."""
    over_skills_by_seed: tuple[float, ...]
    middle: Estimate
    """Interquartile mean over seeds and groups with a bootstrap of whole seeds, too short for few of them."""
    by_group: dict[str, Estimate]
    """Mean over seeds of the success rate with Student's t interval, by Group.label: skill and band, then all tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedsClaim:
    """The claim that a training's row A solves more than its row B, on the same tasks."""

    row_a: str
    row_b: str
    over_skills: Estimate
    """Mean over seeds of the difference of the means over skills, with Student's t interval over seeds."""
    over_skills_by_seed: tuple[float, ...]
    p_by_seed: tuple[float, ...]
    """McNemar's exact p of each training's pair, not corrected."""
    p_pooled: float
    """McNemar's exact p of all pairs together; takes the seeds trained for all there could be."""
    num_tasks_needed: int | None
    """Tasks on which one training shows the mean difference of success with 80 % power; None where there is none."""
    improvement: Estimate
    """Probability that a training's A beats a training's B in a group of tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedsTable:
    """What a report over seeds says."""

    command: str
    suite: str
    num_tasks: int
    trainings: tuple[str, ...]
    """Label, seed and commit of each folder."""
    rows: tuple[SeedsRow, ...]
    left_out: tuple[str, ...]
    """Rows that some folders have and others have not, or only as faults of the engine."""
    groups_left_out: tuple[str, ...]
    """Group.label of tasks of which the engine failed every one that some row played in some training."""
    differences: tuple[str, ...]
    """Settings that are not the same in all trainings, "ppo.num_iterations 500, 1200, 1200"; seeds and places apart."""
    shared_stages: tuple[str, ...]
    """Rows of earlier stages that play the same weights in several of the trainings: those are not independent."""
    claims: tuple[SeedsClaim, ...]
    detectable: float | None
    """Smallest gain over the judged row that one training's tasks show with 80 % power, outcomes uncorrelated; None
    where no gain does: of few tasks, or over a row that solved them all."""


def table_over_seeds(folders: Sequence[JudgedFolder], labels: Sequence[str], *, command: str) -> SeedsTable:
    """Return the table of trainings that were judged on the same tasks; rows that not all of them have are left out.

    Raises:
        ValueError: fewer than two folders, of different tasks, without a row that all of them have, with a skill of
            which the engine failed everything, or of the same weights: one training counted twice.
    """
    first = folders[0]
    if len(folders) < 2:
        raise ValueError(f"{first.path}: one training says nothing about others; name the folders of two seeds or more")
    for folder in folders[1:]:
        if list(folder.task_of) != list(first.task_of):
            raise ValueError(
                f"{folder.path}: was judged on other tasks than {first.path}; judge every seed with the same suite and "
                "--num-tasks"
            )
    played_S = [_played_rows(folder) for folder in folders]
    shared = _shared_rows(played_S)
    if not shared:
        raise ValueError(
            f"{first.path}: no row of it was played in every other folder; judge all seeds with the same rows"
        )
    # Each folder alone would choose its own judged row and claims, from rows that the others may not have.
    judged, claims = main_row(shared), claims_of(shared)
    _check_distinct(folders, judged)
    failed = _failed_skills(folders, shared)
    summaries = [
        summarise([e for e in folder.episodes if e.skill not in failed], folder.origin, main=judged, claims=claims)
        for folder in folders
    ]
    groups = [group for group in summaries[0].groups if _is_played(group, summaries, shared)]
    if not any(group != ALL_TASKS for group in groups):
        raise ValueError(
            f"{first.path}: of no skill and distance did the engine finish a task in every folder; judge them again"
        )
    unplayed = [group for group in summaries[0].groups if group not in groups]
    num_tasks = summaries[0].num_tasks
    rows = tuple(_row(row, [_score(summary, row) for summary in summaries], groups) for row in shared)
    # Where the engine left a training no task that both rows finished, there is nothing to test.
    rivals = [rival for _, rival in claims if all(summary.claim_against(rival) for summary in summaries)]
    headline = next(row for row in rows if row.row == judged)
    return SeedsTable(
        command=command,
        suite=suite_of(first),
        num_tasks=num_tasks,
        trainings=tuple(_training(label, folder) for label, folder in zip(labels, folders, strict=True)),
        rows=rows,
        left_out=tuple(in_order(sorted({e.row for folder in folders for e in folder.episodes} - {*shared}))),
        groups_left_out=tuple(group.label for group in (*(Group(skill, "") for skill in failed), *unplayed)),
        differences=tuple(setting_differences([folder.origin.config for folder in folders])),
        shared_stages=tuple(row for row in shared if row in _STAGES and _is_shared(folders, row)),
        claims=tuple(_claim(summaries, judged, rival, groups) for rival in rivals),
        detectable=detectable_difference(num_tasks, headline.by_group[ALL_TASKS.label].value),
    )


def _check_distinct(folders: Sequence[JudgedFolder], row: str) -> None:
    """Raise ValueError where two folders judged the same weights: their difference is that of play, not of training."""
    path_of: dict[str, Path] = {}
    for folder in folders:
        weights = weights_of(folder.path, row)
        if weights and weights in path_of:
            raise ValueError(
                f"{folder.path}: row {row!r} has the weights of {path_of[weights]}: one training, played twice, says "
                "nothing about others; name one folder a training"
            )
        path_of[weights] = folder.path


def _is_shared(folders: Sequence[JudgedFolder], row: str) -> bool:
    """Tell whether a row plays the same weights in two folders."""
    known = [weights for folder in folders if (weights := weights_of(folder.path, row))]
    return len(set(known)) < len(known)


def _failed_skills(folders: Sequence[JudgedFolder], rows: Sequence[str]) -> list[str]:
    """Return the skills of which some row has nothing but faults of the engine in some training, sorted.

    Means over skills would be over other skills in that training than in the rest.
    """
    failed: set[str] = set()
    skills = {episode.skill for episode in folders[0].episodes}
    for folder in folders:
        played = {(episode.row, episode.skill) for episode in folder.episodes if episode.outcome != "fault"}
        failed |= {skill for skill in skills for row in rows if (row, skill) not in played}
    if failed == skills:
        raise ValueError(
            f"{folders[0].path}: in every skill the engine failed all that some row played; judge those rows again"
        )
    return sorted(failed)


def setting_differences(configs: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield the settings that are not the same everywhere; none where a folder does not say what its settings were."""
    flat = [flat_settings(config) for config in configs]
    if not all(flat):
        return
    for name in sorted(set().union(*flat) - _OF_ONE_TRAINING):
        values = [settings.get(name) for settings in flat]
        if any(value != values[0] for value in values):
            yield f"{name} {', '.join(map(str, values))}"


def _played_rows(folder: JudgedFolder) -> list[str]:
    """Return the rows in the order they were played, without those whose every episode was a fault of the engine."""
    return list(dict.fromkeys(episode.row for episode in folder.episodes if episode.outcome != "fault"))


def _shared_rows(played_S: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows that every training has, in the order of every table, whichever folder is named first."""
    shared = set(played_S[0]).intersection(*played_S[1:])
    # The sum of places keeps an order that the folders agree on and favours none where they do not.
    return in_order(sorted(shared, key=lambda row: (sum(played.index(row) for played in played_S), row)))


def _is_played(group: Group, summaries: Sequence[Summary], rows: Sequence[str]) -> bool:
    """Tell whether every row of every training has an episode of the group that the engine did not fail."""
    return all(_score(summary, row).rates[group].num_episodes for summary in summaries for row in rows)


def _training(label: str, folder: JudgedFolder) -> str:
    seed = folder.origin.config.get("seed")
    return f"{label} ({'' if seed is None else f'seed {seed}, '}commit {folder.origin.commit})"


def _score(summary: Summary, row: str) -> RowScore:
    score = summary.score(row)
    assert score is not None
    return score


def _row(row: str, score_S: Sequence[RowScore], groups: Sequence[Group]) -> SeedsRow:
    by_seed = [score.over_skills.value for score in score_S]
    cells = [group for group in groups if group != ALL_TASKS]
    return SeedsRow(
        row=row,
        over_skills=mean_over_seeds(np.array(by_seed)),
        over_skills_by_seed=tuple(by_seed),
        middle=bootstrap_over_seeds(_cells(score_S, cells), seed=_RESAMPLING_SEED),
        by_group={g.label: mean_over_seeds(np.array([score.rates[g].value for score in score_S])) for g in groups},
    )


def _claim(summaries: Sequence[Summary], row_a: str, row_b: str, groups: Sequence[Group]) -> SeedsClaim:
    claim_S = [_claim_of(summary, row_a, row_b) for summary in summaries]
    by_seed = [claim.over_skills.value for claim in claim_S]
    cells = [group for group in groups if group != ALL_TASKS]
    num_only_a = sum(claim.paired.num_only_a for claim in claim_S)
    num_only_b = sum(claim.paired.num_only_b for claim in claim_S)
    return SeedsClaim(
        row_a=row_a,
        row_b=row_b,
        over_skills=mean_over_seeds(np.array(by_seed), bounds=(-1.0, 1.0)),
        over_skills_by_seed=tuple(by_seed),
        p_by_seed=tuple(claim.paired.p_value for claim in claim_S),
        p_pooled=mcnemar_p_value(num_only_a, num_only_b),
        num_tasks_needed=_num_tasks_needed(claim_S),
        improvement=probability_of_improvement(
            _cells([_score(summary, row_a) for summary in summaries], cells),
            _cells([_score(summary, row_b) for summary in summaries], cells),
            seed=_RESAMPLING_SEED,
        ),
    )


def _num_tasks_needed(claim_S: Sequence[Claim]) -> int | None:
    """Return how many tasks the claim needs, with outcomes that are unrelated: the careful choice."""
    num_pairs = sum(claim.paired.num_pairs for claim in claim_S)
    num_both = sum(claim.paired.num_both for claim in claim_S)
    rate_a = (num_both + sum(claim.paired.num_only_a for claim in claim_S)) / num_pairs
    rate_b = (num_both + sum(claim.paired.num_only_b for claim in claim_S)) / num_pairs
    try:
        return num_tasks_needed(rate_a, rate_b)
    except ValueError:  # equal, or so close that no suite would do
        return None


def _claim_of(summary: Summary, row_a: str, row_b: str) -> Claim:
    return next(claim for claim in summary.claims if (claim.row_a, claim.row_b) == (row_a, row_b))


def _cells(score_S: Sequence[RowScore], cells: Sequence[Group]) -> np.ndarray:
    """Return float [S, G], the success rate of each training in each group, the trainings in an order of their own."""
    # Resampling draws by place: the order in which the folders are named would move the intervals.
    return np.array(sorted([score.rates[group].value for group in cells] for score in score_S))
