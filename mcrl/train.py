"""A training run from config to final checkpoint: tasks, imitation, PPO. Each stage's result is kept for a resume.

The first stage is mcrl.imitation_stage, with mcrl.dagger_stage beside it; the second is here.

run_dir/config.json                    the resolved config, written before anything else
run_dir/tasks_train.jsonl, _val.jsonl  the tasks
run_dir/metrics.jsonl                  one line an update
run_dir/scale.json                     how many rollout workers `mcrl scale` wants, if it was asked
run_dir/checkpoints/imitation/         after the first stage, or a copy of `initial_policy`
run_dir/checkpoints/dagger/            DAgger on the clone, where the recipe asks for it
run_dir/checkpoints/iteration_000025/  the last two of the second stage
run_dir/checkpoints/final/             the result
run_dir/checkpoints/imitation-long/    the control, where the recipe asks for it
"""

import dataclasses
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mcrl import checkpoint
from mcrl.assembly import PRODUCT, Parts, build_worker
from mcrl.checkpoint import Checkpoint
from mcrl.config import TrainConfig, from_json, to_json
from mcrl.dagger_stage import DAGGER, imitate_by_dagger
from mcrl.dataflow.contracts import FragmentSource
from mcrl.dataflow.flow import FlowLimits, FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.params import ParamLayout, ParamSnapshot, ParamStore
from mcrl.dataflow.samplers import sampler_of
from mcrl.demos.given import check_given
from mcrl.imitation_stage import IMITATION, check_initial_policy, imitate, imitate_longer
from mcrl.interrupt import StopRequest
from mcrl.learning.learner import Learner
from mcrl.library_tasks import check_libraries
from mcrl.metrics import MetricsLog, rollout_metrics
from mcrl.ppo_log import flow_metrics, lag_metrics, note, speed
from mcrl.progress import ProgressDisplay
from mcrl.run import Run, StoppedError, use_threads
from mcrl.seeding import derive_seed
from mcrl.task_feedback import TaskFeedback
from mcrl.wandb_log import WandbLog
from mcrl.worker_scaling import WorkerScaling
from policies.interface import Policy
from task_synthesis.library import load_tasks, write_whole
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import Split


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainResult:
    """How a run ended."""

    run_dir: Path
    checkpoint: Path | None
    """The newest checkpoint of PPO or the final one; None when the run was stopped before there was one."""
    exit_code: int
    """0, or 130 / 143 when Ctrl-C / SIGTERM stopped it; `resume` goes on from there."""


def train(config: TrainConfig, *, parts: Parts = PRODUCT) -> TrainResult:
    """Start a run in an empty run_dir and bring it to its end."""
    check_libraries(config)  # before there is a run that could only fail
    check_given(config)
    run_dir = Path(config.run_dir)
    if (run_dir / "config.json").exists():
        raise ValueError(
            f"{run_dir} holds a run already; continue it with `mcrl train --resume {run_dir}` or choose another run_dir"
        )
    if config.initial_policy is not None:
        check_initial_policy(config, parts.make_policy(config))
    run_dir.mkdir(parents=True, exist_ok=True)
    write_whole(run_dir / "config.json", to_json(config))
    return _run(config, run_dir, parts)


def resume(run_dir: Path, *, parts: Parts = PRODUCT) -> TrainResult:
    """Continue a run where its last finished stage or checkpoint left it. Environments start afresh."""
    path = run_dir / "config.json"
    if not path.is_file():
        raise ValueError(f"{path}: no such file; start a run with `mcrl train`")
    return _run(from_json(path.read_text(encoding="ascii"), where=str(path)), run_dir, parts)


def _run(config: TrainConfig, run_dir: Path, parts: Parts) -> TrainResult:
    use_threads(config.num_threads)
    with StopRequest() as stop:
        run = Run(
            config=config,
            run_dir=run_dir,
            parts=parts,
            stop=stop,
            progress=ProgressDisplay(),
            metrics=MetricsLog(run_dir / "metrics.jsonl"),
            wandb=WandbLog(config.wandb, run_dir, dataclasses.asdict(config)),
        )
        try:
            policy = parts.make_policy(config)
            train_tasks = _tasks(run, "train", config.tasks.num_train_tasks)
            val_tasks = _tasks(run, "val", config.tasks.num_val_tasks)
            if not (run.checkpoint_dir / checkpoint.FINAL).is_dir():
                imitate(run, policy, train_tasks, val_tasks)
                if config.imitation.dagger_rounds:
                    imitate_by_dagger(run, train_tasks, val_tasks)
                _reinforce(run, policy, train_tasks, val_tasks)
            if config.imitation.control_updates:
                imitate_longer(run, policy, train_tasks, val_tasks)
        except StoppedError:
            pass  # the exit code says so
        finally:
            run.wandb.close()
        newest = checkpoint.newest(run.checkpoint_dir)
        return TrainResult(run_dir=run_dir, checkpoint=newest, exit_code=stop.exit_code)


# ----------------------------------------------------------------------------------------------------------- tasks


def _tasks(run: Run, split: Split, num_tasks: int) -> list[TaskSpec]:
    """Return the tasks of one split: those that an earlier start of the run kept, else from a library or made now.

    A library's tasks are kept as well, so that a resume plays the same ones whatever became of the library.
    """
    path = run.run_dir / f"tasks_{split}.jsonl"
    if path.exists():
        return load_tasks(path, split=split)
    with run.progress.bar(f"{split} tasks", num_tasks) as bar:

        def on_progress(num_done: int) -> None:
            run.check_stop()
            bar.show(num_done)

        tasks = run.parts.make_tasks(run.config, split, num_tasks, on_progress)
    write_whole(path, "".join(to_json_line(task) + "\n" for task in tasks))
    return tasks


