"""`mcrl plan`: measure the parts of a run here, predict every placement of them, and pick one."""

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from mcrl.commands.options import read_options, split_positional
from mcrl.commands.writable import check_can_write, check_result_file
from task_synthesis.libraries.library import write_whole

if TYPE_CHECKING:
    from mcrl.planning.components import ComponentTimes
    from mcrl.planning.simulator import Prediction
    from mcrl.planning.validation import ValidationRow

_GIB, _GBIT_BYTES = 2**30, 1e9 / 8
_PREDICTION_COLUMNS = ("placement", "workers", "staleness", "decisions/s", "learner idle", "workers idle", "held by")


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What is measured and predicted."""

    measured: Path | None = None
    """Use the measurements in this file, one that --out wrote, instead of measuring."""
    out: Path | None = None
    """Write measurements, predictions and the plan to this file; `mcrl train RECIPE --plan FILE` follows it."""
    json: Path | None = None
    """The same as one JSON object; "-" is stdout, and nothing else is printed there."""
    repeats: int = 3
    """Measurements of each long part, and of each row of --validate."""
    max_workers: int = 10_000
    """Largest cluster that is predicted."""
    num_learners: int = 1
    """Learner processes of the predicted cluster."""
    network_gbit: float = 10.0
    """Bandwidth of the learner's machine in the predicted cluster, Gbit/s."""
    validate: bool = False
    """Predict and then really run 1, 2, 4 and 8 workers whose latency is simulated by sleeping; no recipe is measured.
    Exit code 1 when a prediction is off by more than 15 %."""
    latency_s: float = 0.5
    """Seconds that a worker of --validate sleeps for a collect; longer on a machine that is busy otherwise."""

    def __post_init__(self) -> None:
        for name in ("repeats", "max_workers", "num_learners"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
        for name in ("network_gbit", "latency_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"--{name.replace('_', '-')} must be positive and finite, got {getattr(self, name)}")
        if self.validate and (self.measured or self.out):
            raise ValueError("--validate: measures sleeping workers and plans nothing; leave --measured and --out out")


def plan_command(args: Sequence[str]) -> int:
    """Print the tables; return 1 when --validate finds a prediction too far off."""
    prog = "mcrl plan"
    name, rest = split_positional(args)
    description = (
        "Where a run is placed best, and how fast it is. To know it, some of the recipe is acted and learned: a minute "
        "or two for laptop, five and 11 GB of memory for cluster, which is best measured where its learner is to be."
    )
    options = read_options(PlanOptions, rest, prog=prog, usage=f"{prog} [RECIPE]", description=description)
    # Before anything is measured, which takes minutes.
    check_result_file(options.json)
    if options.out is not None:
        check_can_write(options.out, is_folder=False)
    try:
        import simpy  # noqa: F401  # asked for here, where its absence can be explained
    except ImportError:
        raise ValueError(
            "mcrl plan: simulates with SimPy, which is missing; install it with "
            f"`{sys.executable} -m pip install 'simpy>=4.1'`"
        ) from None
    if options.validate:
        if name is not None:
            raise ValueError(f"{prog}: --validate takes no recipe, got {name}; its workers sleep")
        return _validate(options)
    return _plan(name or "laptop", options)


def _plan(recipe: str, options: PlanOptions) -> int:
    from mcrl.commands.training.recipe_names import recipe_config
    from mcrl.dataflow.groups.placement import standard_plan
    from mcrl.planning.choice import cluster_scale, local_placements, pick, until_no_faster
    from mcrl.planning.components import read_components
    from mcrl.provenance import num_usable_cores

    config = recipe_config(recipe)
    # Refuses what `mcrl train` would refuse, before anything is measured.
    dataclasses.replace(config, learner=dataclasses.replace(config.learner, num_processes=options.num_learners))
    if options.measured is None:
        from mcrl.planning.measure import measure

        times = measure(config, repeats=options.repeats, on_part=_say)
    else:
        times = read_components(options.measured)
        if times.recipe != recipe:
            raise ValueError(
                f"{options.measured}: of recipe {times.recipe}, not of {recipe}; give `mcrl plan {times.recipe}`"
            )
    max_staleness = max(1, config.rollout.max_staleness)
    max_local = max(2, min(16, num_usable_cores()))
    _say("placements")
    local = local_placements(times, max_staleness=max_staleness, max_workers=max_local)
    best = pick(local)
    _say("clusters")
    scale = cluster_scale(
        times,
        max_staleness=max_staleness,
        max_workers=options.max_workers,
        num_learners=options.num_learners,
        network_bytes_per_s=options.network_gbit * _GBIT_BYTES,
    )
    chosen = best.deployment
    plan = standard_plan(chosen.placement, num_workers=chosen.num_workers, max_staleness=chosen.max_staleness)
    result: dict[str, object] = {
        "plan": dataclasses.asdict(plan),
        "predicted_steps_per_s": round(best.steps_per_s, 1),
        "measured": dataclasses.asdict(times),
        "placements": [_prediction_object(prediction) for prediction in local],
        "cluster": [_prediction_object(prediction) for prediction in scale],
    }
    if options.out is not None:
        write_whole(options.out, json.dumps(result, indent=2) + "\n")
    if _write_json(options, result):
        return 0
    _print_components(times)
    _print_predictions("Here: learner and workers share these cores", local, times)
    print(
        f"picked: {chosen.placement}, {chosen.num_workers} worker{'s' * (chosen.num_workers > 1)}, "
        f"{best.steps_per_s:.0f} decisions/s; the simplest of those nearly as fast"
    )
    title = (
        f"A cluster: a core each, batches that grow with the workers, learners {options.num_learners}, "
        f"{options.network_gbit:g} Gbit/s"
    )
    shown = until_no_faster(scale)
    _print_predictions(title, shown, times)
    if len(shown) < len(scale):
        print(f"hardly faster with up to {scale[-1].deployment.num_workers:,} workers; limit: {scale[-1].bottleneck}")
    if options.out is not None:
        print(f"written: {options.out}; follow it with `mcrl train {recipe} --plan {quote(str(options.out))}`")
    return 0


def _validate(options: PlanOptions) -> int:
    from mcrl.commands.table import print_table
    from mcrl.planning.validation import MAX_ERROR, validate
    from mcrl.provenance import commit, hardware

    rows = validate(latency_s=options.latency_s, repeats=options.repeats, on_part=_say)
    is_good = all(abs(row.error) <= MAX_ERROR for row in rows)
    result = {
        "metric": "prediction_error",
        "latency": f"simulated by sleeping {options.latency_s:g} s a collect",
        "limit": MAX_ERROR,
        "is_within_limit": is_good,
        "commit": commit(),
        "hardware": hardware(),
        "rows": [_validation_object(row) for row in rows],
    }
    if not _write_json(options, result):
        cells = [
            [
                str(row.num_workers),
                f"{row.predicted_steps_per_s:.1f}",
                f"{row.measured_steps_per_s:.1f}",
                f"{row.measured_low:.1f} - {row.measured_high:.1f}",
                f"{row.error:+.1%}",
            ]
            for row in rows
        ]
        header = ["workers", "predicted decisions/s", "measured, median", "smallest - largest", "error"]
        print_table(f"Predictions beside real runs; the latency is simulated ({options.latency_s:g} s)", header, cells)
        print(f"{'all' if is_good else 'NOT all'} within {MAX_ERROR:.0%}; {options.repeats} repeats a row")
    return 0 if is_good else 1


def _print_components(times: "ComponentTimes") -> None:
    from mcrl.commands.table import print_table

    envs = times.envs_per_worker
    parts = {
        f"worker: {times.fragment_steps} decisions of {envs} envs": times.collect_s + times.collect_wait_s,
        "worker: new weights": times.load_s,
        f"learner: update on {times.fragments_per_batch} fragments": times.learn_s,
        f"learner: weights out, {times.weight_bytes / 2**20:.1f} MiB": times.publish_s,
        f"learner: take in {envs} fragments of {times.fragment_bytes / 2**20:.2f} MiB": times.receive_s,
        "call of a worker, besides": times.call_s,
        **{f"  {name.replace('_s/', ' of ')} envs": value for name, value in times.detail.items()},
    }
    rows = [[name, f"{value * 1e3:.2f}"] for name, value in parts.items()]
    print_table(f"Parts of recipe {times.recipe}, {times.num_cores:.2f} cores' worth here", ["part", "ms"], rows)


def _print_predictions(title: str, predictions: Sequence["Prediction"], times: "ComponentTimes") -> None:
    from mcrl.commands.table import print_table
    from mcrl.planning.choice import store_bytes

    rows = [
        [
            prediction.deployment.placement,
            str(prediction.deployment.num_workers),
            str(prediction.deployment.max_staleness),
            f"{prediction.steps_per_s:.0f}",
            f"{prediction.learner_idle:.0%}",
            f"{prediction.workers_idle:.0%}",
            prediction.bottleneck,
            f"{store_bytes(times, prediction.deployment) / _GIB:.2f}",
        ]
        for prediction in predictions
    ]
    print_table(title, [*_PREDICTION_COLUMNS, "fragments GiB"], rows)


def _prediction_object(prediction: "Prediction") -> dict[str, object]:
    numbers = {name: round(getattr(prediction, name), 4) for name in ("learner_idle", "workers_idle", "receive_share")}
    return {
        **dataclasses.asdict(prediction.deployment),
        "steps_per_s": round(prediction.steps_per_s, 1),
        **numbers,
        "bottleneck": prediction.bottleneck,
    }


def _validation_object(row: "ValidationRow") -> dict[str, object]:
    return {**dataclasses.asdict(row), "error": round(row.error, 4)}


def _write_json(options: PlanOptions, result: dict[str, object]) -> bool:
    """Write the result where --json says; return whether stdout is taken by it."""
    if options.json is None:
        return False
    if str(options.json) == "-":
        print(json.dumps(result))
        return True
    write_whole(options.json, json.dumps(result, indent=2) + "\n")
    return False


def _say(part: str) -> None:
    print(f"mcrl plan: {part} ...", file=sys.stderr)
