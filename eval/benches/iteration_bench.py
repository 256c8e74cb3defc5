"""Whole iterations of PPO on one device, acting and learning in turn: how fast, and where the time goes."""

import dataclasses
import time
from collections.abc import Callable, Sequence

import torch

from eval.benches.stage_clock import StageClock
from eval.benches.throughput import Measurement, measured
from mcrl.assembly import PRODUCT, build_worker
from mcrl.config import TrainConfig
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.engine_device import is_engine_on_gpu
from mcrl.learning.learner import Learner
from mcrl.rollout.rollout_worker import RolloutWorker
from mcrl.run import training_device
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.task import TaskSpec

_NUM_TASKS = 2_048
# Methods and the stages that they are, each with what is inside of it and no stage of its own.
_ENV_STAGES = {"step": "judge and reward", "_begin": "begin episodes"}
_BACKEND_STAGES = {"step": "engine: play and draw", "observe_only": "draw first views"}
_PLAYER_STAGES = {"look": "act", "step": "act", "bootstrap_value": "act"}


def bench_iteration(
    config: TrainConfig,
    *,
    repeats: int,
    num_threads: int,
    num_envs: int | None = None,
    tasks: Sequence[TaskSpec] | None = None,
) -> list[Measurement]:
    """Measure iterations of the config's PPO in placement inline, first as they are, then stage by stage.

    Args:
        config: whose policy, engine, tasks and batch are measured.
        repeats: iterations of either kind.
        num_threads: of torch and the engine.
        num_envs: environments, each of which gives one fragment to a batch that is learned in eight minibatches; None
            keeps to the config's batch.
        tasks: to play; None makes some.
    """
    if num_envs is None:
        num_envs, minibatch = config.ppo.fragments_per_batch, config.ppo.minibatch_sequences
    else:
        minibatch = max(1, num_envs // 8)
    rollout = dataclasses.replace(
        config.rollout, placement="inline", num_workers=1, max_staleness=0, envs_per_worker=num_envs
    )
    # Iterations that train the value head alone skip most of the work.
    ppo = dataclasses.replace(
        config.ppo,
        fragments_per_batch=num_envs,
        minibatch_sequences=minibatch,
        value_warmup_iterations=0,
        target_kl=None,
    )
    config = dataclasses.replace(config, rollout=rollout, ppo=ppo, num_threads=num_threads)
    device = training_device(config)
    if tasks is None:
        tasks = PRODUCT.make_tasks(config, "train", _NUM_TASKS, lambda num_done: None)
    policy = PRODUCT.make_policy(config).to(device)
    layout = ParamLayout(policy)
    reference = None if ppo.kl_to_reference is None else layout.snapshot(policy, version=0)
    worker = build_worker(config, PRODUCT, tasks, reference, 0, 0, device=device)
    learner = Learner(policy, ppo, precision=config.precision, seed=config.seed)

    def iterate() -> None:
        worker.load(layout.snapshot(policy, version=learner.iteration))
        learner.update(worker.collect())

    iterate()  # compiles
    iterate()  # and makes most of the worlds
    num_decisions = num_envs * ppo.fragment_steps
    seconds = [_seconds_of(iterate, device) for _ in range(repeats)]
    clock = _clocked(worker, learner, layout, device)
    staged = [_seconds_of(iterate, device) for _ in range(repeats)]
    worker.close()
    fields = _fields(config, device)
    rows = [
        measured("decisions_per_s", "decisions/s", [num_decisions / s for s in seconds], fields),
        measured(
            "ticks_per_s",
            "game ticks/s",
            [num_decisions * config.env.action_repeat_ticks / s for s in seconds],
            fields,
        ),
    ]
    clock.seconds["rest"] += sum(staged) - sum(clock.seconds.values())
    for stage, total_s in sorted(clock.seconds.items(), key=lambda pair: -pair[1]):
        rows.append(measured("stage_ms", "ms an iteration", [1000 * total_s / repeats], fields | {"stage": stage}))
    return rows


def _clocked(worker: RolloutWorker, learner: Learner, layout: ParamLayout, device: torch.device) -> StageClock:
    """Return a clock of the stages of a worker and its learner."""
    clock = StageClock(device)
    env = worker.env
    assert isinstance(env, TaskEnv)
    for holder, stages in ((env, _ENV_STAGES), (env.backend, _BACKEND_STAGES), (worker.player, _PLAYER_STAGES)):
        for method, stage in stages.items():
            clock.time(holder, method, stage)
    clock.time(worker, "collect", "record")
    clock.time(worker, "load", "publish weights, encode goals")
    clock.time(layout, "snapshot", "publish weights, encode goals")
    clock.time(learner, "update", "learn")
    return clock


def _seconds_of(work: Callable[[], None], device: torch.device) -> float:
    begin_s = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - begin_s


def _fields(config: TrainConfig, device: torch.device) -> dict[str, str | int | float]:
    return {
        "recipe": config.recipe,
        "preset": config.preset,
        "image_px": config.env.image_px,
        "num_envs": config.rollout.envs_per_worker,
        "minibatch_frames": config.ppo.minibatch_sequences * config.ppo.fragment_steps,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "engine": "cuda" if is_engine_on_gpu(config, device) else "cpu",
        "num_threads": config.num_threads,
    }
