"""`mcrl eval`: judge a checkpoint on held-out tasks."""

import dataclasses
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options, split_positional
from mcrl.config import TrainConfig, from_json
from task_synthesis.task import TaskSpec
from worlds.spec import Split

# The suite of a training report: fixed, so that runs can be compared. `mcrl eval RUN_DIR` plays the same tasks.
_SUITE_SEED = 0
_SUITE_SPLIT: Split = "held_out"
_DEFAULT_NUM_TASKS = 400


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """How a checkpoint is judged."""

    num_tasks: int = _DEFAULT_NUM_TASKS
    """How many tasks are synthesised; every row plays each of them once."""
    split: Split = _SUITE_SPLIT
    """Worlds of which split."""
    seed: int = _SUITE_SEED
    """Of the tasks and of every draw of the agents."""
    out: Path | None = None
    """Folder of the report; None is eval_SPLIT_SEED in the run's folder."""
    skills: tuple[str, ...] = ("approach", "break")
    """Skills, with equal shares."""
    bands: tuple[str, ...] = ("near", "easy")
    """Distance bands, with equal shares."""
    tasks: Path | None = None
    """Play these tasks of `mcrl synth` instead; None synthesises them."""
    also: tuple[str, ...] = ()
    """Further rows as NAME=CHECKPOINT, for instance imitation-long=runs/long/checkpoints/imitation."""
    videos: int = 3
    """Episode videos in the report; 0 makes none."""
    num_envs: int = 64
    """Environments side by side."""
    num_threads: int = 2
    """Threads for torch and the engine."""

    def __post_init__(self) -> None:
        for name in ("num_tasks", "num_envs", "num_threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
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
    from mcrl.commands.run_folder import checkpoint_of, named_checkpoints, run_dir_of, sibling_rows

    folder = checkpoint_of(Path(given))
    state = checkpoint.load_state(folder)
    config = from_json(json.dumps(state.config), where=f"{folder}: config")
    run_dir = run_dir_of(folder)
    _judge(
        sibling_rows(folder, state.stage) | named_checkpoints(options.also),
        config,
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
        EvalOptions(num_tasks=config.tasks.num_eval_tasks, num_threads=config.num_threads),
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
    from mcrl.commands.judge import Judgement, judge, load_policy
    from mcrl.commands.progress import staged_progress
    from mcrl.commands.table import print_summary
    from mcrl.run import use_threads

    use_threads(options.num_threads)
    # Before the tasks are made: a broken checkpoint must not cost that wait.
    policies = {name: load_policy(folder, config) for name, folder in checkpoints.items()}
    tasks, config = _tasks_of(options, config)
    judgement = Judgement(
        config=config,
        policies=policies,
        tasks=tasks,
        split=options.split,
        suite_seed=options.seed,
        agent_seed=options.seed,
        out_dir=out_dir,
        command=command,
        num_videos=options.videos,
        num_envs=options.num_envs,
        training_wall_s=training_wall_s or {},
        metrics_path=metrics_path,
    )
    with staged_progress() as on_progress:
        summary = judge(judgement, on_progress=on_progress)
    print_summary(summary)
    print(f"report: {out_dir / 'report.html'}")


def _tasks_of(options: EvalOptions, config: TrainConfig) -> tuple[list[TaskSpec], TrainConfig]:
    """Return the tasks to play and the run's config with worlds of their size."""
    if options.tasks is None:
        return _synthesised(options, config), config
    from task_synthesis.library import load_tasks

    tasks = load_tasks(options.tasks, split=options.split)
    sides = sorted({task.world.size_blocks[0] for task in tasks})
    if len(sides) > 1:
        raise ValueError(f"{options.tasks}: holds worlds of sides {sides}; judge tasks of one world size at a time")
    return tasks, dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, side_blocks=sides[0]))


def _synthesised(options: EvalOptions, config: TrainConfig) -> list[TaskSpec]:
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
    synthesizer = Synthesizer(synthesis, split=options.split, seed=options.seed, num_threads=options.num_threads)
    with counted_progress(f"{options.split} tasks", options.num_tasks) as on_progress:
        return synthesizer.run(options.num_tasks, on_progress=on_progress)
