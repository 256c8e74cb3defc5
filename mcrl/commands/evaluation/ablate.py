"""`mcrl ablate`: train the variants of an ablation from several seeds and judge them on the same tasks."""

import dataclasses
import hashlib
import logging
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from mcrl.commands.first_use import compiling_announced
from mcrl.commands.hidden_options import without_help
from mcrl.commands.options import nearest, read_options, split_positional
from mcrl.commands.training.full_paths import with_full_paths
from mcrl.commands.training.recipe_names import recipe_config
from mcrl.commands.training.train_options import in_turn_where_placed_so, long_form
from mcrl.commands.writable import check_can_write
from mcrl.config import TrainConfig, to_json
from mcrl.settings.idle_settings import unread
from worlds.adapters.catalogue import BUILT_IN

if TYPE_CHECKING:
    from eval.ablation.ablation_run import VariantResult
    from eval.ablation.ablation_table import AblationTable
    from eval.ablation.ablations import Ablation
    from task_synthesis.task import TaskSpec

_PROG = "mcrl ablate"
_ALL = "all"
# Judged tasks are drawn with a seed of their own: no run draws its validation tasks with it.
_TASK_SEED = 1_000_003
# What an ablation sets itself, or has no use for: its runs make no report.
_INSTEAD = {
    "seed": "sets this for each run; give --seeds",
    "run_dir": "sets this for each run; give --out",
    "initial_policy": "sets this for each run; variants share their first stage",
    "report_suite": "makes a table and no reports; --suite says what it judges on",
    "tasks.num_eval_tasks": "makes a table and no reports; --num-tasks says on how many tasks",
}
_STOPPING = "mcrl: stopping; the run under way ends its step first, and is saved if it has come as far as a checkpoint"


@dataclass(frozen=True, kw_only=True)
class AblateOptions:
    """What is trained, and what it is judged on."""

    config: Annotated[TrainConfig, tyro.conf.arg(name="")]
    seeds: str = "0,1,2"
    """Training seeds, with commas between them; every variant is trained from each."""
    out: Path = Path("runs/ablate")
    """Folder of runs and tables. What is finished there is kept, what was interrupted goes on."""
    num_tasks: int = 512
    """How many tasks the results are judged on."""
    suite: str | None = None
    """Judge on this frozen suite, for a final table; None judges on val worlds, since choices are made by the table."""
    variants: tuple[str, ...] = ()
    """Train these alone, by their names above, and the first one, which they are held against; empty: all."""
    num_envs: int = 64
    """Environments side by side when judging."""

    def __post_init__(self) -> None:
        for name in ("num_tasks", "num_envs"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
        self.seed_list()

    def seed_list(self) -> list[int]:
        """Return the seeds; ValueError for anything but different whole numbers from 0 on."""
        parts = [part.strip() for part in self.seeds.split(",")]
        if not all(part.isdecimal() for part in parts) or len({int(part) for part in parts}) != len(parts):
            raise ValueError(f"--seeds must be different whole numbers with commas between them, got {self.seeds!r}")
        return [int(part) for part in parts]


def ablate_command(args: Sequence[str]) -> int:
    """Run the ablations; return 0, or 1 when the training or the engine of a variant failed."""
    from eval.ablation.ablations import ABLATIONS

    name, rest = split_positional(args)
    rest = [long_form(arg) for arg in rest]
    if name in (None, _ALL) and any(arg in ("-h", "--help") for arg in rest):
        print(f"One ablation as an example; `{_PROG} NAME --help` tells of another, `{_PROG} {_ALL}` runs them all.\n")
        name = next(iter(ABLATIONS))
    if name is None:
        raise ValueError(f"{_PROG}: name an ablation first; there are {', '.join(ABLATIONS)} and {_ALL}")
    if name != _ALL and name not in ABLATIONS:
        raise ValueError(f"{name}: no such ablation; {nearest(name, [*ABLATIONS, _ALL])}")
    chosen = list(ABLATIONS.values()) if name == _ALL else [ABLATIONS[name]]
    # All are read before the first one runs: a mistake must not wait for hours.
    options = [read_ablation_options(ablation, rest) for ablation in chosen]
    chosen = [of_variants(ablation, given.variants) for ablation, given in zip(chosen, options, strict=True)]
    check_can_write(options[0].out, is_folder=True)  # the same for all
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    command = shlex.join(["mcrl", "ablate", *args])
    try:
        with compiling_announced():
            failed = [_run(ablation, given, command) for ablation, given in zip(chosen, options, strict=True)]
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)("run the same command again; it goes on from what is finished") from None
    return int(any(failed))


