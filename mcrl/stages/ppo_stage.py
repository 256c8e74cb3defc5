"""The second stage of a run: PPO from what the first one left, until the final checkpoint."""

import dataclasses
import time
from contextlib import ExitStack
from functools import partial

from mcrl import checkpoint
from mcrl.checkpoint import Checkpoint
from mcrl.dataflow.contracts import FragmentSource
from mcrl.dataflow.flow import FlowStart
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.determinism import in_fixed_order
from mcrl.engine_device import is_engine_on_gpu
from mcrl.learning.helper_processes import HelperProcesses
from mcrl.learning.learner import Learner
from mcrl.run import Run, StoppedError
from mcrl.seeding import derive_seed
from mcrl.stages.dagger_rounds import DAGGER
from mcrl.stages.imitation_stage import IMITATION
from mcrl.stages.ppo_checks import PPOChecks
from mcrl.stages.ppo_log import engine_metrics, flow_metrics, lag_metrics, note, speed
from mcrl.stages.ppo_source import make_source
from mcrl.stages.task_feedback import TaskFeedback
from mcrl.telemetry.metrics import rollout_metrics
from mcrl.worker_scaling import WorkerScaling
from policies.interface import Policy
from policies.threads import use_threads
from task_synthesis.task import TaskSpec

AVERAGED = "ema"


def reinforce(run: Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec]) -> None:
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
    with ExitStack() as open_parts:  # what is open ends also where the next part cannot be made
        source = make_source(run, policy, train_tasks, reference, start)
        open_parts.callback(source.close)
        if config.rollout.placement != "inline":
            from mcrl.dataflow.ray.telemetry import RayTelemetry  # heavy, as the source of these placements

            run.telemetry = RayTelemetry(run.run_dir.name)
        checks = PPOChecks(run, policy, val_tasks)
        open_parts.callback(checks.close)
        helpers = _make_helpers(run)
        open_parts.callback(helpers.close)
        # Now that all of the checkpoint was read and fits: what does not leaves the log as it was.
        run.metrics.discard_after("ppo", learner.iteration)
        _say_what_is_missing(run, learner.iteration)
        checks.begin(learner.iteration)
        run.status.count_from(0 if start.saved is not None else learner.iteration)
        _iterate(run, learner, layout, feedback, source, helpers, checks)
    use_threads(config.num_threads)
    checks.finish(learner.iteration)
    newest = checkpoint.load(checkpoint.numbered(run.checkpoint_dir, learner.iteration))
    if learner.average is not None:
        averaged = dataclasses.replace(newest, model=learner.average.state_dict(), optimizer={})
        checkpoint.save(run.checkpoint_dir / AVERAGED, averaged)
    # What it holds of the source was asked for while that was alive.
    checkpoint.save(run.checkpoint_dir / checkpoint.FINAL, newest)


def _say_what_is_missing(run: Run, num_iterations: int) -> None:
    """Tell of iterations that the metrics hold no line of: a file that was cut or deleted is not made again."""
    missing = num_iterations - run.metrics.count("ppo")
    if missing > 0:
        run.progress.say(
            f"{run.metrics.path} has lost the lines of {missing} of the {num_iterations} iterations before; curves and "
            "charts show the others alone"
        )


