"""A training run from config to final checkpoint: tasks, imitation, PPO. Each stage's result is kept for a resume.

The stages are in mcrl.stages: first imitation_stage, with dagger_stage beside it, then ppo_stage.

run_dir/lock                             held by the process that trains
run_dir/config.json                      the resolved config, written before anything else
run_dir/tasks_train.jsonl, _val.jsonl    the tasks
run_dir/metrics.jsonl                    one line an update
run_dir/status.json                      what the run is at, for `mcrl status`
run_dir/scale.json                       how many rollout workers `mcrl scale` wants, if it was asked
run_dir/checkpoints/imitation.progress/  while the first stage learns
run_dir/checkpoints/imitation/           after the first stage, or a copy of `initial_policy`
run_dir/checkpoints/dagger.round_1/ ...  while DAgger learns: what its rounds left, and the progress of the last one
run_dir/checkpoints/dagger/              DAgger on the clone, where the recipe asks for it
run_dir/checkpoints/iteration_000025/    the last two of the second stage
run_dir/checkpoints/final/               the result
run_dir/checkpoints/ema/                 the result with averaged weights, with `learner.ema_decay`
run_dir/checkpoints/imitation-long/      the control, where the recipe asks for it
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from mcrl import checkpoint
from mcrl.assembly import PRODUCT, Parts
from mcrl.config import TrainConfig, read_config, to_json
from mcrl.dataflow.ray.address import cluster_of
from mcrl.demos.given import check_given
from mcrl.determinism import use_deterministic_algorithms
from mcrl.engine_device import is_engine_on_gpu
from mcrl.interrupt import StopRequest
from mcrl.learning.policy_loss import check_loss
from mcrl.provenance import commit
from mcrl.run import Run, StoppedError, training_device, with_one_precision
from mcrl.run_commands import FILE_NAME as COMMANDS_FILE
from mcrl.run_commands import note_command
from mcrl.stages.dagger_stage import imitate_by_dagger, start_from_dagger
from mcrl.stages.imitation_stage import check_initial_policy, imitate, imitate_longer
from mcrl.stages.ppo_stage import reinforce
from mcrl.stages.shown import ShownBefore
from mcrl.tasks.engine_tasks import check_engine
from mcrl.tasks.library_tasks import check_libraries, library_of
from mcrl.telemetry.metrics import MetricsLog
from mcrl.telemetry.progress import ProgressDisplay
from mcrl.telemetry.run_status import FILE_NAME as STATUS_FILE
from mcrl.telemetry.run_status import StatusFile, failure_text
from mcrl.telemetry.wandb_log import WandbLog
from mcrl.whole_folder import settle_folders
from policies.freed_memory import give_back_freed_memory
from policies.threads import check_beside_each_other, use_threads
from task_synthesis.libraries.folder_lock import locked
from task_synthesis.libraries.library import load_tasks, write_whole
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import Split

_CONFIG_FILE = "config.json"
# What another process that holds the run's folder does, in words.
_OTHER = "trains this run"
# A compiler that is at work, or an update, is not interrupted.
_STOPPING = "mcrl: stopping; what is under way ends first, and the run can be continued"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainResult:
    """How a run ended."""

    run_dir: Path
    checkpoint: Path | None
    """The newest checkpoint of PPO or the final one; None when the run was stopped before there was one."""
    exit_code: int
    """0, or 130 / 143 when Ctrl-C / SIGTERM stopped it; `resume` goes on from there."""


def train(config: TrainConfig, *, parts: Parts = PRODUCT, command: str = "") -> TrainResult:
    """Start a run in an empty run_dir and bring it to its end. `command` is what the run says that began it."""
    check_engine(config)
    check_libraries(config)  # before there is a run that could only fail
    is_engine_on_gpu(config, training_device(config))
    check_given(config)
    run_dir = Path(config.run_dir)
    _check_free(run_dir)
    check_loss(config.ppo)
    _use_threads(config)
    _check_policy(config, parts)
    with locked(run_dir, other=_OTHER):
        _check_free(run_dir)  # another process may have begun one meanwhile, and ended
        files = [run_dir / name for name in (_CONFIG_FILE, COMMANDS_FILE, STATUS_FILE, _tasks_name("train"))]
        ours = [path for path in files if not path.exists()]
        write_whole(run_dir / _CONFIG_FILE, to_json(config))
        note_command(run_dir, command)
        try:
            return _run(config, run_dir, parts)
        except ValueError:
            if not (run_dir / _tasks_name("val")).exists():
                # Its tasks could not be made: the mended command is to find the folder free.
                for path in ours:
                    path.unlink(missing_ok=True)
            raise


def _check_free(run_dir: Path) -> None:
    if (run_dir / _CONFIG_FILE).exists():
        raise ValueError(
            f"{run_dir} holds a run already; continue it with `mcrl train --resume {quote(str(run_dir))}` or choose "
            "another run_dir"
        )


def resume(run_dir: Path, *, parts: Parts = PRODUCT, num_learners: int | None = None, command: str = "") -> TrainResult:
    """Continue a run where its last checkpoint left it, or its last finished stage; see RolloutConfig for how exactly.

    `num_learners` is how many processes learn from now on, which changes no result; None keeps to the run's config.
    `command` is what the run says that continued it, where there was something left to train; not of a process that is
    killed outright.
    ValueError: another process trains it, or a file of it is damaged or of another config; nothing is changed then.
    """
    path = run_dir / _CONFIG_FILE
    if not path.is_file():
        raise ValueError(f"{path}: no such file; start a run with `mcrl train`")
    config = read_config(path)
    if num_learners is not None:
        config = dataclasses.replace(config, learner=dataclasses.replace(config.learner, num_processes=num_learners))
    commit()  # before hours: what is checked out meanwhile is not what trains
    with locked(run_dir, other=_OTHER):
        is_trained = (run_dir / "checkpoints" / checkpoint.FINAL).is_dir()
        result = _run(config, run_dir, parts)
        if not is_trained:  # not before: where it is refused nothing may be changed
            note_command(run_dir, command)
        return result


def _run(config: TrainConfig, run_dir: Path, parts: Parts) -> TrainResult:
    device, asked_precision = training_device(config), config.precision
    config = with_one_precision(config, device)
    _use_threads(config)
    if config.deterministic:
        use_deterministic_algorithms()
    with StopRequest(_STOPPING) as stop:
        status = StatusFile(run_dir, config.recipe, ray_address=cluster_of(config))
        if config.initial_policy is not None:
            status.start_from(config.initial_policy)
        run = Run(
            config=config,
            run_dir=run_dir,
            parts=parts,
            stop=stop,
            progress=ProgressDisplay(status.show),
            metrics=MetricsLog(run_dir / "metrics.jsonl"),
            wandb=WandbLog(config.wandb, run_dir, dataclasses.asdict(config)),
            status=status,
            device=device,
            asked_precision=asked_precision,
        )
        try:
            settle_folders(run.checkpoint_dir)
            policy = parts.make_policy(config).to(device)
            train_tasks = _tasks(run, "train", config.tasks.num_train_tasks)
            val_tasks = _tasks(run, "val", config.tasks.num_val_tasks)
            if config.ppo.num_iterations:
                parts.make_sampler(config, train_tasks, 0)  # refuses tasks that it cannot order, hours before PPO would
            final = run.checkpoint_dir / checkpoint.FINAL
            if final.is_dir():
                checkpoint.load_into(policy, checkpoint.load(final).model, where=final)  # or refuse what is damaged
            else:
                shown = ShownBefore()
                imitate(run, policy, train_tasks, val_tasks, shown)
                if config.imitation.dagger_rounds:
                    imitate_by_dagger(run, train_tasks, val_tasks, shown)
                if config.imitation.does_ppo_follow_dagger:
                    start_from_dagger(run, policy)
                give_back_freed_memory()  # that of demonstrations
                reinforce(run, policy, train_tasks, val_tasks)
            if config.imitation.control_updates:
                imitate_longer(run, policy, train_tasks, val_tasks)
            status.end("finished")
        except StoppedError:
            status.end("stopped")  # the exit code says so
        except BaseException as error:
            status.end("failed", failure_text(error))
            raise
        finally:
            run.wandb.close()
        newest = checkpoint.newest(run.checkpoint_dir)
        return TrainResult(run_dir=run_dir, checkpoint=newest, exit_code=stop.exit_code)


def _use_threads(config: TrainConfig) -> None:
    """Compute with the run's threads; ValueError where rings would have two of them do so at a time and must not."""
    use_threads(config.num_threads)
    if config.rollout.ring_groups > 1:
        check_beside_each_other(f"rollout.ring_groups {config.rollout.ring_groups}")


