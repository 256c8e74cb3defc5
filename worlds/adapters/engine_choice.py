"""Which engine runs, in which interpreter, how long it may take, and that it failed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class EngineFaultError(OSError):
    """An engine failed: it ended, hung, or said what cannot be. One sentence that names the engine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long an engine may take before it counts as hung."""

    start_s: float = 180.0
    """From the start of the process to its hello; real Minecraft takes a minute or two."""
    reset_s: float = 300.0
    """A world may have to be made, on a machine that is busy."""
    answer_s: float = 30.0
    """For all other requests; the scan of a world has as long as a reset."""
    pulse_s: float = 30.0
    """Without a sign of life of its interpreter, whatever it is busy with."""
    close_s: float = 10.0
    """From the request to close to the end of the process; then it is killed."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"limits.{name} must be above 0 seconds, got {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineChoice:
    """Which engine, and in which interpreter."""

    engine: str
    """A module of worlds.adapters.engines, the path of a .py file with an Engine, or of a program that speaks the
    protocol of worlds/adapters/README.md."""
    python: Path | None = None
    """Interpreter of the engine; None takes ours."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the engine, by name: values for JSON."""

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return Path(self.engine).stem


def is_program(engine: str) -> bool:
    """Tell whether an engine is a program that speaks the protocol itself."""
    return os.sep in engine and not engine.endswith(".py")
