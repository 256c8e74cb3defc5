"""What an ablation found: success of each variant over seeds, and paired differences to the first."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.ablation.ablation_curves import VariantCurve, shown_curves
from eval.ablation.ablation_run import VariantResult
from eval.ablation.ablations import Ablation
from eval.numbers.aggregate import Estimate, mean_over_seeds
from eval.numbers.statistics import PairedComparison, compare_paired, mcnemar_p_value, wilson_interval
from eval.reports.report_text import p_text
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole

_MOST_LETTERS = 40  # of the seeds in the name of a file


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantRow:
    """One variant over all its finished seeds."""

    variant: str
    seeds: tuple[int, ...]
    rate: Estimate
    """Mean over seeds of the success rate, with Student's t interval over seeds; one seed: Wilson over tasks."""
    rate_by_seed: tuple[float, ...]
    difference: Estimate | None
    """Mean over common seeds of this variant's rate minus the first one's; None for the first and without any."""
    difference_by_seed: tuple[float, ...]
    p_by_seed: tuple[float, ...]
    """McNemar's exact p of each seed: do these two policies differ?"""
    p_pooled: float | None
    """McNemar's exact p of all pairs of all seeds together; takes the seeds trained for all there could be."""
    ppo_ticks: int
    """Ticks of 50 ms a run."""
    expert_ticks: int
    learning_s: float
    """Mean over seeds."""
    run_dirs: tuple[str, ...]
    num_faults: int
    """Episodes of all seeds that the engine failed: they count for nobody."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AblationTable:
    """The whole finding, as written to a JSON file."""

    ablation: str
    question: str
    command: str
    commit: str
    """Of the code that let the variants play; several where it changed between two of them."""
    date: str
    judged_on: str
    """Which tasks: "val", or a frozen suite with its version."""
    num_tasks: int
    rows: tuple[VariantRow, ...]
    failures: tuple[str, ...]
    """Runs without a result, one sentence each."""
    curves: tuple[VariantCurve, ...] = ()
    """How the variants with PPO came along."""

    @property
    def fault_note(self) -> str:
        """Return what is said of episodes that the engine failed; "" where there are none."""
        told = ", ".join(f"{row.variant} {row.num_faults}" for row in self.rows if row.num_faults)
        return f"The engine failed in some episodes, which count for nobody: {told}." if told else ""


def variant_rows(ablation: Ablation, results: Sequence[VariantResult]) -> tuple[VariantRow, ...]:
    """Return a row for each variant with a finished seed, in the order of the ablation."""
    of = {(result.variant, result.seed): result for result in results}
    seeds = sorted({result.seed for result in results})
    first = ablation.variants[0].name
    rows = []
    for variant in ablation.variants:
        own = [of[variant.name, seed] for seed in seeds if (variant.name, seed) in of]
        if not own:
            continue
        pairs = [(result, of[first, result.seed]) for result in own if (first, result.seed) in of]
        rows.append(_row(own, [] if variant.name == first else pairs))
    return tuple(rows)


def _row(own: Sequence[VariantResult], pairs: Sequence[tuple[VariantResult, VariantResult]]) -> VariantRow:
    paired_S = [paired for result, first in pairs if (paired := _compared(result, first)) is not None]
    num_only_own = sum(paired.num_only_a for paired in paired_S)
    num_only_first = sum(paired.num_only_b for paired in paired_S)
    return VariantRow(
        variant=own[0].variant,
        seeds=tuple(result.seed for result in own),
        rate=_rate(own),
        rate_by_seed=tuple(result.success_rate for result in own),
        difference=_difference(paired_S),
        difference_by_seed=tuple(paired.difference for paired in paired_S),
        p_by_seed=tuple(paired.p_value for paired in paired_S),
        p_pooled=mcnemar_p_value(num_only_own, num_only_first) if paired_S else None,
        ppo_ticks=own[0].ppo_ticks,
        expert_ticks=own[0].expert_ticks,
        learning_s=float(np.mean([result.learning_s for result in own])),
        run_dirs=tuple(str(result.run_dir) for result in own),
        num_faults=sum(result.success_N.count(None) for result in own),
    )


def _compared(result: VariantResult, first: VariantResult) -> PairedComparison | None:
    """Compare two runs task by task; None when the engine left no task that both finished."""
    pairs = [
        (own, other)
        for own, other in zip(result.success_N, first.success_N, strict=True)
        if own is not None and other is not None
    ]
    return compare_paired([own for own, _ in pairs], [other for _, other in pairs]) if pairs else None


def _rate(own: Sequence[VariantResult]) -> Estimate:
    if len(own) > 1:
        return mean_over_seeds(np.array([result.success_rate for result in own]))
    counted = own[0].counted
    return Estimate(own[0].success_rate, *wilson_interval(sum(counted), len(counted)))


def _difference(paired_S: Sequence[PairedComparison]) -> Estimate | None:
    if len(paired_S) > 1:
        return mean_over_seeds(np.array([paired.difference for paired in paired_S]), bounds=(-1.0, 1.0))
    return Estimate(paired_S[0].difference, paired_S[0].low, paired_S[0].high) if paired_S else None


def markdown(table: AblationTable) -> str:
    """Return the table as a page of Markdown."""
    lines = [
        f"# Ablation: {table.ablation}",
        "",
        table.question,
        "",
        f"{table.num_tasks} tasks of {table.judged_on}, the same for every run. `{table.command}`, commit "
        f"{table.commit}, {table.date}.",
        "",
    ]
    header, rows = shown_rows(table)
    lines += _grid(header, rows)
    lines += [
        "",
        "Success in %, differences in points. Intervals are Student's t, 95 %, over training seeds: they say what "
        "another seed may bring, or nothing where all seeds agree to the digit. One seed cannot say that: its "
        "intervals are over tasks, Wilson and Newcombe. "
        "Differences are paired by seed and task; p is McNemar's, exact, and the pooled p that of these policies on "
        "more tasks, not of more seeds. A run has the expert ticks of what it started from, DAgger's included; "
        "learning time leaves out demonstrations, task synthesis and success checks.",
    ]
    if table.fault_note:
        lines += ["", table.fault_note]
    if table.curves:
        lines += ["", "## On the way", "", *_grid(*shown_curves(table.curves)), ""]
        lines += [
            "Episodes that PPO learned from (train tasks, drawn actions) in the tenth of a run up to there, mean over "
            "seeds. Time is that of updates and of waiting for fragments, the fastest run's for all its samples; it "
            "means something where nothing else ran on the machine. Lag is in updates."
        ]
    if table.failures:
        lines += ["", "Without a result:", "", *(f"- {failure}" for failure in table.failures)]
    return "\n".join(lines) + "\n"


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]


def shown_rows(table: AblationTable) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows as text; rates and differences in percent and points, with 95 % intervals."""
    header = ["variant", "success %", "by seed", "minus first", "by seed", "p by seed", "p pooled"]
    header += ["PPO ticks", "expert ticks", "learning min"]
    rows = [
        [
            row.variant,
            _interval(row.rate, "{:.1f}"),
            _each(row.rate_by_seed, "{:.1f}", 100),
            _interval(row.difference, "{:+.1f}") if row.difference else "",
            _each(row.difference_by_seed, "{:+.1f}", 100),
            ", ".join(map(p_text, row.p_by_seed)),
            "" if row.p_pooled is None else p_text(row.p_pooled),
            f"{row.ppo_ticks:,}",
            f"{row.expert_ticks:,}",
            f"{row.learning_s / 60:.1f}",
        ]
        for row in table.rows
    ]
    return header, rows


