"""Options that name another engine than the built-in one: the same for every command that plays or makes tasks."""

import dataclasses
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worlds.adapters.catalogue import BUILT_IN, entry_of, is_path, options_of

if TYPE_CHECKING:
    from mcrl.config import EnvConfig
    from worlds.adapters.engine_choice import EngineChoice


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Which engine."""

    backend: str = BUILT_IN
    """"voxel" is the built-in engine; `mcrl doctor --engines` lists others, or give the path of an engine of your own,
    see worlds/adapters/README.md."""
    engine_python: str | None = None
    """Python interpreter that another engine runs in; None takes the one that `mcrl doctor ENGINE --install` has made,
    or else ours."""
    engine_options: tuple[str, ...] = ()
    """Options of another engine as NAME=VALUE."""

    def __post_init__(self) -> None:
        if not self.is_foreign and (self.engine_python or self.engine_options):
            raise ValueError("--engine-python and --engine-options are for another --backend; leave them out")
        if self.is_foreign and not is_path(self.backend):
            entry_of(self.backend)
        options_of(self.engine_options, where="--engine-options")

    @property
    def is_foreign(self) -> bool:
        """Return whether another engine than the built-in one is meant."""
        return self.backend != BUILT_IN

    def choice(self) -> "EngineChoice":
        """Return how the engine starts; ValueError where it cannot."""
        from worlds.adapters.catalogue import choice_of

        return choice_of(self.backend, self.engine_python, self.engine_options)

    def say_elsewhere(self, prog: str, trained: "EnvConfig") -> None:
        """Say so where a policy that was trained in another engine is about to play in the built-in one."""
        if trained.backend != BUILT_IN and not self.is_foreign:
            print(
                f"{prog}: trained in {trained.backend}, played in the built-in engine; --backend NAME plays it there",
                file=sys.stderr,
            )

    def shown(self, env: "EnvConfig") -> "EnvConfig":
        """Return how a run shows its worlds, on this engine."""
        return dataclasses.replace(
            env, backend=self.backend, engine_python=self.engine_python, engine_options=self.engine_options
        )
