"""`mcrl eval`: judge a checkpoint on held-out tasks."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.options import read_options, split_positional
from mcrl.config import TrainConfig
from task_synthesis.task import TaskSpec
from worlds.spec import Split

if TYPE_CHECKING:
    from mcrl.commands.judge import TaskList

# The tasks of a training report: fixed, so that runs can be compared. `mcrl eval RUN_DIR` plays the same.
_SUITE_SEED = 0
_SUITE_SPLIT: Split = "held_out"
_DEFAULT_NUM_TASKS = 400


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """How a checkpoint is judged."""

    num_tasks: int | None = None
    """How many tasks every row plays once: of a suite or of --tasks the first so many (None: all), else so many are
    synthesised (None: 400)."""
    split: Split = _SUITE_SPLIT
    """Worlds of which split, where no suite is named."""
    seed: int = _SUITE_SEED
    """Of every draw of the agents, and of the tasks where they are synthesised."""
    out: Path | None = None
    """Folder of the report; None is a folder in the run's. A folder that was begun for the same evaluation is
    continued."""
    skills: tuple[str, ...] = ("approach", "break")
    """Skills of synthesised tasks, with equal shares."""
    bands: tuple[str, ...] = ("near", "easy")
    """Distance bands of synthesised tasks, with equal shares."""
    tasks: Path | None = None
    """Play these tasks of `mcrl synth` instead; None synthesises them."""
    also: tuple[str, ...] = ()
    """Further rows as NAME=CHECKPOINT, for instance imitation-long=runs/long/checkpoints/imitation. Each is shown the
    worlds as its own run was."""
    rows: str | None = None
    """More rows, with commas between: noop does nothing, blank_goal is the policy without a goal view."""
    videos: int = 3
    """Episode videos in the report; 0 makes none."""
    num_workers: int | None = None
    """Processes, one thread each; None is one a core. The result does not depend on it."""

    def __post_init__(self) -> None:
        for name in ("num_tasks", "num_workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {value}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        if self.videos < 0:
            raise ValueError(f"--videos must not be negative, got {self.videos}")
        if not self.skills or not self.bands:
            raise ValueError("--skills and --bands need at least one name each")


def eval_command(args: Sequence[str]) -> int:
    """Judge the checkpoint, print the table and say where the report is."""
    prog = "mcrl eval"
    given, rest = split_positional(args)
    description = "Usage: mcrl eval CHECKPOINT [OPTIONS]. CHECKPOINT is a checkpoint or run folder."
    options = read_options(EvalOptions, rest, prog=prog, description=description)
    if given is None:
        raise ValueError(f"{prog}: name a checkpoint or run folder first, for instance runs/laptop")

    from mcrl import checkpoint
    from mcrl.commands.run_folder import checkpoint_of, config_of, named_checkpoints, run_dir_of, sibling_rows

    folder = checkpoint_of(Path(given))
    run_dir = run_dir_of(folder)
    siblings = sibling_rows(folder, checkpoint.load_state(folder).stage)
    _judge(
        siblings | named_checkpoints(options.also),
        config_of(folder),
        options,
        out_dir=options.out or run_dir / f"eval_{options.split}_{options.seed}",
        metrics_path=run_dir / "metrics.jsonl",
        command=shlex.join(["mcrl", "eval", *args]),
    )
    return 0


def report_run(run_dir: Path, config: TrainConfig, *, command: str, training_wall_s: float) -> None:
    """Judge what a finished run left and write its report into the run's folder."""
    from mcrl import checkpoint
    from mcrl.commands.run_folder import checkpoint_of, sibling_rows

    folder = checkpoint_of(run_dir)
    stage = checkpoint.load_state(folder).stage if config.ppo.num_iterations else "imitation"
    _judge(
        sibling_rows(folder, stage),
        config,
        EvalOptions(num_tasks=config.tasks.num_eval_tasks, num_workers=config.num_threads),
        out_dir=run_dir,
        metrics_path=run_dir / "metrics.jsonl",
        command=command,
        training_wall_s={"training": training_wall_s},
    )


def _judge(
    checkpoints: Mapping[str, Path],
    config: TrainConfig,
    options: EvalOptions,
    *,
    out_dir: Path,
    metrics_path: Path,
    command: str,
    training_wall_s: Mapping[str, float] | None = None,
) -> None:
    """Judge the checkpoints, by row name, print the tables and say where the report is."""
    from eval.suite_rows import main_row_of, suite_rows
    from mcrl.commands.judge import Judgement, judge
    from mcrl.commands.progress import counted_progress
    from mcrl.commands.run_folder import config_of
    from mcrl.commands.table import print_summary
    from mcrl.provenance import num_usable_cores

    rows = suite_rows(
        {name: (folder, config_of(folder)) for name, folder in checkpoints.items()},
        main_row=main_row_of(list(checkpoints)),
        extra_rows=tuple(name.strip() for name in (options.rows or "").split(",") if name.strip()),
    )
    # Before the tasks are made: a broken checkpoint must not cost that wait.
    for row in rows:
        row.load_policy()
    num_workers = options.num_workers or num_usable_cores()
    task_list = _tasks_of(options, config, num_workers)
    judgement = Judgement(
        rows=rows,
        config=config,
        task_list=task_list,
        agent_seed=options.seed,
        out_dir=out_dir,
        command=command,
        num_videos=options.videos,
        num_workers=num_workers,
        training_wall_s=training_wall_s or {},
        metrics_path=metrics_path,
    )
    with counted_progress("episodes", len(rows) * len(task_list.tasks)) as on_progress:
        summary = judge(judgement, on_progress=on_progress)
    print_summary(summary)
    print(f"report: {out_dir / 'report.html'}")


def _tasks_of(options: EvalOptions, config: TrainConfig, num_threads: int) -> "TaskList":
    """Return the tasks to play."""
    from mcrl.commands.judge import TaskList

    if options.tasks is None:
        tasks = _synthesised(options, config, num_threads)
    else:
        from task_synthesis.library import load_tasks

        tasks = load_tasks(options.tasks, split=options.split)[: options.num_tasks]
    return TaskList(tasks=tasks, split=options.split, seed=options.seed)


def _synthesised(options: EvalOptions, config: TrainConfig, num_threads: int) -> list[TaskSpec]:
    from mcrl.commands.progress import counted_progress
    from task_synthesis.synthesis_config import SynthesisConfig
    from task_synthesis.synthesize import Synthesizer

    synthesis = SynthesisConfig(
        skills=dict.fromkeys(options.skills, 1.0),
        bands=dict.fromkeys(options.bands, 1.0),
        biomes=config.tasks.biomes,
        side_blocks=config.tasks.side_blocks,
        image_px=config.env.image_px,
    )
    num_tasks = options.num_tasks or _DEFAULT_NUM_TASKS
    synthesizer = Synthesizer(synthesis, split=options.split, seed=options.seed, num_threads=num_threads)
    with counted_progress(f"{options.split} tasks", num_tasks) as on_progress:
        return synthesizer.run(num_tasks, on_progress=on_progress)
