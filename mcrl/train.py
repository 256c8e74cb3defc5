"""A training run from config to final checkpoint: tasks, imitation, PPO. Each stage's result is kept for a resume.

run_dir/config.json                    the resolved config, written before anything else
run_dir/tasks_train.jsonl, _val.jsonl  the tasks
run_dir/metrics.jsonl                  one line an update
run_dir/checkpoints/imitation/         after the first stage
run_dir/checkpoints/iteration_000025/  the last two of the second stage
run_dir/checkpoints/final/             the result
"""

import dataclasses
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numba
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mcrl import checkpoint
from mcrl.assembly import PRODUCT, Parts, build_worker
from mcrl.checkpoint import Checkpoint, CheckpointState
from mcrl.config import TrainConfig, from_json, to_json
from mcrl.dataflow.contracts import FragmentSource
from mcrl.dataflow.flow import FlowLimits, FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.params import ParamLayout, ParamSnapshot, ParamStore
from mcrl.episodes import TaskListSource, run_episodes, success_rate
from mcrl.fragment import Fragment
from mcrl.interrupt import StopRequest
from mcrl.learning.demonstrations import collect_demonstrations
from mcrl.learning.imitation import clone
from mcrl.learning.learner import Learner
from mcrl.metrics import MetricsLog, rollout_metrics
from mcrl.seeding import derive_seed
from mcrl.wandb_log import WandbLog
from policies.agent import PolicyAgent
from policies.interface import Policy
from task_synthesis.curriculum import ShuffledTasks
from task_synthesis.library import load_tasks
from task_synthesis.task import TaskSpec, to_json_line
from worlds.spec import Split

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainResult:
    """How a run ended."""

    run_dir: Path
    checkpoint: Path | None
    """The newest checkpoint; None when the run was stopped before there was one."""
    exit_code: int
    """0, or 130 / 143 when Ctrl-C / SIGTERM stopped it; `resume` goes on from there."""


def train(config: TrainConfig, *, parts: Parts = PRODUCT, console: Console | None = None) -> TrainResult:
    """Start a run in an empty run_dir and bring it to its end."""
    run_dir = Path(config.run_dir)
    if (run_dir / "config.json").exists():
        raise ValueError(
            f"{run_dir} holds a run already; continue it with `mcrl train --resume {run_dir}` or choose another run_dir"
        )
    run_dir.mkdir(parents=True, exist_ok=True)
    _write_whole(run_dir / "config.json", to_json(config))
    return _run(config, run_dir, parts, console or Console(stderr=True))


def resume(run_dir: Path, *, parts: Parts = PRODUCT, console: Console | None = None) -> TrainResult:
    """Continue a run where its last finished stage or checkpoint left it. Environments start afresh."""
    path = run_dir / "config.json"
    if not path.is_file():
        raise ValueError(f"{path}: no such file; start a run with `mcrl train`")
    config = from_json(path.read_text(encoding="ascii"), where=str(path))
    return _run(config, run_dir, parts, console or Console(stderr=True))


# ----------------------------------------------------------------------------------------------------- the stages


class _StoppedError(Exception):
    """Raised where a stage notices the wish to stop before it has a result."""


