"""Numbers in words, and the sentences that a report says loudly because a table would only whisper them."""

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from eval.judging.row_names import BASELINES, ROW_BLANK, ROW_EXPERT, ROW_NOOP, ROW_RANDOM, ROW_SHUFFLED, main_row
from eval.numbers.aggregate import Estimate
from eval.numbers.counted import counted
from eval.numbers.statistics import PairedComparison
from eval.reports.report import Claim, Group, Rate, Summary
from eval.suites.suites import suite_of
from worlds.types import TICK_S

# A policy that gains less than this from seeing its own goal hardly uses it.
GOAL_USE_POINTS = 10.0
# Outside of these a suite's tasks are broken or beside the point rather than hard or easy.
_CEILING_PERCENT, _FLOOR_PERCENT = 85.0, 15.0
_CLEAR_P = 0.05


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence at the top of a report."""

    text: str
    is_warning: bool
    brief: str = ""
    """The same without its numbers, for several suites at once; "" where the text says it in no fewer words."""


def percent(value: float) -> str:
    """Return a rate in percent with one digit, "-" for NaN."""
    return "-" if math.isnan(value) else f"{100 * value:.1f}"


def points(value: float) -> str:
    """Return a difference of rates in percentage points, with its sign."""
    return "-" if math.isnan(value) else f"{100 * value:+.1f}"


def p_text(value: float) -> str:
    """Return a p-value to two digits, small ones as a bound."""
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def percent_text(estimate: Estimate) -> str:
    """Return a rate with its interval, "41.3 [38.0, 44.7]"."""
    return f"{percent(estimate.value)} [{percent(estimate.low)}, {percent(estimate.high)}]"


def points_text(estimate: Estimate) -> str:
    """Return a difference with its interval, "+4.0 [+1.2, +6.8]"."""
    return f"{points(estimate.value)} [{points(estimate.low)}, {points(estimate.high)}]"


def rate_text(rate: Rate) -> str:
    """Return a counted rate with its interval, "41.3 [38.0, 44.7]"."""
    return percent_text(Estimate(rate.value, *rate.interval))


def paired_points_text(paired: PairedComparison) -> str:
    """Return a difference on the same tasks with its interval, "+4.0 [+1.2, +6.8]"."""
    return points_text(Estimate(paired.difference, paired.low, paired.high))


NO_SECONDS_INTERVAL = "[0.0, ...] where they are too few for an interval"  # see time_to_success_ticks


def seconds_text(ticks: Estimate) -> str:
    """Return a median of ticks in seconds with its interval; "-" without a success."""
    if math.isnan(ticks.value):
        return "-"
    high = f"{ticks.high * TICK_S:.1f}" if math.isfinite(ticks.high) else "..."
    return f"{ticks.value * TICK_S:.1f} [{ticks.low * TICK_S:.1f}, {high}]"


def notes_of(summary: Summary) -> list[Note]:
    """Return what a reader must not miss, most important first."""
    notes = [note for row in (ROW_SHUFFLED, ROW_BLANK) if (note := _goal_note(summary.claim_against(row)))]
    rows = [score.row for score in summary.scores]
    # In a comparison every row has the name of its evaluation in front.
    is_shuffled = any(row == ROW_SHUFFLED or row.endswith(f": {ROW_SHUFFLED}") for row in rows)
    if main_row(rows) not in BASELINES and not is_shuffled:
        notes.append(Note("No row was shown another task's goal, which takes two tasks of each skill.", True))
    unjudged = _unjudged_note(summary)
    if unjudged is not None:
        notes.append(unjudged)
    expert = summary.score(ROW_EXPERT)
    # Few tasks say little: the whole interval must lie beyond the limit.
    if expert is not None and 100 * expert.over_skills.high < _CEILING_PERCENT:
        notes.append(
            Note(
                f"The expert solves only {percent(expert.over_skills.value)} % of these tasks: "
                "the ceiling of the suite is low, read every row against it.",
                True,
            )
        )
    for row in (ROW_RANDOM, ROW_NOOP):
        floor = summary.score(row)
        if floor is not None and 100 * floor.over_skills.low > _FLOOR_PERCENT:
            notes.append(
                Note(
                    f"The {row} row solves {percent(floor.over_skills.value)} %: much of this suite needs no skill.",
                    True,
                )
            )
    faults = {score.row: score.outcome_counts["fault"] for score in summary.scores if score.outcome_counts["fault"]}
    if faults:
        told = ", ".join(f"{row} {count}" for row, count in faults.items())
        notes.append(Note(f"The engine failed in some episodes, which count for nobody: {told}.", True))
    for score in summary.scores:
        lost = [skill for skill in summary.skills if not score.rates[Group(skill, "")].num_episodes]
        if lost and len(lost) < len(summary.skills):
            skills = f"{len(summary.skills) - len(lost)} of {len(summary.skills)} skills"
            notes.append(
                Note(f"Row {score.row} is a mean over {skills}: all its episodes of {', '.join(lost)} failed.", True)
            )
    return notes


def _goal_note(claim: Claim | None) -> Note | None:
    """Return whether the judged row uses its goal, judged by itself with another goal or none."""
    if claim is None or claim.row_a in BASELINES:
        return None
    other = "another task's goal" if claim.row_b == ROW_SHUFFLED else "no goal"
    gain = f"{points_text(claim.over_skills)} points over itself with {other}"
    against = f"judged against itself with {other}"
    is_clear = claim.p_holm < _CLEAR_P and claim.paired.difference > 0
    if is_clear and 100 * claim.over_skills.value >= GOAL_USE_POINTS:
        return Note(f"The {claim.row_a} policy uses its goal: {gain}.", False)
    if is_clear:
        brief = f"The {claim.row_a} policy hardly uses its goal, {against}."
        return Note(f"The {claim.row_a} policy hardly uses its goal: {gain}.", True, brief)
    unsettled = f"Whether the {claim.row_a} policy uses its goal is not settled"
    more = f"{unsettled}, {against}: judge it on more tasks."
    if claim.over_skills.low > 0:
        return Note(
            f"{unsettled}: {gain}, an interval without 0, but the exact test says p {p_text(claim.p_holm)}. Judge it "
            "on more tasks.",
            True,
            more,
        )
    if 100 * claim.over_skills.high >= GOAL_USE_POINTS:
        return Note(f"{unsettled}: {gain}, p {p_text(claim.p_holm)}. Judge it on more tasks.", True, more)
    unused = f"THE {claim.row_a.upper()} POLICY DOES NOT MEASURABLY USE ITS GOAL"
    return Note(f"{unused}: {gain}, p {p_text(claim.p_holm)}.", True, f"{unused}, {against}.")


def _unjudged_note(summary: Summary) -> Note | None:
    """Return which skills a run has learned that the suite of its own report has no tasks of."""
    config, suite = summary.origin.config, summary.origin.suite.partition(".")[0]
    if not suite or config.get("report_suite") != suite:
        return None
    judged = suite_of(suite).skills
    unjudged = [skill for skill in _learned_skills(config) if skill not in judged]
    if not unjudged:
        return None
    return Note(
        f"Suite {suite} has no tasks of {', '.join(unjudged)}, which this run has learned: "
        f"`mcrl eval {shlex.quote(str(config.get('run_dir')))} --skills {' '.join(unjudged)}` judges that.",
        True,
    )


def _learned_skills(config: Mapping[str, object]) -> list[str]:
    """Return the skills that a run's tasks had; none where its config, of any version of ours, does not say."""
    tasks = config.get("tasks")
    share_of = tasks.get("skills") if isinstance(tasks, dict) else None
    return [skill for skill, share in share_of.items() if share] if isinstance(share_of, dict) else []