def write_table(table: AblationTable, stem: Path) -> None:
    """Write `stem`.md and `stem`.json."""
    # Not with_suffix: a suite's name holds a dot.
    for suffix, text in ((".json", json.dumps(dataclasses.asdict(table), indent=2) + "\n"), (".md", markdown(table))):
        write_whole(stem.with_name(stem.name + suffix), text)


def free_stem(stem: Path, seeds: Sequence[int]) -> Path:
    """Return where `write_table` is to write the table of these seeds: not over one that holds others as well."""
    try:
        table = parse_json(stem.with_name(stem.name + ".json").read_text(encoding="utf-8"))
        held = {int(seed) for row in table["rows"] for seed in row["seeds"]}
    except (OSError, ValueError, KeyError, TypeError):
        held = set()  # there is none that could be read
    named = "_".join(map(str, seeds))
    if len(named) > _MOST_LETTERS:
        named = hashlib.sha256(named.encode()).hexdigest()[:10]
    return stem if held <= set(seeds) else stem.with_name(f"{stem.name}-seeds{named}")


def _interval(estimate: Estimate, shown: str) -> str:
    value, low, high = (shown.format(100 * number) for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _each(values: Sequence[float], shown: str, scale: float) -> str:
    return ", ".join(shown.format(scale * value) for value in values)
