"""Where the second stage's fragments come from, as the config places it."""

import secrets
from functools import partial

from mcrl.assembly import build_worker
from mcrl.config import TrainConfig
from mcrl.dataflow.contracts import FragmentSource, WorkerFactory
from mcrl.dataflow.flow import FlowLimits, FlowStart
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.queue.samplers import sampler_of
from mcrl.dataflow.rings.source import RingSource
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.engine_device import word_of_engine
from mcrl.fragment_size import fragment_bytes
from mcrl.ring_assembly import build_ring
from mcrl.run import Run
from mcrl.seeding import derive_seed
from policies.device import CPU
from policies.interface import Policy
from task_synthesis.task import TaskSpec
from worlds.adapters.catalogue import BUILT_IN


def make_source(
    run: Run, policy: Policy, tasks: list[TaskSpec], reference: ParamSnapshot | None, start: FlowStart
) -> FragmentSource:
    """Return the source of the run's placement, with workers that play `tasks` and watch with `reference`.

    `policy` is what they will act with, as far as its sizes go.
    """
    config, rollout = run.config, run.config.rollout
    device = run.device if rollout.placement == "inline" else CPU
    for word in (word_of_engine(config, run.device), word_of_resume(config)):
        if word is not None:
            run.progress.say(word)
    factory: WorkerFactory = partial(build_worker, config, run.parts, tasks, reference, device=device)
    if rollout.ring_groups > 1 or rollout.inference == "remote":
        # Found by name, so that no other run on the same cluster is asked.
        name = f"mcrl-inference-{secrets.token_hex(8)}"
        factory = partial(build_ring, config, run.parts, tasks, reference, inference_name=name, device=device)
    if rollout.placement == "inline" and rollout.max_staleness > 0 and not rollout.exact_staleness:
        limits = FlowLimits(
            num_workers=rollout.ring_groups,
            envs_per_worker=rollout.envs_per_worker // rollout.ring_groups,
            fragments_per_batch=config.ppo.fragments_per_batch,
            max_staleness=rollout.max_staleness,
            sampler=sampler_of(rollout.sampler),
            seed=derive_seed(config.seed, "sampler"),
        )
        return RingSource(partial(build_ring, config, run.parts, tasks, reference, 0, device=device), limits, start)
    limits = worker_limits(config)
    if rollout.placement == "inline":
        return LocalSource(factory, limits, start)
    from mcrl.dataflow.ray.source import RaySource  # heavy, and only this placement needs it
    from mcrl.dataflow.ray.weight_sync import AtTicks, WithOrders

    is_delayed = rollout.weight_sync == "tick"
    return RaySource(
        factory,
        limits,
        start,
        num_threads=rollout.worker_threads,
        fragment_bytes=fragment_bytes(config, policy),
        collect_limit_s=rollout.collect_limit_s,
        make_sync=partial(AtTicks, weight_format=rollout.weight_format) if is_delayed else WithOrders,
    )


def worker_limits(config: TrainConfig) -> FlowLimits:
    """Return the sizes of a source whose workers are those of the config."""
    rollout = config.rollout
    return FlowLimits(
        num_workers=rollout.num_workers,
        envs_per_worker=rollout.envs_per_worker,
        fragments_per_batch=config.ppo.fragments_per_batch,
        max_staleness=rollout.max_staleness,
        sampler=sampler_of(rollout.sampler),
        seed=derive_seed(config.seed, "sampler"),
    )


def word_of_resume(config: TrainConfig) -> str | None:
    """Return what is said of a run that is to be resumed exactly and cannot be; None for all others."""
    rollout = config.rollout
    if rollout.placement != "inline" or not rollout.exact_resume:
        return None
    if rollout.ring_groups > 1:
        why = "engines of a ring are in the middle of their steps"
    elif config.env.backend != BUILT_IN:
        why = "another engine keeps its own"
    elif rollout.exact_staleness and rollout.max_staleness:
        why = "fragments that wait for their lag belong to none"
    else:
        return None
    return f"checkpoints will hold no environments, {why}: a resume starts fresh episodes, all else goes on"
