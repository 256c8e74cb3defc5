"""Options of `mcrl eval`: what a checkpoint plays, beside whom, and where the report goes."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.decoding_options import DecodingOptions
from mcrl.commands.engine_options import EngineOptions
from mcrl.commands.options import nearest
from policies.device_name import DeviceName, check_device_name
from task_synthesis.task import BANDS, SKILLS
from worlds.spec import Split

SUITE_SPLIT: Split = "held_out"
# Options that say which tasks are synthesised, or from where they are read: a suite has its own.
_TASK_OPTIONS = ("split", "tasks")


@dataclass(frozen=True, kw_only=True)
class EvalOptions(DecodingOptions, EngineOptions):
    """How a checkpoint is judged."""

    suite: str | None = None
    """A suite of `mcrl suites`, several with commas between, or "all"; each is played into a folder of its own.
    real_saves needs --save, and all leave it out where there is none. None synthesises tasks."""
    num_tasks: int | None = None
    """How many tasks every row plays once: of a suite or of --tasks the first so many (None: all), else so many are
    synthesised (None: 400). A policy's draws follow from the whole list: it plays a task otherwise in a longer one."""
    split: Split = SUITE_SPLIT
    """Worlds of which split, where no suite is named."""
    seed: int = 0
    """Of every draw of the agents, and of the tasks where they are synthesised."""
    out: Path | None = None
    """Folder of the report; None is a folder in the run's. A folder that was begun for the same evaluation is
    continued."""
    skills: tuple[str, ...] | None = None
    """Skills of synthesised tasks, with equal shares (None: approach and break); of a suite its tasks of these skills
    alone are played (None: all)."""
    bands: tuple[str, ...] | None = None
    """Distance bands, in the same way (None: near and easy of synthesised tasks, all of a suite)."""
    tasks: Path | None = None
    """Play these tasks of `mcrl synth` instead; None synthesises them."""
    save: Path | None = None
    """Minecraft world for the suite real_saves, the folder with level.dat in it."""
    also: tuple[str, ...] = ()
    """Further rows as NAME=CHECKPOINT, for instance imitation-long=runs/long/checkpoints/imitation. Each is shown the
    worlds as its own run was."""
    rows: str | None = None
    """More rows, with commas between: noop does nothing, blank_goal is the policy without a goal view."""
    device: DeviceName = "cpu"
    """Where policies compute: "cuda" is a GPU, which all processes share, "auto" one if there is one. Rounding differs,
    so that a table made on one and continued on the other is refused; kinds of CPU may round otherwise, too."""
    videos: int = 12
    """Episode videos in the report; 0 makes none."""
    num_workers: int | None = None
    """Processes, one thread each; None is one a core. The result does not depend on it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_foreign and (self.suite is not None or self.save is not None):
            raise ValueError(
                f"--suite and --save are of the built-in engine, --backend is {self.backend}; leave them out: tasks of "
                "that engine are made, or give some with --tasks"
            )
        for name in ("num_tasks", "num_workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {value}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        self.decoding()
        check_device_name(self.device, where="--device")
        if self.videos < 0:
            raise ValueError(f"--videos must not be negative, got {self.videos}")
        for name, known in (("skills", tuple(SKILLS)), ("bands", tuple(BANDS))):
            for given in getattr(self, name) or ():
                if given not in known:
                    raise ValueError(f"--{name} {given}: no such {name[:-1]}; {nearest(given, known)}")
            if getattr(self, name) == ():
                raise ValueError(f"--{name} needs at least one name; there are {', '.join(known)}")
        if self.tasks is not None and (self.skills or self.bands):
            raise ValueError(
                "--skills and --bands do nothing with --tasks, whose tasks are what they are; leave them out"
            )
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        for name in _TASK_OPTIONS:
            if self.suite is not None and getattr(self, name) != defaults[name]:
                raise ValueError(f"--{name} does nothing with --suite, which has tasks of its own; leave one out")
        suites = {name.strip() for name in (self.suite or "").split(",")}
        if "real_saves" in suites and (self.skills or self.bands):
            raise ValueError("--skills and --bands do nothing with --suite real_saves, which has all; leave them out")
        if "all" in suites and self.save is not None and (self.skills or self.bands):
            raise ValueError(
                "--skills and --bands do nothing in real_saves, which --suite all plays where --save is given; leave "
                "them out, or --save"
            )
        if self.save is not None and not suites & {"real_saves", "all"}:
            raise ValueError("--save does nothing without --suite real_saves or all; leave it out")
