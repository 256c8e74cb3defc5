"""What a person asked of `mcrl train`: a recipe and changes to it, or a run to continue."""

import contextlib
import dataclasses
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mcrl.commands.hidden_options import without_help
from mcrl.commands.options import option_names, read_options, split_positional
from mcrl.commands.training.full_paths import with_full_paths
from mcrl.commands.training.recipe_names import recipe_config
from mcrl.config import TrainConfig, read_config
from mcrl.dataflow.groups.placement import measured_recipe, read_plan
from mcrl.recipes import RECIPES
from mcrl.settings.idle_settings import OF_PPO, check_read
from mcrl.settings.rollout_config import IN_TURN

# Short forms of options that are typed often.
_SHORT_FORMS = {"--placement": "--rollout.placement", "--num-learners": "--learner.num-processes"}
_SHORT_FORMS_TEXT = "; ".join(f"{short} is short for {long}" for short, long in _SHORT_FORMS.items()) + "."
PRETRAIN_SUFFIX = "_pretrain"  # of the folder of a run of imitation alone
# What else there is, for the help of each.
_OTHER_FORMS = {
    "mcrl train": "`mcrl train --resume RUN_DIR` continues a run; `mcrl pretrain RECIPE`, or --ppo.num-iterations 0, "
    "leaves PPO out, and --initial-policy CHECKPOINT the clone; DAgger begins from there, unless "
    f"--imitation.dagger-rounds 0 leaves it out. {_SHORT_FORMS_TEXT}",
    "mcrl pretrain": "Imitation alone: the same as `mcrl train RECIPE --ppo.num-iterations 0`, in a folder of its own, "
    "which `mcrl train --resume RUN_DIR` continues; "
    "`mcrl train RECIPE --initial-policy RUN_DIR --imitation.dagger-rounds 0` goes on with PPO from there.",
}


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """A run that begins."""

    config: Annotated[TrainConfig, tyro.conf.arg(name="")]
    print_config: bool = False
    """Print all settings as JSON, the options given here included, and train nothing."""
    plan: Path | None = None
    """Place the run as this file says, one of `mcrl plan --out` or written by hand; other options still count."""
    ray_address: str | None = None
    """Run the rollout workers on the Ray cluster at this address, for instance 192.0.2.1:6379 or auto. Every node needs
    mcrl installed, the same version as here."""


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """A run that goes on."""

    resume: Path
    """Run folder to continue."""
    num_learners: int | None = None
    """Processes that learn from now on; None keeps to the run's config. Any number gives the same result."""
    report: bool = True
    """Judge the result in held-out worlds and write report.html; where nothing is said, as the run was started."""
    ray_address: str | None = None
    """Run the rollout workers on the Ray cluster at this address, for instance 192.0.2.1:6379 or auto. Every node needs
    mcrl installed, the same version as here."""


def recipe_and_overrides(args: Sequence[str], *, prog: str, pretrains: bool = False) -> RunOptions:
    """Return the recipe named first with all that follows it; where it `pretrains`, without PPO and in another folder.

    Raises:
        ValueError: no such recipe, plan, option or value, or one that nothing would read; one sentence.
    """
    name, rest = split_positional(args)
    if name is None:
        wants_help = any(arg in ("-h", "--help") for arg in rest)
        if not wants_help:
            raise ValueError(f"{prog}: name a recipe first; there are {', '.join(RECIPES)}")
        name = next(iter(RECIPES))
    default = recipe_config(name)
    if pretrains:
        default = dataclasses.replace(default, run_dir=default.run_dir + PRETRAIN_SUFFIX)
        with contextlib.suppress(ValueError):  # of a recipe without imitation, which the options may bring
            default = _without_ppo(default)
    plan_path = option_value(rest, "--plan")
    if plan_path is not None:
        if plan_path.startswith("--") or not plan_path:
            raise ValueError(f"{prog} {name}: --plan needs a file; `mcrl plan --out FILE` writes one")
        default = read_plan(Path(plan_path)).apply(default)
        measured = measured_recipe(Path(plan_path))
        if measured not in (None, name):
            print(f"{plan_path}: measured for recipe {measured}; {name} is placed by it all the same", file=sys.stderr)
    arguments = [long_form(arg) for arg in rest]
    default = in_turn_where_placed_so(default, arguments)
    read = functools.partial(
        read_options,
        RunOptions,
        arguments,
        prog=f"{prog} {name}",
        usage=f"{prog} RECIPE",
        description=f"Recipes: {', '.join(RECIPES)}; these are the defaults of {name}. "
        f"`mcrl recipes` tells what they are. {_OTHER_FORMS[prog]}",
    )
    is_helping = any(arg in ("-h", "--help") for arg in arguments)
    unlisted = ("ppo.num_iterations", *OF_PPO) if pretrains and is_helping else ()
    try:
        options = read(default=RunOptions(config=without_help(default, unlisted) if unlisted else default))
    except ValueError as error:
        raise ValueError(f"{error}{_what_else(read, default) if pretrains else ''}") from None
    if options.config.recipe != name:
        raise ValueError(
            f"--recipe: the recipe is named without an option; did you mean {prog} {options.config.recipe}?"
        )
    config = options.config
    if pretrains:
        if config.ppo.num_iterations != default.ppo.num_iterations:
            raise ValueError(f"--ppo.num-iterations: {prog} has no PPO; `mcrl train {name}` has")
        config = _without_ppo(config)
        check_read(config, default, with_ppo=f"`mcrl train {name}`")
    else:
        check_read(config, default)
    if config.initial_policy is not None:
        from mcrl.run_folder import check_is_start, checkpoint_of  # with torch, which a refusal need not wait for

        # In full: a run can be continued from any folder, and keeps where it came from.
        folder = checkpoint_of(Path(config.initial_policy))
        check_is_start(folder, config)
        config = dataclasses.replace(config, initial_policy=str(folder))
    return dataclasses.replace(options, config=with_full_paths(config))


