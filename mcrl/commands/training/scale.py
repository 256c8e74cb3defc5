"""`mcrl scale`: add or retire rollout workers of a run while it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options, split_positional
from mcrl.config import read_config
from mcrl.settings.rollout_config import IN_TURN
from mcrl.telemetry.run_status import FILE_NAME, REPORT, is_crashed, read_status, resume_command
from mcrl.worker_scaling import busy_workers_text, num_busy_workers, request


@dataclass(frozen=True, kw_only=True)
class _ScaleOptions:
    num_workers: int
    """Rollout workers that the run is to have from its next update on."""


def scale_command(args: Sequence[str]) -> int:
    """Ask a run for a number of rollout workers."""
    name, rest = split_positional(args)
    wants_help = any(arg in ("-h", "--help") for arg in rest)
    if name is None and not wants_help:
        raise ValueError("mcrl scale: name the folder of a run, for instance runs/laptop")
    options = read_options(
        _ScaleOptions,
        rest,
        prog="mcrl scale",
        usage="mcrl scale RUN",
        description="Workers that are retired hand in what they have begun; a "
        "run that is stopped and continued keeps the number.",
    )
    run_dir = Path(str(name))
    path = run_dir / "config.json"
    if not path.is_file():
        raise ValueError(f"{run_dir}: no run there, config.json is missing; start one with `mcrl train laptop`")
    config = read_config(path)
    rollout = config.rollout
    if rollout.placement in IN_TURN:
        raise ValueError(
            f"{run_dir}: rollout.placement is {rollout.placement!r}, where acting and learning take turns in one "
            "process and more workers are none the faster; start the run with --placement ray"
        )
    status = read_status(run_dir) if (run_dir / FILE_NAME).is_file() else None
    if status is not None and (status.state == "finished" or status.what == REPORT):
        raise ValueError(f"{run_dir}: the training is finished, and no update follows for workers to act for")
    if options.num_workers > num_busy_workers(config):
        # Each is a process all the same, and the file that asks for them outlives the run.
        raise ValueError(
            f"--num-workers {options.num_workers}: {busy_workers_text(config, where=f' in {run_dir}')}; ask for fewer"
        )
    request(run_dir, options.num_workers)
    is_idle = status is None or status.state != "running" or is_crashed(status)
    address = "" if status is None else status.ray_address
    when = f"once `{resume_command(run_dir, address)}` goes on" if is_idle else "from the next update on"
    plural = "s" * (options.num_workers != 1)
    print(f"{run_dir}: {options.num_workers} rollout worker{plural} {when}")
    return 0
