"""`mcrl train` and `mcrl pretrain`: train an agent, then judge it in worlds it has never seen."""

import dataclasses
import errno
import itertools
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mcrl.commands.compile_ahead import compile_tick_ahead
from mcrl.commands.first_use import compiling_announced
from mcrl.commands.options import nearest, option_names, read_options, split_positional
from mcrl.commands.training.before_hours import check_before_hours
from mcrl.commands.training.recipe_names import recipe_config
from mcrl.commands.writable import check_can_write
from mcrl.config import TrainConfig, read_config, to_json
from mcrl.dataflow.groups.placement import measured_recipe, read_plan
from mcrl.dataflow.ray.address import ADDRESS_VARIABLE
from mcrl.full_disk import full_disk_text
from mcrl.recipe_notes import note_of
from mcrl.recipes import RECIPES
from mcrl.settings.idle_settings import check_read
from mcrl.settings.rollout_config import IN_TURN
from mcrl.telemetry.run_status import read_status, report_in_status, resume_command
from worlds.adapters.catalogue import BUILT_IN

# Short forms of options that are typed often.
_SHORT_FORMS = {"--placement": "--rollout.placement", "--num-learners": "--learner.num-processes"}
_SHORT_FORMS_TEXT = "; ".join(f"{short} is short for {long}" for short, long in _SHORT_FORMS.items()) + "."
_PRETRAIN_SUFFIX = "_pretrain"
# What else there is, for the help of each.
_OTHER_FORMS = {
    "mcrl train": "`mcrl train --resume RUN_DIR` continues a run; `mcrl pretrain RECIPE`, or --ppo.num-iterations 0, "
    "leaves PPO out, and --initial-policy CHECKPOINT the imitation.",
    "mcrl pretrain": "Imitation alone: the same as `mcrl train RECIPE --ppo.num-iterations 0`, in a folder of its own; "
    "`mcrl train RECIPE --initial-policy RUN_DIR` goes on with PPO from there.",
}
EXIT_FAILED = 1


@dataclass(frozen=True, kw_only=True)
class _RunOptions:
    config: Annotated[TrainConfig, tyro.conf.arg(name="")]
    print_config: bool = False
    """Print all settings as JSON, the options given here included, and train nothing."""
    plan: Path | None = None
    """Place the run as this file says, one of `mcrl plan --out` or written by hand; other options still count."""
    ray_address: str | None = None
    """Run the rollout workers on the Ray cluster at this address, for instance 192.0.2.1:6379 or auto. Every node needs
    mcrl installed, the same version as here."""


@dataclass(frozen=True, kw_only=True)
class _ResumeOptions:
    resume: Path
    """Run folder to continue."""
    num_learners: int | None = None
    """Processes that learn from now on; None keeps to the run's config. Any number gives the same result."""
    report: bool = True
    """Judge the result in held-out worlds and write report.html; where nothing is said, as the run was started."""
    ray_address: str | None = None
    """Run the rollout workers on the Ray cluster at this address, for instance 192.0.2.1:6379 or auto. Every node needs
    mcrl installed, the same version as here."""


def train_command(args: Sequence[str]) -> int:
    """Train a recipe from the start, or continue a run; then judge it."""
    prog = "mcrl train"
    if any(arg == "--resume" or arg.startswith("--resume=") for arg in args):
        resumed, config = _resumed_run(args, prog=prog)
        _tell_of_run(resumed)
        check_before_hours(config, wants_report=resumed.report, ray_address=resumed.ray_address)
        return _run(
            config,
            resume_dir=resumed.resume,
            wants_report=resumed.report,
            args=args,
            num_learners=resumed.num_learners,
        )
    options = _recipe_and_overrides(args, prog=prog)
    return _start(options.config, options, args, default_run_dir=RECIPES[options.config.recipe]().run_dir)


def pretrain_command(args: Sequence[str]) -> int:
    """Train only the first stage of a recipe; then judge it."""
    options = _recipe_and_overrides(args, prog="mcrl pretrain", run_dir_suffix=_PRETRAIN_SUFFIX)
    ppo = dataclasses.replace(options.config.ppo, num_iterations=0)
    default_run_dir = RECIPES[options.config.recipe]().run_dir + _PRETRAIN_SUFFIX
    return _start(dataclasses.replace(options.config, ppo=ppo), options, args, default_run_dir=default_run_dir)