def _what_else(read: Callable[..., RunOptions], default: TrainConfig) -> str:
    """Return what a refused pretraining still lacks, were it given DAgger: all is to be told in one sentence."""
    dagger = dataclasses.replace(default.imitation, dagger_rounds=1, dagger_steps=1)
    try:
        config = read(default=RunOptions(config=dataclasses.replace(default, imitation=dagger))).config
    except ValueError:
        return ""  # the mistake is another one, which comes first
    if config.initial_policy is None:
        return ""
    from mcrl.run_folder import check_is_start, checkpoint_of

    try:
        check_is_start(checkpoint_of(Path(config.initial_policy)), config)
    except ValueError as error:
        return f"; {error}"
    return ""


def _without_ppo(config: TrainConfig) -> TrainConfig:
    return dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, num_iterations=0))


def in_turn_where_placed_so(default: TrainConfig, args: Sequence[str]) -> TrainConfig:
    """Return `default` with staleness 0 where options choose a placement in which acting and learning take turns.

    Nothing is acted ahead there: the recipe's bound, meant for workers beside the learner, goes with them.
    """
    if option_value(args, "--rollout.placement") not in IN_TURN:
        return default
    return dataclasses.replace(default, rollout=dataclasses.replace(default.rollout, max_staleness=0))


def resumed_run(args: Sequence[str], *, prog: str) -> tuple[ResumeOptions, TrainConfig]:
    """Return how a run is continued, and its config, whose wish for a report holds where the options say nothing."""
    description = "Continue a run; its config is the one it was started with."
    names = {arg.partition("=")[0].replace("_", "-") for arg in args if arg.startswith("--")}
    settings = {"--plan", *_SHORT_FORMS, *option_names(TrainConfig, recipe_config("laptop"))} - {
        *option_names(ResumeOptions)
    }
    if kept := sorted(names & settings):
        raise ValueError(
            f"{prog} --resume: {kept[0]}: a run that is resumed keeps its settings; begin another one for others, with "
            "--initial-policy RUN_DIR from the weights of this one"
        )
    resumed = read_options(ResumeOptions, args, prog=prog, description=description)
    config = _config_of(resumed.resume)
    default = ResumeOptions(resume=resumed.resume, report=config.report)
    return read_options(ResumeOptions, args, prog=prog, description=description, default=default), config


def long_form(arg: str) -> str:
    """Return an option in its long form: --placement is --rollout.placement, --num-learners --learner.num-processes."""
    name, equals, value = arg.partition("=")
    return _SHORT_FORMS.get(name.replace("_", "-"), name) + equals + value


def option_value(args: Sequence[str], name: str) -> str | None:
    """Return the value of the last `name VALUE` or `name=VALUE` among arguments; None where there is none."""
    value = None
    for arg, following in itertools.zip_longest(args, args[1:], fillvalue=""):
        option, equals, given = arg.partition("=")
        if option.replace("_", "-") == name:
            value = given if equals else following
    return value


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
    check_preset(config.preset, path)
    return config
