"""Options of `mcrl play`: who plays, where, and what becomes of the pictures."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcrl.commands.decoding_options import DecodingOptions
from mcrl.commands.engine_options import EngineOptions

PERSON, EXPERT = "person", "expert"
# A task has all this of its own.
_FREE_WORLD_OPTIONS = ("biome", "size", "mobs", "time", "weather", "inventory", "origin")
_GENERATED_WORLD_OPTIONS = ("biome", "size", "mobs")
_DEFAULT_SUITE = "unseen_seeds"
_DEFAULT_INVENTORY = (
    "iron_pickaxe", "iron_axe", "iron_shovel", "iron_sword", "bow", "arrow*64", "oak_planks*64", "torch*64", "bread*16",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PlayOptions(DecodingOptions, EngineOptions):
    """Who plays, where, and what becomes of the pictures."""

    agent: str = PERSON
    """person, expert, or a policy as --policy takes it."""
    policy: str | None = None
    """Let this policy play: the folder of a checkpoint or run, or the name of a shipped policy, for instance small."""
    task: str | None = None
    """A task as PLACE:NUMBER, the first is 1: a folder or tasks.jsonl of `mcrl synth`, or a suite of `mcrl suites`.
    None: a person plays a free world, all others task number --seed + 1 of the suite unseen_seeds."""
    keys: str | None = None
    """What the person presses, "-" reads it from stdin; None listens to keyboard and mouse."""
    keys_file: Path | None = None
    """File with the keys."""
    out: Path | None = None
    """Write a video (.webm, .mp4) or the last view (.png); None opens a window."""
    biome: str = "plains"
    """Biome of the free world; with --save it decides which mobs there are around the start, and nothing else."""
    seed: int = 0
    """Seed of the free world and its mobs."""
    size: int = 128
    """Side of the free world, in blocks: 32, 64, 128 or 256."""
    mobs: int = 8
    """Animals and monsters around the start of the free world, 0 to 16."""
    time: int = 6000
    """Time of day in the free world: 0 sunrise, 6000 noon, 12000 sunset, 18000 midnight."""
    weather: Literal["clear", "rain"] = "clear"
    """Weather in the free world."""
    save: Path | None = None
    """Folder of a Minecraft world to play in instead of a generated one, or in which --task is."""
    origin: tuple[int, int, int] | None = None
    """Block of the save that becomes (0, 0, 0); None chooses a place near its middle."""
    resource_pack: Path | None = None
    """Folder or .zip of a resource pack, in which the free world or the task is drawn."""
    inventory: tuple[str, ...] = _DEFAULT_INVENTORY
    """What the person carries in the free world: items, the number after a *."""
    image: tuple[int, int] = (360, 640)
    """Height and width of the picture that is drawn, in pixels, multiples of 4; a small one is shown enlarged. A policy
    sees the size it was trained on, and this is left out."""
    ticks: int | None = None
    """Stop after so many ticks; None plays until the keys or the task end."""
    hud: bool = True
    """Draw health, hotbar, crosshair and goal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_foreign:
            self._check_foreign()
        if self.size not in (32, 64, 128, 256):
            raise ValueError(f"--size must be 32, 64, 128 or 256, got {self.size}")
        if any(not 16 <= side <= 4096 or side % 4 for side in self.image):
            raise ValueError(f"--image must be two multiples of 4 in 16 .. 4096, got {self.image}")
        if not 0 <= self.time < 24000:
            raise ValueError(f"--time must be in 0 .. 23999, got {self.time}")
        if not 0 <= self.mobs <= 16:
            raise ValueError(f"--mobs must be in 0 .. 16, got {self.mobs}")
        if self.ticks is not None and self.ticks < 1:
            raise ValueError(f"--ticks must be at least 1, got {self.ticks}")
        if self.keys is not None and self.keys_file is not None:
            raise ValueError("--keys and --keys-file are two ways to say the same; give one of them")
        if self.policy is not None and self.agent != PERSON:
            raise ValueError(f"--policy {self.policy} and --agent {self.agent} are two who play; leave one of them out")
        if self.player != PERSON and (self.keys is not None or self.keys_file is not None):
            raise ValueError(f"--keys are what a person presses, but {self.player} plays; leave one of them out")
        changes = self.decoding().changes()
        if changes and self.player in (PERSON, EXPERT):
            raise ValueError(
                f"--{next(iter(changes))} is for policies, but {self.player} plays; leave it out, or name a --policy"
            )
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        for name in _FREE_WORLD_OPTIONS if self.task_place is not None else ():
            if getattr(self, name) != defaults[name]:
                raise ValueError(f"--{name} is of a free world, and task {self.task_place} has its own; leave it out")
        if self.origin is not None and self.save is None:
            raise ValueError("--origin is a block of a save; name its folder with --save, or leave it out")
        if self.out is not None and self.player == PERSON and self.keys is None and self.keys_file is None:
            raise ValueError(
                "--out needs --keys, --keys-file, --policy or --agent expert: nobody can press keys without a window"
            )
        if self.out is not None and self.out.suffix not in (".webm", ".mp4", ".png"):
            raise ValueError(f"--out {self.out}: the file must end in .webm, .mp4 or .png")

    def _check_foreign(self) -> None:
        """Refuse what only the built-in engine can do."""
        if self.player == EXPERT:
            raise ValueError(f"--agent expert plays in the built-in engine alone, --backend is {self.backend}")
        if self.player != PERSON and self.task is None:
            raise ValueError(
                f"--backend {self.backend}: name a task of its worlds with --task, see `mcrl synth --backend`"
            )
        for name in _GENERATED_WORLD_OPTIONS:
            if getattr(self, name) != getattr(PlayOptions, name):
                raise ValueError(f"--{name} is of the built-in engine, --backend is {self.backend}; leave it out")
        if self.save is not None or self.resource_pack is not None:
            raise ValueError(f"--save and --resource-pack are of the built-in engine, --backend is {self.backend}")

    @property
    def player(self) -> str:
        """Return who plays: "person", "expert" or what names a policy."""
        return self.agent if self.policy is None else self.policy

    @property
    def task_place(self) -> str | None:
        """Return where the task is that is played, as PLACE:NUMBER; None in a free world."""
        if self.task is None and self.player != PERSON:
            return f"{_DEFAULT_SUITE}:{self.seed + 1}"
        return self.task