def read_ablation_options(ablation: "Ablation", args: Sequence[str]) -> AblateOptions:
    """Return the options of one ablation; ValueError for one that the ablation decides itself."""
    from eval.ablation.ablations import ABLATIONS, changed, setting_of

    default = in_turn_where_placed_so(changed(recipe_config(_recipe_of(args)), ablation.common), args)
    is_helping = any(arg in ("-h", "--help") for arg in args)
    names = ", ".join(shlex.quote(variant.name) for variant in ablation.variants)
    unlisted = ("report", *_INSTEAD, *ablation.variants[0].settings)
    options = read_options(
        AblateOptions,
        args,
        prog=_PROG,
        usage=f"{_PROG} NAME|all",
        description=f"NAME is one of {', '.join(ABLATIONS)}. {ablation.name}: {ablation.question} Its variants: "
        f"{names}. Each is a whole training run a seed. "
        "All options of `mcrl train` but --seed, --run-dir and --initial-policy hold for every variant.",
        default=AblateOptions(config=without_help(default, unlisted) if is_helping else default),
    )
    for setting, advice in _INSTEAD.items():
        if setting_of(options.config, setting) != setting_of(default, setting):
            raise ValueError(f"--{setting.replace('_', '-')}: an ablation {advice}")
    # What the first variant leaves as it is, the others are held against: that is for the user to choose.
    for setting in ablation.variants[0].settings:
        if setting_of(options.config, setting) != setting_of(default, setting):
            raise ValueError(
                f"--{setting.replace('_', '-')}: ablation {ablation.name} decides this itself; leave it out"
            )
    _check_read(ablation, options.config, default)
    return dataclasses.replace(options, config=with_full_paths(options.config))


def _check_read(ablation: "Ablation", config: TrainConfig, default: TrainConfig) -> None:
    """Raise ValueError for a setting that no variant would read."""
    from eval.ablation.ablations import changed

    unread_by = [
        unread(changed(config, variant.settings), changed(default, variant.settings)) for variant in ablation.variants
    ]
    for name, sentence in unread_by[0].items():
        if all(name in others for others in unread_by):
            raise ValueError(sentence)


def of_variants(ablation: "Ablation", names: Sequence[str]) -> "Ablation":
    """Return the ablation of its first variant and those in `names`; of all where there are none in it.

    Raises:
        ValueError: a name that no variant has.
    """
    known = [variant.name for variant in ablation.variants]
    for name in names:
        if name not in known:
            raise ValueError(f"--variants {name}: ablation {ablation.name} has no such variant; {nearest(name, known)}")
    kept = [variant for variant in ablation.variants if not names or variant.name in (known[0], *names)]
    return dataclasses.replace(ablation, variants=tuple(kept))


def table_stem(ablation: "Ablation", options: AblateOptions) -> Path:
    """Return the path of the table without its suffix: other settings have another, more seeds make the same grow."""
    config = dataclasses.replace(options.config, run_dir="", seed=0)
    what = " ".join([to_json(config), str(options.num_tasks), *sorted(set(options.variants))])
    digest = hashlib.sha256(what.encode()).hexdigest()[:10]
    return options.out / f"{ablation.name}_{_label(options)}-{digest}"


def _recipe_of(args: Sequence[str]) -> str:
    """Return the recipe named among the options: its defaults are needed to read the others."""
    for index, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if name == "--recipe":
            if not equals and index + 1 == len(args):
                raise ValueError(f"{_PROG}: --recipe needs a name")
            return value if equals else args[index + 1]
    return "laptop"


