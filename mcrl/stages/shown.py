"""What the expert shows a run: recorded in train or val worlds, or read from a dataset that the config names."""

from collections.abc import Callable
from contextlib import closing

from mcrl.dataflow.contracts import LockstepEnv
from mcrl.demos.given import read_demonstrations
from mcrl.learning.demonstrations import collect_demonstrations
from mcrl.rollout.fragment import Fragment
from mcrl.run import Run
from mcrl.seeding import derive_seed
from mcrl.telemetry.metrics import rollout_metrics
from mcrl.telemetry.progress import Bar
from policies.interface import Policy
from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.task import TaskSpec
from worlds.spec import Split

Shown = dict[Split, list[Fragment]]


class ShownBefore:
    """Demonstrations that cloning hands to DAgger, which begins with the same ones; gigabytes, so they lie here once.

    Where there are none, after a resume, the expert plays them again.
    """

    def __init__(self) -> None:
        self._shown: Shown | None = None

    def leave(self, shown: Shown) -> None:
        """Keep what was shown until it is taken."""
        self._shown = shown

    def take(self) -> Shown | None:
        """Return what was left, if anything was, and hold it no longer."""
        shown, self._shown = self._shown, None
        return shown


def show(run: Run, policy: Policy, tasks: dict[Split, list[TaskSpec]], *, stage: str, is_logged: bool = True) -> Shown:
    """Let the expert play as much as the config asks for in each split; the same for the same stage of the same run.

    Not logged where an earlier start of the stage has done so.
    """
    return {split: _demonstrate(run, policy, split, tasks[split], stage, is_logged) for split in tasks}


def _demonstrate(
    run: Run, policy: Policy, split: Split, tasks: list[TaskSpec], stage: str, is_logged: bool
) -> list[Fragment]:
    """Return what is shown in one split. For train worlds a config may name a dataset; it is read instead."""
    config = run.config.imitation
    if split == "train" and config.demos is not None:
        given = read_demonstrations(run.config, policy)
        num_steps = sum(int(fragment.is_valid_T.sum()) for fragment in given)
        run.progress.say(f"{stage}: {num_steps:,} decisions of {config.demos}")
        return given
    num_steps = config.num_demo_steps if split == "train" else config.num_val_demo_steps
    # The val demonstrations are the same for every stage, so that their losses compare.
    seed = derive_seed(run.config.seed, "demonstrations", *([stage] if split == "train" else []), split)
    with (
        closing(recording_env(run, tasks, split, num_steps, seed)) as env,
        run.progress.bar(f"{split} demos", num_steps) as bar,
    ):
        fragments = collect_demonstrations(
            env,
            run.parts.make_expert(env),
            policy,
            num_steps=num_steps,
            fragment_steps=config.fragment_steps,
            noise=config.noise,
            seed=seed,
            on_progress=progress_of(run, bar, num_steps),
        )
    if is_logged:
        run.log(f"{split}_demos", 0, rollout_metrics(fragments))
    return fragments


def recording_env(run: Run, tasks: list[TaskSpec], split: Split, num_steps: int, seed: int) -> LockstepEnv:
    """Return envs in which `num_steps` decisions on shuffled tasks are recorded."""
    config = run.config.imitation
    # No more envs than fragments are wanted, so that a small validation set stays small.
    num_envs = min(config.num_envs, max(1, num_steps // config.fragment_steps))
    source = ShuffledTasks(tasks, split=split, seed=derive_seed(seed, "curriculum"))
    return run.parts.make_env(run.config, source, num_envs)


def progress_of(run: Run, bar: Bar, num_steps: int) -> Callable[[int], None]:
    """Return what hears of recorded decisions: it shows them, and ends the stage when the run is asked to stop."""

    def on_progress(num_done: int) -> None:
        run.check_stop()
        bar.show(min(num_done, num_steps))

    return on_progress