def _start(config: TrainConfig, options: _RunOptions, args: Sequence[str], *, default_run_dir: str) -> int:
    """Print the config where only that is asked for, else start its run."""
    from mcrl.commands.evaluation.evaluate import check_report_suite
    from policies.presets import PRESETS

    if config.preset not in PRESETS:
        raise ValueError(f"--preset {config.preset}: no such preset; {nearest(config.preset, list(PRESETS))}")
    if options.print_config:
        check_before_hours(config, wants_report=config.report, ray_address=None)  # no cluster is needed to look
        print(to_json(config), end="")
        return 0
    is_named = _option_value(args, "--run-dir") is not None
    if config.run_dir == default_run_dir and not is_named:
        config = dataclasses.replace(config, run_dir=_free_run_dir(config.run_dir))
    check_can_write(Path(config.run_dir), is_folder=True)
    if config.pretrained_weights is not None:
        path = Path(config.pretrained_weights).resolve()
        if not path.is_file():
            raise ValueError(f"{path}: no such file; name public ROCKET-2 or -3 weights with --pretrained-weights FILE")
        config = dataclasses.replace(config, pretrained_weights=str(path))
    note = note_of(config.recipe)
    if note.notice is not None and (config.env.backend == BUILT_IN or not note.is_on_built_in):
        print(note.notice, file=sys.stderr)
    check_report_suite(config)  # also with --no-report: `--resume --report` may ask for it later
    check_before_hours(config, wants_report=config.report, ray_address=options.ray_address)
    return _run(config, resume_dir=None, wants_report=config.report, args=args)


def _recipe_and_overrides(args: Sequence[str], *, prog: str, run_dir_suffix: str = "") -> _RunOptions:
    name, rest = split_positional(args)
    if name is None:
        wants_help = any(arg in ("-h", "--help") for arg in rest)
        if not wants_help:
            raise ValueError(f"{prog}: name a recipe first; there are {', '.join(RECIPES)}")
        name = next(iter(RECIPES))
    default = recipe_config(name)
    default = dataclasses.replace(default, run_dir=default.run_dir + run_dir_suffix)
    plan_path = _option_value(rest, "--plan")
    if plan_path is not None:
        if plan_path.startswith("--") or not plan_path:
            raise ValueError(f"{prog} {name}: --plan needs a file; `mcrl plan --out FILE` writes one")
        default = read_plan(Path(plan_path)).apply(default)
        measured = measured_recipe(Path(plan_path))
        if measured not in (None, name):
            print(f"{plan_path}: measured for recipe {measured}; {name} is placed by it all the same", file=sys.stderr)
    arguments = [long_form(arg) for arg in rest]
    default = in_turn_where_placed_so(default, arguments)
    options = read_options(
        _RunOptions,
        arguments,
        prog=f"{prog} {name}",
        usage=f"{prog} RECIPE",
        description=f"Recipes: {', '.join(RECIPES)}; these are the defaults of {name}. "
        f"`mcrl recipes` tells what they are. {_OTHER_FORMS[prog]} {_SHORT_FORMS_TEXT}",
        default=_RunOptions(config=default),
    )
    if options.config.recipe != name:
        raise ValueError(
            f"--recipe: the recipe is named without an option; did you mean {prog} {options.config.recipe}?"
        )
    config = options.config
    check_read(config, default)
    if config.initial_policy is not None:
        from mcrl.run_folder import checkpoint_of  # with torch, which a refusal need not wait for

        # In full: a run can be continued from any folder, and keeps where it came from.
        config = dataclasses.replace(config, initial_policy=str(checkpoint_of(Path(config.initial_policy))))
    if config.imitation.demos is not None:
        demos = str(Path(config.imitation.demos).resolve())
        config = dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, demos=demos))
    return dataclasses.replace(options, config=config)


def in_turn_where_placed_so(default: TrainConfig, args: Sequence[str]) -> TrainConfig:
    """Return `default` with staleness 0 where options choose a placement in which acting and learning take turns.

    Nothing is acted ahead there: the recipe's bound, meant for workers beside the learner, goes with them.
    """
    if _option_value(args, "--rollout.placement") not in IN_TURN:
        return default
    return dataclasses.replace(default, rollout=dataclasses.replace(default.rollout, max_staleness=0))


