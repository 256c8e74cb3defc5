"""`mcrl train` and `mcrl pretrain`: train an agent, then judge it in worlds it has never seen."""

import dataclasses
import errno
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from mcrl.commands.compile_ahead import compile_tick_ahead
from mcrl.commands.first_use import compiling_announced
from mcrl.commands.options import nearest
from mcrl.commands.training.before_hours import check_before_hours
from mcrl.commands.training.train_options import (
    PRETRAIN_SUFFIX,
    ResumeOptions,
    RunOptions,
    option_value,
    recipe_and_overrides,
    resumed_run,
)
from mcrl.commands.writable import check_can_write
from mcrl.config import TrainConfig, to_json
from mcrl.dataflow.ray.address import ADDRESS_VARIABLE, cluster_of
from mcrl.full_disk import full_disk_text
from mcrl.recipe_notes import note_of
from mcrl.recipes import RECIPES
from mcrl.settings.rollout_config import IN_TURN
from mcrl.telemetry.run_status import is_crashed, read_status, report_in_status, resume_command
from mcrl.worker_scaling import busy_workers_text, num_busy_workers
from worlds.adapters.catalogue import BUILT_IN

EXIT_FAILED = 1


def train_command(args: Sequence[str]) -> int:
    """Train a recipe from the start, or continue a run; then judge it."""
    prog = "mcrl train"
    if _resumes(args):
        resumed, config = resumed_run(args, prog=prog)
        _tell_of_run(resumed)
        ray_address = resumed.ray_address
        if ray_address is None and not _is_trained(resumed.resume):
            ray_address = cluster_of(config) or None
        check_before_hours(config, wants_report=resumed.report, ray_address=ray_address)
        return _run(
            config,
            resume_dir=resumed.resume,
            wants_report=resumed.report,
            args=args,
            num_learners=resumed.num_learners,
        )
    options = recipe_and_overrides(args, prog=prog)
    return _start(options.config, options, args, default_run_dir=RECIPES[options.config.recipe]().run_dir)


def pretrain_command(args: Sequence[str]) -> int:
    """Train only the first stage of a recipe; then judge it."""
    if _resumes(args):
        raise ValueError("mcrl pretrain: --resume: `mcrl train --resume RUN_DIR` continues any run, also one of these")
    options = recipe_and_overrides(args, prog="mcrl pretrain", pretrains=True)
    default_run_dir = RECIPES[options.config.recipe]().run_dir + PRETRAIN_SUFFIX
    return _start(options.config, options, args, default_run_dir=default_run_dir)


def _resumes(args: Sequence[str]) -> bool:
    return any(arg == "--resume" or arg.startswith("--resume=") for arg in args)


def _start(config: TrainConfig, options: RunOptions, args: Sequence[str], *, default_run_dir: str) -> int:
    """Print the config where only that is asked for, else start its run."""
    from mcrl.commands.evaluation.evaluate import check_report_suite
    from policies.presets import PRESETS

    if config.preset not in PRESETS:
        raise ValueError(f"--preset {config.preset}: no such preset; {nearest(config.preset, list(PRESETS))}")
    if options.print_config:
        check_before_hours(config, wants_report=config.report, ray_address=None)  # no cluster is needed to look
        print(to_json(config), end="")
        return 0
    is_named = option_value(args, "--run-dir") is not None
    if config.run_dir == default_run_dir and not is_named:
        config = dataclasses.replace(config, run_dir=_free_run_dir(config.run_dir))
    check_can_write(Path(config.run_dir), is_folder=True)
    if config.pretrained_weights is not None:
        path = Path(config.pretrained_weights).resolve()
        if not path.is_file():
            raise ValueError(f"{path}: no such file; name public ROCKET-2 or -3 weights with --pretrained-weights FILE")
        config = dataclasses.replace(config, pretrained_weights=str(path))
    if 0 < config.ppo.num_iterations <= config.ppo.value_warmup_iterations:
        print(
            f"ppo.value_warmup_iterations {config.ppo.value_warmup_iterations}: all {config.ppo.num_iterations} "
            "iterations teach values alone, and the policy stays what it was before them",
            file=sys.stderr,
        )
    rollout = config.rollout
    if rollout.placement not in IN_TURN and rollout.num_workers > num_busy_workers(config):
        print(
            f"rollout.num_workers {rollout.num_workers}: {busy_workers_text(config)}; the others wait", file=sys.stderr
        )
    if notice := _notice(config):
        print(notice, file=sys.stderr)
    check_report_suite(config)  # also with --no-report: `--resume --report` may ask for it later
    ray_address = cluster_of(config) or None if options.ray_address is None else options.ray_address
    check_before_hours(config, wants_report=config.report, ray_address=ray_address)
    return _run(config, resume_dir=None, wants_report=config.report, args=args)


