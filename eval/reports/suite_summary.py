"""What several suites say about the same rows: success by row and suite, as summary.md and summary.json."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.reports.report import ALL_TASKS, Summary
from eval.reports.report_text import notes_of, points_text, question_of, rate_text
from eval.reports.suite_names import selection_sentence, shared_selection, without
from task_synthesis.libraries.library import write_whole


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteSummary:
    """Success in every suite that was played, by suite and row."""

    rows: tuple[str, ...]
    """In the order of the reports."""
    summaries: dict[str, Summary]
    """By the suite's name and version, and by what was selected of it where `selection` does not say that."""
    selection: str = ""
    """What all suites were cut down to, "approach; near"; "" where they were not, or not to the same."""

    def cell(self, suite: str, row: str) -> str:
        """Return a row's success in a suite as tables show it, "" where it did not play."""
        for score in self.summaries[suite].scores:
            if score.row == row:
                return rate_text(score.rates[ALL_TASKS])
        return ""

    def pairs(self) -> list[tuple[str, str]]:
        """Return the rows that the reports compare on the same tasks, in their order."""
        return list(dict.fromkeys((c.row_a, c.row_b) for summary in self.summaries.values() for c in summary.claims))

    def difference(self, suite: str, pair: tuple[str, str]) -> str:
        """Return how far the first row of a pair lies above the second in a suite, in points, "" where not compared."""
        for claim in self.summaries[suite].claims:
            if (claim.row_a, claim.row_b) == pair:
                return points_text(claim.over_skills)
        return ""

    def warnings(self) -> list[str]:
        """Return what the reports warn of, each warning once, with its suites."""
        suites_of: dict[str, list[str]] = {}
        for suite, summary in self.summaries.items():
            for note in notes_of(summary):
                if note.is_warning:
                    suites_of.setdefault(note.brief or note.text, []).append(suite)
        return [
            f"{'every suite' if len(suites) == len(self.summaries) > 1 else ', '.join(suites)}: {text}"
            for text, suites in suites_of.items()
        ]

    def remarks(self) -> list[str]:
        """Return what a reader of the tables must not miss: what was selected of the suites, then the warnings."""
        selected = selection_sentence(self.selection)
        return [selected] * bool(selected) + self.warnings()

    def full_name(self, suite: str) -> str:
        """Return a suite's name with all that was selected of it."""
        return f"{suite} ({self.selection})" if self.selection else suite


def summarise_suites(summaries: Mapping[str, Summary]) -> SuiteSummary:
    """Put the reports of several suites, by name, side by side; rows stand in the order of the first that has them."""
    rows = dict.fromkeys(score.row for summary in summaries.values() for score in summary.scores)
    selection = shared_selection(summaries)
    named = {without(suite, selection): summary for suite, summary in summaries.items()}
    return SuiteSummary(rows=tuple(rows), summaries=named, selection=selection)


def write_suite_summary(
    summary: SuiteSummary, out_dir: Path, folder_of: Mapping[str, str], *, to_come: Sequence[str] = ()
) -> None:
    """Write summary.md and summary.json; `folder_of` names the folder of each suite below `out_dir`.

    `to_come`: the suites that are still to be played, so that nobody takes the part for the whole. Suites that another
    call has judged into `out_dir` are named below the tables, which are of this call's rows alone.
    """
    others = sorted({path.parent.name for path in out_dir.glob("*/report.md")} - {*folder_of.values(), *to_come})
    write_whole(out_dir / "summary.md", _markdown(summary, folder_of, to_come, others))
    write_whole(out_dir / "summary.json", json.dumps(_fields(summary, folder_of), indent=2) + "\n")


def _markdown(
    summary: SuiteSummary, folder_of: Mapping[str, str], to_come: Sequence[str], others: Sequence[str]
) -> str:
    suites = list(summary.summaries)
    lines = [
        "# Suites side by side",
        "",
        *([f"**Unfinished**: still to be played are {', '.join(to_come)}.", ""] if to_come else []),
        "Success in %, Wilson 95 % interval, all tasks of a suite; each suite's own report has skills and distances.",
        *(["", sentence] if (sentence := selection_sentence(summary.selection)) else []),
        "",
        "| row | " + " | ".join(f"{suite} (n={summary.summaries[suite].num_tasks})" for suite in suites) + " |",
        "|" + " --- |" * (len(suites) + 1),
    ]
    lines += [f"| {row} | " + " | ".join(summary.cell(suite, row) for suite in suites) + " |" for row in summary.rows]
    lines.append("")
    if pairs := summary.pairs():
        lines += ["Differences on the same tasks, in points, mean over skills, 95 %; a suite's report has the exact p."]
        lines += ["", "| rows | " + " | ".join(suites) + " |", "|" + " --- |" * (len(suites) + 1)]
        for pair in pairs:
            cells = " | ".join(summary.difference(suite, pair) for suite in suites)
            lines.append(f"| {' minus '.join(pair)} | {cells} |")
        lines.append("")
    lines += [f"> **Note.** {warning}\n" for warning in summary.warnings()]
    for suite in suites:
        asked = question_of(summary.summaries[suite])
        lines.append(f"- [{suite}]({folder_of[summary.full_name(suite)]}/report.md): {asked}")
    if others:
        lines += [
            "",
            "Judged here by another call, and not in these tables (`mcrl report` of the folder has them all):",
            "",
        ]
        lines += [f"- [{name}]({name}/report.md)" for name in others]
    return "\n".join(lines) + "\n"


def _fields(summary: SuiteSummary, folder_of: Mapping[str, str]) -> dict[str, object]:
    return {
        summary.full_name(suite): {
            "claim": report.origin.suite_claim,
            "sha256": report.origin.suite_sha256,
            "num_tasks": report.num_tasks,
            "folder": folder_of[summary.full_name(suite)],
            "rows": {
                score.row: {
                    "num_success": score.rates[ALL_TASKS].num_success,
                    "num_episodes": score.rates[ALL_TASKS].num_episodes,
                    "interval_95": [round(bound, 4) for bound in score.rates[ALL_TASKS].interval],
                }
                for score in report.scores
            },
        }
        for suite, report in summary.summaries.items()
    }
