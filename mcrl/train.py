"""A training run from config to final checkpoint: tasks, imitation, PPO. Each stage's result is kept for a resume.

The first stage is mcrl.imitation_stage, with mcrl.dagger_stage beside it; the second is here.

run_dir/lock                             held by the process that trains
run_dir/config.json                      the resolved config, written before anything else
run_dir/tasks_train.jsonl, _val.jsonl    the tasks
run_dir/metrics.jsonl                    one line an update
run_dir/status.json                      what the run is at, for `mcrl status`
run_dir/scale.json                       how many rollout workers `mcrl scale` wants, if it was asked
run_dir/checkpoints/imitation.progress/  while the first stage learns
run_dir/checkpoints/imitation/           after the first stage, or a copy of `initial_policy`
run_dir/checkpoints/dagger/              DAgger on the clone, where the recipe asks for it
run_dir/checkpoints/iteration_000025/    the last two of the second stage
run_dir/checkpoints/final/               the result
run_dir/checkpoints/ema/                 the result with averaged weights, with `learner.ema_decay`
run_dir/checkpoints/imitation-long/      the control, where the recipe asks for it
"""

import dataclasses
import secrets
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mcrl import checkpoint
from mcrl.assembly import PRODUCT, Parts, build_worker
from mcrl.checkpoint import Checkpoint
from mcrl.config import TrainConfig, from_json, to_json
from mcrl.dagger_stage import DAGGER, imitate_by_dagger
from mcrl.dataflow.contracts import FragmentSource, WorkerFactory
from mcrl.dataflow.flow import FlowLimits, FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.params import ParamLayout, ParamSnapshot
from mcrl.dataflow.ring_source import RingSource
from mcrl.dataflow.samplers import sampler_of
from mcrl.dataflow.worker_group import WorkerGroup
from mcrl.demos.given import check_given
from mcrl.determinism import in_fixed_order, use_deterministic_algorithms
from mcrl.episodes import EpisodeRecord
from mcrl.evaluator import ChecksBeside, Evaluator
from mcrl.imitation_stage import IMITATION, check_initial_policy, imitate, imitate_longer
from mcrl.interrupt import StopRequest
from mcrl.learning.helper_processes import HelperProcesses
from mcrl.learning.learner import Learner
from mcrl.library_tasks import check_libraries
from mcrl.metrics import MetricsLog, rollout_metrics
from mcrl.ppo_log import flow_metrics, lag_metrics, note, speed
from mcrl.progress import ProgressDisplay
from mcrl.ring_assembly import build_ring
from mcrl.run import Run, StoppedError, use_threads
from mcrl.run_status import StatusFile
from mcrl.seeding import derive_seed
from mcrl.task_feedback import TaskFeedback
from mcrl.wandb_log import WandbLog
from mcrl.worker_scaling import WorkerScaling
from policies.interface import Policy
from task_synthesis.folder_lock import locked
from task_synthesis.library import load_tasks, write_whole
from task_synthesis.saved_state import SavedState
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import Split

# What another process that holds the run's folder does, in words.
_OTHER = "trains this run"
# In the log's "val" lines, what the second stage's checks write.
_VAL_SUCCESS = "ppo_success"
AVERAGED = "ema"


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
    with locked(run_dir, other=_OTHER):
        write_whole(run_dir / "config.json", to_json(config))
        return _run(config, run_dir, parts)


def resume(run_dir: Path, *, parts: Parts = PRODUCT, num_learners: int | None = None) -> TrainResult:
    """Continue a run where its last checkpoint left it, or its last finished stage; see RolloutConfig for how exactly.

    `num_learners` is how many processes learn from now on, which changes no result; None keeps to the run's config.
    ValueError: another process trains it, or a file of it is damaged or of another config; nothing is changed then.
    """
    path = run_dir / "config.json"
    if not path.is_file():
        raise ValueError(f"{path}: no such file; start a run with `mcrl train`")
    config = from_json(path.read_text(encoding="ascii"), where=str(path))
    if num_learners is not None:
        config = dataclasses.replace(config, learner=dataclasses.replace(config.learner, num_processes=num_learners))
    with locked(run_dir, other=_OTHER):
        return _run(config, run_dir, parts)


