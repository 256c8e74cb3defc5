"""`mcrl bench`: measure the speed of a part on this machine."""

import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import nearest, read_options, split_positional

BENCHES = ("sim", "cuda", "synth", "rollout", "learner", "policy", "eval", "sync", "reshard", "system")
PEERS = {"sim": ("vizdoom",), "learner": ("sb3", "sample_factory")}


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """How long and how wide a bench is."""

    json: Path | None = None
    """Write the result as one JSON object to this file; "-" is stdout, and nothing else is printed there."""
    repeats: int | None = None
    """Measurements; the median is reported, with the smallest and the largest. None is 5, and 3 of the system bench."""
    num_frames: int = 1600
    """Frames a repeat of the sim and cuda benches, at least."""
    num_tasks: int = 500
    """Tasks a repeat of the synth bench."""
    num_threads: int = 1
    """Threads of torch and the engine."""
    recipe: str = "laptop"
    """Recipe whose policy, batch and task settings the synth, rollout, learner and eval benches use."""
    presets: str = "tiny,small,base"
    """Presets the policy bench measures, with commas between."""
    seed: int = 0
    """Of worlds, actions and weights."""
    against: str | None = None
    """Peers to measure in the same run, with commas between: of the sim bench vizdoom, at its own 160 x 120 pixels with
    labels; of the learner bench sb3 and sample_factory, whole training loops at one small setting (recipe unused)."""
    model: str | None = None
    """Latency model of the system bench, for instance resets; None measures all, and the scale curve."""
    time_scale: float = 1.0
    """The system bench's simulated seconds last this long."""

    def __post_init__(self) -> None:
        for name in ("repeats", "num_frames", "num_tasks", "num_threads"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")

    def peers(self, bench: str) -> list[str]:
        """Return the peers that `--against` names. Raise ValueError for one that this bench has no driver for."""
        if self.against is None:
            return []
        known = PEERS.get(bench, ())
        names = [name.strip() for name in self.against.split(",") if name.strip()]
        if not known:
            raise ValueError(f"--against: bench {bench} has no peers, only {' and '.join(PEERS)} have; leave it out")
        for name in names:
            if name not in known:
                raise ValueError(f"--against {name}: no such peer of bench {bench}; {nearest(name, known)}")
        return list(dict.fromkeys(names))


def bench_command(args: Sequence[str]) -> int:
    """Run one bench and print its numbers."""
    prog = "mcrl bench"
    name, rest = split_positional(args)
    description = f"Usage: mcrl bench BENCH [OPTIONS], BENCH one of {', '.join(BENCHES)}."
    if name is not None and name not in BENCHES:
        raise ValueError(f"{name}: no such bench; {nearest(name, BENCHES)}")
    options = read_options(BenchOptions, rest, prog=prog, description=description)
    if name is None:
        raise ValueError(f"{prog}: name a bench first; there are {', '.join(BENCHES)}")
    if name != "system" and (options.model is not None or options.time_scale != 1.0):
        raise ValueError(f"{prog} {name}: --model and --time-scale belong to the system bench; leave them out")
    options = dataclasses.replace(options, repeats=options.repeats or (3 if name == "system" else 5))
    with _stdout_kept_clean():
        result = _measure(name, options)
    if options.json is None:
        _print_table(result)
    elif str(options.json) == "-":
        print(json.dumps(result))
    else:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="ascii")
        _print_table(result)
        print(f"written: {options.json}")
    return 0


