"""`mcrl demos`: write the expert's play as a LeRobot dataset, and check datasets, for `--imitation.demos`."""

import dataclasses
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.options import nearest, read_options, split_positional
from mcrl.commands.writable import check_can_write

if TYPE_CHECKING:
    from mcrl.config import TrainConfig
    from task_synthesis.task import TaskSpec

_VERBS = ("export", "check")
_COLUMNS = (
    "What a dataset of your own has to hold: `python -m pydoc mcrl.demos.lerobot_columns`, with the python that mcrl "
    "is installed in (`.venv/bin/python` in a checkout)."
)

_HELP = f"""\
  mcrl demos export RUN_OR_LIBRARY --out DIR   let the expert play its tasks, and write a LeRobot dataset
  mcrl demos check DATASET                     read a dataset whole, as training does

`mcrl train laptop --imitation.demos DIR` clones one. `mcrl demos export --help` lists the options.
{_COLUMNS}"""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Let the expert play tasks and write what it did."""

    out: Path
    """New folder of the dataset."""
    num_steps: int = 20_000
    """Decisions, at least; whole recordings of every environment are written."""
    num_envs: int = 64
    """Environments the expert plays side by side."""
    noise: float = 0.2
    """Share of decisions replaced by random moves; the column expert_action stays the expert's."""
    image_px: int | None = None
    """Side of the pictures; None takes that of the run, and 64 for a library."""
    action_repeat_ticks: int | None = None
    """Ticks of a decision; None takes that of the run, and 4 for a library."""
    seed: int = 0
    """Of the order of tasks and of the random moves."""

    def __post_init__(self) -> None:
        for name in ("num_steps", "num_envs"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.noise < 1:
            raise ValueError(f"--noise must be in [0, 1), got {self.noise}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Read a dataset whole, as training does."""


def demos_command(args: Sequence[str]) -> int:
    """Export or check demonstrations."""
    verb, rest = split_positional(args)
    if verb is None and any(arg in ("-h", "--help") for arg in rest):
        print(_HELP)
        return 0
    if verb not in _VERBS:
        what = "say what to do" if verb is None else f"{verb} is no such thing to do"
        raise ValueError(f"mcrl demos: {what}; {nearest(verb or '', _VERBS)}")
    path, rest = split_positional(rest)
    prog = f"mcrl demos {verb}"
    if verb == "check":
        read_options(CheckOptions, rest, prog=prog, usage=f"{prog} DATASET", description=_COLUMNS)
        return _check(_named(path, prog))
    options = read_options(
        ExportOptions,
        rest,
        prog=prog,
        usage=f"{prog} RUN_OR_LIBRARY",
        description="`mcrl demos check DIR` reads a dataset whole; "
        f"`mcrl train laptop --imitation.demos DIR` clones it. {_COLUMNS}",
    )
    return _export(_named(path, prog), options)


def _named(path: str | None, prog: str) -> Path:
    if path is None:
        raise ValueError(f"{prog}: name a folder first; `{prog} --help` says which")
    return Path(path)


def _check(folder: Path) -> int:
    from mcrl.demos.lerobot_reader import read_dataset

    dataset = read_dataset(folder)
    about, families = dataset.about, sorted({episode.family for episode in dataset.episodes})
    print(
        f"{folder}: {about.num_episodes} episodes, {about.num_steps} decisions of {about.action_repeat_ticks} ticks, "
        f"{about.image_px} px, {about.split} worlds"
    )
    print(f"families: {', '.join(families)}")
    return 0


def _export(path: Path, options: ExportOptions) -> int:
    from mcrl.demos.pyarrow_import import import_pyarrow

    import_pyarrow()  # before minutes of play
    check_can_write(options.out, is_folder=True)
    if options.out.exists() and any(options.out.iterdir()):
        raise ValueError(f"--out {options.out}: the folder is not empty, and nothing is overwritten; choose another")
    if not path.exists():
        raise ValueError(f"mcrl demos export {path}: no such folder; name that of a run, or a library of `mcrl synth`")
    config, tasks = _tasks_of(path)
    changes = {name: getattr(options, name) for name in ("image_px", "action_repeat_ticks")}
    given = {name: value for name, value in changes.items() if value is not None}
    config = dataclasses.replace(config, env=dataclasses.replace(config.env, **given))

    from mcrl import assembly
    from mcrl.commands.progress import counted_progress
    from mcrl.demos.episode import episodes_of
    from mcrl.demos.lerobot_writer import write_dataset
    from mcrl.learning.demonstrations import collect_demonstrations
    from mcrl.seeding import derive_seed
    from task_synthesis.playing.curriculum import ShuffledTasks

    steps = config.imitation.fragment_steps
    num_envs = min(options.num_envs, max(1, options.num_steps // steps))
    source = ShuffledTasks(tasks, split=tasks[0].split, seed=derive_seed(options.seed, "curriculum"))
    with (
        closing(assembly.make_env(config, source, num_envs)) as env,
        counted_progress("expert's decisions", options.num_steps) as on_progress,
    ):
        fragments = collect_demonstrations(
            env,
            assembly.make_expert(env),
            assembly.make_policy(config),
            num_steps=options.num_steps,
            fragment_steps=steps,
            noise=options.noise,
            seed=options.seed,
            on_progress=lambda num_done: on_progress(min(num_done, options.num_steps)),
        )
    num_episodes, num_steps = write_dataset(
        options.out,
        episodes_of(fragments),
        split=tasks[0].split,
        action_repeat_ticks=config.env.action_repeat_ticks,
        goal_form=config.env.goal_form,
    )
    print(f"{options.out}: {num_episodes} episodes, {num_steps} decisions in {tasks[0].split} worlds")
    return 0


def _tasks_of(path: Path) -> tuple["TrainConfig", list["TaskSpec"]]:
    """Return the config and the train tasks of a run folder, or those of a library with laptop's config."""
    from mcrl.config import read_config
    from mcrl.recipes import laptop
    from task_synthesis.libraries.library import load_tasks, read_lines
    from task_synthesis.task import from_json_line

    if (path / "config.json").is_file():
        from mcrl.run_folder import check_preset

        config = read_config(path / "config.json")
        check_preset(config.preset, path / "config.json")
        return config, load_tasks(path / "tasks_train.jsonl", split="train")
    where, line = next(read_lines(path), ("", ""))
    if not line:
        raise ValueError(f"{path}: holds no task; make some with `mcrl synth`")
    first = from_json_line(line, where=where)
    if first.world.source != "generated":
        raise ValueError(
            f"{path}: task {first.task_id} is in a world of {first.world.source!r}; the expert is exported in "
            "generated worlds, so name a library there"
        )
    config = laptop()
    tasks_config = dataclasses.replace(config.tasks, side_blocks=first.world.size_blocks[0])
    return dataclasses.replace(config, tasks=tasks_config), load_tasks(path, split=first.split)