def _run(config: TrainConfig, run_dir: Path, parts: Parts) -> TrainResult:
    use_threads(config.num_threads)
    if config.deterministic:
        use_deterministic_algorithms()
    with StopRequest() as stop:
        status = StatusFile(run_dir, config.recipe)
        run = Run(
            config=config,
            run_dir=run_dir,
            parts=parts,
            stop=stop,
            progress=ProgressDisplay(status.show),
            metrics=MetricsLog(run_dir / "metrics.jsonl"),
            wandb=WandbLog(config.wandb, run_dir, dataclasses.asdict(config)),
            status=status,
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
            status.end("finished")
        except StoppedError:
            status.end("stopped")  # the exit code says so
        except BaseException as error:
            status.end("failed", f"{type(error).__name__}: {error}")
            raise
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
    layout = ParamLayout(policy)
    reference = None if ppo.kl_to_reference is None else layout.snapshot(policy, version=0)
    learner = Learner(
        policy, ppo, precision=config.precision, seed=config.seed, crash_dir=run.run_dir, learner=config.learner
    )
    feedback_seed = derive_seed(config.seed, "feedback")
    feedback = TaskFeedback(run.parts.make_sampler(config, train_tasks, feedback_seed), train_tasks)
    start = _restore(run, policy, learner, feedback)
    use_threads(config.rollout.learner_threads or config.num_threads)
    source = _make_source(run, train_tasks, reference, start)
    if config.rollout.placement != "inline":
        from mcrl.dataflow.ray.telemetry import RayTelemetry  # heavy, as the source of these placements

        run.telemetry = RayTelemetry(run.run_dir.name)
    checks = _checks_beside(run, val_tasks)
    helpers = _make_helpers(run)
    scaling = WorkerScaling(run.run_dir)
    try:
        scaling.follow(source)
        # Now that all of the checkpoint was read and fits: what does not leaves the log as it was.
        run.metrics.discard_after("ppo", learner.iteration)
        run.metrics.discard_after("val", learner.iteration, name=_VAL_SUCCESS)
        if _is_val_due(run, learner.iteration) and not run.metrics.has("val", learner.iteration, name=_VAL_SUCCESS):
            run.validate(policy, val_tasks, "ppo", learner.iteration)  # the stop came before it
        with run.progress.bar("ppo", ppo.num_iterations, learner.iteration) as bar:
            source.publish(layout.snapshot(policy, learner.iteration, task_statistics=feedback.statistics()))
            while learner.iteration < ppo.num_iterations:
                helpers.assist(learner)
                begin_s = time.perf_counter()
                fragments = source.take(ppo.fragments_per_batch)
                if config.deterministic:
                    fragments = in_fixed_order(fragments)
                taken_s = time.perf_counter()
                metrics = learner.update(fragments, source.take_refused())
                learned_s = time.perf_counter()
                feedback.hear(fragments)
                snapshot = layout.snapshot(policy, learner.iteration, task_statistics=feedback.statistics())
                source.publish(snapshot)
                metrics |= rollout_metrics(fragments) | speed(
                    fragments, begin_s, taken_s, learned_s, num_workers=source.counts().num_workers
                )
                metrics |= flow_metrics(source) | feedback.metrics() | helpers.metrics()
                metrics |= lag_metrics(fragments, learner.iteration - 1, config.rollout.max_staleness)
                run.log("ppo", learner.iteration, metrics)
                bar.show(learner.iteration, note(metrics, takes_turns=config.rollout.placement == "inline"))

                if learner.is_stop_wished and not run.stop.is_set:
                    run.stop.ask()
                is_last = learner.iteration == ppo.num_iterations
                if is_last or run.stop.is_set or learner.iteration % config.checkpoint_every == 0:
                    play = source.saved() if config.rollout.exact_resume else None
                    folder = checkpoint.numbered(run.checkpoint_dir, learner.iteration)
                    _save(run, learner, source, feedback, folder, play)
                    checkpoint.prune(run.checkpoint_dir)
                run.check_stop()
                scaling.follow(source)
                is_check_due = _is_val_due(run, learner.iteration)
                if checks is None:
                    if is_check_due:
                        run.validate(policy, val_tasks, "ppo", learner.iteration)
                elif is_check_due:
                    checks.offer(snapshot)
                else:
                    checks.poll()
            if checks is not None:
                checks.finish()
    finally:
        helpers.close()
        if checks is not None:
            checks.close()
        source.close()
    use_threads(config.num_threads)
    if not run.metrics.has("val", learner.iteration, name=_VAL_SUCCESS):  # else a crash came before the next line
        run.validate(policy, val_tasks, "ppo", learner.iteration)
    if learner.average is not None:
        newest = checkpoint.load(checkpoint.numbered(run.checkpoint_dir, learner.iteration))
        averaged = dataclasses.replace(newest, model=learner.average.state_dict(), optimizer={})
        checkpoint.save(run.checkpoint_dir / AVERAGED, averaged)
    _save(run, learner, source, feedback, run.checkpoint_dir / checkpoint.FINAL)


def _is_val_due(run: Run, iteration: int) -> bool:
    """Return whether the val tasks are played after this iteration; after the last one they are in any case."""
    val_every = run.config.val_every
    return bool(val_every) and 0 < iteration < run.config.ppo.num_iterations and iteration % val_every == 0


def _make_helpers(run: Run) -> HelperProcesses:
    config = run.config
    return HelperProcesses(
        partial(run.parts.make_policy, config),
        config.ppo,
        config.learner,
        precision=config.precision,
        num_threads=config.rollout.learner_threads or config.num_threads,
        is_deterministic=config.deterministic,
    )


def _make_source(run: Run, tasks: list[TaskSpec], reference: ParamSnapshot | None, start: FlowStart) -> FragmentSource:
    config, rollout = run.config, run.config.rollout
    factory: WorkerFactory = partial(build_worker, config, run.parts, tasks, reference)
    if rollout.ring_groups > 1 or rollout.inference == "remote":
        # Found by name, so that no other run on the same cluster is asked.
        name = f"mcrl-inference-{secrets.token_hex(8)}"
        factory = partial(build_ring, config, run.parts, tasks, reference, inference_name=name)
    if rollout.placement == "inline" and rollout.max_staleness > 0:
        limits = FlowLimits(
            num_workers=rollout.ring_groups,
            envs_per_worker=rollout.envs_per_worker // rollout.ring_groups,
            fragments_per_batch=config.ppo.fragments_per_batch,
            max_staleness=rollout.max_staleness,
            sampler=sampler_of(rollout.sampler),
            seed=derive_seed(config.seed, "sampler"),
        )
        return RingSource(partial(build_ring, config, run.parts, tasks, reference, 0), limits, start)
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


def _checks_beside(run: Run, tasks: list[TaskSpec]) -> ChecksBeside | None:
    """Return the evaluators that play beside the run; None where the learner's process plays."""
    num_evaluators = run.config.rollout.num_evaluators
    if not num_evaluators:
        return None
    from mcrl.dataflow.ray.worker_group import RayWorkers  # heavy, and only these checks need it

    make = partial(Evaluator, run.config, run.parts)
    group = WorkerGroup(Evaluator, RayWorkers(make, num_evaluators, num_threads=run.config.rollout.worker_threads))

    def report(version: int, records: list[EpisodeRecord]) -> None:
        run.report_check(records, "ppo", version)

    return ChecksBeside(group, tasks, report)


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
    rollout, play = run.config.rollout, None
    if rollout.placement == "inline" and rollout.exact_resume:
        play = checkpoint.load_play(folder)
        if play is None:
            run.progress.say(f"{folder} holds no environments: they start fresh episodes, all else goes on")
    return FlowStart(version=saved.state.version, high_water_marks=marks, saved=play)


def _save(
    run: Run,
    learner: Learner,
    source: FragmentSource,
    feedback: TaskFeedback,
    folder: Path,
    play: SavedState | None = None,
) -> None:
    """Leave a checkpoint; `play` is the present of the source, for those that a run goes on from."""
    marks = tuple((worker, env, sequence) for (worker, env), sequence in source.high_water_marks().items())
    state = run.state(
        "ppo",
        iteration=learner.iteration,
        learner=learner.numbers(),
        rng_state=learner.generator_state(),
        marks=marks,
        task_statistics=feedback.statistics(),
    )
    saved = Checkpoint(model=learner.policy.state_dict(), optimizer=learner.state_tensors(), state=state, play=play)
    checkpoint.save(folder, saved)
