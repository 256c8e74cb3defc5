"""Checks of config values; every failure is one sentence that names the setting."""

import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any


def require(is_met: bool, message: str) -> None:
    """Raise ValueError with `message` unless `is_met`."""
    if not is_met:
        raise ValueError(message)


def require_at_least(least: float, section: str, config: object, names: str) -> None:
    """Refuse any of the fields `names` of `config`, in words apart by spaces, that is below `least`."""
    for name in names.split():
        value = getattr(config, name)
        wanted = "must not be negative" if least == 0 else f"must be at least {least}"
        require(value >= least, f"{section}{name} {wanted}, got {value}")


def require_positive_finite(section: str, config: object, names: str) -> None:
    """Refuse any of the fields `names` of `config`, in words apart by spaces, that is not above 0, or infinite."""
    for name in names.split():
        value = getattr(config, name)
        require(0 < value < math.inf, f"{section}{name} must be positive and finite, got {value}")


def require_finite(section: str, config: Any) -> None:
    """Refuse numbers that JSON cannot hold, in the fields of a dataclass, of those within it and in their mixes."""
    parts = config.items() if isinstance(config, dict) else ((f.name, getattr(config, f.name)) for f in fields(config))
    for name, value in parts:
        if isinstance(value, float):
            require(math.isfinite(value), f"{section}{name} must be finite, got {value}")
        elif isinstance(value, dict) or is_dataclass(value):
            require_finite(f"{section}{name}.", value)


def require_at_most(most: float, section: str, config: object, names: str) -> None:
    """Refuse any of the fields `names` of `config`, in words apart by spaces, that is above `most`: a slip of the pen.

    What is too much for a machine is for the machine to say; this is for what would take it down first.
    """
    for name in names.split():
        value = getattr(config, name)
        require(value <= most, f"{section}{name} must be at most {most:g}, got {value}")


def check_mix(name: str, mix: dict[str, float], known: Iterable[str]) -> None:
    """Refuse shares of unknown things, negative shares and shares that are all zero."""
    unknown = sorted(set(mix) - set(known))
    require(not unknown, f"{name}: {unknown} is unknown; choose from {sorted(known)}")
    require(
        bool(mix) and all(share >= 0 for share in mix.values()) and sum(mix.values()) > 0,
        f"{name} needs at least one positive share and no negative one, got {mix}",
    )
    # One that is infinite is refused with all numbers that no config can hold.
    require(
        math.isinf(max(mix.values())) or math.isfinite(sum(mix.values())),
        f"{name} sum to more than a number holds, got {mix}; they are shares, write smaller ones",
    )