def _measure(name: str, options: BenchOptions) -> dict[str, object]:
    from mcrl.run import use_threads

    peers = options.peers(name)
    use_threads(options.num_threads)
    from eval.throughput import bench_object

    repeats = options.repeats
    assert repeats is not None
    if name == "learner" and peers:
        return _bench_peers(peers, options)

    if name == "system":
        from eval.system_bench import bench_system

        measurements = bench_system(
            model=options.model, repeats=repeats, time_scale=options.time_scale, seed=options.seed
        )
        return bench_object(name, measurements)

    if name == "sim":
        from eval.sim_bench import bench_sim

        measurements = bench_sim(num_frames=options.num_frames, repeats=repeats, seed=options.seed)
        if "vizdoom" in peers:
            from eval.peer_vizdoom import bench_vizdoom

            measurements += bench_vizdoom(num_frames=options.num_frames, repeats=repeats, seed=options.seed)
        return bench_object(name, measurements)

    if name == "cuda":
        from eval.cuda_bench import bench_cuda

        measurements = bench_cuda(num_frames=options.num_frames, repeats=repeats, seed=options.seed)
        return bench_object(name, measurements)

    if name == "synth":
        from eval.synth_bench import bench_resets, bench_synth
        from mcrl.commands.recipe import recipe_config

        threads = options.num_threads
        measurements = bench_synth(num_tasks=options.num_tasks, repeats=repeats, seed=options.seed, num_threads=threads)
        measurements += bench_resets(recipe_config(options.recipe), repeats=repeats, num_threads=threads)
        return bench_object(name, measurements)

    if name == "policy":
        from eval.policy_bench import bench_policy

        presets = [preset.strip() for preset in options.presets.split(",") if preset.strip()]
        threads = options.num_threads
        measurements = bench_policy(presets, precision="auto", repeats=repeats, seed=options.seed, num_threads=threads)
        return bench_object(name, measurements)

    if name == "eval":
        from eval.evaluation_throughput import bench_evaluation
        from mcrl.commands.recipe import recipe_config

        if options.num_threads != 1:
            raise ValueError("--num-threads: evaluation plays each unit on one thread; leave it out")
        return bench_object(name, bench_evaluation(recipe_config(options.recipe), repeats=repeats))

    if name == "sync":
        from eval.rocket_traffic import bench_traffic
        from eval.sync_bench import bench_sync

        measurements = bench_traffic(seed=options.seed)
        measurements += bench_sync(repeats=repeats, seed=options.seed)
        return bench_object(name, measurements)

    if name == "reshard":
        from eval.reshard_bench import bench_reshard

        return bench_object(name, bench_reshard(repeats=repeats))

    from eval.training_throughput import bench_learner, bench_rollout
    from mcrl.commands.recipe import recipe_config

    bench = bench_rollout if name == "rollout" else bench_learner
    measurements = bench(recipe_config(options.recipe), repeats=repeats, num_threads=options.num_threads)
    return bench_object(name, measurements)


def _bench_peers(peers: list[str], options: BenchOptions) -> dict[str, object]:
    from eval.peer_training import SETTING, bench_training
    from eval.throughput import bench_object
    from mcrl.commands.progress import staged_progress

    if options.num_threads != 1:
        raise ValueError("--num-threads: beside peers every process computes on one thread; leave it out")
    with staged_progress() as update:
        measurements, skipped = bench_training(
            peers,
            repeats=options.repeats or 5,
            seed=options.seed,
            on_build=lambda sentence: print(sentence, file=sys.stderr),
            on_turn=lambda num_done, num_turns: update("turns", num_done, num_turns),
        )
    return bench_object("learner", measurements) | {
        "setting": SETTING,
        "seed": options.seed,
        "repeats": options.repeats,
        "skipped": skipped,
    }


@contextmanager
def _stdout_kept_clean() -> Iterator[None]:
    """Send whatever is printed meanwhile to stderr, native libraries included: stdout is for the result."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _print_table(result: dict[str, object]) -> None:
    from mcrl.commands.table import print_table

    rows = result["rows"]
    assert isinstance(rows, list)
    names = list(dict.fromkeys(name for row in rows for name in row if name != "repeats"))
    # What is the same in every row is said once, below.
    common = {name: rows[0][name] for name in ("repeats", *names[5:]) if len({str(row.get(name)) for row in rows}) == 1}
    shown = [name for name in names if name not in common]
    lines = [[str(row.get(name, "")) for name in shown] for row in rows]
    print_table(f"bench {result['bench']}, commit {result['commit']}", shown, lines)
    print(", ".join(f"{name} {value}" for name, value in common.items()))
    if "setting" in result:
        print(result["setting"])
    skipped = result.get("skipped", {})
    assert isinstance(skipped, dict)
    for peer, reason in skipped.items():
        print(f"skipped {peer}: {reason}")
    print(json.dumps(result["hardware"]))
