"""The benches of `mcrl bench`, each a function from its options to measurements; what they need is imported in them."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mcrl.commands.bench.bench_options import BenchOptions

if TYPE_CHECKING:
    from eval.benches.throughput import Measurement
    from mcrl.config import TrainConfig

Measurements = list["Measurement"]


def _sim(options: BenchOptions) -> "Measurements":
    from eval.benches.sim_bench import bench_sim

    return bench_sim(num_frames=options.num_frames, repeats=options.num_repeats, seed=options.seed)


def _cuda(options: BenchOptions) -> "Measurements":
    from eval.benches.cuda_bench import bench_cuda

    return bench_cuda(num_frames=options.num_frames, repeats=options.num_repeats, seed=options.seed)


def _synth(options: BenchOptions) -> "Measurements":
    from eval.benches.synth_bench import bench_resets, bench_synth

    threads, repeats = options.num_threads, options.num_repeats
    measurements = bench_synth(num_tasks=options.num_tasks, repeats=repeats, seed=options.seed, num_threads=threads)
    return measurements + bench_resets(_config_of(options), repeats=repeats, num_threads=threads)


def _rollout(options: BenchOptions) -> "Measurements":
    from eval.benches.training_throughput import bench_rollout

    return bench_rollout(_config_of(options), repeats=options.num_repeats, num_threads=options.num_threads)


def _learner(options: BenchOptions) -> "Measurements":
    from eval.benches.training_throughput import bench_learner

    return bench_learner(_config_of(options), repeats=options.num_repeats, num_threads=options.num_threads)


def _iteration(options: BenchOptions) -> "Measurements":
    from eval.benches.iteration_bench import bench_iteration

    return bench_iteration(
        _config_of(options), repeats=options.num_repeats, num_threads=options.num_threads, num_envs=options.num_envs
    )


def _policy(options: BenchOptions) -> "Measurements":
    from eval.benches.policy_bench import bench_policy
    from policies.presets import PRESETS

    presets = [preset.strip() for preset in options.presets.split(",") if preset.strip()]
    if not presets:
        raise ValueError(f"--presets names none; there are {', '.join(PRESETS)}")
    return bench_policy(
        presets, precision="auto", repeats=options.num_repeats, seed=options.seed, num_threads=options.num_threads
    )


def _eval(options: BenchOptions) -> "Measurements":
    from eval.benches.evaluation_throughput import bench_evaluation

    if options.num_threads != 1:
        raise ValueError("--num-threads: evaluation plays each unit on one thread; leave it out")
    return bench_evaluation(_config_of(options), repeats=options.num_repeats)


def _sync(options: BenchOptions) -> "Measurements":
    from eval.benches.rocket_traffic import bench_traffic
    from eval.benches.sync_bench import bench_sync

    return bench_traffic(seed=options.seed) + bench_sync(repeats=options.num_repeats, seed=options.seed)


def _reshard(options: BenchOptions) -> "Measurements":
    from eval.benches.reshard_bench import bench_reshard

    return bench_reshard(repeats=options.num_repeats, seed=options.seed)


def _system(options: BenchOptions) -> "Measurements":
    from eval.benches.scale_bench import bench_scale
    from eval.benches.system_bench import bench_system

    repeats, time_scale, seed = options.num_repeats, options.time_scale, options.seed
    rows = bench_system(model=options.model, repeats=repeats, time_scale=time_scale, seed=seed)
    return rows if options.model is not None else rows + bench_scale(repeats=repeats, time_scale=time_scale, seed=seed)


BENCHES: Mapping[str, Callable[[BenchOptions], "Measurements"]] = {
    "sim": _sim,
    "cuda": _cuda,
    "synth": _synth,
    "rollout": _rollout,
    "learner": _learner,
    "iteration": _iteration,
    "policy": _policy,
    "eval": _eval,
    "sync": _sync,
    "reshard": _reshard,
    "system": _system,
}
# What each measures, in words.
WHAT = {
    "sim": "the engine: frames and resets per CPU-second in scene standard_v1",
    "cuda": "the engine's renderer on a CUDA device",
    "synth": "tasks made per CPU-second, and what resets cost in training",
    "rollout": "decisions per CPU-second of a rollout worker",
    "learner": "frames learned per CPU-second, beside a plain PPO loop",
    "iteration": "whole iterations of PPO on the recipe's device, and where their time goes",
    "policy": "acting and learning of presets, beside what their multiplications must cost",
    "eval": "useful decisions per CPU-second of an evaluation",
    "sync": "handing new weights from the learner to those who act",
    "reshard": "moving weights between layouts of processes",
    "system": "waiting for slow environments: barriers against asynchrony, and scale",
    "peers": "engine, training loop and evaluation beside those of others",
}
BENCH_NAMES = (*BENCHES, "peers")


def _config_of(options: BenchOptions) -> "TrainConfig":
    from mcrl.commands.training.recipe_names import recipe_config

    return dataclasses.replace(recipe_config(options.recipe), seed=options.seed)


def measure(name: str, options: BenchOptions) -> dict[str, object]:
    """Run one bench and return its result as one JSON object."""
    from eval.benches.throughput import bench_object
    from mcrl.commands.bench.bench_peers import measure_beside_peers
    from policies.threads import use_threads

    opponents = options.opponents(name)
    use_threads(options.num_threads)
    # Beside peers the learner bench measures whole loops instead: that is what they have.
    measurements = BENCHES[name](options) if name in BENCHES and not (name == "learner" and opponents) else []
    if not opponents:
        return bench_object(name, measurements, seed=options.seed)
    return measure_beside_peers(name, opponents, options, before=measurements)