def _notice(config: TrainConfig) -> str | None:
    """Return what is said when a run of the recipe starts on this machine."""
    from mcrl.run import training_device

    note = note_of(config.recipe)
    if note.is_on_built_in and config.env.backend != BUILT_IN:
        return None
    if note.notice_without_gpu is not None and training_device(config).type == "cpu":
        return note.notice_without_gpu
    return note.notice


def _is_trained(run_dir: Path) -> bool:
    from mcrl import checkpoint

    return (run_dir / "checkpoints" / checkpoint.FINAL).is_dir()


def _tell_of_run(resumed: ResumeOptions) -> None:
    """Say that a run was finished, or where it was that goes on here."""
    run_dir = resumed.resume
    try:
        status = read_status(run_dir)
    except ValueError:
        return  # what a run once said of itself is not needed to go on with it
    if status.state == "finished" and _is_trained(run_dir):
        left = "what is left to do is its report" if resumed.report else "--report makes its report"
        if (run_dir / "report.html").is_file():
            left = "its report is made again" if resumed.report else "nothing is left to do"
        print(f"{run_dir} was finished; {left}", file=sys.stderr)
    address = status.ray_address
    if address and resumed.ray_address is None and ADDRESS_VARIABLE not in os.environ:
        print(
            f"{run_dir} was on the Ray cluster at {address} and goes on on this machine alone; "
            f"`{resume_command(run_dir, address)}` goes back",
            file=sys.stderr,
        )


def _free_run_dir(wanted: str) -> str:
    """Return `wanted`, or `wanted`-2, -3 ... where a run is kept there already: nothing is ever overwritten."""
    free, number = wanted, 1
    while (Path(free) / "config.json").exists():
        number += 1
        free = f"{wanted}-{number}"
    if free != wanted:
        print(f"{wanted} holds a run already{_how_to_go_on(Path(wanted))}; this one goes to {free}", file=sys.stderr)
    return free


def _how_to_go_on(run_dir: Path) -> str:
    """Return the command by which a run goes on that was left before its end, "" for others."""
    try:
        status = read_status(run_dir)
    except ValueError:
        return ""  # its folder may be of another version
    if status.state not in ("stopped", "failed") and not is_crashed(status):
        return ""
    return f", which did not end (`{resume_command(run_dir, status.ray_address)}` goes on with it)"


def _run(
    config: TrainConfig,
    *,
    resume_dir: Path | None,
    wants_report: bool,
    args: Sequence[str],
    num_learners: int | None = None,
) -> int:
    """Train or continue, then judge; return the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    from mcrl.commands.evaluation.evaluate import report_run
    from mcrl.learning.learner import NonFiniteLossError
    from mcrl.run_commands import commands_text
    from mcrl.train import resume, train

    if config.env.backend == BUILT_IN:
        compile_tick_ahead()
    run_dir = Path(config.run_dir) if resume_dir is None else resume_dir
    subcommand = "pretrain" if config.ppo.num_iterations == 0 and resume_dir is None else "train"
    command = shlex.join(["mcrl", subcommand, *args])
    go_on = resume_command(run_dir, cluster_of(config))
    try:
        with compiling_announced():
            if resume_dir is None:
                result = train(config, command=command)
            else:
                result = resume(resume_dir, num_learners=num_learners, command=command)
    except NonFiniteLossError as error:
        print(f"mcrl: {error}; what {run_dir} holds was saved before that", file=sys.stderr)
        return EXIT_FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC or not (run_dir / "config.json").is_file():
            raise
        # The same command would find that a run is there.
        raise ValueError(full_disk_text(error, [str(run_dir)], f"continue with `{go_on}`")) from error
    if result.exit_code:
        lost = read_status(result.run_dir).lost_text
        print(f"stopped; continue with `{go_on}`{lost and f'; {lost}'}", file=sys.stderr)
        return result.exit_code
    print(f"checkpoint: {result.checkpoint}")
    if wants_report:
        command = commands_text(result.run_dir) or command
        trained_s = read_status(result.run_dir).trained_s  # by every process that the run had, not by this one alone
        with report_in_status(result.run_dir, config.recipe, ray_address=cluster_of(config)):
            report_run(result.run_dir, config, command=command, training_wall_s=trained_s)
    return 0
