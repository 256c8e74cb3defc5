"""Options that a command's help leaves out, since the command sets them itself or makes nothing of them."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeVar, get_type_hints

import tyro

ConfigT = TypeVar("ConfigT")


def without_help(config: ConfigT, names: Iterable[str]) -> ConfigT:
    """Return the dataclass with the fields called `names` kept out of the help, nested ones as "outer.inner".

    The keys of a table, "tasks.bands.near", stay: tyro lists a table as a whole.
    """
    kind: Any = type(config)
    suppressed: Any = tyro.conf.Suppress
    values: dict[str, Any] = {field.name: getattr(config, field.name) for field in dataclasses.fields(kind)}
    hints = get_type_hints(kind, include_extras=True)
    inner: dict[str, list[str]] = defaultdict(list)
    own = []
    for name in sorted(set(names)):
        outer, dot, rest = name.partition(".")
        if not dot:
            own.append((name, suppressed[hints[name]]))
        elif dataclasses.is_dataclass(values[outer]):
            inner[outer].append(rest)
    for outer, rests in inner.items():
        values[outer] = without_help(values[outer], rests)
    # Of a subclass: tyro asks the default for its type.
    hiding = dataclasses.make_dataclass(kind.__name__, own, bases=(kind,), frozen=True, kw_only=True)
    hiding.__doc__ = kind.__doc__
    hidden: ConfigT = hiding(**values)
    return hidden