def _run(ablation: "Ablation", options: AblateOptions, command: str) -> bool:
    """Train, judge, write and print the table; return whether a run failed."""
    from eval.ablation.ablation_plan import plan
    from eval.ablation.ablation_run import EngineFailedError, TrainingFailedError, finish_run, judge_run
    from eval.ablation.ablation_table import free_stem, write_table
    from mcrl.interrupt import StopRequest
    from policies.threads import use_threads

    use_threads(options.config.num_threads)
    planned = plan(ablation, options.config, options.seed_list(), options.out)
    tasks = _tasks(options)
    label = _label(options)
    stem = free_stem(table_stem(ablation, options), options.seed_list())
    results, failures = [], []
    for run in planned:
        what = f"{ablation.name}, {run.variant}, seed {run.seed}"
        logging.info("%s", what)
        try:
            with StopRequest(_STOPPING) as stop:
                finish_run(run, stop)
            results.append(judge_run(run, tasks, label=label, num_envs=options.num_envs))
            logging.info("%s: success %.3f", what, results[-1].success_rate)
        except (TrainingFailedError, EngineFailedError) as error:
            failures.append(f"{what}: {error}")
            logging.warning("%s", failures[-1])
        # After every run: whoever stops here has the table so far.
        table = _table(ablation, label, command, results, failures, len(tasks))
        write_table(table, stem)
    _print(table)
    print(f"table: {stem}.md")
    return bool(failures)


def _label(options: AblateOptions) -> str:
    """Return the name of the judged tasks: "val", or that of the suite with its version."""
    if options.suite is None:
        return "val"
    from eval.suites.suites import suite_of

    return suite_of(options.suite).label


def _tasks(options: AblateOptions) -> "list[TaskSpec]":
    """Return the judged tasks: a suite's, or those of the val split that the options make, kept in the folder."""
    if options.suite is not None:
        from eval.suites.suites import load_suite

        return load_suite(options.suite, options.num_tasks)
    from mcrl.assembly import make_tasks
    from mcrl.commands.progress import counted_progress
    from mcrl.config import CurriculumConfig
    from mcrl.tasks.library_tasks import library_of
    from task_synthesis.libraries.library import load_tasks, write_whole
    from task_synthesis.task import to_json_line

    config = dataclasses.replace(options.config, seed=_TASK_SEED)
    kinds = dataclasses.replace(
        config.tasks, curriculum=CurriculumConfig(), num_train_tasks=1, num_val_tasks=options.num_tasks
    )
    engine = "" if config.env.backend == BUILT_IN else f" {config.env.backend}"
    digest = hashlib.sha256(f"{kinds} {config.env.image_px}{engine}".encode()).hexdigest()[:10]
    path = options.out / f"tasks_val-{digest}.jsonl"
    # A library is drawn from each time: it may have been made again, and that takes no time.
    if path.exists() and library_of(config.tasks, "val") is None:
        return load_tasks(path, split="val")
    with counted_progress("val tasks", options.num_tasks) as on_progress:
        tasks = make_tasks(config, "val", options.num_tasks, on_progress)
    write_whole(path, "".join(to_json_line(task) + "\n" for task in tasks))
    return tasks


def _table(
    ablation: "Ablation",
    label: str,
    command: str,
    results: "Sequence[VariantResult]",
    failures: Sequence[str],
    num_tasks: int,
) -> "AblationTable":
    from eval.ablation.ablation_curves import variant_curves
    from eval.ablation.ablation_table import AblationTable, variant_rows
    from mcrl.provenance import commit

    return AblationTable(
        ablation=ablation.name,
        question=ablation.question,
        command=command,
        commit=", ".join(dict.fromkeys(result.commit for result in results)) or commit(),
        date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        judged_on=label,
        num_tasks=num_tasks,
        rows=variant_rows(ablation, results),
        failures=tuple(failures),
        curves=variant_curves(results),
    )


def _print(table: "AblationTable") -> None:
    from eval.ablation.ablation_curves import shown_curves
    from eval.ablation.ablation_table import shown_rows
    from mcrl.commands.table import print_table

    header, rows = shown_rows(table)
    print_table(f"{table.ablation}: {table.question} {table.num_tasks} tasks of {table.judged_on}", header, rows)
    if table.fault_note:
        print(table.fault_note)
    if table.curves:
        print_table("On the way: episodes that PPO learned from", *shown_curves(table.curves))
    for failure in table.failures:
        print(f"without a result: {failure}")