def title_of(summary: Summary) -> str:
    """Return the heading of a report."""
    suite, split = summary.origin.suite, summary.origin.split
    if suite:
        return f"Suite {suite}"
    return "What the agent does in " + ("worlds it has never seen" if split == "held_out" else f"{split} worlds")


def claim_of(summary: Summary) -> str:
    """Return what the suite asks and on how many tasks, in two sentences."""
    origin = summary.origin
    split = {"held_out": "held-out", "val": "validation"}.get(origin.split, origin.split)
    played = (
        f"{counted(summary.num_tasks, 'task')} in {counted(origin.num_worlds, f'{split} world')}, the same for every "
        f"row; {counted(len(summary.skills), 'skill')}."
    )
    return f"{question_of(summary)} {played}".strip()


def question_of(summary: Summary) -> str:
    """Return what the suite asks, as a sentence; "" where there is no suite.

    A suite's claim is what would be so if a policy solved it. Above a row of 7 % it would read as a result.
    """
    claim = summary.origin.suite_claim
    if not claim:
        return ""
    return f"Asks {'' if claim.startswith('how ') else 'whether '}{claim}" + "." * (not claim.endswith("."))


def origin_rows(summary: Summary) -> list[tuple[str, str]]:
    """Return label and text of everything that is needed to make the numbers again, the config apart."""
    origin = summary.origin
    rows = [("command", origin.command), ("commit", origin.commit), ("date", origin.date)]
    if origin.suite:
        rows += [("suite", origin.suite), ("sha256 of its tasks", origin.suite_sha256)]
    rows += [
        ("hardware", json.dumps(origin.hardware)),
        ("tasks", f"split {origin.split}, suite seed {origin.suite_seed}, {origin.num_worlds} worlds"),
        ("agent seed", str(origin.agent_seed)),
    ]
    rows += [(f"row {row}", source) for row, source in origin.row_sources.items()]
    rows.append(("time, evaluation, its processes added up", _seconds(origin.row_wall_s)))
    if origin.training_wall_s:
        rows.append(("time, training", _seconds(origin.training_wall_s)))
    return rows


def _seconds(seconds: dict[str, float]) -> str:
    # The sum of what is shown: rounded apart, parts and sum would not agree.
    shown = {name: round(value) for name, value in seconds.items()}
    return f"{', '.join(f'{name} {value} s' for name, value in shown.items())}; {sum(shown.values())} s together"
