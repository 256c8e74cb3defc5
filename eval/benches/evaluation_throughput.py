"""Speed of evaluation beside that of a rollout worker: the same policy, tasks of the same sort, as many envs."""

import dataclasses
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from eval.benches.throughput import Measurement, measured, seconds_of
from eval.judging.suite_row import SuiteRow
from eval.judging.unit import MAX_ENVS, UNIT_TASKS, PlayedUnit, Unit, play_unit
from mcrl import checkpoint
from mcrl.assembly import PRODUCT, build_worker
from mcrl.config import TrainConfig
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.rollout.rollout_worker import RolloutWorker
from policies.interface import Policy
from task_synthesis.task import TaskSpec

# The tasks that `mcrl bench rollout` plays.
_NUM_TRAIN_TASKS = 128
# Decisions of a rollout sample: about as long as half a unit takes.
_NUM_ROLLOUT_DECISIONS = 8_192


def bench_evaluation(config: TrainConfig, *, repeats: int) -> list[Measurement]:
    """Measure decisions per second of a unit that a policy plays, and of a rollout worker in turns with it.

    Only decisions that belong to an episode count; making worlds and goals, envs that ran out of tasks, measuring and
    packing are paid for by them. One process and one thread each. The policy has its first weights: it hardly ever
    succeeds, so episodes are as long as those of any other, and take as long as they can.
    """
    policy = PRODUCT.make_policy(config)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        unit = _unit(config, policy, Path(folder) / "checkpoint")
        train_tasks = PRODUCT.make_tasks(config, "train", _NUM_TRAIN_TASKS, lambda num_done: None)
        of_workers = {"rollout": config}
        if config.ppo.kl_to_reference is not None:
            of_workers["rollout without reference"] = _without_reference(config)
        rollouts = {
            name: stack.enter_context(closing(_worker(of_worker, policy, train_tasks)))
            for name, of_worker in of_workers.items()
        }
        num_collects = max(1, _NUM_ROLLOUT_DECISIONS // (MAX_ENVS * config.ppo.fragment_steps))
        num_collected = num_collects * MAX_ENVS * config.ppo.fragment_steps
        samples: dict[str, list[tuple[float, float]]] = {name: [] for name in ("evaluation", *rollouts)}
        shares = []
        for repeat in range(repeats + 1):
            played: list[PlayedUnit] = []
            cpu_s, wall_s = seconds_of(lambda played=played: played.append(play_unit(unit)))  # type: ignore[misc]
            num_useful = played[0].num_decisions
            rates = {"evaluation": (num_useful / cpu_s, num_useful / wall_s)}
            for name, worker in rollouts.items():
                cpu_s, wall_s = seconds_of(_collecting(worker, num_collects))
                rates[name] = (num_collected / cpu_s, num_collected / wall_s)
            if repeat:  # the first one compiles; not counted
                for name, rate in rates.items():
                    samples[name].append(rate)
                shares.append(num_useful / played[0].num_env_steps)
    return _measurements(config, unit, samples, shares)


def _measurements(
    config: TrainConfig, unit: Unit, samples: dict[str, list[tuple[float, float]]], shares: list[float]
) -> list[Measurement]:
    fields: dict[str, str | int | float] = {
        "recipe": config.recipe,
        "preset": config.preset,
        "precision": config.precision,
        "image_px": config.env.image_px,
        "num_threads": 1,
        "num_envs": unit.num_envs,
        "num_tasks": len(unit.tasks),
    }
    measurements = []
    for name, rates in samples.items():
        with_name = fields | {"loop": name}
        measurements.append(measured("decisions_per_cpu_s", "decisions/CPU-s", [cpu for cpu, _ in rates], with_name))
        measurements.append(measured("decisions_per_s", "decisions/s", [wall for _, wall in rates], with_name))
    for name in list(samples)[1:]:
        # Neighbours in time, so that a machine that slows down meanwhile slows both.
        ratios = [ours[0] / theirs[0] for ours, theirs in zip(samples["evaluation"], samples[name], strict=True)]
        measurements.append(measured("evaluation_over_rollout", "ratio", ratios, fields | {"loop": name}))
    measurements.append(measured("share_of_steps_in_episodes", "%", [100 * share for share in shares], fields))
    return measurements


def _unit(config: TrainConfig, policy: Policy, folder: Path) -> Unit:
    state = checkpoint.CheckpointState(
        stage="imitation",
        iteration=0,
        version=0,
        preset=config.preset,
        image_px=config.env.image_px,
        config=dataclasses.asdict(config),
    )
    checkpoint.save(folder, checkpoint.Checkpoint(model=policy.state_dict(), optimizer={}, state=state))
    tasks = PRODUCT.make_tasks(config, "val", UNIT_TASKS, lambda num_done: None)
    row = SuiteRow(name="policy", agent="policy", source="first weights", config=config, checkpoint=folder)
    return Unit(row=row, suite="", index=0, tasks=tuple(tasks), seed=config.seed)


def _worker(config: TrainConfig, policy: Policy, tasks: list[TaskSpec]) -> RolloutWorker:
    config = dataclasses.replace(
        config,
        rollout=dataclasses.replace(config.rollout, envs_per_worker=MAX_ENVS),
        ppo=dataclasses.replace(config.ppo, fragments_per_batch=MAX_ENVS),
    )
    layout = ParamLayout(policy)
    reference = None if config.ppo.kl_to_reference is None else layout.snapshot(policy, version=0)
    worker = build_worker(config, PRODUCT, tasks, reference, 0, 0)
    worker.load(layout.snapshot(policy, version=0))
    return worker


def _without_reference(config: TrainConfig) -> TrainConfig:
    return dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, kl_to_reference=None))


def _collecting(worker: RolloutWorker, num_collects: int) -> Callable[[], None]:
    def collect() -> None:
        for _ in range(num_collects):
            worker.collect()

    return collect