def _iterate(
    run: Run,
    learner: Learner,
    layout: ParamLayout,
    feedback: TaskFeedback,
    source: FragmentSource,
    helpers: HelperProcesses,
    checks: PPOChecks,
) -> None:
    """Learn until the last iteration; log, save and check on the way. Raise StoppedError when the run was asked to."""
    config, num_iterations = run.config, run.config.ppo.num_iterations
    scaling = WorkerScaling(run.run_dir)
    scaling.follow(source)
    with run.progress.bar("ppo", num_iterations, learner.iteration, is_resumable=True) as bar:
        _publish(learner, layout, feedback, source)
        while learner.iteration < num_iterations:
            helpers.assist(learner)
            begin_s = time.perf_counter()
            with bar.waiting("fragments"):  # the first of a worker may have to compile the engine
                fragments = source.take(config.ppo.fragments_per_batch)
            if config.deterministic:
                fragments = in_fixed_order(fragments)
            taken_s = time.perf_counter()
            metrics = learner.update(fragments, source.take_refused())
            learned_s = time.perf_counter()
            feedback.hear(fragments)
            snapshot = _publish(learner, layout, feedback, source)
            num_workers = source.counts().num_workers
            metrics |= rollout_metrics(fragments)
            metrics |= speed(fragments, begin_s, taken_s, learned_s, num_workers=num_workers)
            metrics |= flow_metrics(source) | feedback.metrics() | helpers.metrics()
            metrics |= engine_metrics(fragments)
            metrics |= lag_metrics(fragments, learner.iteration - 1, config.rollout.max_staleness)
            run.log("ppo", learner.iteration, metrics)
            bar.show(learner.iteration, note(metrics, takes_turns=config.rollout.placement == "inline"))

            if learner.is_stop_wished and not run.stop.is_set:
                run.stop.ask()
            is_last = learner.iteration == num_iterations
            is_saved = is_last or run.stop.is_set or learner.iteration % config.checkpoint_every == 0
            if is_saved:
                _save(run, learner, source, feedback)
            try:
                run.check_stop()
                scaling.follow(source)
                checks.after(learner.iteration, snapshot)
            except StoppedError:
                if not is_saved:
                    _save(run, learner, source, feedback)
                raise
        checks.wait()


def _publish(learner: Learner, layout: ParamLayout, feedback: TaskFeedback, source: FragmentSource) -> ParamSnapshot:
    """Hand the learner's weights to those who act, and return them."""
    snapshot = layout.snapshot(learner.policy, learner.iteration, task_statistics=feedback.statistics())
    source.publish(snapshot)
    return snapshot


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


def _restore(run: Run, policy: Policy, learner: Learner, feedback: TaskFeedback) -> FlowStart:
    """Load the newest checkpoint of the stage into policy, learner and feedback, where there is one."""
    folder = checkpoint.newest(run.checkpoint_dir)
    if folder is None:
        if run.metrics.has("ppo", 1, name="loss"):
            run.progress.say(
                "ppo begins again: it was killed before its first checkpoint, which comes every "
                f"{run.config.checkpoint_every} iterations (checkpoint_every) and at a stop"
            )
        return FlowStart()
    saved = checkpoint.load(folder)
    checkpoint.load_into(policy, saved.model, where=folder)
    state = saved.state
    run.progress.say(f"ppo goes on after iteration {state.iteration}, from {folder}")
    learner.restore(state.iteration, saved.optimizer, state.rng_state, where=folder, numbers=state.learner)
    try:
        feedback.restore(state.task_statistics)
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None
    marks = {(worker, env): sequence for worker, env, sequence in state.high_water_marks}
    config, play = run.config, None
    rollout = config.rollout
    if rollout.placement == "inline" and rollout.exact_resume:
        play = checkpoint.load_play(folder)
        if play is None:
            run.progress.say(f"{folder} holds no environments: they start fresh episodes, all else goes on")
        elif is_engine_on_gpu(config, run.device):
            play = None
            run.progress.say(
                f"{folder} holds environments of a CPU: those on the GPU start fresh episodes, all else goes on"
            )
    return FlowStart(version=saved.state.version, high_water_marks=marks, saved=play)


def _save(run: Run, learner: Learner, source: FragmentSource, feedback: TaskFeedback) -> None:
    """Leave a checkpoint that the run can go on from, and drop the oldest."""
    play = source.saved() if run.config.rollout.exact_resume else None
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
    checkpoint.save(checkpoint.numbered(run.checkpoint_dir, learner.iteration), saved)
    checkpoint.prune(run.checkpoint_dir)
