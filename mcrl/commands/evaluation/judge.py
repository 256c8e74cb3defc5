"""Judging a run on one list of tasks: every row plays, then the folder gets its origin and its report."""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.judging.baselines import shuffled_partners
from eval.judging.evaluation_plan import EvaluationPlan, make_way, tasks_sha256
from eval.judging.origin import SuiteOrigin, write_origin
from eval.judging.row_names import ROW_SHUFFLED
from eval.judging.run_suite import run_suite
from eval.judging.suite_row import SuiteRow
from eval.reports.report import Summary
from eval.reports.report_folder import OnProgress, write_report
from mcrl.commands.evaluation.eval_tasks import TaskList
from mcrl.config import TrainConfig
from mcrl.provenance import commit, hardware
from mcrl.seeding import derive_seed


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What is judged, and how it is described in the report."""

    rows: tuple[SuiteRow, ...]
    config: TrainConfig
    """Of the run that made the checkpoint."""
    task_list: TaskList
    agent_seed: int
    """Of the agents' draws and of the shuffled goals."""
    out_dir: Path
    command: str
    """Command line that repeats this."""
    num_videos: int = 12
    num_workers: int = 1
    training_wall_s: Mapping[str, float] = field(default_factory=dict)
    """Wall time of the training, where the command that judges is the one that trained."""
    metrics_path: Path | None = None
    """Training metrics to plot; None plots none."""
    may_replace: bool = False
    """Whether an older evaluation in the folder that differs makes way; else it is refused."""

    def plan(self) -> EvaluationPlan:
        """Return what decides the table."""
        seed, tasks = self.agent_seed, self.task_list.tasks
        is_shuffled = any(row.goals == "shuffled" for row in self.rows)
        partner_of = shuffled_partners(tasks, seed=derive_seed(seed, ROW_SHUFFLED)) if is_shuffled else {}
        return EvaluationPlan(
            rows=self.rows,
            tasks=tuple(tasks),
            partner_of=partner_of,
            suite=self.task_list.suite,
            seed=seed,
            save=self.task_list.save,
        )


def judge(judgement: Judgement, *, on_progress: OnProgress) -> Summary:
    """Let every row play what it has not played yet, write the report into `out_dir` and return what it says."""
    task_list, out_dir = judgement.task_list, judgement.out_dir
    now = commit()
    plan = judgement.plan()
    label = f"{task_list.suite or 'tasks'}, {len(judgement.rows)} rows"
    num_episodes = len(judgement.rows) * len(task_list.tasks)
    on_progress(label, 0, num_episodes)
    if judgement.may_replace:
        make_way(plan, out_dir)
    judged = run_suite(
        plan,
        out_dir,
        split=task_list.split,
        num_workers=judgement.num_workers,
        on_progress=lambda num_done: on_progress(label, num_done, num_episodes),
    )
    origin = SuiteOrigin(
        command=judgement.command,
        commit=now,
        date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        hardware={**hardware()},
        split=task_list.split,
        suite_seed=task_list.seed,
        agent_seed=judgement.agent_seed,
        num_worlds=len({task.world for task in task_list.tasks}),
        row_sources={row.name: row.source + _played_by(judged[row.name].commits, now) for row in judgement.rows},
        row_wall_s={name: row.wall_s for name, row in judged.items()},
        training_wall_s=dict(judgement.training_wall_s),
        suite=task_list.suite,
        suite_claim=task_list.claim,
        suite_sha256=task_list.sha256 or tasks_sha256(task_list.tasks),
        config=dataclasses.asdict(judgement.config),
    )
    write_origin(origin, out_dir)
    return write_report(
        out_dir,
        num_videos=judgement.num_videos,
        metrics_path=judgement.metrics_path,
        save=task_list.save,
        on_progress=on_progress,
    )


def _played_by(commits: Sequence[str], now: str) -> str:
    """Return what is said of a row that the present code has not played, or not alone: it keeps its episodes."""
    if set(commits) <= {now}:
        return ""
    named = [by or "an older one" for by in commits]
    if len(named) == 1:
        return f"; played by commit {named[0]}"
    return f"; played by several commits, which may play differently: {', '.join(named)}"
