"""Minecraft's field of view, which an episode must ask for: what a mirrored mask shows would be another part else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worlds.adapters.engine import EngineError

FOV_DEG = 70.0  # vertical, the game's "normal"
# What the game's settings say of it: 0 is 70 degrees, 1 is 110.
_FOV_OF_ZERO_DEG, _FOV_UNIT_DEG = 70.0, 40.0


def check_fov(look: Mapping[str, Any]) -> None:
    """Raise EngineError where an episode's look asks for another field of view than the game draws."""
    if float(look["fov_deg"]) != FOV_DEG:
        raise EngineError(
            f"the game draws {FOV_DEG:g} degrees, and the task's look.fov_deg is {look['fov_deg']:g}; "
            f"make it {FOV_DEG:g}"
        )


def with_field_of_view(options: str) -> str:
    """Return the lines of the game's options.txt with FOV_DEG in them."""
    kept = [line for line in options.splitlines() if not line.startswith("fov:")]
    return "\n".join([*kept, f"fov:{(FOV_DEG - _FOV_OF_ZERO_DEG) / _FOV_UNIT_DEG}"]) + "\n"