def _resumed_run(args: Sequence[str], *, prog: str) -> tuple[_ResumeOptions, TrainConfig]:
    """Return how a run is continued, and its config, whose wish for a report holds where the options say nothing."""
    description = "Continue a run; its config is the one it was started with."
    names = {arg.partition("=")[0].replace("_", "-") for arg in args if arg.startswith("--")}
    settings = {"--plan", *option_names(TrainConfig, recipe_config("laptop"))} - {*option_names(_ResumeOptions)}
    if kept := sorted(names & settings):
        raise ValueError(
            f"{prog} --resume: {kept[0]}: a run that is resumed keeps its settings; begin another one for others, with "
            "--initial-policy RUN_DIR from the weights of this one"
        )
    resumed = read_options(_ResumeOptions, args, prog=prog, description=description)
    config = _config_of(resumed.resume)
    default = _ResumeOptions(resume=resumed.resume, report=config.report)
    return read_options(_ResumeOptions, args, prog=prog, description=description, default=default), config


def _tell_of_run(resumed: _ResumeOptions) -> None:
    """Say that a run was finished, or where it was that goes on here."""
    run_dir = resumed.resume
    try:
        status = read_status(run_dir)
    except ValueError:
        return  # what a run once said of itself is not needed to go on with it
    from mcrl import checkpoint

    if status.state == "finished" and (run_dir / "checkpoints" / checkpoint.FINAL).is_dir():
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


def _option_value(args: Sequence[str], name: str) -> str | None:
    """Return the value of the last `name VALUE` or `name=VALUE` among arguments; None where there is none."""
    value = None
    for arg, following in itertools.zip_longest(args, args[1:], fillvalue=""):
        option, equals, given = arg.partition("=")
        if option.replace("_", "-") == name:
            value = given if equals else following
    return value


def _free_run_dir(wanted: str) -> str:
    """Return `wanted`, or `wanted`-2, -3 ... where a run is kept there already: nothing is ever overwritten."""
    free, number = wanted, 1
    while (Path(free) / "config.json").exists():
        number += 1
        free = f"{wanted}-{number}"
    if free != wanted:
        print(f"{wanted} holds a run already; this one goes to {free}", file=sys.stderr)
    return free


def long_form(arg: str) -> str:
    """Return an option in its long form: --placement is --rollout.placement, --num-learners --learner.num-processes."""
    name, equals, value = arg.partition("=")
    return _SHORT_FORMS.get(name.replace("_", "-"), name) + equals + value


def _config_of(run_dir: Path) -> TrainConfig:
    path = run_dir / "config.json"
    if run_dir.is_file():
        raise ValueError(f"{run_dir}: a file; name the folder of a run, for instance runs/laptop")
    if not path.is_file():
        raise ValueError(
            f"{run_dir}: no run to continue there, config.json is missing; start one with `mcrl train laptop`"
        )
    from mcrl.run_folder import check_preset

    config = read_config(path)
    check_preset(config, path)
    return config


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
    from mcrl.train import resume, train

    if config.env.backend == BUILT_IN:
        compile_tick_ahead()
    run_dir = Path(config.run_dir) if resume_dir is None else resume_dir
    go_on = resume_command(run_dir, os.environ.get(ADDRESS_VARIABLE, ""))
    try:
        with compiling_announced():
            result = train(config) if resume_dir is None else resume(resume_dir, num_learners=num_learners)
    except NonFiniteLossError as error:
        print(f"mcrl: {error}; what {run_dir} holds was saved before that", file=sys.stderr)
        return EXIT_FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC or not (run_dir / "config.json").is_file():
            raise
        # The same command would find that a run is there.
        raise ValueError(full_disk_text(error, [str(run_dir)], f"continue with `{go_on}`")) from error
    if result.exit_code:
        print(f"stopped; continue with `{go_on}`", file=sys.stderr)
        return result.exit_code
    print(f"checkpoint: {result.checkpoint}")
    if wants_report:
        subcommand = "pretrain" if config.ppo.num_iterations == 0 and resume_dir is None else "train"
        command = shlex.join(["mcrl", subcommand, *args])
        trained_s = read_status(result.run_dir).trained_s  # by every process that the run had, not by this one alone
        with report_in_status(result.run_dir, config.recipe):
            report_run(result.run_dir, config, command=command, training_wall_s=trained_s)
    return 0