def _check_policy(config: TrainConfig, parts: Parts) -> None:
    """Refuse a preset that does not fit, or weights that cannot be read; what is built for it is not kept."""
    policy = parts.make_policy(config)
    if config.initial_policy is not None:
        check_initial_policy(config, policy)


# ----------------------------------------------------------------------------------------------------------- tasks


def _tasks_name(split: Split) -> str:
    return f"tasks_{split}.jsonl"


def _tasks(run: Run, split: Split, num_tasks: int) -> list[TaskSpec]:
    """Return the tasks of one split: those that an earlier start of the run kept, else from a library or made now.

    A library's tasks are kept as well, so that a resume plays the same ones whatever became of the library.
    """
    path = run.run_dir / _tasks_name(split)
    if path.exists():
        return _kept_tasks(path, split, None if library_of(run.config.tasks, split) else num_tasks)
    with run.progress.bar(f"{split} tasks", num_tasks) as bar:

        def on_progress(num_done: int) -> None:
            run.check_stop()
            bar.show(num_done)

        tasks = run.parts.make_tasks(run.config, split, num_tasks, on_progress)
    write_whole(path, "".join(to_json_line(task) + "\n" for task in tasks))
    return tasks


def _kept_tasks(path: Path, split: Split, num_tasks: int | None) -> list[TaskSpec]:
    """Read the tasks that an earlier start kept; ValueError for others than it wrote, as far as that can be told.

    `num_tasks`: how many there must be; None where a library said so.
    """
    fix = "delete the file, and a resume makes the run's tasks again"
    try:
        tasks = load_tasks(path, split=split)
    except ValueError as error:
        raise ValueError(f"{error}; or {fix}") from None
    if num_tasks is not None and len(tasks) != num_tasks:
        raise ValueError(f"{path}: holds {len(tasks)} of {num_tasks} tasks; {fix}")
    return tasks
