"""Strict readers of frozen dataclasses from parsed JSON: no field too many, too few or mistyped, and fast.

A reader is put together once a type; reading a value then looks at nothing but the value. A library has a hundred
thousand lines of some fifty values each, and asking the type hints again for every value took two thirds of the time.
"""

import dataclasses
import sys
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Reader = Callable[[Any], Any]

# Beyond it are infinity, NaN and integers too large for a float: Python's JSON has them all.
_LARGEST = sys.float_info.max


class MisfitError(ValueError):
    """A value that does not fit its type. Readers outside put the way to it in front while it passes them."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path = ""

    def __str__(self) -> str:
        return f"{self.path} {self.what}"


@cache
def reader_of(kind: Any) -> Reader:
    """Return what reads a `kind`: a dataclass, a NamedTuple of numbers, a tuple, a dict, a Literal, a scalar; or None.

    A reader raises MisfitError for a value of another shape or type, and lets the dataclass's own ValueError pass. An
    integer is a number, so a float field takes it; nothing else is converted. A field of `object` takes anything.
    """
    if kind is object:
        return _anything
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(kind)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple_reader(kind)
    if get_origin(kind) is tuple:
        return _tuple_reader(*get_args(kind))
    if get_origin(kind) is dict:
        return _dict_reader(get_args(kind)[1])
    if get_origin(kind) in (Union, UnionType):
        (present,) = (part for part in get_args(kind) if part is not NoneType)
        return _optional_reader(present)
    if get_origin(kind) is Literal:
        return _literal_reader(get_args(kind))
    return _number if kind is float else _scalar_reader(kind)


def _dataclass_reader(kind: Any) -> Reader:
    fields, missing = dataclasses.fields(kind), dataclasses.MISSING
    hints = get_type_hints(kind)
    readers = {field.name: reader_of(hints[field.name]) for field in fields}
    required = [field.name for field in fields if field.default is missing and field.default_factory is missing]

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise MisfitError(f"must be an object, got {type(value).__name__}")
        if not value.keys() <= readers.keys():
            name = next(name for name in value if name not in readers)
            raise _under(MisfitError(f"is not a field; the fields are {', '.join(readers)}"), f".{name}")
        try:
            values = {name: readers[name](item) for name, item in value.items()}
        except MisfitError:
            raise _located(value, readers) from None
        for name in required:
            if name not in values:
                raise _under(MisfitError("is missing"), f".{name}")
        return kind(**values)

    return read


def _located(value: dict[str, Any], readers: dict[str, Reader]) -> MisfitError:
    """Read again to learn which field it was: keeping count while all is well would cost every line."""
    for name, item in value.items():
        try:
            readers[name](item)
        except MisfitError as misfit:
            return _under(misfit, f".{name}")
    raise AssertionError("a misfit that is none the second time")


def _under(misfit: MisfitError, step: str) -> MisfitError:
    misfit.path = step + misfit.path
    return misfit


def _named_tuple_reader(kind: Any) -> Reader:
    names: tuple[str, ...] = kind._fields
    words = {5: "five"}.get(len(names), str(len(names)))

    def read(value: Any) -> Any:
        if type(value) is not list or len(value) != len(names) or not _are_numbers(value):
            raise MisfitError(f"must be {words} numbers ({', '.join(names)}), got {value!r}")
        return kind(*map(float, value))

    return read


def _tuple_reader(*items: Any) -> Reader:
    if items == (float, float, float):
        return _three_numbers
    if items == (int, int, int):
        return _three_integers
    item, *rest = items
    if item == tuple[str, int]:
        return _stacks
    read_item = reader_of(item)
    length = None if rest == [...] else len(items)  # fixed ones are of one type here

    def read(value: Any) -> Any:
        if type(value) is not list:
            raise MisfitError(f"must be a list, got {type(value).__name__}")
        if length is not None and len(value) != length:
            raise MisfitError(f"must be a list of {length}, got {len(value)}")
        read_so_far: list[Any] = []
        try:
            for part in value:
                read_so_far.append(read_item(part))
        except MisfitError as misfit:
            raise _under(misfit, f"[{len(read_so_far)}]") from None
        return tuple(read_so_far)

    return read


def _dict_reader(item: Any) -> Reader:
    read_item = reader_of(item)

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise MisfitError(f"must be an object, got {type(value).__name__}")
        values = {}
        for name, part in value.items():
            try:
                values[name] = read_item(part)
            except MisfitError as misfit:
                raise _under(misfit, f".{name}") from None
        return values

    return read


def _optional_reader(kind: Any) -> Reader:
    read_present = reader_of(kind)

    def read(value: Any) -> Any:
        return None if value is None else read_present(value)

    return read


def _literal_reader(choices: tuple[Any, ...]) -> Reader:
    def read(value: Any) -> Any:
        if value not in choices:
            raise MisfitError(f"must be one of {', '.join(map(repr, choices))}, got {value!r}")
        return value

    return read


def _scalar_reader(kind: type) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise MisfitError(f"must be {kind.__name__}, got {value!r}")
        return value

    return read


def _anything(value: Any) -> Any:
    return value


def _number(value: Any) -> float:
    if type(value) in (int, float) and abs(value) <= _LARGEST:
        return float(value)
    raise MisfitError(f"must be a finite float, got {value!r}")


def _three_numbers(value: Any) -> tuple[float, ...]:
    if type(value) is not list or len(value) != 3 or not _are_numbers(value):
        raise MisfitError(f"must be three numbers, got {value!r}")
    return tuple(map(float, value))


def _three_integers(value: Any) -> tuple[int, ...]:
    if type(value) is not list or len(value) != 3 or any(type(item) is not int for item in value):
        raise MisfitError(f"must be three integers, got {value!r}")
    return tuple(value)


def _stacks(value: Any) -> tuple[tuple[str, int], ...]:
    if type(value) is not list or not all(map(_is_stack, value)):
        raise MisfitError(f"must be a list of [item, count], got {value!r}")
    return tuple((name, count) for name, count in value)


def _is_stack(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and type(value[0]) is str and type(value[1]) is int


def _are_numbers(values: list[Any]) -> bool:
    return all(type(value) in (int, float) and abs(value) <= _LARGEST for value in values)
