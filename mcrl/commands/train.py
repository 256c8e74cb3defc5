"""`mcrl train` and `mcrl pretrain`: train an agent, then judge it in worlds it has never seen."""

import dataclasses
import logging
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mcrl.commands.options import read_options, split_positional
from mcrl.commands.recipe import recipe_config
from mcrl.commands.run_folder import checkpoint_of
from mcrl.config import TrainConfig, from_json
from mcrl.recipes import RECIPES

# Short forms of options that are typed often.
_SHORT_FORMS = {"--placement": "--rollout.placement", "--num-learners": "--learner.num-processes"}
_PRETRAIN_SUFFIX = "_pretrain"


@dataclass(frozen=True, kw_only=True)
class _RunOptions:
    config: Annotated[TrainConfig, tyro.conf.arg(name="")]
    report: bool = True
    """Judge the result in held-out worlds and write report.html."""


@dataclass(frozen=True, kw_only=True)
class _ResumeOptions:
    resume: Path
    """Run folder to continue."""
    num_learners: int | None = None
    """Processes that learn from now on; None keeps to the run's config. Any number gives the same result."""
    report: bool = True
    """Judge the result in held-out worlds and write report.html."""


def train_command(args: Sequence[str]) -> int:
    """Train a recipe from the start, or continue a run; then judge it."""
    prog = "mcrl train"
    if any(arg == "--resume" or arg.startswith("--resume=") for arg in args):
        options = read_options(
            _ResumeOptions, args, prog=prog, description="Continue a run; its config is the one it was started with."
        )
        return _run(
            _config_of(options.resume),
            resume_dir=options.resume,
            wants_report=options.report,
            args=args,
            num_learners=options.num_learners,
        )
    config, wants_report = _recipe_and_overrides(args, prog=prog)
    return _run(config, resume_dir=None, wants_report=wants_report, args=args)


def pretrain_command(args: Sequence[str]) -> int:
    """Train only the first stage of a recipe; then judge it."""
    config, wants_report = _recipe_and_overrides(args, prog="mcrl pretrain", run_dir_suffix=_PRETRAIN_SUFFIX)
    config = dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, num_iterations=0))
    return _run(config, resume_dir=None, wants_report=wants_report, args=args)


def _recipe_and_overrides(args: Sequence[str], *, prog: str, run_dir_suffix: str = "") -> tuple[TrainConfig, bool]:
    name, rest = split_positional(args)
    if name is None:
        wants_help = any(arg in ("-h", "--help") for arg in rest)
        if not wants_help:
            raise ValueError(f"{prog}: name a recipe first; there are {', '.join(RECIPES)}")
        name = next(iter(RECIPES))
    default = recipe_config(name)
    default = dataclasses.replace(default, run_dir=default.run_dir + run_dir_suffix)
    options = read_options(
        _RunOptions,
        [long_form(arg) for arg in rest],
        prog=f"{prog} {name}",
        description=f"Usage: {prog} RECIPE [OPTIONS]. Recipes: {', '.join(RECIPES)}; these are the defaults of {name}. "
        "`mcrl train --resume RUN_DIR` continues a run.",
        default=_RunOptions(config=default),
    )
    if options.config.recipe != name:
        raise ValueError(
            f"--recipe: the recipe is named without an option; did you mean {prog} {options.config.recipe}?"
        )
    config = options.config
    if config.initial_policy is not None:
        # In full: a run can be continued from any folder, and keeps where it came from.
        config = dataclasses.replace(config, initial_policy=str(checkpoint_of(Path(config.initial_policy))))
    if config.imitation.demos is not None:
        demos = str(Path(config.imitation.demos).resolve())
        config = dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, demos=demos))
    if config.run_dir == default.run_dir:
        config = dataclasses.replace(config, run_dir=_free_run_dir(config.run_dir))
    return config, options.report


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
    return _SHORT_FORMS.get(name, name) + equals + value


def _config_of(run_dir: Path) -> TrainConfig:
    path = run_dir / "config.json"
    if not path.is_file():
        raise ValueError(
            f"{run_dir}: no run to continue there, config.json is missing; start one with `mcrl train laptop`"
        )
    return from_json(path.read_text(encoding="utf-8"), where=str(path))


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
    from mcrl.commands.evaluate import check_report, report_run
    from mcrl.train import resume, train

    if wants_report:
        check_report(config)
    started_s = time.perf_counter()
    result = train(config) if resume_dir is None else resume(resume_dir, num_learners=num_learners)
    if result.exit_code:
        print(f"stopped; continue with `mcrl train --resume {result.run_dir}`", file=sys.stderr)
        return result.exit_code
    print(f"checkpoint: {result.checkpoint}")
    if wants_report:
        subcommand = "pretrain" if config.ppo.num_iterations == 0 and resume_dir is None else "train"
        command = shlex.join(["mcrl", subcommand, *args])
        report_run(result.run_dir, config, command=command, training_wall_s=time.perf_counter() - started_s)
    return 0
