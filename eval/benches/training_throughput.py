"""Speed of acting and of learning, on one recipe's policy, tasks and batch."""

import copy
import dataclasses
from collections.abc import Callable
from functools import partial

import torch

from eval.benches.plain_ppo import plain_update
from eval.benches.throughput import Measurement, measured, seconds_of
from mcrl.assembly import PRODUCT, build_worker
from mcrl.config import TrainConfig
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.learning.batch import collate
from mcrl.learning.learner import Learner
from mcrl.learning.optimizer import make_adam
from mcrl.rollout.fragment import Fragment
from mcrl.rollout.rollout_worker import RolloutWorker
from policies.interface import Policy

_NUM_TASKS = 128


def bench_rollout(config: TrainConfig, *, repeats: int, num_threads: int) -> list[Measurement]:
    """Measure decisions per second of one rollout worker: engine, goals, policy and the reference, if there is one."""
    worker = _worker(config, PRODUCT.make_policy(config))
    worker.collect()  # compiles and encodes the first goals; not counted
    num_decisions = worker.num_envs * config.ppo.fragment_steps
    samples = [seconds_of(worker.collect) for _ in range(repeats)]
    fields = _fields(config, num_threads) | {"num_envs": worker.num_envs}
    return [
        measured("decisions_per_s", "decisions/s", [num_decisions / wall_s for _, wall_s in samples], fields),
        measured("decisions_per_cpu_s", "decisions/CPU-s", [num_decisions / cpu_s for cpu_s, _ in samples], fields),
    ]


def bench_learner(config: TrainConfig, *, repeats: int, num_threads: int) -> list[Measurement]:
    """Measure frames per CPU-second of the learner and of a plain loop that does the same work, in turns.

    Both learn from the same batch, collected by a rollout worker; the plain loop finds it stacked already.
    """
    # The iterations that train the value head alone skip most of the work: measure the others. And without a critic of
    # the learner's own, which the plain loop has not.
    ppo = dataclasses.replace(config.ppo, value_warmup_iterations=0, target_kl=None, privileged_critic=False)
    config = dataclasses.replace(config, ppo=ppo)
    policy = PRODUCT.make_policy(config)
    fragments = _batch(config, policy)
    learner = Learner(copy.deepcopy(policy), ppo, precision=config.precision, seed=config.seed)
    plain_policy = copy.deepcopy(policy).eval()
    work: dict[str, Callable[[], object]] = {
        "learner": partial(learner.update, fragments),
        "plain loop": partial(
            plain_update,
            plain_policy,
            make_adam(plain_policy, ppo.learning_rate),
            collate(fragments),
            ppo,
            precision=config.precision,
            generator=torch.Generator().manual_seed(config.seed),
        ),
    }
    num_frames = sum(fragment.num_steps for fragment in fragments) * ppo.num_epochs
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
    for repeat in range(repeats + 1):
        for name, update in work.items():
            seconds = seconds_of(update)
            if repeat:  # the first one allocates; not counted
                samples[name].append(seconds)
    fields = _fields(config, num_threads) | {"minibatch_frames": ppo.minibatch_sequences * ppo.fragment_steps}
    measurements = []
    for name, pairs in samples.items():
        with_name = fields | {"loop": name}
        per_cpu_s, per_s = [num_frames / cpu_s for cpu_s, _ in pairs], [num_frames / wall_s for _, wall_s in pairs]
        measurements.append(measured("frames_per_cpu_s", "frames/CPU-s", per_cpu_s, with_name))
        measurements.append(measured("frames_per_s", "frames/s", per_s, with_name))
    # Neighbours in time, so that a machine that slows down meanwhile slows both.
    ratios = [plain[0] / ours[0] for ours, plain in zip(samples["learner"], samples["plain loop"], strict=True)]
    measurements.append(measured("learner_over_plain_loop", "ratio", ratios, fields))
    return measurements


def _worker(config: TrainConfig, policy: Policy) -> RolloutWorker:
    tasks = PRODUCT.make_tasks(config, "train", _NUM_TASKS, lambda num_done: None)
    layout = ParamLayout(policy)
    reference = None if config.ppo.kl_to_reference is None else layout.snapshot(policy, version=0)
    worker = build_worker(config, PRODUCT, tasks, reference, 0, 0)
    worker.load(layout.snapshot(policy, version=0))
    return worker


def _batch(config: TrainConfig, policy: Policy) -> list[Fragment]:
    worker = _worker(config, policy)
    fragments: list[Fragment] = []
    while len(fragments) < config.ppo.fragments_per_batch:
        fragments += worker.collect()
    return fragments[: config.ppo.fragments_per_batch]


def _fields(config: TrainConfig, num_threads: int) -> dict[str, str | int | float]:
    return {
        "recipe": config.recipe,
        "preset": config.preset,
        "precision": config.precision,
        "image_px": config.env.image_px,
        "num_threads": num_threads,
    }
