"""`mcrl report`: make the pages of finished evaluations again, compare checkpoints, look over suites."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.options import read_options
from mcrl.commands.writable import check_can_write

if TYPE_CHECKING:
    from eval.judging.judged_folder import JudgedFolder
    from eval.reports.report import Summary

_DESCRIPTION = (
    "Each DIR was written by `mcrl eval`. One DIR: its pages are made "
    "again. Several of one suite: a comparison on the same tasks. Several suites: an overview as well."
)


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is made of finished evaluations."""

    out: Path | None = None
    """Folder of the comparison or overview; a single report goes into the folder it is made from."""
    over_seeds: bool = False
    """The folders are trainings of one recipe with other seeds, judged on the same tasks: write what the recipe does,
    with intervals over seeds, as over_seeds.md and .json."""
    videos: int = 12
    """Episode videos in a single report; 0 makes none."""
    save: Path | None = None
    """Of a single report: the Minecraft world that the tasks are in, for pictures of suite real_saves."""
    wandb: bool = False
    """Upload tables and page to Weights & Biases: online when logged in, else kept offline. Not with --over-seeds."""

    def __post_init__(self) -> None:
        if self.videos < 0:
            raise ValueError(f"--videos must not be negative, got {self.videos}")


def report_command(args: Sequence[str]) -> int:
    """Write the pages and say where they are."""
    from eval.judging.judged_folder import check_is_judged

    prog = "mcrl report"
    num_paths = next((index for index, arg in enumerate(args) if arg.startswith("-")), len(args))
    options = read_options(
        ReportOptions, args[num_paths:], prog=prog, usage=f"{prog} DIR [DIR ...]", description=_DESCRIPTION
    )
    if not num_paths:
        raise ValueError(f"{prog}: name a folder that `mcrl eval` wrote, for instance runs/laptop/eval_held_out_0")
    named = [Path(arg) for arg in args[:num_paths]]
    paths = [path for folder in named for path in _expanded(folder)]
    if len(paths) == 1 and not options.over_seeds:
        check_is_judged(paths[0])
        if options.out is not None:
            raise ValueError(f"{prog}: --out is for several folders; the report of one goes into {paths[0]}")
        return _remake(paths[0], options)
    for path in paths:
        check_is_judged(path)
    unread = [name for name in ("videos", "save") if getattr(options, name) != getattr(ReportOptions, name)]
    unread += ["wandb"] if options.over_seeds and options.wandb else []
    if unread:
        what = "--over-seeds" if options.over_seeds else "a comparison"
        raise ValueError(f"{prog}: {what} makes nothing of --{unread[0]}; leave it out")
    if options.out is None:
        first = ", ".join(map(str, paths[:3])) + (" ..." if len(paths) > 3 else "")
        raise ValueError(f"{prog}: --out must be given, the folder for the comparison of {first}")
    # Suites of one folder are looked over and not compared: the page may lie beside them, where their summary is.
    _check_apart(options.out, [options.out], [*paths, *(named if len(named) > 1 else ())])
    if options.over_seeds:
        return _over_seeds(paths, options.out, command=shlex.join(["mcrl", "report", *args]))
    return _compare(paths, options, command=shlex.join(["mcrl", "report", *args]))


def _expanded(path: Path) -> list[Path]:
    """Return the folder itself, or the suites in it when it holds several."""
    from eval.judging.judged_folder import EPISODES_FILE

    if (path / EPISODES_FILE).is_file() or not path.is_dir():
        return [path]
    suites = sorted(child for child in path.iterdir() if (child / EPISODES_FILE).is_file())
    return suites or [path]


def _check_apart(out: Path, places: Sequence[Path], compared: Sequence[Path]) -> None:
    """Refuse an --out by which one of `places`, that are written to, is or lies in a folder compared.

    That has its own report, actions and videos, which an evaluation that goes on there replaces.
    """
    taken = {path.resolve(): path for path in compared}
    for place in places:
        within = next((found for found in (place.resolve(), *place.resolve().parents) if found in taken), None)
        if within is not None:
            raise ValueError(
                f"--out {out}: the comparison would lie among the files of {taken[within]}, which it compares; name a "
                "new folder"
            )


def _remake(path: Path, options: ReportOptions) -> int:
    from eval.judging.judged_folder import read_folder
    from eval.reports.report_folder import write_report
    from mcrl.commands.progress import staged_progress
    from mcrl.commands.table import print_summary

    _check_save(read_folder(path), options)  # what is wrong is said before any bar appears
    check_can_write(path, is_folder=True)
    metrics = (folder / "metrics.jsonl" for folder in (path, path.resolve().parent, path.resolve().parent.parent))
    metrics_path = next((found for found in metrics if found.is_file()), None)
    with staged_progress() as on_progress:
        summary = write_report(
            path,
            num_videos=options.videos,
            metrics_path=metrics_path,
            save=options.save,
            on_progress=on_progress,
        )
    print_summary(summary)
    print(f"report: {path / 'report.html'}")
    if options.wandb:
        _upload({summary.origin.suite or path.name: summary}, path, path / "report.html")
    return 0