# ------------------------------------------------------------------------------------------------------------- PPO


def _reinforce(run: Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec]) -> None:
    """Improve the policy of the first stage by PPO and leave the final checkpoint."""
    config, ppo = run.config, run.config.ppo
    if ppo.num_iterations == 0:
        stage = DAGGER if config.imitation.dagger_rounds else IMITATION
        checkpoint.save(run.checkpoint_dir / checkpoint.FINAL, checkpoint.load(run.checkpoint_dir / stage))
        return
    # Taken before a later checkpoint is loaded: the reference is what PPO starts from, frozen.
    reference = None if ppo.kl_to_reference is None else ParamLayout(policy).snapshot(policy, version=0)
    learner = Learner(policy, ppo, precision=config.precision, seed=config.seed, crash_dir=run.run_dir)
    feedback_seed = derive_seed(config.seed, "feedback")
    feedback = TaskFeedback(run.parts.make_sampler(config, train_tasks, feedback_seed), train_tasks)
    start = _restore(run, policy, learner, feedback)
    run.metrics.discard_after("ppo", learner.iteration)
    store = ParamStore(policy)
    use_threads(config.rollout.learner_threads or config.num_threads)
    source = _make_source(run, train_tasks, reference, start)
    scaling = WorkerScaling(run.run_dir)
    try:
        scaling.follow(source)
        with run.progress.bar("ppo", ppo.num_iterations, learner.iteration) as bar:
            source.publish(store.publish(policy, learner.iteration, task_statistics=feedback.statistics()))
            while learner.iteration < ppo.num_iterations:
                begin_s = time.perf_counter()
                fragments = source.take(ppo.fragments_per_batch)
                taken_s = time.perf_counter()
                metrics = learner.update(fragments, source.take_refused())
                learned_s = time.perf_counter()
                feedback.hear(fragments)
                source.publish(store.publish(policy, learner.iteration, task_statistics=feedback.statistics()))
                metrics |= rollout_metrics(fragments) | speed(fragments, begin_s, taken_s, learned_s)
                metrics |= flow_metrics(source) | feedback.metrics()
                metrics |= lag_metrics(fragments, learner.iteration - 1, config.rollout.max_staleness)
                run.log("ppo", learner.iteration, metrics)
                bar.show(learner.iteration, note(metrics))

                is_last = learner.iteration == ppo.num_iterations
                if is_last or run.stop.is_set or learner.iteration % config.checkpoint_every == 0:
                    _save(run, learner, source, feedback, checkpoint.numbered(run.checkpoint_dir, learner.iteration))
                    checkpoint.prune(run.checkpoint_dir)
                run.check_stop()
                scaling.follow(source)
                if config.val_every and learner.iteration % config.val_every == 0 and not is_last:
                    run.validate(policy, val_tasks, "ppo", learner.iteration)
    finally:
        source.close()
    use_threads(config.num_threads)
    _save(run, learner, source, feedback, run.checkpoint_dir / checkpoint.FINAL)
    run.validate(policy, val_tasks, "ppo", learner.iteration)


def _make_source(run: Run, tasks: list[TaskSpec], reference: ParamSnapshot | None, start: FlowStart) -> FragmentSource:
    config, rollout = run.config, run.config.rollout
    factory = partial(build_worker, config, run.parts, tasks, reference)
    limits = FlowLimits(
        num_workers=rollout.num_workers,
        envs_per_worker=rollout.envs_per_worker,
        fragments_per_batch=config.ppo.fragments_per_batch,
        max_staleness=rollout.max_staleness,
        sampler=sampler_of(rollout.sampler),
        seed=derive_seed(config.seed, "sampler"),
    )
    if rollout.placement == "inline":
        return LocalSource(factory, limits, start)
    from mcrl.dataflow.ray.source import RaySource  # heavy, and only this placement needs it

    # Images are most of a fragment; goals, reference logits and memory add about as much again at 32 steps.
    fragment_bytes = 2 * config.ppo.fragment_steps * config.env.image_px**2 * 3 + 2**16
    return RaySource(
        factory,
        limits,
        start,
        num_threads=rollout.worker_threads,
        fragment_bytes=fragment_bytes,
        collect_limit_s=rollout.collect_limit_s,
    )


def _restore(run: Run, policy: Policy, learner: Learner, feedback: TaskFeedback) -> FlowStart:
    """Load the newest checkpoint of the stage into policy, learner and feedback, where there is one."""
    folder = checkpoint.newest(run.checkpoint_dir)
    if folder is None:
        return FlowStart()
    saved = checkpoint.load(folder)
    checkpoint.load_into(policy, saved.model, where=folder)
    state = saved.state
    learner.restore(state.iteration, saved.optimizer, state.rng_state, where=folder, numbers=state.learner)
    feedback.restore(saved.state.task_statistics)
    marks = {(worker, env): sequence for worker, env, sequence in saved.state.high_water_marks}
    return FlowStart(version=saved.state.version, high_water_marks=marks)


def _save(run: Run, learner: Learner, source: FragmentSource, feedback: TaskFeedback, folder: Path) -> None:
    marks = tuple((worker, env, sequence) for (worker, env), sequence in source.high_water_marks().items())
    state = run.state(
        "ppo",
        iteration=learner.iteration,
        learner=learner.numbers(),
        rng_state=learner.generator_state(),
        marks=marks,
        task_statistics=feedback.statistics(),
    )
    saved = Checkpoint(model=learner.policy.state_dict(), optimizer=learner.state_tensors(), state=state)
    checkpoint.save(folder, saved)
