"""The first stage of a run: a policy cloned from the expert, or taken over from a checkpoint."""

import dataclasses
import shutil
from pathlib import Path

from mcrl import checkpoint
from mcrl.checkpoint import Checkpoint
from mcrl.config import ImitationConfig, TrainConfig
from mcrl.learning.clone_progress import load_ended
from mcrl.learning.imitation import Pairs, clone
from mcrl.rollout.fragment import Fragment
from mcrl.run import Run, StoppedError
from mcrl.run_folder import check_is_start
from mcrl.stages.picture_pairs import draw_pairs
from mcrl.stages.shown import ShownBefore, show
from mcrl.state_file import read_state, write_state
from mcrl.whole_folder import written_whole
from policies.interface import Policy
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.task import TaskSpec
from worlds.spec import Split

# What is cloned, and the folders of the checkpoints.
IMITATION, IMITATION_LONG = "imitation", "imitation-long"
# Values of the last line that each stage before the end writes into the log: what stands beyond the last of them is of
# a stage that did not end.
STAGE_ENDS = ("imitation_success", "dagger_success", "ppo_success")
# Files of a cloning's progress.
_PROGRESS = "progress"


def imitate(
    run: Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec], shown: ShownBefore
) -> None:
    """Leave in `policy` what the second stage starts from, and as checkpoints/imitation unless it is random weights.

    That is the clone of an earlier start of the run, else the config's `initial_policy`, else a clone made now; what
    that one was shown is left in `shown` if DAgger follows.
    """
    folder = run.checkpoint_dir / IMITATION
    if folder.is_dir():
        checkpoint.load_into(policy, checkpoint.load(folder).model, where=folder)
    elif run.config.initial_policy is not None:
        check_initial_policy(run.config, policy)
        forget(run, IMITATION)  # what a start wrote that ended before it was kept
        run.validate(policy, val_tasks, IMITATION, 0)
        keep(run, policy, IMITATION)
    elif run.config.imitation.num_updates:
        left = shown if run.config.imitation.dagger_rounds else None
        _clone(run, policy, train_tasks, val_tasks, run.config.imitation, IMITATION, left)


def check_initial_policy(config: TrainConfig, policy: Policy) -> None:
    """Load the config's `initial_policy` into `policy`; ValueError says what does not fit, and how to make it fit."""
    assert config.initial_policy is not None
    folder = Path(config.initial_policy)
    saved = checkpoint.load(folder)
    check_is_start(folder, config)
    checkpoint.load_into(policy, saved.model, where=folder)


def imitate_longer(run: Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec]) -> None:
    """Go on cloning where the first stage ended: the control that says what PPO adds beyond its time."""
    if (run.checkpoint_dir / IMITATION_LONG).is_dir():
        return
    clone_folder = run.checkpoint_dir / IMITATION
    checkpoint.load_into(policy, checkpoint.load(clone_folder).model, where=clone_folder)
    config = run.config.imitation
    control = dataclasses.replace(
        config, num_updates=config.control_updates, learning_rate=config.learning_rate / 2, control_updates=0
    )
    _clone(run, policy, train_tasks, val_tasks, control, IMITATION_LONG)


