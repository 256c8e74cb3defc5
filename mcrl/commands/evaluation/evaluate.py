"""`mcrl eval`: judge a checkpoint in worlds it has never seen."""

import dataclasses
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from mcrl.commands.compile_ahead import compile_tick_ahead
from mcrl.commands.evaluation.evaluate_options import EvalOptions
from mcrl.commands.options import read_options, split_positional
from mcrl.commands.writable import check_out_folder
from mcrl.config import TrainConfig
from policies.shipped import shipped_names

if TYPE_CHECKING:
    from eval.judging.suite_row import SuiteRow
    from eval.reports.report import Summary
    from mcrl.commands.evaluation.eval_tasks import TaskList

_DEFAULT_NUM_TASKS = 400
DEFAULT_SKILLS, DEFAULT_BANDS = ("approach", "break"), ("near", "easy")


def eval_command(args: Sequence[str]) -> int:
    """Judge the checkpoint, print the table and say where the report is."""
    prog = "mcrl eval"
    given, rest = split_positional(args)
    shipped = ", ".join(shipped_names())
    description = f"CHECKPOINT is the folder of a checkpoint or run, or the name of a shipped policy: {shipped}."
    options = read_options(EvalOptions, rest, prog=prog, usage=f"{prog} CHECKPOINT", description=description)
    if given is None:
        raise ValueError(f"{prog}: name a checkpoint or run folder first, or a shipped policy, for instance small")

    from eval.judging.judged_folder import has_finished_unit
    from mcrl import checkpoint
    from mcrl.run_folder import checkpoint_of, config_of, named_checkpoints, run_dir_of, sibling_rows

    if options.out is not None:
        # Files of an evaluation, a run, either; theirs would else lie among other things.
        check_out_folder(
            options.out, ours=("plan.json", "config.json", "lock"), what="an evaluation", holds_several=True
        )
    folder = checkpoint_of(Path(given))
    siblings = sibling_rows(folder, checkpoint.load_state(folder).stage)
    session = _Session(
        checkpoints=siblings | named_checkpoints(options.also, taken=siblings),
        config=config_of(folder),
        options=options,
        metrics_path=run_dir_of(folder) / "metrics.jsonl",
        command=shlex.join(["mcrl", "eval", *args]),
    )
    options.say_elsewhere(prog, session.config.env)
    out_dirs = session.out_dirs(run_dir_of(folder))
    try:
        summaries = session.play(out_dirs)
    except KeyboardInterrupt as interrupt:
        has_finished = any(map(has_finished_unit, out_dirs.values()))
        is_kept = "it goes on from what is finished" if has_finished else "nothing was finished yet"
        raise type(interrupt)(f"run the same command again; {is_kept}") from None
    unplayed = sorted({row for summary in summaries for row in summary.unplayed_rows})
    if unplayed:
        print(
            f"{prog}: the engine failed in every episode of {', '.join(unplayed)}, as told above, so nothing was "
            "judged there; mend it and play into another --out",
            file=sys.stderr,
        )
    return 1 if unplayed else 0


def check_report(config: TrainConfig) -> None:
    """Raise ValueError where the report at the end of a run could not be made: before hours of training, not after."""
    from eval.judging.baselines import shuffled_partners
    from eval.suites.suites import suite_of
    from mcrl.commands.evaluation.eval_tasks import suite_tasks

    check_report_suite(config)
    name = config.report_suite
    tasks = suite_tasks(name, _num_report_tasks(config)).tasks
    try:
        shuffled_partners(tasks, seed=0)
    except ValueError:
        raise ValueError(
            f"tasks.num_eval_tasks {config.tasks.num_eval_tasks}: the report shows goals of other tasks of the same "
            f"skill, so it needs two of each; give at least {2 * len(suite_of(name).skills)}, or --no-report"
        ) from None
    for side_blocks in {task.world.size_blocks[0] for task in tasks}:
        dataclasses.replace(config.tasks, side_blocks=side_blocks)  # as its rows will see the worlds


def check_report_suite(config: TrainConfig) -> None:
    """Raise ValueError, with the nearest name, where there is no such suite as the report is to play."""
    from eval.suites.suites import SUITES
    from mcrl.commands.options import nearest

    name = config.report_suite
    if name not in SUITES:
        raise ValueError(f"--report-suite {name}: no such suite; {nearest(name, list(SUITES))}")