def _check_save(folder: "JudgedFolder", options: ReportOptions) -> None:
    """Refuse a page without videos where tasks are in a save that is not given: the page there may have some."""
    sources = {task.world.source for task in folder.task_of.values() if task.world.source.startswith("anvil:")}
    given = set()
    if options.save is not None:
        from worlds.anvil import open_save

        if not sources:
            raise ValueError(f"--save {options.save}: the tasks of {folder.path} are in no save; leave it out")
        given = {open_save(options.save).source}
    if options.videos and not sources <= given:
        another = f"--save {options.save} is another, or has changed since: " if given else ""
        raise ValueError(
            f"{folder.path}: {another}its tasks are in the Minecraft world of `{folder.origin.command}`; give that "
            "with --save, or make a page without videos with --videos 0"
        )


def _compare(paths: Sequence[Path], options: ReportOptions, *, command: str) -> int:
    """Compare the folders of each suite, and put the suites side by side when there are several."""
    from eval.judging.judged_folder import read_folder
    from eval.numbers.compare import compare_folders, cut_differently, labels_of, same_weights, suite_of
    from eval.reports.overview import mixed_rows, overview_markdown, overview_page
    from eval.reports.report import summarise
    from eval.reports.suite_summary import summarise_suites
    from mcrl.commands.table import print_suite_summary, print_summary
    from task_synthesis.libraries.library import write_whole

    assert options.out is not None
    out_dir = options.out
    by_suite: dict[str, list[JudgedFolder]] = {}
    for folder in map(read_folder, paths):
        by_suite.setdefault(suite_of(folder), []).append(folder)
    page_of = {
        suite: out_dir / (suite.replace(" ", "_") if len(by_suite) > 1 else "") / "comparison.html"
        for suite, folders in by_suite.items()
        if len(folders) > 1
    }
    _check_apart(out_dir, [page.parent for page in page_of.values()], paths)
    summaries: dict[str, Summary] = {}
    links: dict[str, str] = {}
    for suite, folders in by_suite.items():
        page_path = page_of.get(suite, folders[0].path / "report.html")
        links[suite] = os.path.relpath(page_path, out_dir)
        if suite not in page_of:
            summaries[suite] = summarise(folders[0].episodes, folders[0].origin)
            continue
        labels = labels_of([folder.path for folder in folders])
        summaries[suite] = compare_folders(folders, labels, command=command)
        _write_comparison(summaries[suite], page_path)
        print_summary(summaries[suite])
        most = max(len(folder.task_of) for folder in folders)
        if summaries[suite].num_tasks < most:
            print(f"compared on the {summaries[suite].num_tasks} tasks that all folders hold; one holds {most}")
        if alike := same_weights(folders, labels):
            print(alike)
        print(f"comparison: {page_path}")
    page_path = out_dir / next(iter(links.values()))
    if len(by_suite) > 1:
        page_path = out_dir / "overview.html"
        write_whole(page_path, overview_page(summaries, links))
        write_whole(out_dir / "overview.md", overview_markdown(summaries, links))
        looked_over = summarise_suites(summaries)
        print_suite_summary(looked_over)
        for remark in looked_over.remarks():
            print(remark)
        for told in (mixed_rows(summaries), cut_differently(summaries)):
            if told:
                print(told)
        print(f"overview: {page_path}")
    if options.wandb:
        _upload(summaries, out_dir, page_path)
    return 0


def _over_seeds(paths: Sequence[Path], out_dir: Path, *, command: str) -> int:
    from eval.judging.judged_folder import read_folder
    from eval.numbers.compare import labels_of
    from eval.numbers.over_seeds import table_over_seeds
    from eval.numbers.over_seeds_text import as_json, markdown
    from task_synthesis.libraries.library import write_whole

    table = table_over_seeds([read_folder(path) for path in paths], labels_of(paths), command=command)
    text = markdown(table)
    write_whole(out_dir / "over_seeds.md", text)
    write_whole(out_dir / "over_seeds.json", as_json(table))
    print(text)
    print(f"table: {out_dir / 'over_seeds.md'}")
    return 0


def _write_comparison(summary: "Summary", page_path: Path) -> None:
    from eval.reports.report_html import page
    from eval.reports.report_markdown import markdown
    from eval.reports.report_text import title_of
    from task_synthesis.libraries.library import write_whole

    title = f"Comparison: {title_of(summary)}"
    write_whole(page_path, page(summary, title=title))
    write_whole(page_path.with_suffix(".md"), markdown(summary, title=title))


def _upload(summaries: Mapping[str, "Summary"], run_dir: Path, page_path: Path) -> None:
    """Send every suite's table and the page to wandb."""
    from mcrl.telemetry.wandb_log import WandbLog

    tables: dict[str, tuple[list[str], list[list[str | float | int]]]] = {}
    for suite, summary in summaries.items():
        rows: list[list[str | float | int]] = [
            [
                score.row,
                score.over_skills.value,
                score.over_skills.low,
                score.over_skills.high,
                score.spl.value,
                sum(score.outcome_counts.values()),
            ]
            for score in summary.scores
        ]
        tables[suite] = (["row", "success", "low_95", "high_95", "spl", "num_episodes"], rows)
    log = WandbLog("auto", run_dir, {"suites": list(summaries)})
    log.write_report(tables, page_path)
    log.close()