def _clone(
    run: Run,
    policy: Policy,
    train_tasks: list[TaskSpec],
    val_tasks: list[TaskSpec],
    config: ImitationConfig,
    stage: str,
    left: ShownBefore | None = None,
) -> None:
    """Record demonstrations, clone them into `policy` and leave it as the checkpoint of `stage`, and them in `left`.

    A stage that was stopped or killed goes on from its last validation or from the stop, and ends in the same weights.
    """
    folder = run.checkpoint_dir / f"{stage}.progress"
    start = read_progress(folder)
    # Where the success check alone is left, demonstrations would be made for nothing.
    num_updates = None if start is None else load_ended(start, policy, config)
    if start is None:
        if stage == IMITATION and run.metrics.has("train_demos", 0, name="episodes"):
            why = (
                f"it ended before its first validation, which comes every {config.val_every_updates} updates "
                "(imitation.val_every_updates)"
            )
            if run.metrics.has("ppo", 1, name="loss"):
                why = f"{run.checkpoint_dir / stage}, which it had left, is not there any more"
            run.progress.say(f"{stage} begins again, with its demonstrations: {why}")
        if stage == IMITATION:
            forget(run, IMITATION, "train_demos", "val_demos")
        else:
            run.metrics.discard_after_last(*STAGE_ENDS)
    else:
        num_done = start.value("num_updates", int)
        if num_updates is None:
            again = "" if config.demos else "; the expert plays the same demonstrations again, which are not kept"
            run.progress.say(f"{stage} goes on after update {num_done} of {config.num_updates}{again}")
        else:
            run.progress.say(f"{stage} has had its {num_done} updates; its success check is left")
        run.metrics.discard_after(stage, num_done)
        run.metrics.discard_after("val", -1, name=f"{stage}_success")
    if num_updates is None:
        tasks: dict[Split, list[TaskSpec]] = {"train": train_tasks, "val": val_tasks}
        shown = show(run, policy, tasks, stage=stage, is_logged=start is None)
        pairs = draw_pairs(run, policy, train_tasks)
        num_updates = learn(
            run,
            policy,
            shown["train"],
            shown["val"],
            config,
            stage,
            seed=run.config.seed,
            start=start,
            folder=folder,
            pairs=pairs,
        )
        if left is not None:
            left.leave(shown)
        del shown  # gigabytes, which nobody needs while the clone plays
    run.validate(policy, val_tasks, stage, num_updates)
    keep(run, policy, stage)
    shutil.rmtree(folder, ignore_errors=True)


def forget(run: Run, stage: str, *more: str) -> None:
    """Remove the lines of a stage that begins again, its success checks and those of `more`, and none of later stages.

    Later ones may be there where the folder that the stage had left was deleted since.
    """
    for name in (stage, *more):
        run.metrics.discard_after(name, -1)
    run.metrics.discard_after("val", -1, name=f"{stage}_success")


def read_progress(folder: Path) -> SavedState | None:
    """Return the progress that `learn` has kept in `folder`, None where it has none; ValueError for a damaged one."""
    return read_state(folder, _PROGRESS, fix=f"delete {folder} to begin the stage again") if folder.exists() else None


def learn(
    run: Run,
    policy: Policy,
    train: list[Fragment],
    val: list[Fragment],
    config: ImitationConfig,
    stage: str,
    *,
    seed: int,
    first_update: int = 0,
    start: SavedState | None = None,
    folder: Path | None = None,
    pairs: Pairs | None = None,
) -> int:
    """Clone `train` into `policy`, log it as updates of `stage` after `first_update`, and return the last one.

    The progress is kept in `folder`, if given; `start` is what was kept there. Raise StoppedError when the run was
    asked to stop meanwhile, ValueError when `start` does not fit.
    """
    num_done = 0 if start is None else start.value("num_updates", int)

    def keep_progress(state: SavedState) -> None:
        if folder is not None:
            with written_whole(folder) as partial:
                write_state(partial, _PROGRESS, state)

    total = first_update + config.num_updates
    with run.progress.bar(stage, total, first_update + num_done, is_resumable=folder is not None) as bar:

        def on_update(update: int, metrics: dict[str, float]) -> bool:
            is_validation = "val_loss" in metrics
            if is_validation or update % 10 == 0:
                run.log(stage, first_update + update, metrics)
            note = f"loss {metrics['loss']:.3f}  val loss {metrics['val_loss']:.3f}" if is_validation else ""
            bar.show(first_update + update, note)
            return run.stop.is_set

        result = clone(
            policy,
            train,
            val,
            config,
            precision=run.config.precision,
            seed=seed,
            on_update=on_update,
            crash_dir=run.run_dir,
            start=start,
            keep=None if folder is None else keep_progress,
            pairs=pairs,
        )
    if result.is_stopped:
        raise StoppedError
    return first_update + result.num_updates


def keep(run: Run, policy: Policy, stage: str) -> None:
    """Leave the policy as the checkpoint of `stage`."""
    saved = Checkpoint(model=policy.state_dict(), optimizer={}, state=run.state(stage, iteration=0))
    checkpoint.save(run.checkpoint_dir / stage, saved)