def report_run(run_dir: Path, config: TrainConfig, *, command: str, training_wall_s: float) -> None:
    """Judge what a finished run left and write its report into the run's folder."""
    from mcrl import checkpoint
    from mcrl.run_folder import checkpoint_of, sibling_rows

    folder = checkpoint_of(run_dir)
    stage = checkpoint.load_state(folder).stage
    session = _Session(
        checkpoints=sibling_rows(folder, stage),
        config=config,
        options=EvalOptions(
            suite=config.report_suite, num_tasks=_num_report_tasks(config), out=run_dir, num_workers=config.num_threads
        ),
        metrics_path=run_dir / "metrics.jsonl",
        command=command,
        training_wall_s={"training": training_wall_s},
        may_replace=True,
    )
    try:
        session.play(session.out_dirs(run_dir))
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(
            f"the training is finished; `mcrl train --resume {quote(str(run_dir))}` goes on with the report"
        ) from None


def _num_report_tasks(config: TrainConfig) -> int:
    from eval.suites.suites import suite_of

    return min(config.tasks.num_eval_tasks, suite_of(config.report_suite).num_tasks)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Session:
    """One call of the command: the checkpoints, by row name, on one task list or on several suites."""

    checkpoints: Mapping[str, Path]
    config: TrainConfig
    options: EvalOptions
    metrics_path: Path
    command: str
    training_wall_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    may_replace: bool = False
    """Whether an older evaluation of other weights in the folder makes way."""

    @property
    def _num_workers(self) -> int:
        from mcrl.provenance import num_usable_cores

        return self.options.num_workers or num_usable_cores()

    def out_dirs(self, run_dir: Path) -> dict[str | None, Path]:
        """Return the folder of each suite that is played, by its name, or of the one task list of none."""
        from mcrl.commands.evaluation.eval_tasks import suite_names

        options = self.options
        names: list[str | None] = [None]
        if options.suite is not None:
            has_save = options.save is not None
            names = [
                *suite_names(
                    options.suite, options.num_tasks, has_save=has_save, skills=options.skills, bands=options.bands
                )
            ]
        if len(names) > 1:
            return {name: (options.out or run_dir / "eval_suites") / str(name) for name in names}
        # A user's own engine goes by its file's name.
        engine = f"{Path(options.backend).stem}_" if options.is_foreign else ""
        return {names[0]: options.out or run_dir / f"eval_{engine}{names[0] or f'{options.split}_{options.seed}'}"}

    def play(self, out_dirs: Mapping[str | None, Path]) -> "list[Summary]":
        """Play everything, print the tables, say where the reports are, and return what they say."""
        from mcrl.commands.evaluation.eval_tasks import ALL_SUITES
        from mcrl.commands.table import print_suite_summary, print_summary
        from mcrl.telemetry.metrics import read_metrics

        options, names = self.options, list(out_dirs)
        # Before any tasks are made: a broken checkpoint must not cost that wait, nor broken metrics all the play.
        rows = self._rows()
        if self.metrics_path.is_file():
            read_metrics(self.metrics_path)
        if not options.is_foreign:
            compile_tick_ahead()
        if len(names) == 1:
            judged = self._judge(rows, self._task_list(names[0]), out_dirs[names[0]])
            print_summary(judged)
            print(f"report: {out_dirs[names[0]] / 'report.html'}")
            return [judged]
        from eval.reports.suite_summary import summarise_suites, write_suite_summary

        out_dir = out_dirs[names[0]].parent
        summaries: dict[str, Summary] = {}
        folder_of: dict[str, str] = {}
        for number, name in enumerate(names, 1):
            task_list = self._task_list(name)
            folder_of[task_list.suite] = str(name)
            summaries[task_list.suite] = self._judge(rows, task_list, out_dirs[name])
            summary = summarise_suites(summaries)
            write_suite_summary(summary, out_dir, folder_of, to_come=[str(later) for later in names[number:]])
        print_suite_summary(summary)
        for remark in summary.remarks():
            print(remark)
        if options.suite == ALL_SUITES and options.save is None:
            print("suite real_saves is left out: it is played in a Minecraft world of yours, given with --save")
        print(f"summary: {out_dir / 'summary.md'}; the report of each suite: {out_dir}/SUITE/report.html")
        print(f"one page of all: `mcrl report {quote(str(out_dir))} --out {quote(str(out_dir))}` makes overview.html")
        return list(summaries.values())

    def _rows(self) -> "tuple[SuiteRow, ...]":
        from eval.judging.row_names import main_row
        from eval.judging.suite_rows import suite_rows
        from mcrl.run_folder import config_of

        rows = suite_rows(
            {name: (folder, self._shown(config_of(folder))) for name, folder in self.checkpoints.items()},
            main_row=main_row(list(self.checkpoints)),
            extra_rows=tuple(name.strip() for name in (self.options.rows or "").split(",") if name.strip()),
            decoding=self.options.decoding(),
            device=self.options.device,
            with_expert=not self.options.is_foreign,
        )
        for row in rows:
            row.load_policy()
        return rows

    def _shown(self, config: TrainConfig) -> TrainConfig:
        """Return the config of a run that made a policy, on the engine that this evaluation plays in."""
        return dataclasses.replace(config, env=self.options.shown(config.env))

    def _task_list(self, suite: str | None) -> "TaskList":
        from eval.suites.real_saves import NAME as REAL_SAVES
        from mcrl.commands.evaluation import eval_tasks
        from mcrl.tasks.engine_worlds import check_world

        options = self.options
        num_tasks = options.num_tasks or _DEFAULT_NUM_TASKS
        if suite == REAL_SAVES:
            assert options.save is not None  # suite_names has seen to it
            return eval_tasks.save_tasks(options.save, num_tasks, seed=options.seed, num_threads=self._num_workers)
        if suite is not None:
            return eval_tasks.suite_tasks(suite, options.num_tasks, skills=options.skills, bands=options.bands)
        if options.tasks is not None:
            found = eval_tasks.library_tasks(options.tasks, options.num_tasks, split=options.split)
            for task in found.tasks:
                check_world(options.backend, task.world, where=f"--tasks {options.tasks}: task {task.task_id}")
            return found
        if options.is_foreign:
            return eval_tasks.foreign_tasks(
                options, num_tasks, skills=options.skills, bands=options.bands, split=options.split, seed=options.seed
            )
        return eval_tasks.synthesised_tasks(
            self.config,
            num_tasks,
            skills=options.skills or DEFAULT_SKILLS,
            bands=options.bands or DEFAULT_BANDS,
            split=options.split,
            seed=options.seed,
            num_threads=self._num_workers,
        )

    def _playable(self, rows: "tuple[SuiteRow, ...]", task_list: "TaskList") -> "tuple[SuiteRow, ...]":
        """Return the rows that these tasks allow, and say which is left out."""
        from eval.judging.baselines import lonely_skills

        lonely = lonely_skills(task_list.tasks)
        if not lonely:
            return rows
        for row in rows:
            if row.goals == "shuffled":
                fewer = "" if task_list.save or self.options.tasks else ", or fewer --skills"  # which choose none there
                print(
                    f"row {row.name!r} is left out: it shows the goal of another task of the same skill, and these "
                    f"tasks have only one of {' and one of '.join(lonely)}; give more tasks{fewer}"
                )
        return tuple(row for row in rows if row.goals != "shuffled")

    def _judge(self, rows: "tuple[SuiteRow, ...]", task_list: "TaskList", out_dir: Path) -> "Summary":
        from mcrl.commands.evaluation.judge import Judgement, judge
        from mcrl.commands.progress import staged_progress
        from task_synthesis.libraries.folder_lock import locked

        judgement = Judgement(
            rows=self._playable(rows, task_list),
            config=self.config,
            task_list=task_list,
            agent_seed=self.options.seed,
            out_dir=out_dir,
            command=self.command,
            # Videos are made by playing again in the built-in engine, which other engines' worlds are not in.
            num_videos=0 if self.options.is_foreign else self.options.videos,
            num_workers=self._num_workers,
            training_wall_s=self.training_wall_s,
            metrics_path=self.metrics_path,
            may_replace=self.may_replace,
        )
        with locked(out_dir, other="evaluates into this folder"), staged_progress() as on_progress:
            return judge(judgement, on_progress=on_progress)
