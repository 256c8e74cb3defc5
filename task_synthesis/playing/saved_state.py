"""A part of a run's present for a file: plain JSON and named arrays, read back with suspicion."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedState:
    """What something needs to go on exactly where it was. Parts of parts have names joined by slashes.

    Readers take what they need by name, type and shape; what does not fit is a ValueError that says where, what was
    there, what was wanted and what to do.
    """

    values: dict[str, Any] = field(default_factory=dict)
    """Plain JSON; integers of any size."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    """Of any numeric type and shape."""
    where: str = "saved state"
    """Where it was read from, for errors."""
    fix: str = "save it again with this version"
    """What whoever cannot read it should do, for errors."""

    @classmethod
    def of_parts(cls, parts: "Mapping[str, SavedState]", **values: Any) -> "SavedState":
        """Return one state of several, and of values of its own; `part` takes it apart again."""
        arrays = {f"{name}/{key}": array for name, part in parts.items() for key, array in part.arrays.items()}
        return cls(values=values | {name: part.values for name, part in parts.items()}, arrays=arrays)

    def part(self, name: str) -> "SavedState":
        """Return what `of_parts` was given under this name."""
        prefix = f"{name}/"
        arrays = {key.removeprefix(prefix): array for key, array in self.arrays.items() if key.startswith(prefix)}
        return SavedState(values=self.value(name, dict), arrays=arrays, where=f"{self.where}: {name}", fix=self.fix)

    def value(self, name: str, kind: type[_Value]) -> _Value:
        """Return a value of exactly this type."""
        value = self.values.get(name)
        if type(value) is not kind:
            raise self.misfit(f"{name} is {value!r:.60}, wanted {_article(kind.__name__)}")
        return value  # type: ignore[no-any-return]  # its type is `kind`

    def strings(self, name: str) -> list[str]:
        """Return a list of strings."""
        values = self.value(name, list)
        if not all(type(value) is str for value in values):
            raise self.misfit(f"{name} must be a list of strings")
        return values

    def array(self, name: str, like: np.ndarray) -> np.ndarray:
        """Return an array of the type and shape of `like`; a copy, aligned as fresh arrays are."""
        array = self.vector(name, like.dtype) if like.ndim == 1 else self._array(name, like.dtype)
        if array.shape != like.shape:
            raise self.misfit(f"{name} has shape {array.shape}, wanted {like.shape}")
        return array

    def vector(self, name: str, dtype: np.dtype[Any] | type) -> np.ndarray:
        """Return an array [N] of this type and any length; a copy."""
        array = self._array(name, np.dtype(dtype))
        if array.ndim != 1:
            raise self.misfit(f"{name} has shape {array.shape}, wanted one dimension")
        return array

    def read_into(self, named: Mapping[str, np.ndarray]) -> None:
        """Overwrite arrays by those of the same names; none is touched unless all fit."""
        found = {name: self.array(name, array) for name, array in named.items()}
        for name, array in named.items():
            array[...] = found[name]

    def read_generator(self, name: str, rng: np.random.Generator) -> None:
        """Set `rng` to the state that `rng.bit_generator.state` had."""
        try:
            rng.bit_generator.state = self.value(name, dict)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self.misfit(f"{name} is no state of a {type(rng.bit_generator).__name__} generator") from None

    def misfit(self, what: str) -> ValueError:
        """Return the error for something in here that does not fit; `what` says which, got and wanted."""
        return ValueError(f"{self.where}: {what}; {self.fix}")

    def _array(self, name: str, dtype: np.dtype[Any]) -> np.ndarray:
        array = self.arrays.get(name)
        if array is None or array.dtype != dtype:
            got = "absent" if array is None else f"of {array.dtype}"
            raise self.misfit(f"array {name} is {got}, wanted {dtype}")
        return array.copy()


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