@dataclass(kw_only=True, slots=True)
class _Run:
    """What all stages need."""

    config: TrainConfig
    run_dir: Path
    parts: Parts
    console: Console
    stop: StopRequest
    metrics: MetricsLog
    wandb: WandbLog

    @property
    def checkpoint_dir(self) -> Path:
        return self.run_dir / "checkpoints"

    def log(self, stage: str, step: int, metrics: dict[str, float]) -> None:
        self.metrics.write(stage, step, metrics)
        self.wandb.write(stage, step, metrics)

    def check_stop(self) -> None:
        if self.stop.is_set:
            raise _StoppedError

    @contextmanager
    def progress(self, what: str, total: int, done: int = 0) -> Iterator["_Bar"]:
        """Show a bar with the time left, on a terminal; elsewhere log lines say how far it is."""
        columns = (
            TextColumn("{task.description:<12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with Progress(*columns, console=self.console, disable=not self.console.is_terminal) as bar:
            yield _Bar(bar, what, total, done)


class _Bar:
    """One progress bar."""

    def __init__(self, progress: Progress, what: str, total: int, done: int) -> None:
        self._progress, self._what, self._total = progress, what, total
        self._task = progress.add_task(what, total=total, completed=done, note="")

    def show(self, done: int, note: str = "") -> None:
        self._progress.update(self._task, completed=done, note=note)
        if self._progress.disable and (note or done == self._total):
            _LOG.info("%-12s %6d / %-6d %s", self._what, done, self._total, note)


def _run(config: TrainConfig, run_dir: Path, parts: Parts, console: Console) -> TrainResult:
    _set_threads(config.num_threads)
    with StopRequest() as stop:
        run = _Run(
            config=config,
            run_dir=run_dir,
            parts=parts,
            console=console,
            stop=stop,
            metrics=MetricsLog(run_dir / "metrics.jsonl"),
            wandb=WandbLog(config.wandb, run_dir, dataclasses.asdict(config)),
        )
        try:
            if not (run.checkpoint_dir / checkpoint.FINAL).is_dir():
                train_tasks = _tasks(run, "train", config.tasks.num_train_tasks)
                val_tasks = _tasks(run, "val", config.tasks.num_val_tasks)
                policy = parts.make_policy(config)
                _imitate(run, policy, train_tasks, val_tasks)
                _reinforce(run, policy, train_tasks, val_tasks)
        except _StoppedError:
            pass  # exit_code says so
        finally:
            run.wandb.close()
        newest = checkpoint.newest(run.checkpoint_dir)
        return TrainResult(run_dir=run_dir, checkpoint=newest, exit_code=stop.exit_code)


def _tasks(run: _Run, split: Split, num_tasks: int) -> list[TaskSpec]:
    """Synthesise the tasks of one split, or read those that an earlier start of the run made."""
    path = run.run_dir / f"tasks_{split}.jsonl"
    if path.exists():
        return load_tasks(path, split=split)
    with run.progress(f"{split} tasks", num_tasks) as bar:

        def on_progress(num_done: int) -> None:
            run.check_stop()
            bar.show(num_done)

        tasks = run.parts.make_tasks(run.config, split, num_tasks, on_progress)
    _write_whole(path, "".join(to_json_line(task) + "\n" for task in tasks))
    return tasks


def _imitate(run: _Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec]) -> None:
    """Clone the expert into `policy`, or load the clone of an earlier start of the run."""
    folder = run.checkpoint_dir / "imitation"
    if folder.is_dir():
        checkpoint.load_into(policy, checkpoint.load(folder).model, where=folder)
        return
    config = run.config.imitation
    train = _demonstrate(run, policy, "train", train_tasks, config.num_demo_steps)
    val = _demonstrate(run, policy, "val", val_tasks, config.num_val_demo_steps)
    with run.progress("imitation", config.num_updates) as bar:
        note = ""

        def on_update(update: int, metrics: dict[str, float]) -> bool:
            nonlocal note
            is_validation = "val_loss" in metrics
            if is_validation:
                note = f"loss {metrics['loss']:.3f}  val loss {metrics['val_loss']:.3f}"
            if is_validation or update % 10 == 0:
                run.log("imitation", update, metrics)
            bar.show(update, note if is_validation or run.console.is_terminal else "")
            return run.stop.is_set

        result = clone(
            policy, train, val, config, precision=run.config.precision, seed=run.config.seed, on_update=on_update
        )
    if result.is_stopped:
        raise _StoppedError
    checkpoint.save(
        folder, Checkpoint(model=policy.state_dict(), optimizer={}, state=_state(run, "imitation", iteration=0))
    )
    _validate(run, policy, val_tasks, "imitation", result.num_updates)


def _demonstrate(run: _Run, policy: Policy, split: Split, tasks: list[TaskSpec], num_steps: int) -> list[Fragment]:
    config = run.config.imitation
    seed = derive_seed(run.config.seed, "demonstrations", split)
    # No more envs than fragments are wanted, so that a small validation set stays small.
    num_envs = min(config.num_envs, max(1, num_steps // config.fragment_steps))
    source = ShuffledTasks(tasks, split=split, seed=derive_seed(seed, "curriculum"))
    env = run.parts.make_env(run.config, source, num_envs)
    with run.progress(f"{split} demos", num_steps) as bar:

        def on_progress(num_done: int) -> None:
            run.check_stop()
            bar.show(min(num_done, num_steps))

        fragments = collect_demonstrations(
            env,
            run.parts.make_expert(env),
            policy,
            num_steps=num_steps,
            fragment_steps=config.fragment_steps,
            noise=config.noise,
            seed=seed,
            on_progress=on_progress,
        )
    run.log(f"{split}_demos", 0, rollout_metrics(fragments))
    return fragments


def _reinforce(run: _Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec]) -> None:
    """Improve the cloned policy by PPO and leave the final checkpoint."""
    config, ppo = run.config, run.config.ppo
    if ppo.num_iterations == 0:
        state = _state(run, "imitation", iteration=0)
        final = Checkpoint(model=policy.state_dict(), optimizer={}, state=state)
        checkpoint.save(run.checkpoint_dir / checkpoint.FINAL, final)
        return
    layout = ParamLayout(policy)
    # Taken before a later checkpoint is loaded: the reference is the clone, frozen.
    reference = None if ppo.kl_to_reference is None else layout.snapshot(policy, version=0)
    learner = Learner(policy, ppo, precision=config.precision, seed=config.seed, crash_dir=run.run_dir)
    start = _restore(run, policy, learner)
    run.metrics.discard_after("ppo", learner.iteration)
    store = ParamStore(policy)
    _set_threads(config.rollout.learner_threads or config.num_threads)
    source = _make_source(run, train_tasks, reference, start)
    try:
        with run.progress("ppo", ppo.num_iterations, learner.iteration) as bar:
            source.publish(store.publish(policy, learner.iteration))
            while learner.iteration < ppo.num_iterations:
                begin_s = time.perf_counter()
                fragments = source.take(ppo.fragments_per_batch)
                taken_s = time.perf_counter()
                metrics = learner.update(fragments)
                learned_s = time.perf_counter()
                source.publish(store.publish(policy, learner.iteration))
                metrics |= rollout_metrics(fragments) | _speed(fragments, begin_s, taken_s, learned_s)
                metrics |= _flow_metrics(source)
                run.log("ppo", learner.iteration, metrics)
                bar.show(learner.iteration, _note(metrics))

                is_over = learner.iteration >= ppo.num_iterations or run.stop.is_set
                if is_over or learner.iteration % config.checkpoint_every == 0:
                    _save(run, learner, source, checkpoint.numbered(run.checkpoint_dir, learner.iteration))
                    checkpoint.prune(run.checkpoint_dir)
                run.check_stop()
                if config.val_every and learner.iteration % config.val_every == 0 and not is_over:
                    _validate(run, policy, val_tasks, "ppo", learner.iteration)
    finally:
        source.close()
    _set_threads(config.num_threads)
    _save(run, learner, source, run.checkpoint_dir / checkpoint.FINAL)
    _validate(run, policy, val_tasks, "ppo", learner.iteration)


# ------------------------------------------------------------------------------------------------ parts of stages


def _make_source(run: _Run, tasks: list[TaskSpec], reference: ParamSnapshot | None, start: FlowStart) -> FragmentSource:
    config, rollout = run.config, run.config.rollout
    factory = partial(build_worker, config, run.parts, tasks, reference)
    limits = FlowLimits(
        num_workers=rollout.num_workers,
        envs_per_worker=rollout.envs_per_worker,
        fragments_per_batch=config.ppo.fragments_per_batch,
        max_staleness=rollout.max_staleness,
    )
    if rollout.placement == "inline":
        return LocalSource(factory, limits, start)
    from mcrl.dataflow.ray.source import RaySource  # heavy, and only this placement needs it

    # Images are most of a fragment; goals, reference logits and memory add about as much again at 32 steps.
    fragment_bytes = 2 * config.ppo.fragment_steps * config.env.image_px**2 * 3 + 2**16
    return RaySource(factory, limits, start, num_threads=rollout.worker_threads, fragment_bytes=fragment_bytes)


def _restore(run: _Run, policy: Policy, learner: Learner) -> FlowStart:
    """Load the newest checkpoint of the stage into policy and learner, where there is one."""
    folder = checkpoint.newest(run.checkpoint_dir)
    if folder is None:
        return FlowStart()
    saved = checkpoint.load(folder)
    checkpoint.load_into(policy, saved.model, where=folder)
    learner.restore(saved.state.iteration, saved.optimizer, saved.state.rng_state, where=folder)
    marks = {(worker, env): sequence for worker, env, sequence in saved.state.high_water_marks}
    return FlowStart(version=saved.state.version, high_water_marks=marks)


def _save(run: _Run, learner: Learner, source: FragmentSource, folder: Path) -> None:
    marks = tuple((worker, env, sequence) for (worker, env), sequence in source.high_water_marks().items())
    state = _state(run, "ppo", iteration=learner.iteration, rng_state=learner.generator_state(), marks=marks)
    checkpoint.save(
        folder, Checkpoint(model=learner.policy.state_dict(), optimizer=learner.state_tensors(), state=state)
    )


def _state(
    run: _Run, stage: str, *, iteration: int, rng_state: str = "", marks: tuple[tuple[int, int, int], ...] = ()
) -> CheckpointState:
    return CheckpointState(
        stage=stage,
        iteration=iteration,
        version=iteration,
        preset=run.config.preset,
        image_px=run.config.env.image_px,
        config=dataclasses.asdict(run.config),
        rng_state=rng_state,
        high_water_marks=marks,
    )


def _validate(run: _Run, policy: Policy, tasks: list[TaskSpec], stage: str, step: int) -> None:
    """Play every val task once with sampled actions and log the success rate."""
    num_envs = min(run.config.imitation.num_envs, len(tasks))
    env = run.parts.make_env(run.config, TaskListSource(tasks), num_envs)
    seed = derive_seed(run.config.seed, "validation")
    agent = PolicyAgent(policy, num_envs=num_envs, seed=seed, precision=run.config.precision)
    records = run_episodes(agent, env, tasks)
    success = success_rate(records)
    run.log("val", step, {f"{stage}_success": success, "episodes": float(len(records))})
    run.console.print(f"val success after {stage}: {success:.3f} ({len(records)} episodes, val worlds)")


def _speed(fragments: list[Fragment], begin_s: float, taken_s: float, learned_s: float) -> dict[str, float]:
    num_steps = sum(fragment.num_steps for fragment in fragments)
    return {
        "take_s": taken_s - begin_s,
        "learn_s": learned_s - taken_s,
        "steps_per_s": num_steps / (learned_s - begin_s),
        # Mean time a worker spent on a fragment; all envs of a worker share it.
        "collect_s": sum(fragment.end_ns - fragment.start_ns for fragment in fragments) / len(fragments) / 1e9,
    }


def _flow_metrics(source: FragmentSource) -> dict[str, float]:
    counts = source.counts()
    return {
        "fragments_dropped": float(sum(counts.dropped.values())),
        "fragments_lost": float(counts.lost),
        "worker_restarts": float(counts.num_restarts),
        "fragments_waiting": float(counts.waiting),
    }


def _note(metrics: dict[str, float]) -> str:
    success = f"{metrics['success']:.3f}" if "success" in metrics else "  -  "
    return (
        f"success {success}  kl_ref {metrics.get('kl_to_reference', 0.0):.3f}  entropy {metrics['entropy']:.2f}  "
        f"ev {metrics['explained_variance']:+.2f}  {metrics['steps_per_s']:.0f} steps/s"
    )


def _set_threads(num_threads: int) -> None:
    torch.set_num_threads(num_threads)
    numba.set_num_threads(min(num_threads, numba.config.NUMBA_NUM_THREADS))


def _write_whole(path: Path, text: str) -> None:
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, encoding="ascii")
    part.replace(path)
